//! Reproduces papers: puts published numbers next to ours.
//!
//! [`bonnie_anova`] recomputes an analysis of variance of three file systems and five workloads
//! from the paper's numbers, and compares it with that of a run. [`rocket_science`] is a case
//! study, measured again by a run. [`memory_rich`] compares the paper's tables and figures with
//! those of a run, and judges its statements. [`fscache`] compares a network file system's cache
//! with what its author measured. [`densefs`] shows what file systems touch in the processor's
//! caches, traced again.

#![forbid(unsafe_code)]

pub mod bonnie_anova;
pub mod densefs;
pub mod fscache;
mod gathered;
mod hypothesis;
mod item;
mod margin;
pub mod memory_rich;
#[cfg(test)]
mod nulls;
mod picture;
mod reproduced;
pub mod rocket_science;
mod statement;

pub use item::{Agreement, Item, Printed};
pub use reproduced::Reproduced;
pub use statement::{Outcome, Statement};
