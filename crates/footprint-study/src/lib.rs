//! Traces of execution, studied: from the file of a trace to figures, maps and trees that others
//! print, plot and judge.
//!
//! [`regions`] has the figures of every repetition; [`operation_stacks`] the means of
//! coarse-grained stacks. A [`Studied`] is one trace with its description, of which the most
//! typical repetition of each operation is kept whole: the lines it touched, and what simulated
//! caches made of it. [`caches_of_run`] says which caches those are.

#![forbid(unsafe_code)]

mod choice;
mod error;
mod operation_stacks;
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
pub use recorded_caches::{RecordedCachesError, caches_of, caches_of_run, recorded};
pub use regions::{RegionFigures, regions};
pub use repetition::Repetition;
pub use study::{Executed, Questions, Studied};
pub use trace_file::{EXTENSION, traces_in};
pub use weight::NamedWeight;
