//! The analysis of traces: against traces computed by hand, against gdb, and how fast it is.

mod anything;
mod backtraces;
mod cachegrind;
mod figures;
mod made;
mod native;
mod speed;
mod stacks;
