//! Comparisons judged together: what may be said of each, given how many there are.
//!
//! A run makes dozens of comparisons at once, and one in twenty would be called real by chance
//! alone. So the p-values are adjusted with the method of Benjamini and Hochberg ("Controlling the
//! False Discovery Rate", 1995): of the differences that a run at 95 % calls real, at most 5 % are
//! expected to be false. The differences called real are selected for being large, partly by
//! chance, so their intervals are wider: if r of m are called real, their error probability is r/m
//! of the usual one. Of all such intervals, the share given by the level contains the truth
//! (Benjamini & Yekutieli, "False Discovery Rate-Adjusted Multiple Confidence Intervals for
//! Selected Parameters", JASA 100(469), 2005).

use std::collections::{BTreeMap, BTreeSet};

use record::{IntervalReport, Neighbours, RatioReport, Replicate, Verdict};
use stats::dependence::{Dependence, TAKEN_FOR_DEPENDENT};
use stats::{Independent, Interval, Paired, Refusal, multiple};

use super::Gathered;

/// Targets with fewer common blocks are not compared: with five, even the most extreme outcome is
/// not unlikely enough (the smallest two-sided p of the sign test is 2/32), so that everything
/// would depend on the assumption of normal errors.
pub(crate) const BLOCKS_MIN: u32 = 6;

/// A ratio within this distance of 1 does not matter.
pub(crate) const MARGIN: f64 = 0.02;

/// If an interval extends beyond this multiple or this fraction of its ratio, not even the order of
/// magnitude is known, and the ratio is not reported.
const REACH_MAX: f64 = 10.0;

/// Both intervals are reported if that over all blocks is more than this many times as wide as that
/// of the middle blocks.
const WIDTH_MAX: f64 = 2.0;

/// Values of two targets in the blocks that both have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pairs {
    blocks: Vec<u32>,
    firsts: Vec<f64>,
    seconds: Vec<f64>,
}

/// A difference that was measured while other programs kept the machine busy must have at most this
/// share of the usual error probability.
const BUSY_SHARE: f64 = 0.02;

/// If other programs were in the way of at least this share of a run's replicates, they were there
/// throughout: a program that is always there is noticed in some replicates and not in others.
const BUSY_THROUGHOUT: f64 = 0.1;

/// Whether other programs kept the machine busy in some of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IsBusy {
    /// They did.
    Yes,
    /// They did not, as far as can be seen.
    No,
}

impl IsBusy {
    /// Whether they did in any of these replicates.
    pub(crate) fn in_some<'a>(replicates: impl IntoIterator<Item = &'a Replicate>) -> Self {
        let is_busy =
            |one: &Replicate| one.neighbours.as_ref().is_some_and(Neighbours::were_in_the_way);
        if replicates.into_iter().any(is_busy) { Self::Yes } else { Self::No }
    }

    /// Whether they did in either.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Yes { self } else { other }
    }

    /// Whether they did throughout a run.
    pub(crate) fn of_run(gathered: &[Gathered<'_>]) -> Self {
        Self::throughout(gathered.iter().flat_map(|one| one.replicates.values().copied()))
    }

    /// Whether they did throughout the run with these replicates.
    pub(crate) fn throughout<'a>(replicates: impl IntoIterator<Item = &'a Replicate>) -> Self {
        let (mut busy, mut all) = (0_u64, 0_u64);
        for replicate in replicates {
            busy += u64::from(Self::in_some([replicate]) == Self::Yes);
            all += 1;
        }
        if all > 0 && busy as f64 >= BUSY_THROUGHOUT * all as f64 { Self::Yes } else { Self::No }
    }
}

/// What may be said of two targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judgement {
    /// Second over first.
    pub(crate) ratio: Option<f64>,
    pub(crate) interval: Option<IntervalReport>,
    pub(crate) p: Option<f64>,
    pub(crate) p_adjusted: Option<f64>,
    /// The p-value for the ratio being beyond the margin.
    pub(crate) p_within: Option<f64>,
    /// Over all blocks, and over the middle ones, if the two disagree.
    pub(crate) of_means: Option<RatioReport>,
    pub(crate) of_the_middle: Option<RatioReport>,
    pub(crate) verdict: Verdict,
}

