//! The study of execution traces: from a trace file to figures, maps and trees that other crates
//! print, plot and judge.
//!
//! [`regions`] computes the figures of every repetition, and [`operation_stacks`] the means of
//! coarse-grained stacks. A [`Studied`] is one trace with its description, of which the most
//! typical repetition of each operation is kept whole: the lines it touched, and how simulated
//! caches fared. [`polluted`] puts code of a program between the operations of a trace, and counts
//! what it misses. [`owners`] tells apart whose code misses while a program runs.
//! [`caches_of_run`] says which caches are simulated.

#![forbid(unsafe_code)]

mod choice;
mod error;
mod operation_stacks;
mod owners;
mod polluted;
mod recorded_caches;
mod regions;
mod repetition;
#[cfg(any(test, feature = "sample-traces"))]
pub mod sample_traces;
mod study;
#[cfg(test)]
mod tests;
mod trace_file;
mod weight;

pub use error::StudyError;
pub use operation_stacks::{OperationStacks, TraceStacks, operation_stacks};
pub use owners::owners;
pub use polluted::{CodeBetween, PollutedOperation, PollutedRounds, PollutedTrace, polluted};
pub use recorded_caches::{RecordedCachesError, caches_of, caches_of_run, recorded};
pub use regions::{RegionFigures, regions};
pub use repetition::Repetition;
pub use study::{Executed, Questions, Studied};
pub use trace_file::{EXTENSION, traces_in};
pub use weight::NamedWeight;
