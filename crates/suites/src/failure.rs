//! Errors of any kind as the failure of the cell that met them.

use std::fmt::Display;

use runner::Failure;

/// A cell that cannot be measured, for this reason.
pub(crate) fn failed(error: &dyn Display) -> Failure {
    Failure::Cell { why: error.to_string() }
}
