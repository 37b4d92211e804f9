//! Where the cache lines go: what code does to the processor's caches.
//!
//! [`simulate`] runs a stream of accesses through caches of any shape and reports what hit, what
//! missed and what had to be written back. A stream is [`synthetic`], or the text that valgrind's
//! [`lackey`] prints. [`naive`] is the four-line model with which a paper explains why a smaller
//! footprint can make the phase after it slower.
//!
//! A trace of execution is walked through once: [`trace`] finds stacks and contexts, [`touched`]
//! the lines and bytes of each region, [`simulated`] what caches miss. [`metrics`] names the
//! figures, [`cgstacks`] makes trees of stacks, condensed by [`categories`], [`diff`] compares two
//! footprints. [`description`] is what a trace says of itself: subject, names of code and of data.
//!
//! There is no clock here and no thread: the same stream and seed give the same answer.

#![forbid(unsafe_code)]

mod access;
pub mod cachemap;
pub mod categories;
pub mod cgstacks;
pub mod description;
pub mod diff;
mod hash;
pub mod lackey;
pub mod metrics;
pub mod naive;
mod random;
pub mod regions;
pub mod simulate;
pub mod simulated;
pub mod synthetic;
pub mod touched;
pub mod trace;
pub mod tree;

pub use access::{Access, Kind};
