//! Papers done again: what one prints beside what comes out here.
//!
//! [`bonnie_anova`] is an analysis of variance of three file systems on five workloads, computed
//! again from the paper's numbers. [`rocket_science`] is a case study that a run has measured
//! again. [`densefs`] is what file systems touch of the processor's caches, traced again.

#![forbid(unsafe_code)]

pub mod bonnie_anova;
pub mod densefs;
mod gathered;
mod item;
mod picture;
pub mod rocket_science;
mod statement;

pub use item::{Agreement, Item, Printed};
