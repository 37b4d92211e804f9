//! Confidence intervals, and those of means by Student's t.

use crate::distribution::student;
use crate::refusal::{Refusal, check_count, check_open_unit};
use crate::sample::{self, Sample};

/// A range that contains the true value with probability `level`, in the unit of that value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The confidence level, between 0 and 1.
    pub level: f64,
}

impl Interval {
    /// Half the distance between the ends.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half the width as a share of `estimate`'s magnitude: 0.02 is "to within 2 %". Infinite
    /// for an estimate of 0.
    pub fn relative_half_width(&self, estimate: f64) -> f64 {
        if estimate == 0.0 { f64::INFINITY } else { self.half_width() / estimate.abs() }
    }

    /// Whether `value` lies within, the ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The interval of the mean of the distribution that `sample` was drawn from, at `level`: mean +/-
/// t s / sqrt(n) with n - 1 degrees of freedom (Jain, "The Art of Computer Systems Performance
/// Analysis", section 13.2). It assumes values that are sufficiently normal for their number.
///
/// # Errors
/// Refuses a `level` outside 0 to 1 and fewer than two values.
pub fn mean_interval(sample: &Sample, level: f64) -> Result<Interval, Refusal> {
    check_open_unit("the level", level)?;
    check_count("an interval of a mean", sample.len(), 2)?;
    Ok(t_interval(sample.ascending(), level))
}

/// A geometric mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricMean {
    /// The mean: `exp` of the mean of the logarithms.
    pub mean: f64,
    /// The interval of what it estimates: for a log-normal distribution, the median.
    pub interval: Interval,
}

/// The geometric mean of positive values, and its interval at `level`: that of the mean of their
/// logarithms ([`mean_interval`]), transformed back. It assumes nearly normal logarithms, which
/// result from effects that multiply (Jain, section 12.4; Le Boudec, "Performance Evaluation of
/// Computer and Communication Systems", section 2.4.3, on transformed data).
///
/// # Errors
/// Refuses a `level` outside 0 to 1, fewer than two values, and values that are not above 0.
pub fn geometric_mean(sample: &Sample, level: f64) -> Result<GeometricMean, Refusal> {
    check_open_unit("the level", level)?;
    check_count("an interval of a geometric mean", sample.len(), 2)?;
    if sample.min() <= 0.0 {
        return Err(Refusal::NotPositive { index: 0, value: sample.min() });
    }
    let logarithms: Vec<f64> = sample.ascending().iter().map(|value| value.ln()).collect();
    let of_logarithms = t_interval(&logarithms, level);
    let interval = Interval { low: of_logarithms.low.exp(), high: of_logarithms.high.exp(), level };
    Ok(GeometricMean { mean: sample::mean(&logarithms).exp(), interval })
}

/// The interval of the mean of a plain series. The caller has checked the level and that there are
/// at least two values, all finite.
pub(crate) fn t_interval(values: &[f64], level: f64) -> Interval {
    let n = values.len() as f64;
    let t = student::quantile((1.0 + level) / 2.0, n - 1.0);
    let half_width = t * sample::standard_deviation(values) / n.sqrt();
    let mean = sample::mean(values);
    Interval { low: mean - half_width, high: mean + half_width, level }
}

#[cfg(test)]
mod tests {
    use super::*;

    // From SciPy 1.17.1: `x = [3.1, 0.2, 7.7, 4.4, 12.9, 4.4, 1.5]`;
    // `[scipy.stats.ttest_1samp(x, 0).confidence_interval(c) for c in (.9, .95, .99)]`.
    #[test]
    fn the_interval_of_a_mean_agrees_with_scipy() {
        let sample = Sample::new([3.1, 0.2, 7.7, 4.4, 12.9, 4.4, 1.5]).unwrap();
        let table = [
            (0.9, 1.7520203568315935, 8.019408214596977),
            (0.95, 0.9396713532434435, 8.831757218185128),
            (0.99, -1.093115778943532, 10.864544350372103),
        ];
        for (level, low, high) in table {
            let got = mean_interval(&sample, level).unwrap();
            assert!((got.low - low).abs() < 1e-9, "{} is not {low}", got.low);
            assert!((got.high - high).abs() < 1e-9, "{} is not {high}", got.high);
            assert!((got.level - level).abs() < f64::EPSILON);
        }
    }

    #[test]
    fn one_value_has_no_interval() {
        let refused = mean_interval(&Sample::new([1.0]).unwrap(), 0.95).unwrap_err();
        assert_eq!(refused.to_string(), "an interval of a mean needs at least 2 values, but got 1");
    }

    #[test]
    fn what_is_not_above_0_has_no_geometric_mean() {
        let refused = |values: &[f64]| {
            geometric_mean(&Sample::new(values).unwrap(), 0.95).unwrap_err().to_string()
        };
        assert!(refused(&[1.0, 0.0]).contains("above 0"), "{}", refused(&[1.0, 0.0]));
        assert!(refused(&[1.0]).contains("at least 2 values"), "{}", refused(&[1.0]));
    }

    #[test]
    fn widths_and_contents() {
        let interval = Interval { low: 8.0, high: 12.0, level: 0.95 };
        assert!((interval.half_width() - 2.0).abs() < f64::EPSILON);
        assert!((interval.relative_half_width(-10.0) - 0.2).abs() < f64::EPSILON);
        assert!(interval.relative_half_width(0.0).is_infinite());
        assert!(interval.contains(8.0) && interval.contains(12.0) && !interval.contains(12.1));
    }
}
