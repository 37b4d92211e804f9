//! How long a load would take on each target, estimated from the measured times of its operations.
//!
//! A unit of a load consists of a number of operations of each kind. Its time is the sum of their
//! mean times, block by block: means add up, percentiles do not. The sums of two targets are
//! compared like the times of a benchmark ([`super::comparisons`]), with p-values adjusted among
//! themselves. The sum does not include how operations slow each other down by sharing caches,
//! locks or a device's queue: see docs/loads.md.
//!
//! There is no score over loads: only the user knows which ones matter.

mod known;
mod mix;
mod user;

use std::collections::BTreeMap;

use file_system::FileSystem;
use record::{
    LoadComparison, LoadCost, LoadMissing, LoadPart, LoadReport, LoadValidation, Manifest,
    StandardMetric, SurveyRanking, TargetRecord,
};
use stats::dependence::Dependence;

use super::Gathered;
use super::estimates::{median, summary_of_blocks};
use super::judged::{self, IsBusy, Judgement, MARGIN, Pairs};

pub use known::known_loads;
pub use mix::Load;
use mix::Validation;
#[cfg(test)]
use mix::{LoadOperation, MeasuredBy};
pub use user::{LoadError, read_load};

/// The metric that adds up.
const TIME: &str = StandardMetric::TIME_PER_OPERATION.name;

