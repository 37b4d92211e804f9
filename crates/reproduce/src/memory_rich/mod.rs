//! Wang, Kuenning, Reiher & Popek, "The Effects of Memory-Rich Environments on File System
//! Microbenchmarks" (SPECTS 2003): its tables and figures, measured again.
//!
//! As in the paper, the first run is dropped, and the means of the others are shown with their
//! intervals at 90 % by Student's t. Ratios are between two phases in the same block, so that
//! whatever is common to a block cancels out. Table 7 comes from the paper's model of a cache,
//! computed again. What the paper counted in its processor's cache is counted in a simulated one.

mod claims;
mod declared;
mod figure_8;
mod published;
mod text;
mod traffic;

use std::collections::BTreeMap;

use caches::naive::{Naive, Phase, Question};
use record::{Cell, Replicate, Run, StandardMetric};
use serde::Serialize;
use stats::{Sample, interval};

use self::published::Unit;
pub use self::text::model as model_text;
pub use self::traffic::{Traffic, TrafficRow};
use crate::gathered::{self, Gathered};
use crate::hypothesis::Number;
pub use crate::statement::{Outcome, Statement};

/// The level of all intervals: the paper's.
const LEVEL: f64 = 0.9;
/// The suite whose runs are reproduced here.
pub const SUITE: &str = "memory-rich-microbenchmarks";

/// What was measured of the paper's tables and figures, and how it compares with them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// The paper.
    pub paper: &'static str,
    /// The name of the run.
    pub run: String,
    /// The level of all intervals.
    pub level: f64,
    /// Tables and figures that the run has measured.
    pub items: Vec<ItemFigures>,
    /// Table 7, which includes Figures 2 and 3.
    pub model: Vec<ModelRow>,
    /// Section 4.6.1, if there is a run that counted it.
    pub traffic: Option<Traffic>,
    /// What the paper says, and what was found here.
    pub statements: Vec<Statement>,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
}

/// A table or figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemFigures {
    /// Its name as an item: `table-2`.
    pub item: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The unit of its rates: MB (of 2^20 bytes) or files per second.
    pub unit: &'static str,
    /// Its phases, in order.
    pub rows: Vec<PhaseRow>,
}

/// A phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseRow {
    /// Its name.
    pub phase: String,
    /// What the paper prints, by column; empty if it only draws a figure.
    pub published: BTreeMap<&'static str, &'static str>,
    /// What was measured, by target.
    pub measured: Vec<PhaseFigure>,
}

/// The rate of a phase on one target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseFigure {
    /// The target.
    pub target: String,
    /// Mean over all runs but the first, in the unit of its table.
    pub mean: f64,
    /// Half the width of its interval; `None` with fewer than three runs.
    pub half_width: Option<f64>,
}

/// One phase in the paper's model of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ModelRow {
    /// `write` or `read`.
    pub phase: &'static str,
    /// How many of the cache's four lines the file system and the benchmark occupy.
    pub footprint_lines: u64,
    /// Flushes in the paper.
    pub published_flushes: u64,
    /// Flushes computed here.
    pub computed_flushes: u64,
}

impl Reproduction {
    /// Reproduces the tables and figures from a run, and section 4.6.1 from the run `counted`.
    /// `name` is the run's name.
    #[must_use]
    pub fn from_run(run: &Run, name: &str, counted: Option<&Run>) -> Self {
        let gathered = Gathered::new(run);
        let measured = MeasuredRates::new(&gathered);
        let traffic = counted.and_then(Traffic::from_run);
        let mut statements = claims::all(&measured);
        statements.extend(traffic.as_ref().and_then(Traffic::statement));
        Self {
            paper: "Wang et al., The Effects of Memory-Rich Environments on File System \
                    Microbenchmarks",
            run: name.to_owned(),
            level: LEVEL,
            items: published::ITEMS.iter().filter_map(|one| figures(one, &gathered)).collect(),
            model: model(),
            traffic,
            statements,
            missing: gathered::missing(run),
        }
    }

    /// Renders the reproduction for people.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        text::render(self, width)
    }
}

/// Rates by target and benchmark, and by block; the first block is dropped.
struct MeasuredRates {
    targets: Vec<String>,
    by_cell: BTreeMap<(String, String), BTreeMap<u32, f64>>,
}

