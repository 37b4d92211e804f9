//! The analysis of traces, compared with traces computed by hand and with gdb; and its speed.

mod anything;
mod backtraces;
mod cachegrind;
mod figures;
mod made;
mod native;
mod speed;
mod stacks;
