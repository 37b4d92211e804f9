//! Which replacement policy explains what stayed resident in a page cache, and how well.
//!
//! A benchmark runs the traces of a [`battery()`] under a memory limit, each on an empty cache, and
//! looks at which pages are resident at the moments that each trace names. [`fit()`] simulates the
//! reference policies ([`Policy`]) on the same traces, seeks for each the capacity and the noise
//! under which it makes the observation most likely, ranks them, and says whether the first is told
//! apart from the others.
//!
//! [`StackDistances`] says besides what share of a trace's accesses LRU would hit, by capacity:
//! what a warm-up or a cliff is to be held against.
//!
//! There is no I/O here, no clock and no thread: the same input and seed give the same answer.

#![forbid(unsafe_code)]

mod battery;
mod error;
pub mod fit;
pub mod generate;
mod observed;
pub mod policy;
mod stack_distance;
mod trace;

pub use battery::{LIMIT_MIN_PAGES, battery};
pub use error::FitError;
pub use fit::{Fit, Grouping, Question, Scored, Verdict, fit};
pub use observed::Observed;
pub use policy::{Cache, Policy, Size};
pub use stack_distance::StackDistances;
pub use trace::{Access, Kind, Trace};
