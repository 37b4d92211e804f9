//! Benchmarks: what each does and isolates, and how it is executed on real targets.
//!
//! A [`Benchmark`] is a declaration: a workload, the files it works on, the dimension it
//! isolates, the cache state it asks for. [`suites`] names the sets of them. The [`Laboratory`]
//! holds the live targets and executes cells for the `runner`: it makes the cache state, verifies
//! it, measures, verifies again, and restores. The [`CliffLaboratory`] measures the positions that
//! a search for cliffs asks for, on targets of its own.

mod benchmark;
mod catalogue;
mod cells;
mod cliff;
mod counters;
mod laboratory;
mod live_target;
mod observed;
mod replicate;
mod state;
mod survey;
mod system_call;
mod throttle;

pub use benchmark::{Benchmark, Place};
pub use catalogue::{Suite, UnknownSuite, suite, suites};
pub use cells::cells;
pub use cliff::{CLIFF_SUITE, CliffError, CliffLaboratory, Planned, Wanted, plan};
pub use laboratory::{Laboratory, Settings};
pub use live_target::{LiveTarget, target_record};
pub use system_call::system_call_ns;
