//! The analysis of traces: against traces computed by hand, against gdb, and how fast it is.

mod figures;
mod made;
mod speed;
mod stacks;
