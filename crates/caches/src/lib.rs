//! Simulated processor caches, fed by a stream of accesses.
//!
//! A [`Simulation`] runs a stream through a [`Hierarchy`] of any shape and reports hits, misses and
//! write-backs. A stream is [`synthetic`], the text that valgrind's [`lackey`] prints, or a trace
//! that another crate walks through. [`naive`] is the four-line model with which a paper explains
//! why a smaller footprint can make the next phase slower.
//!
//! Caches write back, and a store that misses brings its line in. The first level is split into
//! instructions and data, or holds both, or data alone; all lower levels hold both. An access is
//! looked up line by line in the first level; a line that misses is looked up in the next level
//! and brought in from the lowest level up, so that each level on its way holds it.
//!
//! A dirty line that leaves a level is written back to the next one, which counts it as a use of
//! the line and brings it in where it is missing (without reading the rest of a longer line from
//! below). A level is one of two kinds:
//!
//! - *non-inclusive non-exclusive*: lines of the levels above may stay there when they leave it.
//! - *inclusive*, with back-invalidation: a line that leaves takes the lines above that lie within
//!   with it; what was dirty of them is written back with it. Baer & Wang, "On the inclusion
//!   properties for multi-level cache hierarchies", ISCA 1988.
//!
//! Memory is bounded by the caches' sizes, whatever the length of the stream. There is no clock and
//! there are no threads: the same stream and seed give the same answer.

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
pub use hierarchy::{First, Hierarchy, HierarchyError, Inclusion, Lower};
pub use report::{LevelReport, Lookups, PerPurpose, Report};
pub use simulation::Simulation;
