//! Comparisons in which the median of single operations tells a different story than the mean.

use record::Better;

use super::comparisons::{self, Comparison, MedianReport, Rules};
use super::{CompareOptions, ComparedMetric, NamedRun, RunVerdict};
use super::{questions, set_aside, sides};
use crate::analysis::{self, Certainty, Quantile, SlowdownEstimate};

/// Adds the medians to comparisons of means, where they say something else.
pub(super) fn add(
    runs: &[NamedRun],
    options: &CompareOptions,
    rules: Rules,
    comparisons: &mut [Comparison],
) {
    if options.metric != ComparedMetric::Mean {
        return;
    }
    let metric = ComparedMetric::named(Quantile::P50.name());
    let mut series = sides::series_of(runs, &metric);
    let unlike = set_aside(runs, &mut series, options);
    // It is not an error if nothing has a median, since it was not asked for.
    let Ok(questions) = questions(runs, &series, options, &unlike) else { return };
    let medians = comparisons::all(runs, &questions, rules).comparisons;
    for one in comparisons.iter_mut().filter(|one| analysis::is_mean(&one.metric)) {
        let found = medians.iter().find(|median| is_of_same(one, median));
        one.median = found.and_then(|median| median_report(one, median));
    }
}

fn is_of_same(one: &Comparison, other: &Comparison) -> bool {
    let of = |it: &Comparison| {
        [&it.suite, &it.benchmark, &it.first, &it.second, &it.first_run, &it.second_run]
            .map(Clone::clone)
    };
    of(one) == of(other)
}

/// What the median says, if that is a different story.
fn median_report(mean: &Comparison, median: &Comparison) -> Option<MedianReport> {
    if !analysis::are_different(slowdown(mean), slowdown(median)) {
        return None;
    }
    Some(MedianReport {
        ratio: median.ratio?,
        interval: median.interval?,
        p_adjusted: median.p_adjusted,
        verdict: median.verdict,
    })
}

fn slowdown(one: &Comparison) -> SlowdownEstimate {
    let difference = match one.verdict {
        RunVerdict::Real | RunVerdict::DiffersBetweenTheseRuns => Some(Certainty::BeyondMargin),
        RunVerdict::RealSizeUnknown | RunVerdict::RealButSmall => Some(Certainty::SizeUnknown),
        RunVerdict::Same
        | RunVerdict::SameInTheseRuns
        | RunVerdict::NotToldApart
        | RunVerdict::NotEnoughData => None,
    };
    let ratio = one.ratio.zip(one.interval.as_ref()).map(|(ratio, interval)| {
        let (low, high) = (interval.low, interval.high);
        match one.better {
            Better::Lower | Better::Neither => [ratio, low, high],
            Better::Higher => [1.0 / ratio, 1.0 / high, 1.0 / low],
        }
    });
    SlowdownEstimate { difference, ratio }
}
