//! Every comparison with its ratio, interval and verdict.
//!
//! Within a run the pairs are blocks. Blocks of different runs have nothing in common: with one run
//! on either side, Welch's t on the logarithms compares them, and applies to these two runs only.
//! With several runs, each contributes one value, and Student's t on those applies to runs in
//! general. All comparisons are judged together, as in a report.

use std::collections::BTreeMap;

use record::{Better, IntervalReport, Line, RatioReport, Run};
use schemars::JsonSchema;
use serde::Serialize;
use stats::dependence::Dependence;
use stats::planning::power::{least_detectable_deviations, least_detectable_of_runs};
use stats::{Independent, Paired, Sample, trimmed};
use tables::answer::IntervalDocument;

use super::metric;
use super::sides::{NamedRun, Question, Series};
use super::verdict::RunVerdict;
use crate::analysis::{self, Answer, BLOCKS_MIN, IsBusy, Judgement, Pairs};

/// How often the least detectable ratio would be detected.
pub(super) const POWER: f64 = 0.8;

/// One comparison of two series on one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "RunComparison")]
pub struct Comparison {
    /// The suite.
    pub suite: String,
    /// The benchmark.
    pub benchmark: String,
    /// Its title.
    pub title: String,
    /// The metric compared.
    pub metric: String,
    /// Which direction of it is better.
    pub better: Better,
    /// Target of the first series.
    pub first: String,
    /// Target of the second series.
    pub second: String,
    /// Name of the first series' run, or of its side if that has several runs.
    pub first_run: String,
    /// Name of the second series' run, or of its side if that has several runs.
    pub second_run: String,
    /// Number of runs in the first series.
    pub first_runs: u64,
    /// Number of runs in the second series.
    pub second_runs: u64,
    /// Number of values in the first series that count: one per run if there are several runs.
    pub first_values: u64,
    /// Number of values in the second series that count: one per run if there are several runs.
    pub second_values: u64,
    /// Whether values were paired: those of the same block, or of the same run if there are
    /// several.
    pub paired: bool,
    /// The typical ratio, second over first; none if there are too few values.
    pub ratio: Option<f64>,
    /// Confidence interval of the ratio. For a difference called real, it is wider than at the
    /// confidence level, to allow for selection: see its own level.
    pub interval: Option<IntervalDocument>,
    /// The p-value of "the ratio is 1".
    pub p: Option<f64>,
    /// The p-value adjusted for all comparisons.
    pub p_adjusted: Option<f64>,
    /// The p-value of "the ratio is beyond the margin": two one-sided tests.
    pub p_within: Option<f64>,
    /// The ratio of geometric means over all blocks, given if it disagrees with that of the middle
    /// blocks or is far less certain, because some block was far off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_means: Option<RatioReport>,
    /// The ratio over the middle three fifths of the blocks, given together with `of_means`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_the_middle: Option<RatioReport>,
    /// The smallest ratio above 1 that pairs or runs like these show four times out of five.
    pub least_detectable_ratio: Option<f64>,
    /// The verdict.
    pub verdict: RunVerdict,
    /// What the median of single operations says, if this is of means and the median tells another
    /// story.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<MedianReport>,
}

/// The ratio of the medians of single operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MedianReport {
    /// The typical ratio, second over first.
    pub ratio: f64,
    /// Its confidence interval, as of a difference called real if it is one.
    pub interval: IntervalDocument,
    /// The p-value of "the ratio is 1", adjusted for all comparisons of medians.
    pub p_adjusted: Option<f64>,
    /// The verdict on the medians.
    pub verdict: RunVerdict,
}

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) level: f64,
    pub(super) margin: f64,
}

/// Answers and judges all questions.
pub(super) fn all(runs: &[NamedRun], questions: &[Question<'_>], rules: Rules) -> FoundDifferences {
    let values: Vec<Values> = questions.iter().map(Values::new).collect();
    let pairs = values
        .iter()
        .filter_map(|values| if let Values::Paired(pairs) = values { Some(pairs) } else { None });
    let dependence = analysis::dependence(pairs);
    let answers: Vec<Option<Answer>> =
        values.iter().map(|values| values.compared(&dependence)).collect();
    let exact: Vec<bool> = answers
        .iter()
        .zip(questions)
        .map(|(answer, question)| is_exact(answer) && !question.is_of_single_times())
        .collect();
    let judged = analysis::judge(answers, rules.level, rules.margin);
    let mut detectable = Detectable { level: rules.level, dependence, deviations: BTreeMap::new() };
    let busy: Vec<IsBusy> = runs.iter().map(|one| is_busy(&one.run)).collect();
    let all = questions.iter().zip(&values).zip(judged.into_iter().zip(exact));
    let comparisons = all.map(|((question, values), (judged, is_exact))| {
        let one_run = matches!(values, Values::OneRun { .. } | Values::Counts { .. }) && !is_exact;
        // Counts do not depend on what else runs.
        let of_question = if is_exact { IsBusy::No } else { question.is_busy(&busy) };
        let judged = judged.allowing_for(of_question, rules.level);
        let verdict = RunVerdict::new(&judged, rules.level, one_run);
        // If a block is far off, the deviation does not tell what could be detected.
        let has_least = judged.ratio.is_some() && judged.of_means.is_none();
        let least = has_least.then(|| detectable.ratio_between(values)).flatten();
        question.comparison(runs, values, &judged, verdict, least)
    });
    let comparisons = comparisons.collect();
    let deviations = values.iter().filter_map(Values::deviation_of_runs).collect();
    FoundDifferences { comparisons, dependence, deviations }
}

/// Whether other programs kept the machine busy throughout a run.
fn is_busy(run: &Run) -> IsBusy {
    IsBusy::throughout(run.lines.iter().filter_map(|line| {
        if let Line::Replicate(replicate) = line { Some(&**replicate) } else { None }
    }))
}

impl Question<'_> {
    /// Whether other programs kept the machine busy throughout any of its runs; `runs` is indexed
    /// by run.
    fn is_busy(&self, runs: &[IsBusy]) -> IsBusy {
        let places = self.firsts.iter().chain(&self.seconds).map(|series| series.run);
        places.map(|run| runs[run]).fold(IsBusy::No, IsBusy::or)
    }
}

