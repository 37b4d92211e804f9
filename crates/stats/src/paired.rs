//! Comparing two targets block by block: the ratio of their geometric means.
//!
//! Each block measures both targets within one round, so what the machine did to that round hits
//! both; comparing within blocks removes it (Jain, "The Art of Computer Systems Performance
//! Analysis", section 13.4.1, paired observations). Storage measurements are positive and their
//! errors act as factors, so the pairs are compared as log ratios: the mean of ln(first / second)
//! is the log of the ratio of the two geometric means, and Student's t on those differences gives
//! its interval and p value (section 13.2).

use crate::distribution::student;
use crate::interval::{Interval, t_interval};
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit};
use crate::sample;

/// How the first series compares with the second, block by block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// Geometric mean of the first series divided by that of the second.
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: Interval,
    /// Two-sided p value of "the ratio is 1".
    pub p: f64,
    /// The number of pairs, which is the number of blocks.
    pub n: u64,
}

/// Compares `first[i]` with `second[i]` over all blocks `i`, with an interval at `level`.
///
/// Pairs without any spread leave t nothing to divide by, and their interval shrinks to the ratio
/// itself. Identical series give ratio 1 and p = 1. A constant ratio other than 1, as counts or a
/// coarse clock give, has p = 2^(1 - n): that is all that n equal signs can support (the sign
/// test: Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.4). Verdicts go by
/// p, since a few such pairs prove little in spite of the narrow interval.
///
/// # Errors
/// Refuses fewer than three pairs, series that differ in length, values that are not finite and
/// above 0, and a `level` outside 0 to 1.
pub fn paired_ratio(first: &[f64], second: &[f64], level: f64) -> Result<PairedRatio, Refusal> {
    check_open_unit("the level", level)?;
    let logs = LogRatios::new(first, second)?;
    check_count("a paired comparison", logs.values.len(), 3)?;
    let n = logs.values.len() as u64;
    if logs.are_constant() {
        return Ok(constant_ratio(&logs, level));
    }
    let log_interval = t_interval(&logs.values, level);
    let mean = sample::mean(&logs.values);
    let standard_error = sample::standard_deviation(&logs.values) / (n as f64).sqrt();
    let interval = Interval { low: log_interval.low.exp(), high: log_interval.high.exp(), level };
    let p = student::two_sided_p(mean / standard_error, (n - 1) as f64);
    Ok(PairedRatio { ratio: mean.exp(), interval, p, n })
}

/// The comparison of pairs that all have one ratio.
fn constant_ratio(logs: &LogRatios, level: f64) -> PairedRatio {
    let n = logs.values.len();
    let log_ratio = sample::mean(&logs.values);
    let (ratio, p) = if logs.is_zero(log_ratio) {
        (1.0, 1.0)
    } else {
        (log_ratio.exp(), 2f64.powf(1.0 - n as f64))
    };
    PairedRatio { ratio, interval: Interval { low: ratio, high: ratio, level }, p, n: n as u64 }
}

/// The log ratios of two paired series, and how much of them may be rounding.
pub(crate) struct LogRatios {
    /// ln(first / second), per pair.
    pub(crate) values: Vec<f64>,
    /// Values closer than this may differ by nothing but the rounding of the logarithms.
    rounding: f64,
}

impl LogRatios {
    /// Validates the pairs; any number of them is accepted here.
    pub(crate) fn new(first: &[f64], second: &[f64]) -> Result<Self, Refusal> {
        if first.len() != second.len() {
            return Err(Refusal::LengthsDiffer { first: first.len(), second: second.len() });
        }
        for series in [first, second] {
            check_finite(series)?;
            if let Some(index) = series.iter().position(|&value| value <= 0.0) {
                return Err(Refusal::NotPositive { index, value: series[index] });
            }
        }
        let pairs = first.iter().zip(second);
        let largest_log =
            pairs.clone().map(|(a, b)| a.ln().abs().max(b.ln().abs())).fold(1.0, f64::max);
        // The inputs, both logarithms and the difference round by at most half a unit in the last
        // place each; eight units leave room for inputs that were themselves computed.
        let rounding = 8.0 * f64::EPSILON * largest_log;
        // The difference of logs, not the log of the quotient, which can overflow.
        let values = pairs.map(|(a, b)| a.ln() - b.ln()).collect();
        Ok(Self { values, rounding })
    }

    /// Whether two log ratios are the same but for rounding.
    pub(crate) fn are_equal(&self, a: f64, b: f64) -> bool {
        (a - b).abs() <= self.rounding
    }

