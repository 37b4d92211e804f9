//! What code does to the processor's caches, line by line.
//!
//! [`simulate`] runs a stream of accesses through caches of any shape, and reports hits, misses and
//! write-backs. A stream is [`synthetic`], or the text that valgrind's [`lackey`] prints. [`naive`]
//! is the four-line model with which a paper explains why a smaller footprint can make the next
//! phase slower.
//!
//! A trace of execution is read once: [`trace`] finds stacks and contexts, [`touched`] the lines
//! and bytes of each region, and [`simulated`] the misses of caches. [`metrics`] names the figures,
//! [`cgstacks`] makes trees of stacks, condensed by [`categories`], and [`diff`] compares two
//! footprints. [`description`] is what a trace says about itself: its subject, and the names of
//! code and data.
//!
//! This crate uses no clock and no threads: the same stream and seed give the same answer.

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
