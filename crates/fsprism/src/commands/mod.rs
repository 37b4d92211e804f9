//! The commands: each from its options to what it prints.

pub(crate) mod check;
pub(crate) mod cliff;
pub(crate) mod compare;
pub(crate) mod completions;
mod counted;
pub(crate) mod densefs;
mod dry_run;
pub(crate) mod footprint;
pub(crate) mod lab;
mod list;
pub(crate) mod machine;
pub(crate) mod manual;
mod mounted;
pub(crate) mod network;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod runs;
pub(crate) mod stats;
pub(crate) mod survey;
mod traffic;
