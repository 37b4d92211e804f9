//! What commands do before and after they measure: inputs read, targets chosen and made, runs
//! begun, resumed and repeated, guests traced.

pub(crate) mod input;
pub(crate) mod loads;
pub(crate) mod named;
pub(crate) mod runs;
pub(crate) mod start;
pub(crate) mod targets;
pub(crate) mod timed;
pub(crate) mod tracing;
