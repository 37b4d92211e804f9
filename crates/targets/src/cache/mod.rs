//! Which of a target's files are in memory: bringing them into a state, verifying it, counting.

pub mod cache_state;
pub mod folios;
mod page_map;
pub mod residency;
pub mod trees;
