//! What commands do before and after measuring: read inputs, choose and make targets, start, resume
//! and repeat runs, trace guests.

pub(crate) mod input;
pub(crate) mod loads;
pub(crate) mod named;
pub(crate) mod runs;
pub(crate) mod start;
pub(crate) mod targets;
pub(crate) mod timed;
pub(crate) mod tracing;
