//! The analysis of traces, compared with traces computed by hand and with gdb.

mod anything;
mod backtraces;
mod cachegrind;
mod figures;
mod made;
mod native;
mod owners;
mod stacks;
