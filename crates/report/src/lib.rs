//! The analysis of a run, and its rendering for the terminal, as JSON, as CSV and in the formats of
//! other tools.
//!
//! [`AnalysedRun::new`] turns a run directory into a [`record::Document`]: estimates with
//! intervals, comparisons between targets, and reasons to doubt each of them. The `render_*`
//! functions turn the document into text. They decide nothing: everything they say is already in
//! the document. Nothing here prints.
//!
//! From the bottom up: `analysis` computes, and an [`AnalysedRun`] is a run with the result.
//! `units` and `layout` are shared by everything that writes text, and `sentences` by the terminal
//! and the page. `terminal`, `network`, `check`, `compare` and `export` each present one aspect;
//! [`page`] is on top and includes them all.

mod analysed_run;
mod analysis;
pub mod check;
pub mod compare;
mod counted;
pub mod export;
pub mod footprint;
mod layout;
mod network;
pub mod page;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod sample_search;
mod sentences;
mod terminal;
mod traffic;
mod units;

pub use analysed_run::AnalysedRun;
pub use analysis::{Load, LoadError, known_loads, read_load};
pub use counted::counted_by_processor;
pub use layout::Options;
pub use network::{NetworkDocument, network, render_network};
pub use page::{ComparedPair, Comparison, render_comparison, render_html};
pub use terminal::{has_answer, reasons, render_answer, render_machine, render_terminal};
pub use traffic::{traffic_alone, traffic_beside};