impl Judgement {
    /// Withdraws a difference that is not sure enough, if other programs kept the machine busy
    /// (`is_busy`): their effect is not spread evenly over targets and blocks, as tests assume, so
    /// a difference has to be that much surer to count.
    pub(crate) fn allowing_for(self, is_busy: IsBusy, level: f64) -> Self {
        let is_sure = self.p_adjusted.is_some_and(|p| p <= (1.0 - level) * BUSY_SHARE);
        match is_busy {
            IsBusy::Yes if self.verdict.is_different() && !is_sure => Self::default(),
            IsBusy::Yes | IsBusy::No => self,
        }
    }
}

impl Pairs {
    pub(crate) fn new(first: &BTreeMap<u32, f64>, second: &BTreeMap<u32, f64>) -> Self {
        let mut pairs = Self { blocks: Vec::new(), firsts: Vec::new(), seconds: Vec::new() };
        for (&block, &value) in first {
            if let Some(&other) = second.get(&block) {
                pairs.blocks.push(block);
                pairs.firsts.push(value);
                pairs.seconds.push(other);
            }
        }
        pairs
    }

    /// How many blocks both have.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.blocks.len()).unwrap_or(u32::MAX)
    }

    /// Logarithms of the ratios, by block.
    pub(crate) fn log_ratios(&self) -> BTreeMap<u32, f64> {
        let values = self.seconds.iter().zip(&self.firsts);
        self.blocks
            .iter()
            .copied()
            .zip(values.map(|(second, first)| (second / first).ln()))
            .collect()
    }

    /// `None` if there are too few blocks, or a value has no logarithm.
    pub(crate) fn compared(&self, dependence: &Dependence) -> Option<Answer> {
        if self.len() < BLOCKS_MIN {
            return None;
        }
        let paired = Paired::new(&self.seconds, &self.firsts).ok()?;
        Some(Answer::Paired(paired.with(dependence)))
    }
}

/// The comparison of two series, of two targets or of one target in two runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// Of the same blocks.
    Paired(Paired),
    /// Of different runs.
    Independent(Independent),
}

impl Answer {
    pub(crate) fn ratio(&self) -> f64 {
        match self {
            Self::Paired(paired) => paired.ratio(),
            Self::Independent(independent) => independent.ratio(),
        }
    }

    fn p(&self) -> f64 {
        match self {
            Self::Paired(paired) => paired.p(),
            Self::Independent(independent) => independent.p(),
        }
    }

    fn p_within(&self, margin: f64) -> f64 {
        match self {
            Self::Paired(paired) => paired.p_within(margin),
            Self::Independent(independent) => independent.p_within(margin),
        }
    }

    pub(crate) fn interval(&self, level: f64) -> Result<Interval, Refusal> {
        match self {
            Self::Paired(paired) => paired.interval(level),
            Self::Independent(independent) => independent.interval(level),
        }
    }

    fn is_usable(&self, level: f64) -> bool {
        self.interval(level).is_ok_and(|interval| is_usable(self.ratio(), interval))
    }

    /// The ratio of the means and that of the middle blocks, if the two disagree.
    fn both_ways(&self, level: f64) -> Option<(RatioReport, RatioReport)> {
        match self {
            Self::Paired(paired) => both_ways(paired, level),
            Self::Independent(_) => None,
        }
    }
}

/// The blocks to use if not every benchmark has all of them: the selection that keeps most values,
/// where a benchmark counts in all selected blocks or in none. It has at least as many blocks as a
/// comparison needs, if possible.
pub(crate) fn most_complete(of_benchmarks: &[BTreeSet<u32>]) -> BTreeSet<u32> {
    let having =
        |blocks: &BTreeSet<u32>| of_benchmarks.iter().filter(|own| blocks.is_subset(own)).count();
    let mut candidates: Vec<BTreeSet<u32>> = of_benchmarks.to_vec();
    candidates.extend(of_benchmarks.iter().cloned().reduce(|all, own| &all & &own));
    let worth = |blocks: &BTreeSet<u32>| {
        (blocks.len() >= BLOCKS_MIN as usize, blocks.len() * having(blocks), having(blocks))
    };
    candidates.into_iter().max_by_key(worth).unwrap_or_default()
}

/// How strongly successive blocks of these comparisons are correlated.
pub(crate) fn dependence<'a>(pairs: impl Iterator<Item = &'a Pairs>) -> Dependence {
    let logs: Vec<BTreeMap<u32, f64>> = pairs.map(Pairs::log_ratios).collect();
    Dependence::from_series(&logs, TAKEN_FOR_DEPENDENT)
}

