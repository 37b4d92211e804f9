//! Whether successive pairs depend on each other, over all comparisons of a run, and how that
//! affects their intervals.
//!
//! Values that depend on the previous ones repeat part of what has been said, so intervals for
//! independent values are too narrow: with a lag-1 autocorrelation of 0.5, a test at 5 % is wrong
//! in 25 % of cases. The six to twenty pairs of one comparison are not enough to detect it: in ten
//! pairs, 0.5 is detected in one case of four. But a run makes many comparisons on the same blocks.
//! The mean of their lag-1 autocorrelations r is compared with that of independent values, -1 / n
//! (Kendall, "Note on Bias in the Estimation of Autocorrelation", Biometrika 41, 1954); its
//! variance is (n - 2)^2 / (n^2 (n - 1)) for one series (Moran, "Some Theorems on Time Series II",
//! Biometrika 35, 1948), and smaller for the mean of several to the extent that they differ. If it
//! is larger than chance explains, all intervals are widened: by the factor that a first-order
//! autoregression with that correlation puts on the variance of a mean (Law & Kelton, "Simulation
//! Modeling and Analysis", 3rd edition, section 4.4), and by the degrees of freedom that its
//! estimate then has (Bayley & Hammersley, "The 'Effective' Number of Independent Observations in
//! an Autocorrelated Time Series", Supplement to the Journal of the Royal Statistical Society 8,
//! 1946).

use std::collections::{BTreeMap, BTreeSet};

use crate::distribution::normal;
use crate::estimated::Estimated;
use crate::sample;

/// Minimum number of values for a series to say something about dependence.
pub const VALUES_MIN: usize = 6;

/// How often reports mistake independent values for dependent ones. Missing a dependence costs
/// more: of runs with six blocks and a correlation of 0.5, 8 % reported a difference where there
/// was none when this was 5 %, and 5 % do at 10 %.
pub const TAKEN_FOR_DEPENDENT: f64 = 0.1;

/// The largest correlation allowed for: beyond it, a series is worth a single value.
const CORRELATION_MAX: f64 = 0.9;

/// How strongly successive values of several series depend on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    /// The lag-1 autocorrelation behind the series, corrected for bias; 0 if chance alone explains
    /// it.
    pub correlation: f64,
    /// The probability that chance alone produces at least as much.
    pub p: f64,
    /// How many series there were.
    pub series: usize,
}

impl Dependence {
    /// Independent values.
    pub const NONE: Self = Self { correlation: 0.0, p: 1.0, series: 0 };

    /// From `series`, by block. Those with fewer than [`VALUES_MIN`] values or without spread are
    /// ignored, as are negative correlations, which make intervals too wide. `refused` is how often
    /// independent values may be mistaken for dependent ones, such as 0.05.
    #[must_use]
    pub fn from_series(series: &[BTreeMap<u32, f64>], refused: f64) -> Self {
        let telling: Vec<StandardizedSeries> =
            series.iter().filter_map(StandardizedSeries::new).collect();
        if telling.is_empty() {
            return Self::NONE;
        }
        let count = telling.len() as f64;
        let mean_of =
            |of: fn(&StandardizedSeries) -> f64| telling.iter().map(of).sum::<f64>() / count;
        let r = mean_of(StandardizedSeries::lag_one);
        let expected = mean_of(|one| -1.0 / one.n());
        let variance = mean_of(StandardizedSeries::variance);
        let alike = shared(&telling);
        let z = (r - expected) / (variance * (1.0 / count + (1.0 - 1.0 / count) * alike)).sqrt();
        let p = normal::sf(z);
        let inverse_n = mean_of(|one| 1.0 / one.n());
        // The expectation of r is correlation - (1 + 3 correlation) / n.
        let correlation = (r + inverse_n) / (1.0 - 3.0 * inverse_n);
        let correlation = if p <= refused { correlation.clamp(0.0, CORRELATION_MAX) } else { 0.0 };
        Self { correlation, p, series: telling.len() }
    }

    /// Whether intervals for independent values would be too narrow.
    #[must_use]
    pub fn is_seen(&self) -> bool {
        self.correlation > 0.0
    }

    /// How many independent values `n` of these are worth, at least 1.
    #[must_use]
    pub fn effective(&self, n: u64) -> f64 {
        (n as f64 / self.inflation(n)).max(1.0)
    }

    /// The factor by which an interval for independent values must be widened for what is typical
    /// of `n` of these.
    #[must_use]
    pub fn widening(&self, n: u64) -> f64 {
        self.inflation(n).sqrt()
    }

