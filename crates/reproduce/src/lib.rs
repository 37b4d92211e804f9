//! Papers computed again: every number that one prints beside what comes out here.
//!
//! [`bonnie_anova`] is an analysis of variance of three file systems on five workloads.

#![forbid(unsafe_code)]

pub mod bonnie_anova;
mod item;
mod picture;

pub use item::{Agreement, Item, Printed};
