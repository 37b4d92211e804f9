//! Rates by file system, action and block, and the paper's analysis of each block.

use std::collections::BTreeMap;

use record::StandardMetric;
use serde::Serialize;
use stats::design::{Analysis, ModelChoice, Options, TableBuilder, analyse};

use super::{Clock, LEVEL};
use crate::bonnie_anova::published::ACTIONS;
use crate::bonnie_anova::tables::FACTORS;
use crate::gathered::Gathered;
use crate::hypothesis::Number;

/// The phases of Bonnie that the paper calls actions, in its order.
const PHASES: [&str; 5] = ["char-output", "block-output", "rewrite", "char-input", "block-input"];
/// Bonnie's K, in bytes.
const KIB: f64 = 1024.0;
/// Millions of instructions per second of a clock on which each instruction takes a nanosecond.
const NANOS_OF_MILLION: f64 = 1000.0;

/// A mean over blocks with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower end of its interval; `None` for a single block.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Estimate {
    /// The mean of these values; `None` if there are none.
    pub(super) fn from_values(values: &[f64], level: f64) -> Option<Self> {
        let found = Number::mean(values, level)?;
        let (low, high) = found.interval.unzip();
        Some(Self { mean: found.value, low, high })
    }
}

/// What a run observed.
#[derive(Default)]
pub(super) struct Observed {
    /// The file systems, in the run's order.
    pub(super) file_systems: Vec<String>,
    /// Rates in kB/s, or in KiB per million instructions, by file system and action.
    rates: BTreeMap<(String, &'static str), BTreeMap<u32, f64>>,
}

impl Observed {
    pub(super) fn new(gathered: &Gathered<'_>, clock: Clock) -> Self {
        let unit = match clock {
            Clock::Time => KIB,
            Clock::Instructions => KIB * NANOS_OF_MILLION,
        };
        let mut found = Self::default();
        for (phase, action) in PHASES.into_iter().zip(ACTIONS) {
            for (cell, replicates) in gathered.named(phase) {
                let name = StandardMetric::BANDWIDTH.name;
                let position = cell.metrics.iter().position(|metric| metric.name == name);
                let rate = |one: &&record::Replicate| {
                    Some((one.block, one.metrics.get(position?)? / unit))
                };
                let rates: BTreeMap<u32, f64> = replicates.iter().filter_map(rate).collect();
                found.add(&cell.target, action, rates);
            }
        }
        found
    }

    /// Adds the rates of a cell, by block.
    pub(super) fn add(
        &mut self,
        file_system: &str,
        action: &'static str,
        rates: BTreeMap<u32, f64>,
    ) {
        if rates.is_empty() {
            return;
        }
        if !self.file_systems.iter().any(|one| one == file_system) {
            self.file_systems.push(file_system.to_owned());
        }
        self.rates.insert((file_system.to_owned(), action), rates);
    }

    /// The mean rate of a cell.
    pub(super) fn rate(&self, file_system: &str, action: &'static str) -> Option<Estimate> {
        let rates = self.rates.get(&(file_system.to_owned(), action))?;
        let rates: Vec<f64> = rates.values().copied().collect();
        Estimate::from_values(&rates, LEVEL)
    }

    /// The blocks that contain every action on each of these file systems.
    pub(super) fn complete(&self, file_systems: &[String]) -> Vec<u32> {
        let cell = |one: &String, action: &'static str| self.rates.get(&(one.clone(), action));
        let Some(first) = file_systems.first().and_then(|one| cell(one, ACTIONS[0])) else {
            return Vec::new();
        };
        let has_all = |block: &&u32| {
            file_systems.iter().all(|one| {
                ACTIONS
                    .iter()
                    .all(|&action| cell(one, action).is_some_and(|rates| rates.contains_key(block)))
            })
        };
        first.keys().filter(has_all).copied().collect()
    }

    /// The analysis of these file systems, block by block.
    pub(super) fn blocks(&self, file_systems: &[String]) -> Blocks {
        let complete = self.complete(file_systems);
        let analysis = |&block: &u32| self.analysis(file_systems, &[block]);
        Blocks(complete.iter().filter_map(analysis).collect())
    }

    /// The joint analysis of all blocks.
    pub(super) fn together(&self) -> Option<Analysis> {
        self.analysis(&self.file_systems, &self.complete(&self.file_systems))
    }

    fn analysis(&self, file_systems: &[String], blocks: &[u32]) -> Option<Analysis> {
        let mut table = TableBuilder::new(FACTORS);
        for &block in blocks {
            for action in ACTIONS {
                for one in file_systems {
                    let rate = self.rates.get(&(one.clone(), action))?.get(&block)?;
                    table.row(&[one.as_str(), action], *rate).ok()?;
                }
            }
        }
        let levels = vec![LEVEL];
        let options = Options { model: ModelChoice::Additive, levels, ..Options::default() };
        analyse(&table.build().ok()?, &options).ok()
    }
}

/// The paper's analysis of each block.
pub(super) struct Blocks(Vec<Analysis>);

impl Blocks {
    /// The mean over blocks of a figure that is computed for each.
    pub(super) fn mean(&self, of: impl Fn(&Analysis) -> Option<f64>) -> Option<Estimate> {
        self.mean_at(LEVEL, of)
    }

    /// The same, with an interval at another level.
    pub(super) fn mean_at(
        &self,
        level: f64,
        of: impl Fn(&Analysis) -> Option<f64>,
    ) -> Option<Estimate> {
        let values: Vec<f64> = self.0.iter().filter_map(of).collect();
        Estimate::from_values(&values, level)
    }

    /// The levels of a factor.
    pub(super) fn levels(&self, factor: &str) -> Vec<String> {
        let effects = self.0.first().map(|analysis| analysis.effects.iter());
        let of_factor = effects.into_iter().flatten().filter(|effect| effect.factor == factor);
        of_factor.map(|effect| effect.level.clone()).collect()
    }
}

/// The effect of a level, in percent of the grand mean.
pub(super) fn effect(analysis: &Analysis, factor: &str, level: &str) -> Option<f64> {
    let mut effects = analysis.effects.iter();
    let found = effects.find(|one| one.factor == factor && one.level == level)?;
    Some(100.0 * found.estimate.estimate / analysis.grand_mean.estimate)
}

/// By how much one level is above another, in percent of the grand mean.
pub(super) fn difference(
    analysis: &Analysis,
    factor: &str,
    first: &str,
    second: &str,
) -> Option<f64> {
    Some(effect(analysis, factor, first)? - effect(analysis, factor, second)?)
}

/// The share of the variation that a source explains, in percent.
pub(super) fn share(analysis: &Analysis, source: &str) -> Option<f64> {
    let found = analysis.anova.iter().find(|one| one.name == source)?;
    Some(found.percent_of_variation)
}