/// The differences that were found.
pub(super) struct FoundDifferences {
    pub(super) comparisons: Vec<Comparison>,
    /// How strongly successive blocks of pairs are correlated.
    pub(super) dependence: Dependence,
    /// How much runs differ from one another, for each benchmark with several runs per side.
    pub(super) deviations: Vec<f64>,
}

/// Whether all values of each side are equal: such counts do not depend on chance, so that one run
/// is as good as several.
fn is_exact(answer: &Option<Answer>) -> bool {
    matches!(answer, Some(Answer::Independent(independent)) if independent.is_constant())
}

/// The least differences that are detected four times in five, in standard deviations, by the
/// number of blocks or by the numbers of runs on both sides.
struct Detectable {
    level: f64,
    dependence: Dependence,
    deviations: BTreeMap<[u64; 2], Option<f64>>,
}

impl Detectable {
    /// The least ratio that pairs or runs like these detect.
    fn ratio_between(&mut self, values: &Values) -> Option<f64> {
        let level = self.level;
        let deviation_of = |logs: Vec<f64>| Sample::new(logs).ok()?.standard_deviation().ok();
        let (key, deviation) = match values {
            Values::Paired(pairs) => {
                let logs: Vec<f64> = pairs.log_ratios().into_values().collect();
                let blocks = logs.len() as u64;
                ([blocks, 0], deviation_of(logs)? * self.dependence.widening(blocks))
            }
            Values::Runs { firsts, seconds } => {
                ([firsts.len() as u64, seconds.len() as u64], of_one_spread(firsts, seconds))
            }
            Values::PairedRuns { firsts, seconds } => {
                let log = |(second, first): (&f64, &f64)| (second / first).ln();
                let logs: Vec<f64> = seconds.iter().zip(firsts).map(log).collect();
                ([logs.len() as u64, 0], deviation_of(logs)?)
            }
            Values::OneRun { .. } | Values::Counts { .. } => return None,
        };
        let deviations = self.deviations.entry(key).or_insert_with(|| match key {
            [blocks, 0] => least_detectable_deviations(blocks, level, POWER).ok(),
            runs => least_detectable_of_runs(runs, level, POWER).ok(),
        });
        let ratio = ((*deviations)? * deviation).exp();
        (deviation > 0.0 && ratio.is_finite()).then_some(ratio)
    }
}

/// The standard deviation of the logarithms of the runs' values, assumed equal on both sides.
fn of_one_spread(firsts: &[f64], seconds: &[f64]) -> f64 {
    let squares = |values: &[f64]| {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>()
    };
    let degrees = firsts.len() as f64 + seconds.len() as f64 - 2.0;
    ((squares(firsts) + squares(seconds)) / degrees).sqrt()
}

/// The values of two sides in a form that can be compared.
enum Values {
    /// Values of the same blocks of one run.
    Paired(Pairs),
    /// Values of the blocks of one run on each side.
    OneRun { firsts: Vec<f64>, seconds: Vec<f64> },
    /// Integers that were counted in the blocks of one run on each side.
    Counts { firsts: Vec<f64>, seconds: Vec<f64> },
    /// The typical value of each of several runs.
    Runs { firsts: Vec<f64>, seconds: Vec<f64> },
    /// The typical values of both targets in each of several runs.
    PairedRuns { firsts: Vec<f64>, seconds: Vec<f64> },
}

