//! Howells, "FS-Cache Benchmarks" (linux-kernel, 25 November 2008): a network file system without
//! its cache, with a cold cache and with a hot one, in time and in remote procedure calls.
//!
//! The paper's averages are recomputed. Its tables are shown beside those of a run of the suite
//! `fscache`, whose counts are exact and whose times are emulated: statements about times are only
//! judged if the link was the bottleneck, or if emulation can only make a difference smaller.

mod published;
mod statements;
mod text;

use std::collections::BTreeMap;

use network_suite::{EMULATED_TIME, is_network_bound};
use record::{Cell, Replicate, Run};
use serde::Serialize;
use stats::Sample;

use crate::gathered::{self, Gathered};
use crate::hypothesis::Number;
pub use crate::item::{Agreement, Item};
pub use crate::statement::{Outcome, Statement};

/// The paper.
const PAPER: &str = "D. Howells, FS-Cache Benchmarks, linux-kernel, 25 November 2008";

/// The level of all intervals.
const LEVEL: f64 = 0.95;

/// The paper's short name.
pub const NAME: &str = "fscache-benchmarks";

/// The paper, as reproduced here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// The paper.
    pub paper: &'static str,
    /// The name of the run.
    pub run: String,
    /// The averages and the rate in the paper, recomputed.
    pub recomputed: Vec<Item>,
    /// The two tables of times.
    pub times: Vec<TimeRow>,
    /// The table of RPCs.
    pub calls: Vec<CallRow>,
    /// What the paper says, and what was found here.
    pub statements: Vec<Statement>,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
}

/// A row of a table of times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeRow {
    /// The benchmark.
    pub benchmark: &'static str,
    /// The state.
    pub state: &'static str,
    /// The mean of the paper's runs, in seconds.
    pub published_s: f64,
    /// The same relative to the paper's NONE.
    pub published_to_none: f64,
    /// The median measured here, in emulated seconds.
    pub emulated_s: Option<f64>,
    /// The same relative to NONE here; `None` unless the link was the bottleneck in both.
    pub to_none: Option<f64>,
}

/// A row of the table of RPCs for reading the tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallRow {
    /// The state.
    pub state: &'static str,
    /// What is counted.
    pub counted: &'static str,
    /// What the paper counted.
    pub published: f64,
    /// The same per file of the tree, or per byte.
    pub published_share: f64,
    /// The median measured here.
    pub measured: Option<f64>,
    /// The same per file, or per byte.
    pub share: Option<f64>,
}

impl Reproduction {
    /// Compares the paper with a run. `name` is the run's name.
    #[must_use]
    pub fn from_run(run: &Run, name: &str) -> Self {
        let measured = MeasuredRun { gathered: Gathered::new(run) };
        Self {
            paper: PAPER,
            run: name.to_owned(),
            recomputed: published::recomputed(),
            times: times(&measured),
            calls: calls(&measured),
            statements: statements::statements(&measured),
            missing: gathered::missing(run),
        }
    }

    /// Renders the comparison for people.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        text::render(self, width)
    }
}

/// A ratio with its interval, by Student's t on logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ratio {
    mean: f64,
    interval: Option<(f64, f64)>,
}

impl Ratio {
    fn new(values: &[f64]) -> Option<Self> {
        match Number::geometric_mean(values, LEVEL) {
            Some(Number { value, interval }) => Some(Self { mean: value, interval }),
            None => Some(Self { mean: Sample::new(values).ok()?.mean(), interval: None }),
        }
    }
}

impl Ratio {
    /// What is left of 1.
    fn taken_from_one(self) -> Self {
        let interval = self.interval.map(|(low, high)| (1.0 - high, 1.0 - low));
        Self { mean: 1.0 - self.mean, interval }
    }
}

/// What a run measured.
struct MeasuredRun<'a> {
    gathered: Gathered<'a>,
}