/// How strongly successive blocks of single figures are correlated.
pub(super) fn dependence_of_figures(all: &[Gathered<'_>]) -> Dependence {
    let log = |(block, value): (u32, f64)| (value > 0.0).then(|| (block, value.ln()));
    let declared = all.iter().filter(|one| !one.is_searched);
    let logs: Vec<BTreeMap<u32, f64>> =
        declared.map(|one| one.values(0).into_iter().filter_map(log).collect()).collect();
    Dependence::from_series(&logs, TAKEN_FOR_DEPENDENT)
}

/// Judges all answers as one family.
pub(crate) fn judge(answers: Vec<Option<Answer>>, level: f64, margin: f64) -> Vec<Judgement> {
    let usable = |answer: Option<Answer>| answer.filter(|answer| answer.is_usable(level));
    let answers: Vec<Option<Answer>> = answers.into_iter().map(usable).collect();
    let p_values: Vec<f64> = answers.iter().flatten().map(Answer::p).collect();
    let adjusted =
        multiple::benjamini_hochberg(&p_values).expect("p of a comparison is a probability");
    let found = adjusted.iter().filter(|&&p| p <= 1.0 - level).count();
    let share = found as f64 / p_values.len().max(1) as f64;
    let mut adjusted = adjusted.into_iter();
    let judge_one = |answer: &Option<Answer>| {
        let answer = answer.as_ref()?;
        Some(Judgement::new(answer, adjusted.next()?, share, level, margin))
    };
    answers.iter().map(judge_one).map(Option::unwrap_or_default).collect()
}

impl Default for Judgement {
    fn default() -> Self {
        Self {
            ratio: None,
            interval: None,
            p: None,
            p_adjusted: None,
            p_within: None,
            of_means: None,
            of_the_middle: None,
            verdict: Verdict::NotEnoughData,
        }
    }
}

impl Judgement {
    /// `share` is the share of all comparisons that are called different.
    fn new(answer: &Answer, p_adjusted: f64, share: f64, level: f64, margin: f64) -> Self {
        let is_different = p_adjusted <= 1.0 - level;
        let selected = 1.0 - share * (1.0 - level);
        let interval = answer.interval(if is_different { selected } else { level });
        let interval = interval.expect("a level between 0 and 1");
        let verdict = match is_different {
            true if clears(&interval, margin) => Verdict::Real,
            true => Verdict::RealSizeUnknown,
            false => Verdict::NotToldApart,
        };
        let (of_means, of_the_middle) = answer.both_ways(level).unzip();
        Self {
            ratio: Some(answer.ratio()),
            interval: Some(report(interval)),
            p: Some(answer.p()),
            p_adjusted: Some(p_adjusted),
            p_within: Some(answer.p_within(margin)),
            of_means,
            of_the_middle,
            verdict,
        }
    }
}

/// Whether the whole interval is beyond the margin on one side of 1.
fn clears(interval: &Interval, margin: f64) -> bool {
    interval.low > 1.0 + margin || interval.high < 1.0 / (1.0 + margin)
}

/// See [`Answer::both_ways`]: the interval of the means is far wider, or one ratio is outside the
/// other's interval.
fn both_ways(paired: &Paired, level: f64) -> Option<(RatioReport, RatioReport)> {
    let (means, middle) = (paired.of_means(level).ok()?, paired.of_the_middle(level).ok()?);
    let width = |interval: &Interval| (interval.high / interval.low).ln();
    let is_wider = width(&means.interval) > WIDTH_MAX * width(&middle.interval);
    let is_apart = !means.interval.contains(middle.ratio) || !middle.interval.contains(means.ratio);
    let as_report = |one: stats::paired::RatioEstimate| RatioReport {
        ratio: one.ratio,
        interval: report(one.interval),
        p: one.p,
    };
    let is_usable = middle.interval.low < middle.interval.high
        && is_usable(means.ratio, means.interval)
        && is_usable(middle.ratio, middle.interval);
    let tell = is_usable && !paired.is_constant() && (is_wider || is_apart);
    tell.then(|| (as_report(means), as_report(middle)))
}

fn is_usable(ratio: f64, interval: Interval) -> bool {
    let are_ratios =
        [ratio, interval.low, interval.high].iter().all(|value| value.is_finite() && *value > 0.0);
    are_ratios && interval.high <= REACH_MAX * ratio && interval.low >= ratio / REACH_MAX
}

fn report(interval: Interval) -> IntervalReport {
    IntervalReport { level: interval.level, low: interval.low, high: interval.high }
}

#[cfg(test)]
pub(super) mod coverage;