impl Values {
    fn new(question: &Question<'_>) -> Self {
        let (first, second) = (&question.firsts, &question.seconds);
        let all = |series: &Series| series.values.values().copied().collect::<Vec<f64>>();
        match (first.as_slice(), second.as_slice()) {
            ([one], [other]) if one.run == other.run && question.sides[0].is_none() => {
                Self::Paired(Pairs::new(&one.values, &other.values))
            }
            ([one], [other]) if one.run != other.run && one.is_counted() && other.is_counted() => {
                Self::Counts { firsts: all(one), seconds: all(other) }
            }
            ([one], [other]) if one.run != other.run => {
                Self::OneRun { firsts: all(one), seconds: all(other) }
            }
            _ => {
                let pooled = |side: &[&Series]| -> Vec<f64> {
                    side.iter().flat_map(|series| all(series)).collect()
                };
                let (firsts, seconds) = (pooled(first), pooled(second));
                let is_exact = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
                if is_exact(&firsts) && is_exact(&seconds) {
                    // For counts that are equal in all runs, every repetition is as good as a run.
                    return Self::OneRun { firsts, seconds };
                }
                let typical = |series: &&Series| trimmed::typical(&all(series));
                if first[0].run != second[0].run {
                    let of = |side: &[&Series]| side.iter().filter_map(typical).collect();
                    return Self::Runs { firsts: of(first), seconds: of(second) };
                }
                let both = first.iter().zip(second);
                let both = both.filter_map(|(one, other)| Some((typical(one)?, typical(other)?)));
                let (firsts, seconds) = both.unzip();
                Self::PairedRuns { firsts, seconds }
            }
        }
    }

    /// `None` if there are too few values or some have no logarithm.
    fn compared(&self, dependence: &Dependence) -> Option<Answer> {
        let independent = match self {
            Self::Paired(pairs) => return pairs.compared(dependence),
            Self::PairedRuns { firsts, seconds } => {
                return Paired::new(seconds, firsts).ok().map(Answer::Paired);
            }
            Self::Counts { firsts, seconds } => Independent::of_counts(seconds, firsts),
            Self::OneRun { firsts, seconds } => {
                let least = firsts.len().min(seconds.len());
                let enough = least >= BLOCKS_MIN as usize;
                enough.then(|| Independent::of_values(seconds, firsts))?
            }
            Self::Runs { firsts, seconds } => Independent::of_runs(seconds, firsts),
        };
        independent.ok().map(Answer::Independent)
    }

    /// How much the value of a run varies from run to run.
    fn deviation_of_runs(&self) -> Option<f64> {
        match self {
            Self::Runs { firsts, seconds } if firsts.len().min(seconds.len()) > 1 => {
                Some(of_one_spread(firsts, seconds))
            }
            Self::Paired(_)
            | Self::OneRun { .. }
            | Self::Counts { .. }
            | Self::Runs { .. }
            | Self::PairedRuns { .. } => None,
        }
    }

    fn counts(&self) -> [u64; 2] {
        match self {
            Self::Paired(pairs) => [u64::from(pairs.len()); 2],
            Self::OneRun { firsts, seconds }
            | Self::Counts { firsts, seconds }
            | Self::Runs { firsts, seconds }
            | Self::PairedRuns { firsts, seconds } => [firsts.len() as u64, seconds.len() as u64],
        }
    }
}

impl Question<'_> {
    /// Whether it is about a quantile of times, with one run per side: in whole nanoseconds, these
    /// can be equal in all blocks and still differ in the next run.
    fn is_of_single_times(&self) -> bool {
        metric::is_quantile(&self.firsts[0].metric) && self.firsts.len() == 1
    }

    fn comparison(
        &self,
        runs: &[NamedRun],
        values: &Values,
        judged: &Judgement,
        verdict: RunVerdict,
        least_detectable_ratio: Option<f64>,
    ) -> Comparison {
        let (first, second) = (self.firsts[0], self.seconds[0]);
        let [first_values, second_values] = values.counts();
        let name = |side: &[&Series], own: &Option<&'static str>| {
            own.map_or_else(|| runs[side[0].run].name.clone(), str::to_owned)
        };
        let [own_first, own_second] = &self.sides;
        Comparison {
            suite: first.suite.clone(),
            benchmark: first.benchmark.clone(),
            title: first.title.clone(),
            metric: first.metric.clone(),
            better: first.better,
            first: first.target.clone(),
            second: second.target.clone(),
            first_run: name(&self.firsts, own_first),
            second_run: name(&self.seconds, own_second),
            first_runs: self.firsts.len() as u64,
            second_runs: self.seconds.len() as u64,
            first_values,
            second_values,
            paired: matches!(values, Values::Paired(_) | Values::PairedRuns { .. }),
            ratio: judged.ratio,
            interval: judged.interval.as_ref().map(as_document),
            p: judged.p,
            p_adjusted: judged.p_adjusted,
            p_within: judged.p_within,
            of_means: judged.of_means,
            of_the_middle: judged.of_the_middle,
            least_detectable_ratio,
            verdict,
            median: None,
        }
    }
}

fn as_document(interval: &IntervalReport) -> IntervalDocument {
    IntervalDocument { level: interval.level, low: interval.low, high: interval.high }
}
