//! Turns errors of any type into the failure of a cell.

use std::fmt::Display;

use runner::Failure;

/// The failure of a cell that cannot be measured because of `error`.
pub(crate) fn failed(error: &dyn Display) -> Failure {
    Failure::Cell { why: error.to_string() }
}