    /// Whether a log ratio is that of two equal values.
    pub(crate) fn is_zero(&self, log_ratio: f64) -> bool {
        self.are_equal(log_ratio, 0.0)
    }

    /// Whether all log ratios are the same but for rounding.
    pub(crate) fn are_constant(&self) -> bool {
        let low = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.are_equal(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: [f64; 8] = [10.2, 11.5, 9.8, 10.9, 12.1, 10.4, 11.0, 9.9];
    const SECOND: [f64; 8] = [9.1, 10.9, 9.9, 9.6, 10.8, 9.7, 10.3, 9.2];

    fn assert_close(got: f64, wanted: f64) {
        assert!((got - wanted).abs() <= 1e-9 * wanted.abs(), "{got} is not {wanted}");
    }

    // From SciPy 1.17.1, `a` and `b` being the constants above:
    // `d = np.log(a) - np.log(b); r = scipy.stats.ttest_1samp(d, 0)`;
    // `np.exp(d.mean()), np.exp(r.confidence_interval(.95)), r.pvalue`.
    #[test]
    fn ratio_interval_and_p_agree_with_scipy() {
        let got = paired_ratio(&FIRST, &SECOND, 0.95).unwrap();
        assert_close(got.ratio, 1.078823230008722);
        assert_close(got.interval.low, 1.0398647970011687);
        assert_close(got.interval.high, 1.119241236902016);
        assert_close(got.p, 0.0017981455107952116);
        assert_eq!(got.n, 8);
    }

    #[test]
    fn swapping_the_series_inverts_the_ratio_and_keeps_p() {
        let there = paired_ratio(&FIRST, &SECOND, 0.9).unwrap();
        let back = paired_ratio(&SECOND, &FIRST, 0.9).unwrap();
        assert_close(back.ratio, 1.0 / there.ratio);
        assert_close(back.interval.low, 1.0 / there.interval.high);
        assert_close(back.p, there.p);
    }

    #[test]
    fn a_unit_common_to_both_series_cancels() {
        let in_ms = |series: &[f64]| series.iter().map(|s| s * 1e3).collect::<Vec<_>>();
        let scaled = paired_ratio(&in_ms(&FIRST), &in_ms(&SECOND), 0.95).unwrap();
        let plain = paired_ratio(&FIRST, &SECOND, 0.95).unwrap();
        assert_close(scaled.ratio, plain.ratio);
        assert_close(scaled.p, plain.p);
    }

    #[test]
    fn identical_series_cannot_be_told_apart() {
        let got = paired_ratio(&FIRST, &FIRST, 0.95).unwrap();
        let interval = Interval { low: 1.0, high: 1.0, level: 0.95 };
        assert_eq!(got, PairedRatio { ratio: 1.0, interval, p: 1.0, n: 8 });
    }

    #[test]
    fn a_constant_ratio_is_worth_no_more_than_its_equal_signs() {
        let tripled = FIRST.map(|value| value * 3.0);
        let got = paired_ratio(&tripled, &FIRST, 0.95).unwrap();
        assert_close(got.ratio, 3.0);
        assert_close(got.p, 2.0 / 256.0);
        assert_close(got.interval.low, 3.0);
        let three = paired_ratio(&tripled[..3], &FIRST[..3], 0.95).unwrap();
        assert_close(three.p, 0.25);
    }

    #[test]
    fn values_far_apart_do_not_overflow() {
        let got = paired_ratio(&[1e300, 2e300, 1e300], &[1e-5, 1e-5, 1e-5], 0.95).unwrap();
        assert!(got.p < 1e-4 && got.p >= 0.0);
    }

    #[test]
    fn what_is_no_pair_of_positive_series_is_refused() {
        let refusal = |a: &[f64], b: &[f64]| paired_ratio(a, b, 0.95).unwrap_err();
        assert_eq!(
            refusal(&[1.0, 2.0], &[1.0, 2.0]).to_string(),
            "a paired comparison needs at least 3 values, and there are 2"
        );
        assert_eq!(refusal(&[1.0], &[]), Refusal::LengthsDiffer { first: 1, second: 0 });
        let zero = refusal(&[1.0, 2.0, 0.0], &[1.0, 1.0, 1.0]);
        assert_eq!(zero, Refusal::NotPositive { index: 2, value: 0.0 });
        assert!(matches!(refusal(&[1.0; 3], &[1.0, f64::NAN, 1.0]), Refusal::NotFinite { .. }));
        assert!(paired_ratio(&FIRST, &SECOND, 95.0).is_err());
    }
}