/// What each load would take.
pub(super) fn all(
    loads: &[Load],
    gathered: &[Gathered<'_>],
    manifest: &Manifest,
    of_figures: &Dependence,
    of_ratios: &Dependence,
) -> Vec<LoadReport> {
    let level = manifest.run.confidence_level;
    let of_run = IsBusy::of_run(gathered);
    let estimated: Vec<(&Load, Vec<LoadEstimate<'_>>, Vec<LoadMissing>)> = loads
        .iter()
        .map(|load| {
            let of_targets = manifest.targets.iter();
            let found = of_targets.map(|target| LoadEstimate::new(load, target, gathered));
            let (mut costs, mut missing) = (Vec::new(), Vec::new());
            for one in found {
                match one {
                    Ok(one) => costs.push(one),
                    Err(one) => missing.push(one),
                }
            }
            (load, costs, missing)
        })
        .collect();
    let questions: Vec<Question<'_, '_>> = estimated
        .iter()
        .flat_map(|(load, costs, _)| {
            pairs_of(costs).map(|(first, second)| Question { load, first, second })
        })
        .collect();
    let pairs: Vec<Pairs> =
        questions.iter().map(|asked| Pairs::new(&asked.first.sums, &asked.second.sums)).collect();
    let answers = pairs.iter().map(|pairs| pairs.compared(of_ratios)).collect();
    let judged = judged::judge(answers, level, MARGIN);
    let judged = judged.into_iter().map(|judged| judged.allowing_for(of_run, level));
    let mut comparisons =
        questions.iter().zip(&pairs).zip(judged).map(|((asked, pairs), judged)| LoadComparison {
            first: asked.first.target.label.clone(),
            second: asked.second.target.label.clone(),
            blocks: pairs.len(),
            confirmed: asked.said_by_program(&judged, |of| of.confirmed),
            contradicted: asked.said_by_program(&judged, |of| of.contradicted) == Some(true),
            ratio: judged.ratio,
            interval: judged.interval,
            p: judged.p,
            p_adjusted: judged.p_adjusted,
            verdict: judged.verdict,
        });
    estimated
        .iter()
        .map(|(load, costs, missing)| LoadReport {
            name: load.name.clone(),
            title: load.title.clone(),
            unit: load.unit.clone(),
            source: load.source.clone(),
            leaves_out: load.leaves_out.clone(),
            comparisons: comparisons.by_ref().take(pairs_of(costs).count()).collect(),
            costs: costs.iter().filter_map(|one| one.cost(level, of_figures)).collect(),
            missing: missing.clone(),
            validation: load.validation.map(recorded),
        })
        .collect()
}

fn recorded(validation: Validation) -> LoadValidation {
    let ranking = |&(faster, slower): &(&str, &str)| SurveyRanking {
        faster: faster.to_owned(),
        slower: slower.to_owned(),
    };
    LoadValidation {
        program: validation.program.to_owned(),
        confirmed: validation.confirmed.iter().map(ranking).collect(),
        contradicted: validation.contradicted.iter().map(ranking).collect(),
    }
}

/// Which of two targets is faster under a load.
struct Question<'a, 'r> {
    load: &'a Load,
    first: &'a LoadEstimate<'r>,
    second: &'a LoadEstimate<'r>,
}

impl Question<'_, '_> {
    /// Whether this verdict ranks the two as a program has, in the list of confirmed or of
    /// contradicted rankings. Programs say nothing about file systems with options, nor about
    /// filled or aged ones.
    fn said_by_program(
        &self,
        judged: &Judgement,
        rankings: fn(&Validation) -> &'static [(&'static str, &'static str)],
    ) -> Option<bool> {
        let validation = self.load.validation?;
        let ratio = judged.ratio.filter(|_| judged.verdict.is_different())?;
        let two = if ratio > 1.0 { [self.first, self.second] } else { [self.second, self.first] };
        let [faster, slower] = two.map(|one| plain_file_system(one.target));
        let ranking = faster.zip(slower);
        Some(ranking.is_some_and(|ranking| rankings(&validation).contains(&ranking)))
    }
}

/// The file system of a target that is new and has no options.
fn plain_file_system(target: &TargetRecord) -> Option<&str> {
    let is_new = target.filled_percent.is_none() && target.aged.is_none();
    let is_plain = target.specification == target.file_system && is_new;
    is_plain.then_some(&target.file_system)
}

/// Every pair, in the order of the targets.
fn pairs_of<'a, 'r>(
    costs: &'a [LoadEstimate<'r>],
) -> impl Iterator<Item = (&'a LoadEstimate<'r>, &'a LoadEstimate<'r>)> {
    let each = costs.iter().enumerate();
    each.flat_map(|(at, first)| costs[at + 1..].iter().map(move |second| (first, second)))
}

/// A load on one target.
struct LoadEstimate<'a> {
    target: &'a TargetRecord,
    /// By block, in nanoseconds.
    sums: BTreeMap<u32, f64>,
    /// The share of each kind of operation, in the order of the load.
    parts: Vec<(&'a str, BTreeMap<u32, f64>)>,
}

impl<'a> LoadEstimate<'a> {
    fn new(
        load: &'a Load,
        target: &'a TargetRecord,
        gathered: &[Gathered<'_>],
    ) -> Result<Self, LoadMissing> {
        let missing = |why: &str| LoadMissing { target: target.label.clone(), why: why.to_owned() };
        let in_memory =
            FileSystem::named(&target.file_system).is_some_and(FileSystem::lives_in_memory);
        if load.must_last && in_memory {
            return Err(missing("it loses everything when the power fails"));
        }
        let mut parts: Vec<(&str, BTreeMap<u32, f64>)> = Vec::new();
        for operation in &load.operations {
            let mut sums = None;
            for (benchmark, weight) in operation.terms() {
                let cell = gathered
                    .iter()
                    .find(|one| one.cell.target == target.label && one.cell.benchmark == benchmark);
                let values = cell.filter(|one| one.failed.is_none()).map(|one| one.values_of(TIME));
                let values = values.filter(|values| !values.is_empty());
                let why = || missing(&format!("{benchmark} was not measured"));
                let term = times(values.ok_or_else(why)?, weight);
                sums = Some(sums.map_or_else(|| term.clone(), |sums| plus(&sums, &term)));
            }
            let sums = sums.unwrap_or_default();
            match parts.iter_mut().find(|(kind, _)| *kind == operation.kind) {
                Some((_, part)) => *part = plus(part, &sums),
                None => parts.push((&operation.kind, sums)),
            }
        }
        let sums = parts.iter().map(|(_, part)| part.clone()).reduce(|all, part| plus(&all, &part));
        let sums = sums.filter(|sums| !sums.is_empty());
        let sums = sums.ok_or_else(|| missing("no block has all of its operations"))?;
        Ok(Self { target, sums, parts })
    }

    fn cost(&self, level: f64, dependence: &Dependence) -> Option<LoadCost> {
        let values: Vec<f64> = self.sums.values().copied().collect();
        let summary = summary_of_blocks(&values, level, dependence)?;
        let part = |(kind, by_block): &(&str, BTreeMap<u32, f64>)| {
            let values: Vec<f64> = by_block.values().copied().collect();
            Some(LoadPart { kind: (*kind).to_owned(), time_ns: median(&values)? })
        };
        Some(LoadCost {
            target: self.target.label.clone(),
            time_ns: summary.median,
            interval: summary.interval,
            parts: self.parts.iter().filter_map(part).collect(),
        })
    }
}

fn times(mut values: BTreeMap<u32, f64>, weight: f64) -> BTreeMap<u32, f64> {
    values.values_mut().for_each(|value| *value *= weight);
    values
}

/// The sums, in the blocks that both have.
fn plus(left: &BTreeMap<u32, f64>, right: &BTreeMap<u32, f64>) -> BTreeMap<u32, f64> {
    let sum = |(block, value): (&u32, &f64)| Some((*block, value + right.get(block)?));
    left.iter().filter_map(sum).collect()
}

#[cfg(test)]
mod tests;
