//! Reads and validates any table once, analyses it with `stats`, and returns the result as a
//! document for programs and as tables and sentences for people.
//!
//! This crate does no I/O: text comes in and goes out. Where to start: [`Grid`] is a table of text
//! cells; [`Observations`] and [`series`] are the inputs of analyses.

#![forbid(unsafe_code)]

pub mod answer;
mod decimal;
mod error;
mod grid;
mod observations;
mod series;

pub use error::InputError;
pub use grid::{Grid, Row};
pub use observations::Observations;
pub use series::{pairs, series, series_by};