impl MeasuredRates {
    fn new(gathered: &Gathered<'_>) -> Self {
        let mut targets: Vec<String> = Vec::new();
        let mut by_cell = BTreeMap::new();
        for (cell, replicates) in &gathered.cells {
            if !targets.contains(&cell.target) {
                targets.push(cell.target.clone());
            }
            let values = rates(cell, replicates);
            by_cell.insert((cell.target.clone(), cell.benchmark.clone()), values);
        }
        Self { targets, by_cell }
    }

    /// The rates of a benchmark on a target, by block.
    fn rates(&self, target: &str, benchmark: &str) -> Option<&BTreeMap<u32, f64>> {
        self.by_cell.get(&(target.to_owned(), benchmark.to_owned()))
    }
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ratio {
    mean: f64,
    low: f64,
    high: f64,
}

impl Ratio {
    /// The product of some rates over that of others: the geometric mean over the blocks that
    /// contain all of them.
    fn of_products(of: &[&BTreeMap<u32, f64>], over: &[&BTreeMap<u32, f64>]) -> Option<Self> {
        let product = |rates: &[&BTreeMap<u32, f64>], block: &u32| {
            rates.iter().map(|one| one.get(block)).product::<Option<f64>>()
        };
        let ratio = |block| Some(product(of, block)? / product(over, block)?);
        let ratios: Vec<f64> = of.first()?.keys().filter_map(ratio).collect();
        let found = Number::geometric_mean(&ratios, LEVEL)?;
        let (low, high) = found.interval?;
        Some(Self { mean: found.value, low, high })
    }
}

/// The rates of a cell by block, without the first block.
fn rates(cell: &Cell, replicates: &[&Replicate]) -> BTreeMap<u32, f64> {
    let names = [StandardMetric::BANDWIDTH, StandardMetric::THROUGHPUT].map(|one| one.name);
    let position = cell.metrics.iter().position(|one| names.contains(&one.name.as_str()));
    let value = |one: &&Replicate| Some((one.block, one.metrics.get(position?).copied()?));
    let mut values: BTreeMap<u32, f64> = replicates.iter().filter_map(value).collect();
    values.remove(&0);
    values
}

/// A table or figure as measured; `None` if the run contains nothing of it.
fn figures(one: &published::Item, gathered: &Gathered<'_>) -> Option<ItemFigures> {
    let prefix = format!("{}-", one.item);
    let mut rows: Vec<PhaseRow> = Vec::new();
    for (cell, replicates) in &gathered.cells {
        let Some(phase) = cell.benchmark.strip_prefix(&prefix) else { continue };
        let Some(figure) = figure(one.unit, cell, replicates) else { continue };
        match rows.iter_mut().find(|row| row.phase == phase) {
            Some(row) => row.measured.push(figure),
            None => rows.push(PhaseRow {
                phase: phase.to_owned(),
                published: one.published(phase),
                measured: vec![figure],
            }),
        }
    }
    let unit = one.unit.name();
    (!rows.is_empty()).then_some(ItemFigures { item: one.item, title: one.title, unit, rows })
}

fn figure(unit: Unit, cell: &Cell, replicates: &[&Replicate]) -> Option<PhaseFigure> {
    let values = rates(cell, replicates).into_values().map(|rate| rate / unit.divisor());
    let sample = Sample::new(values.collect::<Vec<f64>>()).ok()?;
    let interval = interval::mean_interval(&sample, LEVEL).ok();
    Some(PhaseFigure {
        target: cell.target.clone(),
        mean: sample.mean(),
        half_width: interval.map(|one| one.half_width()),
    })
}

/// The items that are computed from the paper's model of a cache.
pub const MODEL_ITEMS: [&str; 3] = ["table-7", "figure-2", "figure-3"];

/// Table 7, and the results of Figures 2 and 3, from the paper's model of a cache: it has four
/// lines, three or one of them occupied, and the file has 16 segments.
#[must_use]
pub fn model() -> Vec<ModelRow> {
    let row = |(phase, index, footprint_lines, published_flushes)| {
        let phases = vec![Phase::Write, Phase::Read];
        let question = Question { lines: 4, footprint: footprint_lines, file: 16, phases };
        let answer = Naive::new(question).ok()?.answer();
        let computed_flushes = answer.phases.get::<usize>(index)?.flushes;
        Some(ModelRow { phase, footprint_lines, published_flushes, computed_flushes })
    };
    [("write", 0, 3, 15), ("read", 1, 3, 1), ("write", 0, 1, 13), ("read", 1, 1, 3)]
        .into_iter()
        .filter_map(row)
        .collect()
}

#[cfg(test)]
mod tests;
