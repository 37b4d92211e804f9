//! Benchmarks: what each does and isolates, and how it is executed on real targets.
//!
//! A [`Benchmark`] is a declaration: a workload, the files it works on, the dimension it isolates,
//! and the cache state it needs. [`suites`] names the sets of benchmarks. The [`Laboratory`] holds
//! the live targets and executes cells for the `runner`: it makes the cache state, verifies it,
//! measures, verifies again, and restores. The [`CliffLaboratory`] measures the positions that a
//! search for cliffs asks for, on its own targets.

pub mod applications;
mod benchmark;
mod catalogue;
mod cells;
pub mod classic;
mod cliff;
mod counters;
mod custom;
mod device_work;
mod device_writes;
mod door;
mod experiment;
mod failure;
mod file_set_kind;
mod findings;
mod fragmentation;
pub mod job_file;
mod laboratory;
mod live_target;
mod metrics;
mod most;
mod nano;
mod nanoseconds;
mod need;
mod neighbours;
mod observed;
mod operations;
mod own_options;
mod pending_findings;
mod pilot;
pub mod pollution;
mod processors;
mod reference_times;
mod replicate;
mod rocket_science;
mod room;
mod sequence;
mod state;
mod stops;
mod table_one;
mod testbed;
mod thinning;
mod throttle;
mod trial;

pub use benchmark::{Benchmark, Work};
pub use catalogue::{NoBenchmark, NoLength, Suite, below, suite, suites};
pub use cells::cells;
pub use cliff::{
    CLIFF_SUITE, CliffError, CliffLaboratory, CliffParameters, CliffRequest, PlannedSearch,
    RangeEnd, check_volume, plan,
};
pub use custom::SUITE as CUSTOM_SUITE;
pub use experiment::{Experiment, Site};
pub use file_set_kind::{DirectorySpec, FileSetKind, FileSpec};
pub use findings::Findings;
pub use laboratory::{Laboratory, Settings};
pub use live_target::LiveTarget;
pub use neighbours::{ChildrenUse, unseen as unseen_neighbours};
pub use operations::{Layer, Length, Operations, Pages, Question};
pub use own_options::{NoSuite, OwnOptions};
pub use reference_times::{reference_times, system_call_ns};
pub use rocket_science::TARGETS as ROCKET_SCIENCE_TARGETS;
pub use sequence::{Sequence, SequencePhase};
pub use stops::{notice_stops, was_stopped};
pub use table_one::{COLUMNS, Relation, TableOneRow, table_one};
pub use testbed::{DataFileError, Testbed};
pub use thinning::Scope;
