//! Every comparison with its ratio, interval and verdict.
//!
//! Within a run the pairs are blocks, and Student's t on the log ratios compares them. Blocks of
//! different runs have nothing in common: Welch's t on the logs compares those. The p-values of
//! all comparisons are adjusted together (Benjamini & Hochberg 1995).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use stats::equivalence::{self, Equivalence, Limits};
use stats::planning::power::least_detectable_deviations;
use stats::{Sample, multiple};
use tables::answer::IntervalDocument;

use super::sides::{NamedRun, Series};
use super::verdict::Verdict;
use crate::analysis::BLOCKS_LEAST;

/// How often the least detectable ratio would be detected.
const POWER: f64 = 0.8;

/// One comparison of two series on one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "RunComparison")]
pub struct Comparison {
    /// The suite.
    pub suite: String,
    /// The benchmark.
    pub benchmark: String,
    /// Its title for people.
    pub title: String,
    /// The metric compared.
    pub metric: String,
    /// Target of the first series.
    pub first: String,
    /// Target of the second series.
    pub second: String,
    /// Name of the first series' run.
    pub first_run: String,
    /// Name of the second series' run.
    pub second_run: String,
    /// Values of the first series that count.
    pub first_values: u64,
    /// Values of the second series that count.
    pub second_values: u64,
    /// Whether values of one block were paired.
    pub paired: bool,
    /// Second over first: of geometric means.
    pub ratio: Option<f64>,
    /// The interval of the ratio.
    pub interval: Option<IntervalDocument>,
    /// p of "the ratio is 1".
    pub p: Option<f64>,
    /// The same, adjusted for all comparisons.
    pub p_adjusted: Option<f64>,
    /// p of "the ratio is beyond the margin": two one-sided tests.
    pub p_within: Option<f64>,
    /// The least ratio above 1 that pairs like these show four times in five.
    pub least_detectable_ratio: Option<f64>,
    /// The word for it.
    pub verdict: Verdict,
}

/// All `pairs` of places in `series`, compared and judged.
pub(super) fn all(
    runs: &[NamedRun],
    series: &[Series],
    pairs: &[(usize, usize)],
    limits: Limits,
) -> Vec<Comparison> {
    let mut detectable = Detectable { level: limits.level, deviations: BTreeMap::new() };
    let compare = |&(first, second): &(usize, usize)| {
        let (first, second) = (&series[first], &series[second]);
        let values = Values::of(first, second);
        let found = values.compare(limits);
        let mut comparison = values.comparison(runs, (first, second), found.as_ref());
        comparison.least_detectable_ratio =
            found.as_ref().and_then(|_| detectable.ratio_between(&values));
        (comparison, found)
    };
    let mut compared: Vec<(Comparison, Option<Equivalence>)> = pairs.iter().map(compare).collect();
    let p_values: Vec<f64> =
        compared.iter().filter_map(|(_, found)| Some(found.as_ref()?.p_different)).collect();
    let adjusted = multiple::benjamini_hochberg(&p_values).expect("p lies between 0 and 1");
    let mut adjusted = adjusted.into_iter();
    for (comparison, found) in &mut compared {
        let Some(found) = found else { continue };
        let p = adjusted.next().expect("one for each that was compared");
        comparison.p_adjusted = Some(p);
        // Only the claim that there is something is adjusted for the number of claims.
        comparison.verdict = equivalence::Verdict::of(p, found.p_within, limits.level).into();
    }
    compared.into_iter().map(|(comparison, _)| comparison).collect()
}

/// The least differences that pairs show four times in five: per number of pairs, in deviations of
/// their log ratios.
struct Detectable {
    level: f64,
    deviations: BTreeMap<u64, Option<f64>>,
}

impl Detectable {
    /// The least ratio that pairs like these show.
    fn ratio_between(&mut self, values: &Values) -> Option<f64> {
        if !values.paired {
            return None;
        }
        let log = |(second, first): (&f64, &f64)| (second / first).ln();
        let logs: Vec<f64> = values.seconds.iter().zip(&values.firsts).map(log).collect();
        let (blocks, level) = (logs.len() as u64, self.level);
        let deviation = Sample::new(logs).ok()?.standard_deviation().ok()?;
        let deviations = self.deviations.entry(blocks);
        let deviations =
            deviations.or_insert_with(|| least_detectable_deviations(blocks, level, POWER).ok());
        let ratio = ((*deviations)? * deviation).exp();
        (deviation > 0.0 && ratio.is_finite()).then_some(ratio)
    }
}

/// The values of two series that can be compared.
struct Values {
    firsts: Vec<f64>,
    seconds: Vec<f64>,
    paired: bool,
}

impl Values {
    fn of(first: &Series, second: &Series) -> Self {
        if first.run != second.run {
            let all = |series: &Series| series.values.values().copied().collect();
            return Self { firsts: all(first), seconds: all(second), paired: false };
        }
        let pair = |(block, value): (&u32, &f64)| Some((*value, *second.values.get(block)?));
        let (firsts, seconds) = first.values.iter().filter_map(pair).unzip();
        Self { firsts, seconds, paired: true }
    }

    /// Nothing where values are too few or have no logarithm.
    fn compare(&self, limits: Limits) -> Option<Equivalence> {
        if self.firsts.len().min(self.seconds.len()) < BLOCKS_LEAST as usize {
            return None;
        }
        let found = if self.paired {
            equivalence::paired_ratio(&self.seconds, &self.firsts, limits)
        } else {
            equivalence::unpaired_ratio(&self.seconds, &self.firsts, limits)
        };
        let is_usable = |found: &Equivalence| {
            let ends = [found.estimate, found.interval.low, found.interval.high];
            ends.iter().all(|end| end.is_finite() && *end > 0.0)
        };
        found.ok().filter(is_usable)
    }

    fn comparison(
        &self,
        runs: &[NamedRun],
        (first, second): (&Series, &Series),
        found: Option<&Equivalence>,
    ) -> Comparison {
        Comparison {
            suite: first.suite.clone(),
            benchmark: first.benchmark.clone(),
            title: first.title.clone(),
            metric: first.metric.clone(),
            first: first.target.clone(),
            second: second.target.clone(),
            first_run: runs[first.run].name.clone(),
            second_run: runs[second.run].name.clone(),
            first_values: self.firsts.len() as u64,
            second_values: self.seconds.len() as u64,
            paired: self.paired,
            ratio: found.map(|found| found.estimate),
            interval: found.map(|found| found.interval.into()),
            p: found.map(|found| found.p_different),
            p_adjusted: None,
            p_within: found.map(|found| found.p_within),
            least_detectable_ratio: None,
            verdict: Verdict::NotEnoughData,
        }
    }
}
