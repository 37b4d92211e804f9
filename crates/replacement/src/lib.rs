//! Which replacement policy explains what stayed resident in a page cache, and how well.
//!
//! A benchmark runs the traces of a [`battery()`] under a memory limit, each on an empty cache, and
//! checks which pages are resident at the moments that each trace specifies. [`fit()`] simulates
//! the reference policies ([`Policy`]) on the same traces. For each policy, it finds the capacity
//! and noise that make the observation most likely. It ranks the policies, and says whether the
//! data distinguish the first from the others.
//!
//! This crate uses no I/O, no clock and no threads: the same input and seed give the same answer.

#![forbid(unsafe_code)]

mod battery;
mod error;
pub mod fit;
pub mod generate;
mod observed_trace;
pub mod policy;
mod trace;

pub use battery::{LIMIT_PAGES_MIN, battery};
pub use error::FitError;
pub use fit::{Fit, FitVerdict, Grouping, Question, ScoredPolicy, fit};
pub use observed_trace::ObservedTrace;
pub use policy::{Cache, Policy, Size};
pub use trace::{Access, AccessKind, Trace};
