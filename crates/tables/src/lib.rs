//! Anybody's table: read and validated once, analysed by `stats`, and what comes out as a document
//! for programs and as tables and sentences for people.
//!
//! There is no I/O here: text comes in and goes out. Where to start: [`Grid`] is a table of text
//! cells, [`Observations`] and [`series`] are what analyses take.

#![forbid(unsafe_code)]

pub mod answer;
mod decimal;
mod error;
mod grid;
mod observations;
mod series;
pub mod text;

pub use error::InputError;
pub use grid::{Grid, Row};
pub use observations::Observations;
pub use series::{pairs, series};
