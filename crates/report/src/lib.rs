//! What people look at: a run's analysis, and its rendering for the terminal, as JSON and as CSV.
//!
//! [`document`] turns a run directory into a [`record::Document`]: estimates with intervals,
//! comparisons between targets, and what makes each of them doubtful. The `render_*` functions
//! turn that into text and decide nothing: what they say is in the document. Nothing here prints.
//!
//! Start reading at `analysis` for what is computed and `terminal` for how it is said.

mod analysis;
pub mod compare;
mod csv;
mod json;
pub mod page;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod sample_search;
mod terminal;

pub use analysis::document;
pub use csv::render_csv;
pub use json::render_json;
pub use page::{Source, render_html};
pub use terminal::{Options, render_machine, render_terminal};
