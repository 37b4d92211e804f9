//! The paper's figures, beside those measured here.

use serde::Serialize;
use stats::design::{Analysis, Source};

use super::LEVEL;
use super::blocks::{Blocks, Estimate, Observed, difference, effect, share};
use crate::bonnie_anova::published::{ACTIONS, FILE_SYSTEMS, RATES};
use crate::bonnie_anova::tables::{FACTORS, is_level, pairs};

/// The rates of an action.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateRow {
    /// The action.
    pub action: &'static str,
    /// The paper's rates in kB/s, by file system.
    pub published: Vec<(&'static str, f64)>,
    /// The measured rates, in kB/s (of 1024 bytes), by file system.
    pub measured: Vec<(String, Estimate)>,
}

/// How much of the variation a source explains if each cell is observed once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShareRow {
    /// A factor, or `errors`, which without replications include the interaction of the factors.
    pub source: String,
    /// The paper's share in percent.
    pub published: Option<f64>,
    /// The mean share over the blocks, in percent.
    pub measured: Estimate,
}

/// A row of the analysis of variance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceRow {
    /// A factor, their interaction, or `errors`.
    pub source: String,
    /// The share of the variation, in percent.
    pub percent_of_variation: f64,
    /// Degrees of freedom.
    pub df: u64,
    /// The paper's F.
    pub published_f: Option<f64>,
    /// Its mean square divided by that of the errors.
    pub f: Option<f64>,
    /// The value that F exceeds by chance in 5 % of cases.
    pub f_quantile: Option<f64>,
    /// The probability of such an F by chance.
    pub p: Option<f64>,
}

/// The effect of a level of a factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectRow {
    /// The factor.
    pub factor: &'static str,
    /// Its level.
    pub level: String,
    /// The paper's effect, in percent of the grand mean.
    pub published: Option<Estimate>,
    /// The measured effect, in percent of the grand mean.
    pub measured: Estimate,
}

/// How much faster one file system is than another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferenceRow {
    /// The first file system.
    pub first: String,
    /// The second file system.
    pub second: String,
    /// The paper's difference, with its slip corrected, in percent of the grand mean.
    pub published: Option<Estimate>,
    /// The measured difference, in percent of the grand mean. The level applies to all of these
    /// intervals jointly (Bonferroni).
    pub measured: Estimate,
}

/// Rates, published and measured.
pub(super) fn rates(observed: &Observed) -> Vec<RateRow> {
    let row = |(action, rates): (&'static str, [f64; 3])| {
        let measured = observed.file_systems.iter();
        RateRow {
            action,
            published: FILE_SYSTEMS.into_iter().zip(rates).collect(),
            measured: measured
                .filter_map(|one| Some((one.clone(), observed.rate(one, action)?)))
                .collect(),
        }
    };
    ACTIONS.into_iter().zip(RATES).map(row).collect()
}

/// Shares of the variation, published and as the mean over the blocks.
pub(super) fn shares(blocks: &Blocks, paper: &Analysis) -> Vec<ShareRow> {
    let row = |source: &Source| {
        Some(ShareRow {
            source: source.name.clone(),
            published: Some(source.percent_of_variation),
            measured: blocks.mean(|analysis| share(analysis, &source.name))?,
        })
    };
    paper.anova.iter().filter_map(row).collect()
}

/// A row of the joint analysis of variance of all blocks.
pub(super) fn source(of: &Source, paper: &Analysis) -> SourceRow {
    let published = paper.anova.iter().find(|one| one.name == of.name);
    SourceRow {
        source: of.name.clone(),
        percent_of_variation: of.percent_of_variation,
        df: of.df,
        published_f: published.and_then(|one| one.f),
        f: of.f,
        f_quantile: of.f_quantiles.first().map(|one| one.f),
        p: of.p,
    }
}

/// Effects of file systems, then of actions.
pub(super) fn effects(blocks: &Blocks, paper: &Analysis) -> Vec<EffectRow> {
    let of_factor = |factor: &'static str| {
        let row = move |level: String| {
            let measured = blocks.mean(|analysis| effect(analysis, factor, &level))?;
            Some(EffectRow { factor, published: published(paper, factor, &level), level, measured })
        };
        blocks.levels(factor).into_iter().filter_map(row)
    };
    FACTORS.into_iter().flat_map(of_factor).collect()
}

/// One of the paper's effects, with its interval.
fn published(paper: &Analysis, factor: &str, level: &str) -> Option<Estimate> {
    let mut effects = paper.effects.iter();
    let found = &effects.find(|one| one.factor == factor && one.level == level)?.estimate;
    Some(in_percent(paper, found.estimate, &found.intervals))
}

fn in_percent(paper: &Analysis, value: f64, intervals: &[stats::Interval]) -> Estimate {
    let percent = |value: f64| 100.0 * value / paper.grand_mean.estimate;
    let interval = intervals.iter().find(|one| is_level(one.level, LEVEL));
    Estimate {
        mean: percent(value),
        low: interval.map(|one| percent(one.low)),
        high: interval.map(|one| percent(one.high)),
    }
}

/// Differences between all pairs of file systems.
pub(super) fn differences(
    blocks: &Blocks,
    file_systems: &[String],
    paper: &Analysis,
) -> Vec<DifferenceRow> {
    let after = |index: usize| file_systems.iter().skip(index + 1);
    let all: Vec<(&String, &String)> = file_systems
        .iter()
        .enumerate()
        .flat_map(|(index, first)| after(index).map(move |second| (first, second)))
        .collect();
    // Bonferroni: the level applies to all intervals jointly.
    let level = 1.0 - (1.0 - LEVEL) / all.len().max(1) as f64;
    let published = pairs(paper).unwrap_or_default();
    let row = |(first, second): (&String, &String)| {
        let of_paper = published.iter().find(|one| one.first == *first && one.second == *second);
        let measured =
            blocks.mean_at(level, |analysis| difference(analysis, FACTORS[0], first, second))?;
        Some(DifferenceRow {
            first: first.clone(),
            second: second.clone(),
            published: of_paper.map(|one| in_percent(paper, one.difference, &one.intervals)),
            measured,
        })
    };
    all.into_iter().filter_map(row).collect()
}
