//! The commands: each from its options to what it prints.

pub(crate) mod check;
pub(crate) mod cliff;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod densefs;
pub(crate) mod fio;
pub(crate) mod footprint;
pub(crate) mod lab;
pub(crate) mod machine;
pub(crate) mod manual;
pub(crate) mod papers;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod runs;
mod several_runs;
pub(crate) mod stats;
pub(crate) mod suites;
