//! The analysis of a run, and its rendering for the terminal, as JSON, as CSV and in the formats of
//! other tools.
//!
//! [`Source::new`] turns a run directory into a [`record::Document`]: estimates with intervals,
//! comparisons between targets, and what makes each of them doubtful. The `render_*` functions turn
//! the document into text and decide nothing: all they say is in the document. Nothing here prints.
//!
//! Start reading at `analysis` for what is computed and `terminal` for how it is worded.

mod analysis;
pub mod check;
pub mod compare;
mod counted;
pub mod export;
pub mod footprint;
mod network;
pub mod page;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod sample_search;
mod terminal;
mod traffic;

pub use analysis::{Load, LoadError, known_loads, read_load};
pub use counted::counted_by_processor;
pub use network::{NetworkDocument, network, render_network};
pub use page::{ComparedPair, Comparison, Source, render_comparison, render_html};
pub use terminal::{
    Options, dimension_name, has_answer, reasons, render_answer, render_machine, render_terminal,
};
pub use traffic::{traffic_alone, traffic_beside};
