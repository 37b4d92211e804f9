//! Where the cache lines go: what an execution touches, line by line.
//!
//! An execution trace is read once: [`trace`] finds stacks and contexts, [`touched`] the lines and
//! bytes of each region, and [`simulated`] the misses of caches. [`cgstacks`] makes trees of
//! stacks, condensed by [`categories`], and [`diff`] compares two footprints. [`description`] is
//! what a trace says about itself: its subject, and the names of code and data.
//!
//! This crate uses neither clocks nor threads: the same trace always gives the same result.

#![forbid(unsafe_code)]

pub mod accesses;
pub mod cachemap;
pub mod categories;
pub mod cgstacks;
pub mod description;
pub mod diff;
mod hash;
mod line_runs;
pub mod owners;
pub mod regions;
pub mod simulated;
pub mod touched;
pub mod trace;
pub mod tree;
