//! Papers done again: what one prints beside what comes out here.
//!
//! [`bonnie_anova`] is an analysis of variance of three file systems on five workloads, computed
//! again from the paper's numbers. [`rocket_science`] is a case study that a run has measured
//! again.

#![forbid(unsafe_code)]

pub mod bonnie_anova;
mod item;
mod picture;
pub mod rocket_science;

pub use item::{Agreement, Item, Printed};
