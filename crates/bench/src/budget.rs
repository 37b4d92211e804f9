//! Does a figure depend on the duration of the run?
//!
//! Surveys of the default targets with short budgets and with a long one, for several seeds: how
//! often the interval of a short run contains the long run's figure, and how far apart they are.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::Value;

use crate::processes;

const SHORT: [&str; 2] = ["30s", "2m"];
const LONG: &str = "10m";
const SEEDS: u64 = 5;

/// A figure and its interval, if it has one.
#[derive(Clone, Copy, Debug)]
struct Figure {
    median: f64,
    interval: Option<(f64, f64)>,
}

/// Figures by target and benchmark.
type Figures = BTreeMap<(String, String), Figure>;

/// The results of one short budget's runs.
#[derive(Debug, Default)]
struct BudgetResults {
    cells: u32,
    held: u32,
    /// |short / long - 1| of each.
    apart: Vec<f64>,
    /// Half-widths of the intervals, relative to the median.
    half_widths: Vec<f64>,
}

/// Runs all surveys and prints the table.
pub(crate) fn measure(seeds: Option<u64>) -> anyhow::Result<()> {
    let fsprism = processes::binary()?;
    let out = tempfile::tempdir()?;
    let mut all: BTreeMap<&str, BudgetResults> = BTreeMap::new();
    for seed in 1..=seeds.unwrap_or(SEEDS) {
        let survey = |budget: &str| survey(&fsprism, budget, seed, out.path());
        let long = survey(LONG)?;
        for budget in SHORT {
            let held = all.entry(budget).or_default();
            held.add(&survey(budget)?, &long);
            println!("{}", held.row(budget, seed));
        }
    }
    Ok(())
}

fn survey(fsprism: &Path, budget: &str, seed: u64, out: &Path) -> anyhow::Result<Figures> {
    let seed = seed.to_string();
    let output = Command::new(fsprism)
        .args(["survey", "--format", "json", "--budget", budget, "--seed", &seed, "--out"])
        .arg(out.join(format!("{budget}-{seed}")))
        .stderr(Stdio::null())
        .output()
        .context("fsprism could not be started")?;
    let document = serde_json::from_slice(&output.stdout).context("fsprism printed no document")?;
    figures(&document).context("the document has no cells")
}

fn figures(document: &Value) -> Option<Figures> {
    let cells = document["cells"].as_array()?;
    let figure = |cell: &Value| {
        let metric = cell["metrics"].get(0)?;
        let (low, high) = (&metric["interval"]["low"], &metric["interval"]["high"]);
        let key = (cell["target"].as_str()?.to_owned(), cell["benchmark"].as_str()?.to_owned());
        let interval = low.as_f64().zip(high.as_f64());
        Some((key, Figure { median: metric["median"].as_f64()?, interval }))
    };
    Some(cells.iter().filter_map(figure).collect())
}

impl BudgetResults {
    /// Compares the figures of a short run with those of a long one, if both have them.
    fn add(&mut self, short: &Figures, long: &Figures) {
        for (key, figure) in short {
            let (Some(other), Some((low, high))) = (long.get(key), figure.interval) else {
                continue;
            };
            self.cells += 1;
            self.held += u32::from(low <= other.median && other.median <= high);
            if figure.median > 0.0 && other.median > 0.0 {
                self.apart.push((figure.median / other.median - 1.0).abs());
                self.half_widths.push((high - low) / 2.0 / figure.median);
            }
        }
    }

    fn row(&self, budget: &str, seeds: u64) -> String {
        let share = f64::from(self.held) / f64::from(self.cells.max(1));
        format!(
            "{budget} against {LONG}, {seeds} seeds: {} of {} intervals hold the long run's figure \
             ({:.1} %); median of |ratio - 1| {:.1} %; intervals +-{:.1} % in the middle, \
             +-{:.0} % at most",
            self.held,
            self.cells,
            100.0 * share,
            100.0 * quantile(&self.apart, 0.5),
            100.0 * quantile(&self.half_widths, 0.5),
            100.0 * quantile(&self.half_widths, 1.0),
        )
    }
}

/// The quantile at this share; 0 if there are no values.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let place = (last as f64 * share).round() as usize;
    sorted.get(place).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn figures_of(cells: &[(&str, f64, f64, f64)]) -> Figures {
        let cell = |&(benchmark, median, low, high): &(&str, f64, f64, f64)| {
            let interval = json!({"level": 0.95, "low": low, "high": high});
            let metrics = json!([{"median": median, "interval": interval}]);
            json!({"target": "ext4", "benchmark": benchmark, "metrics": metrics})
        };
        let cells: Vec<Value> = cells.iter().map(cell).collect();
        figures(&json!({ "cells": cells })).expect("it has cells")
    }

    #[test]
    fn what_both_have_is_held_beside_each_other() {
        let short = figures_of(&[("read", 110.0, 90.0, 130.0), ("stat", 50.0, 48.0, 52.0)]);
        let long = figures_of(&[("read", 100.0, 99.0, 101.0), ("stat", 40.0, 39.0, 41.0)]);
        let mut held = BudgetResults::default();
        held.add(&short, &long);
        held.add(&figures_of(&[("rename", 1.0, 1.0, 1.0)]), &long);
        assert_eq!((held.cells, held.held), (2, 1));
        let row = held.row("30s", 1);
        assert!(row.contains("1 of 2 intervals") && row.contains("(50.0 %)"), "{row}");
    }
}
