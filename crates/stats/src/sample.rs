//! One series of numbers, validated once: its centre, its quantiles and its spread.

use crate::refusal::{Refusal, check_count, check_finite, check_open_unit};

/// A series of at least one finite value, kept in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    ascending: Vec<f64>,
}

impl Sample {
    /// Validates and sorts `values`, whose order does not matter.
    ///
    /// # Errors
    /// Refuses an empty series, and values that are infinite or not a number.
    pub fn new(values: impl Into<Vec<f64>>) -> Result<Self, Refusal> {
        let mut ascending: Vec<f64> = values.into();
        check_count("a sample", ascending.len(), 1)?;
        check_finite(&ascending)?;
        ascending.sort_by(f64::total_cmp);
        Ok(Self { ascending })
    }

    /// The number of values, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub fn len(&self) -> usize {
        self.ascending.len()
    }

    /// The values in ascending order: `ascending()[r - 1]` is the order statistic of rank `r`.
    pub fn ascending(&self) -> &[f64] {
        &self.ascending
    }

    /// The smallest value.
    pub fn min(&self) -> f64 {
        self.ascending[0]
    }

    /// The largest value.
    pub fn max(&self) -> f64 {
        self.ascending[self.len() - 1]
    }

    /// The arithmetic mean (Jain, "The Art of Computer Systems Performance Analysis", 12.2).
    pub fn mean(&self) -> f64 {
        mean(&self.ascending)
    }

    /// The middle value, or the mean of the two middle ones (Jain, 12.2).
    pub fn median(&self) -> f64 {
        self.type_7(0.5)
    }

    /// The `q` quantile of type 7, interpolated between order statistics, as R and `NumPy` do by
    /// default (Hyndman & Fan, "Sample Quantiles in Statistical Packages", The American
    /// Statistician 50(4), 1996, definition 7). `q` is from 0 to 1, both included.
    ///
    /// # Errors
    /// Refuses a `q` outside 0 to 1.
    pub fn quantile(&self, q: f64) -> Result<f64, Refusal> {
        if q == 0.0 {
            return Ok(self.min());
        }
        if q == 1.0 {
            return Ok(self.max());
        }
        check_open_unit("the quantile", q)?;
        Ok(self.type_7(q))
    }

    /// The sample standard deviation, with n - 1 (Jain, 12.8).
    ///
    /// # Errors
    /// Refuses fewer than two values.
    pub fn standard_deviation(&self) -> Result<f64, Refusal> {
        check_count("a standard deviation", self.len(), 2)?;
        Ok(standard_deviation(&self.ascending))
    }

    /// The standard deviation divided by the mean's magnitude (Jain, 12.8).
    ///
    /// # Errors
    /// Refuses fewer than two values, and a mean of 0.
    pub fn coefficient_of_variation(&self) -> Result<f64, Refusal> {
        let deviation = self.standard_deviation()?;
        let mean = self.mean();
        if mean == 0.0 { Err(Refusal::ZeroMean) } else { Ok(deviation / mean.abs()) }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the position lies between 0 and the last index"
    )]
    fn type_7(&self, q: f64) -> f64 {
        let position = q * (self.len() - 1) as f64;
        let below = position.floor() as usize;
        let above = (below + 1).min(self.len() - 1);
        let (low, high) = (self.ascending[below], self.ascending[above]);
        // A weighted sum, since subtracting first could overflow.
        let share = position - position.floor();
        low * (1.0 - share) + high * share
    }
}

/// The arithmetic mean of at least one value. Sums the distances from the first value, so that the
/// mean of equal values is exactly that value.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let (first, n) = (values[0], values.len() as f64);
    let mean = first + values.iter().map(|value| value - first).sum::<f64>() / n;
    if mean.is_finite() { mean } else { values.iter().map(|value| value / n).sum() }
}

/// The sample standard deviation of at least two values, in two passes: the one-pass formula loses
/// the digits that the mean and the values share.
pub(crate) fn standard_deviation(values: &[f64]) -> f64 {
    let (n, centre) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (n - 1.0)).sqrt()
}

/// The variance of the mean of at least two values; exactly 0 if they are all equal, which the
/// rounding of their mean would hide.
pub(crate) fn variance_of_mean(values: &[f64]) -> f64 {
    if is_constant(values) {
        return 0.0;
    }
    standard_deviation(values).powi(2) / values.len() as f64
}

/// Whether all values are equal.
pub(crate) fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values).unwrap()
    }

    fn assert_close(got: f64, wanted: f64) {
        assert!((got - wanted).abs() <= 1e-12 * wanted.abs(), "{got} is not {wanted}");
    }

    // From NumPy 2: `x = [3.1, 0.2, 7.7, 4.4, 12.9, 4.4, 1.5]`;
    // `np.mean(x), np.median(x), np.quantile(x, [.1, .25, .9, .99]), np.std(x, ddof=1)`.
    #[test]
    fn a_series_is_described_as_numpy_does() {
        let it = sample(&[3.1, 0.2, 7.7, 4.4, 12.9, 4.4, 1.5]);
        let (mean, sd) = (4.885714285714286, 4.266703868885432);
        assert_close(it.mean(), mean);
        assert_close(it.median(), 4.4);
        assert_close(it.quantile(0.1).unwrap(), 0.9800000000000001);
        assert_close(it.quantile(0.25).unwrap(), 2.3);
        assert_close(it.quantile(0.9).unwrap(), 9.780000000000001);
        assert_close(it.quantile(0.99).unwrap(), 12.587999999999997);
        assert_close(it.standard_deviation().unwrap(), sd);
        assert_close(it.coefficient_of_variation().unwrap(), sd / mean);
        assert_eq!((it.min(), it.max(), it.len()), (0.2, 12.9, 7));
    }

    #[test]
    fn values_that_are_alike_have_that_mean() {
        assert_eq!(sample(&[4.2; 1000]).mean(), 4.2);
        assert_eq!(sample(&[f64::MAX, -f64::MAX, f64::MAX]).mean(), f64::MAX / 3.0);
    }

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_close(sample(&[4.0, 1.0, 3.0, 2.0]).median(), 2.5);
        assert_close(sample(&[8.0]).median(), 8.0);
    }

    #[test]
    fn quantiles_end_at_the_extremes_and_nowhere_else() {
        let it = sample(&[1.0, 2.0, 9.0]);
        assert_eq!((it.quantile(0.0), it.quantile(1.0)), (Ok(1.0), Ok(9.0)));
        for bad in [-0.01, 1.01, f64::NAN] {
            assert!(it.quantile(bad).is_err(), "{bad}");
        }
    }

    // Standard deviation 1, 1e9 from zero, where the one-pass formula loses every digit.
    #[test]
    fn a_far_away_mean_does_not_drown_the_spread() {
        assert_close(sample(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]).standard_deviation().unwrap(), 1.0);
    }

    #[test]
    fn what_is_no_sample_is_refused() {
        assert!(matches!(Sample::new([]), Err(Refusal::TooFew { needed: 1, given: 0, .. })));
        assert!(matches!(Sample::new([1.0, f64::NAN]), Err(Refusal::NotFinite { index: 1, .. })));
    }

    #[test]
    fn spread_needs_two_values_and_a_mean() {
        assert!(sample(&[1.0]).standard_deviation().is_err());
        assert_eq!(sample(&[-1.0, 1.0]).coefficient_of_variation(), Err(Refusal::ZeroMean));
    }
}
