//! A simulation of the processor's caches, fed by a stream of accesses.
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
//! Memory is bounded by the caches' sizes, whatever the length of the stream.

mod cache;
mod geometry;
mod hierarchy;
mod policy;
mod report;
mod simulation;
mod text;

pub use geometry::{CacheError, CachePolicy, Geometry, Shape};
pub use hierarchy::{First, Hierarchy, HierarchyError, Inclusion, Lower};
pub use report::{LevelReport, Outcome, PerKind, Report};
pub use simulation::Simulation;
