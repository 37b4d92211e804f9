//! Marking values that are far off, for the reader to look into: nothing is ever removed.
//!
//! Latencies have long tails by nature, and the extreme values are often the reason for measuring a
//! file system. A mark therefore says "look here", not "leave this out".

use crate::refusal::{Refusal, check_count, check_finite};
use crate::sample::Sample;

/// Minimum number of values for one to count as far off.
pub const VALUES_MIN: u64 = 5;

/// The modified z-score beyond which a value is marked (Iglewicz & Hoaglin, "How to Detect and
/// Handle Outliers", 1993, section 3.3).
pub const MODIFIED_Z_MAX: f64 = 3.5;

/// The normal quantile of 0.75 as rounded by Iglewicz & Hoaglin: the median absolute deviation of
/// normal values in standard deviations.
const MAD_OF_NORMAL: f64 = 0.6745;

/// How far off a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Beyond Tukey's inner fence, 1.5 interquartile ranges from the nearer quartile.
    Mild,
    /// Beyond the outer fence, 3 interquartile ranges from it.
    Severe,
}

/// A value beyond Tukey's fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlier {
    /// Where the value stands, from 0.
    pub index: usize,
    /// How far off.
    pub severity: Severity,
}

/// A value with a modified z-score beyond [`MODIFIED_Z_MAX`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredOutlier {
    /// Where the value stands, from 0.
    pub index: usize,
    /// Its modified z-score: below 0 for a value that is too low.
    pub score: f64,
}

/// The values beyond Tukey's fences, in the order given (Tukey, "Exploratory Data Analysis",
/// section 2D), with quartiles of type 7 ([`Sample::quantile`]) in place of his hinges.
///
/// # Errors
/// Refuses fewer than [`VALUES_MIN`] values, values that are not finite, and quartiles that are
/// equal, beyond which every other value would lie.
pub fn tukey(values: &[f64]) -> Result<Vec<Outlier>, Refusal> {
    let what = "the marking of outliers by quartiles";
    check_count(what, values.len(), VALUES_MIN)?;
    let sample = Sample::new(values)?;
    let (low, high) = (sample.quantile(0.25)?, sample.quantile(0.75)?);
    let range = high - low;
    if range <= 0.0 {
        return Err(Refusal::NoSpread { what });
    }
    let is_beyond =
        |value: f64, ranges: f64| value < low - ranges * range || value > high + ranges * range;
    let mark = |(index, &value): (usize, &f64)| {
        let severity = match () {
            () if is_beyond(value, 3.0) => Severity::Severe,
            () if is_beyond(value, 1.5) => Severity::Mild,
            () => return None,
        };
        Some(Outlier { index, severity })
    };
    Ok(values.iter().enumerate().filter_map(mark).collect())
}

/// The values whose modified z-score 0.6745 (x - median) / MAD is beyond [`MODIFIED_Z_MAX`], in
/// the order given, with MAD the median of |x - median| (Iglewicz & Hoaglin, as above).
///
/// # Errors
/// Refuses fewer than [`VALUES_MIN`] values, values that are not finite, and a MAD of 0, which
/// more than half of the values being the same gives.
pub fn modified_z(values: &[f64]) -> Result<Vec<ScoredOutlier>, Refusal> {
    let what = "the marking of outliers by median deviation";
    check_count(what, values.len(), VALUES_MIN)?;
    check_finite(values)?;
    let median = Sample::new(values)?.median();
    let deviations: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    let mad = Sample::new(deviations)?.median();
    if mad <= 0.0 {
        return Err(Refusal::NoSpread { what });
    }
    let scores = values.iter().map(|value| MAD_OF_NORMAL * ((value - median) / mad)).enumerate();
    let far = scores.filter(|(_, score)| score.abs() > MODIFIED_Z_MAX);
    Ok(far.map(|(index, score)| ScoredOutlier { index, score }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Quartiles 3 and 6, so fences at -1.5 and 10.5, and at -6 and 15.
    const VALUES: [f64; 9] = [7.0, 3.0, 5.0, 13.5, 6.0, 5.0, 4.0, -9.5, 3.0];

    #[test]
    fn fences_mark_by_distance_and_keep_the_order() {
        let got = tukey(&VALUES).unwrap();
        let wanted = [(3, Severity::Mild), (7, Severity::Severe)];
        assert_eq!(got, wanted.map(|(index, severity)| Outlier { index, severity }));
    }

    #[test]
    fn a_value_on_the_fence_is_inside() {
        let mut values = VALUES;
        (values[3], values[7]) = (10.5, -1.5);
        assert_eq!(tukey(&values).unwrap(), []);
        (values[3], values[7]) = (15.0, -6.0);
        assert!(tukey(&values).unwrap().iter().all(|one| one.severity == Severity::Mild));
    }

    // Median 5, deviations 2 2 0 8.5 1 0 1 14.5 2, MAD 2: scores 0.6745 x 8.5 / 2 and so on.
    #[test]
    fn modified_scores_are_those_of_the_formula() {
        let got = modified_z(&VALUES).unwrap();
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].index, 7);
        assert!((got[0].score + 0.6745 * 14.5 / 2.0).abs() < 1e-12);
        let mut further = VALUES;
        further[3] = 15.5;
        assert_eq!(modified_z(&further).unwrap().len(), 2);
    }

    #[test]
    fn values_mostly_alike_give_no_measure_of_far() {
        let alike = [1.0, 1.0, 1.0, 1.0, 9.0];
        assert!(matches!(tukey(&alike), Err(Refusal::NoSpread { .. })));
        assert!(matches!(modified_z(&alike), Err(Refusal::NoSpread { .. })));
    }

    #[test]
    fn too_few_values_and_values_not_finite_are_refused() {
        assert!(matches!(tukey(&VALUES[..4]), Err(Refusal::TooFew { needed: 5, .. })));
        assert!(matches!(modified_z(&VALUES[..4]), Err(Refusal::TooFew { needed: 5, .. })));
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(tukey(&[1.0, 2.0, 3.0, 4.0, bad]).is_err());
            assert!(modified_z(&[1.0, 2.0, 3.0, 4.0, bad]).is_err());
        }
    }
}
