//! The suite `footprint`: which cache lines the operations of kernel file systems touch.
//!
//! Each target is made in its own guest, where each operation is executed a few times and then
//! traced. The trace is analysed, and every figure becomes a metric of a cell of an ordinary run:
//! the benchmark is the operation, and the block is the repetition. Counts are exact: they differ
//! between repetitions only if the kernel does something different.

mod application;
mod cells;
mod error;
mod execution;
mod metrics;
mod phases;
mod program;
mod run_record;
mod several;
mod target;
mod trace;

pub use application::{ApplicationPlan, ApplicationResult, ApplicationTraced};
pub use cells::{SUITE, TracingPlan};
use cells::{cells, lines};
pub use error::{ProgramRefusal, TracingError};
use execution::{MeasuredExecution, measure};
use metrics::definitions;
pub use phases::{PhasesPlan, PhasesTraced, SEED};
pub use program::{Program, ProgramTraced};
pub use run_record::{TargetFootprints, manifest, write};
pub use several::{TraceOutcome, trace_name};
pub use target::{DEFAULTS, GuestTarget, TargetRefusal};
pub use trace::{TargetTraced, Tracer};
