//! A run in the formats of other programs: a table, JSON, and the formats of tools that store, plot
//! and monitor benchmark results. docs/exports.md describes the mapping.
//!
//! Each is a function of the document, and of the run if single replicates are needed. None
//! computes a figure that the document does not have, except for sums over replicates. What a
//! format cannot represent is left out and counted: [`Export::left_out`].

mod bmf;
mod bonnie;
mod csv;
mod csv_summary;
mod fio;
mod github;
mod json;
mod latencies;
mod markdown;
mod names;
mod openmetrics;

use std::fmt;

pub use bmf::render_bmf;
pub use bonnie::{BonnieExport, BonnieForm, NotBonnie};
pub use csv::render_csv;
pub use csv_summary::render_csv_summary;
pub use fio::render_fio;
pub use github::{Direction, render_github};
pub use json::render_json;
pub use latencies::Latencies;
pub use markdown::render_markdown;
pub use openmetrics::render_openmetrics;

/// A run in a foreign format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The whole document, including the last line break.
    pub text: String,
    /// What the format cannot represent; never with a count of 0.
    pub left_out: Vec<LeftOut>,
}

/// Cells that are missing from an export. `Display` is the sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub cells: usize,
    /// Why, as the end of a sentence.
    pub why: &'static str,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = if self.cells == 1 { "cell is" } else { "cells are" };
        write!(f, "{} {cells} left out: {}", self.cells, self.why)
    }
}

/// Cells left out so far, by reason, in the order in which the reasons first occurred.
#[derive(Debug, Default)]
struct Omissions(Vec<LeftOut>);

impl Omissions {
    fn add(&mut self, why: &'static str) {
        match self.0.iter_mut().find(|one| one.why == why) {
            Some(known) => known.cells += 1,
            None => self.0.push(LeftOut { cells: 1, why }),
        }
    }
}

/// Why a cell without a figure is left out.
const NOT_MEASURED: &str = "no replicate counts";
/// Why the cells of a search are not tracked from run to run.
const SEARCHED: &str = "a search chose them, so the next run will measure different ones";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_left_out_are_counted_by_reason() {
        let mut omissions = Omissions::default();
        [SEARCHED, NOT_MEASURED, SEARCHED].into_iter().for_each(|why| omissions.add(why));
        let said: Vec<String> = omissions.0.iter().map(ToString::to_string).collect();
        assert_eq!(said[0], format!("2 cells are left out: {SEARCHED}"));
        assert_eq!(said[1], format!("1 cell is left out: {NOT_MEASURED}"));
    }
}