    /// How many times larger the variance of the mean of `n` values is than for independent ones.
    fn inflation(&self, n: u64) -> f64 {
        Self::inflation_of(self.correlation, n)
    }

    fn inflation_of(correlation: f64, n: u64) -> f64 {
        let n = n as f64;
        let mut power = 1.0;
        let mut sum = 0.0;
        let mut lag = 1.0;
        while lag < n && power > 1e-9 {
            power *= correlation;
            sum += (1.0 - lag / n) * power;
            lag += 1.0;
        }
        1.0 + 2.0 * sum
    }

    /// An estimate from `n` values, with its error adjusted for this dependence.
    pub(crate) fn widened(&self, of: Estimated, n: u64) -> Estimated {
        let values = n as f64;
        if !self.is_seen() || values < 3.0 {
            return of;
        }
        let inflation = self.inflation(n);
        // Dependent values also spread less around their own mean.
        let spread = (1.0 - (inflation - 1.0) / (values - 1.0)).max(0.05);
        // The variance has more degrees of freedom than the number of independent values that the
        // mean is worth, but the correlation is itself an estimate: halfway between, the coverage
        // is right.
        let of_variance = Self::inflation_of(self.correlation.powi(2), n);
        let worth = f64::midpoint(values / inflation, values / of_variance);
        let share = (worth - 1.0).max(0.0) / (values - 1.0);
        Estimated {
            standard_error: of.standard_error * (inflation / spread).sqrt(),
            df: (of.df * share).max(1.0),
            ..of
        }
    }
}

/// A series minus its mean, divided by the root of its sum of squares.
struct StandardizedSeries(BTreeMap<u32, f64>);

impl StandardizedSeries {
    fn new(series: &BTreeMap<u32, f64>) -> Option<Self> {
        let values: Vec<f64> = series.values().copied().collect();
        if values.len() < VALUES_MIN || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mean = sample::mean(&values);
        let root = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>().sqrt();
        let scaled = |(&block, value): (&u32, &f64)| (block, (value - mean) / root);
        let is_spread = root.is_finite() && root > 1e-12 * mean.abs().max(f64::MIN_POSITIVE);
        is_spread.then(|| Self(series.iter().map(scaled).collect()))
    }

    fn n(&self) -> f64 {
        self.0.len() as f64
    }

    fn lag_one(&self) -> f64 {
        self.0.values().zip(self.0.values().skip(1)).map(|(one, next)| one * next).sum()
    }

    /// The variance of the lag-1 autocorrelation of independent values.
    fn variance(&self) -> f64 {
        let n = self.n();
        (n - 2.0).powi(2) / (n * n * (n - 1.0))
    }
}

/// The mean of the squared correlations between different series, minus what chance contributes: 0
/// for series that have nothing in common, 1 for copies of one series.
///
/// The sum of the squared products of all pairs of series equals that of all pairs of blocks.
/// Whichever are fewer are paired, so that the time does not grow with the square of a run's
/// length.
fn shared(series: &[StandardizedSeries]) -> f64 {
    let count = series.len() as f64;
    if series.len() < 2 {
        return 0.0;
    }
    let blocks: BTreeSet<u32> = series.iter().flat_map(|one| one.0.keys().copied()).collect();
    let places: BTreeMap<u32, usize> = blocks.into_iter().zip(0..).collect();
    let is_long = places.len() > series.len();
    let (rows, columns) =
        if is_long { (series.len(), places.len()) } else { (places.len(), series.len()) };
    let mut table = vec![0.0; rows * columns];
    for (number, one) in series.iter().enumerate() {
        for (block, value) in &one.0 {
            let (row, column) =
                if is_long { (number, places[block]) } else { (places[block], number) };
            table[row * columns + column] = *value;
        }
    }
    let rows: Vec<&[f64]> = table.chunks_exact(columns).collect();
    let product = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    let squares = |(number, one): (usize, &&[f64])| -> f64 {
        let of_others: f64 = rows[..number].iter().map(|other| product(one, other).powi(2)).sum();
        2.0 * of_others + product(one, one).powi(2)
    };
    let products: f64 = rows.iter().enumerate().map(squares).sum();
    // Each series correlates with itself by 1.
    let others = products - count;
    let mean = others / (count * (count - 1.0));
    let by_chance = series.iter().map(|one| 1.0 / (one.n() - 1.0)).sum::<f64>() / count;
    ((mean - by_chance) / (1.0 - by_chance)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
