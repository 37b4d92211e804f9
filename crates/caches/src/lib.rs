//! Simulated processor caches, fed by a stream of accesses.
//!
//! A [`Simulation`] runs a stream through a [`Hierarchy`] of any shape and reports hits, misses and
//! write-backs. A stream is [`synthetic`], the text printed by valgrind's [`lackey`], or a trace
//! that another crate walks through. [`naive`] is the four-line model with which a paper explains
//! why a smaller footprint can make the next phase slower.
//!
//! Caches are write-back and write-allocate. The first level is split into instructions and data,
//! or unified, or data only; all lower levels are unified. An access is looked up line by line in
//! the first level; a line that misses is looked up in the next level, and is then filled into
//! every level that missed, from the bottom up.
//!
//! A dirty line that is evicted from a level is written back to the next one. There, this counts as
//! a use of the line, and allocates it if it is missing (without reading the rest of a longer line
//! from below). A level is of one of two kinds:
//!
//! - *non-inclusive non-exclusive*: lines may stay in the levels above when they leave this one.
//! - *inclusive*, with back-invalidation: when a line leaves, so do the lines above that are part
//!   of it, and their dirty data is written back with it. Baer & Wang, "On the inclusion
//!   properties for multi-level cache hierarchies", ISCA 1988.
//!
//! Memory use is bounded by the caches' sizes, whatever the length of the stream. There is no clock
//! and there are no threads: the same stream and seed give the same result.

#![forbid(unsafe_code)]

mod access;
mod cache;
mod geometry;
mod hierarchy;
pub mod lackey;
pub mod naive;
mod policy;
mod random;
mod report;
mod simulation;
pub mod synthetic;
mod text;

pub use access::{Access, Purpose};
pub use geometry::{CacheError, CachePolicy, Geometry, Shape};
pub use hierarchy::{FirstLevel, Hierarchy, HierarchyError, Inclusion, LowerLevel};
pub use report::{LevelReport, Lookups, PerPurpose, Report};
pub use simulation::Simulation;
