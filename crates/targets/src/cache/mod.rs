//! What of a target's files is in memory: brought into a state, verified, counted, looked at.

pub mod cache_state;
pub mod folios;
mod page_map;
pub mod residency;
pub mod trees;