impl MeasuredRun<'_> {
    /// The cell of a benchmark in a state and its replicates; `None` without replicates.
    fn cell(&self, benchmark: &str, state: &str) -> Option<(&Cell, &[&Replicate])> {
        let of_state = |cell: &Cell| {
            cell.parameters.get("state").and_then(serde_json::Value::as_str) == Some(state)
        };
        let mut cells = self.gathered.named(benchmark).filter(|(cell, _)| of_state(cell));
        cells.next().filter(|(_, replicates)| !replicates.is_empty())
    }

    /// The median of a metric.
    fn median(&self, benchmark: &str, state: &str, metric: &str) -> Option<f64> {
        let (cell, replicates) = self.cell(benchmark, state)?;
        Some(gathered::estimate(&gathered::values(cell, replicates, metric))?.median)
    }

    fn seconds(&self, benchmark: &str, state: &str) -> Option<f64> {
        Some(self.median(benchmark, state, EMULATED_TIME)? / 1e9)
    }

    /// Whether the link was the bottleneck in every replicate.
    fn is_network_bound(&self, benchmark: &str, state: &str) -> bool {
        let Some((cell, replicates)) = self.cell(benchmark, state) else { return false };
        let value = |one: &&Replicate, metric: &str| {
            gathered::values(cell, &[one], metric).first().copied().unwrap_or(0.0)
        };
        replicates.iter().all(|one| is_network_bound(|metric| value(one, metric)))
    }

    /// A time relative to that in another state, if the link was the bottleneck in both.
    fn ratio(&self, benchmark: &str, state: &str, to: &str) -> Option<f64> {
        let is_bound = [state, to].iter().all(|state| self.is_network_bound(benchmark, state));
        let ratio = self.seconds(benchmark, state)? / self.seconds(benchmark, to)?;
        (is_bound && ratio.is_finite()).then_some(ratio)
    }

    /// Values of a metric by block.
    fn by_block(&self, benchmark: &str, state: &str, metric: &str) -> Option<BTreeMap<u32, f64>> {
        let (cell, replicates) = self.cell(benchmark, state)?;
        let value =
            |one: &&Replicate| Some((one.block, *gathered::values(cell, &[one], metric).first()?));
        Some(replicates.iter().filter_map(value).collect())
    }

    /// A metric of one state over that of another: the geometric mean over the blocks that have
    /// both, with its interval if there are two or more.
    fn over(&self, benchmark: &str, [state, to]: [&str; 2], metric: &str) -> Option<Ratio> {
        let of = self.by_block(benchmark, state, metric)?;
        let over = self.by_block(benchmark, to, metric)?;
        let ratio = |(block, value): (&u32, &f64)| Some(value / over.get(block)?);
        Ratio::new(&of.iter().filter_map(ratio).collect::<Vec<_>>())
    }

    /// Number of files in the tree.
    fn tree_files(&self) -> Option<f64> {
        let (cell, _) = self.cell("tree", "none").or_else(|| self.cell("tree", "cold"))?;
        cell.parameters.get("files")?.as_f64()
    }

    /// Size of the tree in bytes.
    fn tree_bytes(&self) -> Option<f64> {
        let (cell, _) = self.cell("tree", "none").or_else(|| self.cell("tree", "cold"))?;
        cell.parameters.get("bytes")?.as_f64()
    }
}

fn times(measured: &MeasuredRun<'_>) -> Vec<TimeRow> {
    let tables = [("file", &published::FILE), ("tree", &published::TREE)];
    let rows = tables.into_iter().flat_map(|(benchmark, rows)| {
        let none = published::mean_minutes(rows[1].seconds);
        rows.iter().map(move |row| {
            let minutes = published::mean_minutes(row.seconds);
            TimeRow {
                benchmark,
                state: row.state,
                published_s: minutes * 60.0,
                published_to_none: minutes / none,
                emulated_s: measured.seconds(benchmark, row.state),
                to_none: measured.ratio(benchmark, row.state, "none"),
            }
        })
    });
    rows.collect()
}

/// The number of files in the paper's tree, and its size.
const PAPER_FILES: f64 = 19_258.0;
const PAPER_BYTES: f64 = 221_252_168.0;

fn calls(measured: &MeasuredRun<'_>) -> Vec<CallRow> {
    let (files, bytes) = (measured.tree_files(), measured.tree_bytes());
    let rows = published::CALLS.iter().flat_map(|row| {
        let counted = [
            ("GETATTR", "rpc_getattr", row.getattr, PAPER_FILES, files),
            ("ACCESS", "rpc_access", row.access, PAPER_FILES, files),
            ("READ", "rpc_read", row.read, PAPER_FILES, files),
            ("bytes read", network_suite::SERVER_BYTES, row.read_bytes, PAPER_BYTES, bytes),
        ];
        counted.map(|(counted, metric, published, of, here)| {
            let value = measured.median("tree", row.state, metric);
            CallRow {
                state: row.state,
                counted,
                published,
                published_share: published / of,
                measured: value,
                share: value.zip(here).map(|(value, here)| value / here),
            }
        })
    });
    rows.collect()
}
