//! Designed experiments: analysis of variance with effects, intervals and contrasts.
//!
//! What was varied on purpose is a [`Factor`], what was observed a [`Table`]. [`analyse`] breaks
//! factorial designs of one, two or more factors down into effects (Jain, "The Art of Computer
//! Systems Performance Analysis", chapters 20 to 23), [`contrasts`] compares the levels of one
//! factor, and [`ranks`] has tests that do not assume normality. [`Diagnostic`]s say whether the
//! residuals meet the assumptions of all that.

mod analysis;
mod cells;
mod contrasts;
mod diagnostics;
mod fit;
mod general;
mod grid;
mod model;
mod precision;
pub mod ranks;
mod run_order;
mod sums;
mod table;
#[cfg(test)]
mod tests;
mod unbalanced;

pub use analysis::{
    Analysis, Effect, FQuantile, Interaction, LACK_OF_FIT, Options, Source, Totals, analyse,
};
pub use contrasts::{Adjustment, Contrast, contrasts};
pub use diagnostics::{Diagnostic, WARNING_P};
pub use model::{Model, ModelChoice, ModelReason};
pub use precision::Estimate;
pub use table::{Factor, Table, TableBuilder};

pub use crate::design_kind::{DesignKind, Replications};
pub use crate::refusal::Refused;

use grid::Grid;
