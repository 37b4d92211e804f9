//! Whether the mean and the median of operations tell different stories about two targets, or about
//! two runs. `docs/verdicts.md` defines when they do.

use record::StandardMetric;

/// Metrics whose value in a block is a mean over individually timed operations.
const MEANS: [StandardMetric; 6] = [
    StandardMetric::TIME_PER_OPERATION,
    StandardMetric::TIME_PER_KIB,
    StandardMetric::THROUGHPUT,
    StandardMetric::THROUGHPUT_PER_THREAD,
    StandardMetric::BANDWIDTH,
    StandardMetric::LATENCY,
];
/// Two ratios in the same direction tell different stories if one is this many times the other.
const APART: f64 = 1.5;
/// A difference in only one of the two is a story if its interval is beyond this.
const RATIO_MIN: f64 = 1.1;

/// What one of the two says: how many times slower the second target is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowdownEstimate {
    /// How sure a difference is, if there is one.
    pub(crate) difference: Option<Certainty>,
    /// The ratio and the ends of its interval, if there are any.
    pub(crate) ratio: Option<[f64; 3]>,
}

/// How sure a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// It is larger than the margin.
    BeyondMargin,
    /// It may be smaller than the margin.
    SizeUnknown,
}

/// Whether the metric of this name is a mean over operations.
pub(crate) fn is_mean(name: &str) -> bool {
    MEANS.iter().any(|metric| metric.name == name)
}

/// Whether the two tell different stories.
pub(crate) fn are_different(mean: SlowdownEstimate, median: SlowdownEstimate) -> bool {
    let both = mean.ratio.zip(median.ratio);
    match (mean.difference, median.difference) {
        (Some(of_mean), Some(of_median)) => both.is_some_and(|(mean, median)| {
            let is_sure = [of_mean, of_median].contains(&Certainty::BeyondMargin);
            let are_opposite = (mean[0] > 1.0) != (median[0] > 1.0);
            let factor = (mean[0] / median[0]).ln().abs();
            let overlap = mean[1] <= median[2] && median[1] <= mean[2];
            is_sure && (are_opposite || (!overlap && factor > APART.ln()))
        }),
        (None, Some(_)) => median.ratio.is_some_and(|by| nearest_to_1(by) > RATIO_MIN),
        (Some(_), None) => both.is_some_and(|(mean, median)| {
            let holds = (median[1]..=median[2]).contains(&mean[0]);
            nearest_to_1(mean) > RATIO_MIN && !holds
        }),
        (None, None) => false,
    }
}

/// The distance of the interval's nearer end from 1, as a ratio above 1.
fn nearest_to_1([ratio, low, high]: [f64; 3]) -> f64 {
    if ratio > 1.0 { low } else { 1.0 / high }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_story_has_its_bounds() {
        let real = Some(Certainty::BeyondMargin);
        let of = |difference, ratio| SlowdownEstimate { difference, ratio: Some(ratio) };
        let told = |mean, median| are_different(mean, median);
        // Opposite directions, one of which is certain.
        assert!(told(of(real, [1.3, 1.2, 1.4]), of(real, [0.9, 0.85, 0.95])));
        let unsure = Some(Certainty::SizeUnknown);
        assert!(!told(of(unsure, [1.01, 1.001, 1.03]), of(unsure, [0.99, 0.97, 0.999])));
        // The same direction, far apart or not.
        assert!(told(of(real, [44.0, 40.0, 48.0]), of(real, [2.1, 2.0, 2.2])));
        assert!(!told(of(real, [2.8, 2.7, 2.9]), of(real, [2.1, 2.0, 2.2])));
        assert!(!told(of(real, [4.0, 2.1, 8.0]), of(real, [2.1, 2.0, 2.2])));
        // Only one of the two differs.
        assert!(told(of(None, [0.8, 0.3, 2.0]), of(real, [0.5, 0.48, 0.52])));
        assert!(told(
            SlowdownEstimate { difference: None, ratio: None },
            of(real, [0.5, 0.48, 0.52])
        ));
        assert!(!told(of(None, [1.0, 0.98, 1.02]), of(real, [1.05, 1.04, 1.06])));
        assert!(told(of(real, [1.3, 1.2, 1.4]), of(None, [1.0, 0.98, 1.02])));
        assert!(!told(of(real, [1.3, 1.2, 1.4]), of(None, [1.2, 0.9, 1.6])));
        assert!(!told(of(None, [1.0, 0.5, 2.0]), of(None, [1.0, 0.98, 1.02])));
    }
}
