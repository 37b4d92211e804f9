//! What targets are measured under: limits on memory and devices, and the kernel's read-ahead.

pub(crate) mod control_groups;
pub(crate) mod hierarchy;
pub(crate) mod read_ahead_in_force;

pub use control_groups::{ConditionCaveat, ConditionsInForce, Entered};
