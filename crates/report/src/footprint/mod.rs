//! Traces of execution, studied: what `fsprism footprint map|stacks|diff` print of them, and what
//! the page shows of those that lie in a run directory.
//!
//! A [`Studied`] is one trace with its description, walked through once: the footprint of each
//! operation, and what simulated caches made of it. [`documents`] holds what is printed as JSON,
//! [`text`] what terminals show.

mod caches;
mod choice;
pub mod documents;
mod error;
mod repetition;
mod study;
#[cfg(test)]
mod tests;
pub mod text;
mod weight;

pub use caches::{RecordedCachesError, caches_of, caches_of_run, recorded};
pub use error::StudyError;
pub use repetition::Repetition;
pub use study::{Executed, Questions, Studied, traces_in};
pub use weight::Weighted;
