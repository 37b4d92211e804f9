//! Intervals of any statistic by resampling the sample: percentile and BCa.
//!
//! Each resample draws as many values as the sample has, with replacement. The statistics of the
//! resamples vary around that of the sample as the latter varies around the truth (Efron &
//! Tibshirani, "An Introduction to the Bootstrap", chapters 6, 13 and 14). The percentile interval
//! uses the quantiles of the resampled statistics as they are (section 13.3). BCa shifts those
//! quantiles by a bias correction and an acceleration (section 14.3).
//!
//! Both rely on the sample having the shape of the distribution it was drawn from, and on
//! independent values. For few values, long tails or autocorrelated series, their coverage is lower
//! than stated (docs/coverage.md). For a quantile, [`crate::order`] is exact and needs no
//! resampling.

mod bca;
mod quantile;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use bca::Correction;
pub use quantile::{median, quantile};

use crate::interval::Interval;
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit};
use crate::sample::{self, Sample};

/// Minimum number of values: 7 values have C(13, 7) = 1716 different resamples, but 6 have only 462
/// (Efron & Tibshirani, chapter 6), whose tails are too coarse to read quantiles from.
pub const VALUES_MIN: u64 = 7;

/// Which interval is derived from the resampled statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Their quantiles as they are.
    Percentile,
    /// Their quantiles after correction for bias and acceleration.
    Bca,
}

/// How a sample is resampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// The number of resamples: thousands for an interval (Efron & Tibshirani, section 14.3).
    pub resamples: u32,
    /// The seed; it determines the result.
    pub seed: u64,
    /// The interval's confidence level, between 0 and 1.
    pub level: f64,
    /// Which interval.
    pub method: Method,
}

impl Resampling {
    /// Refuses a level outside 0 to 1, and so few resamples that fewer than five lie beyond each
    /// end.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        check_open_unit("the level", self.level)?;
        let value = f64::from(self.resamples);
        if value * (1.0 - self.level) >= 10.0 * (1.0 - 1e-9) {
            return Ok(());
        }
        let range = "at least 10 / (1 - level)";
        Err(Refusal::OutOfRange { what: "the number of resamples", value, range })
    }

    pub(crate) fn generator(&self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed)
    }
}

/// A statistic of a sample, and what its resamples say about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the sample itself.
    pub estimate: f64,
    /// Its interval.
    pub interval: Interval,
    /// The standard deviation of the resampled statistics (Efron & Tibshirani, algorithm 6.1).
    pub standard_error: f64,
    /// What BCa corrected by; none for the percentile interval.
    pub correction: Option<Correction>,
}

/// The interval of `statistic` over the distribution that `values` were drawn from. The statistic
/// must not depend on their order. It is called once on the sample, once on each resample, and for
/// BCa once on the sample without each of its values; [`median`] and [`quantile`] do the same in a
/// fraction of the time.
///
/// # Errors
/// Refuses fewer than [`VALUES_MIN`] values, values that are not finite, a level outside 0 to 1,
/// too few resamples for the level, and a statistic that is not finite. BCa is refused if it does
/// not exist: if the statistic is the same whichever value is left out, or if it lies outside all
/// resampled ones.
pub fn statistic(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    how: &Resampling,
) -> Result<Bootstrap, Refusal> {
    how.check()?;
    check_count("a bootstrap", values.len(), VALUES_MIN)?;
    check_finite(values)?;
    let mut random = how.generator();
    let mut resample = vec![0.0; values.len()];
    let replicates = (0..how.resamples).map(|_| {
        resample.fill_with(|| values[random.random_range(0..values.len())]);
        statistic(&resample)
    });
    let replicates = sorted(replicates.collect())?;
    let estimate = finite(statistic(values))?;
    conclude(estimate, &replicates, how, || leave_each_out(values, &statistic))
}

/// Derives the interval from the sorted `replicates`; `jackknife` is evaluated for BCa only.
fn conclude(
    estimate: f64,
    replicates: &Sample,
    how: &Resampling,
    jackknife: impl FnOnce() -> Result<bca::Jackknife, Refusal>,
) -> Result<Bootstrap, Refusal> {
    let tail = (1.0 - how.level) / 2.0;
    let (correction, [low, high]) = match how.method {
        Method::Percentile => (None, [tail, 1.0 - tail]),
        Method::Bca => {
            let correction = Correction::new(estimate, replicates, &jackknife()?)?;
            (Some(correction), [correction.corrected(tail)?, correction.corrected(1.0 - tail)?])
        }
    };
    let interval = read_off(replicates, [low, high], how.level)?;
    let standard_error = sample::standard_deviation(replicates.ascending());
    Ok(Bootstrap { estimate, interval, standard_error, correction })
}

fn read_off(replicates: &Sample, quantiles: [f64; 2], level: f64) -> Result<Interval, Refusal> {
    let [low, high] = quantiles;
    Ok(Interval { low: replicates.quantile(low)?, high: replicates.quantile(high)?, level })
}

fn sorted(replicates: Vec<f64>) -> Result<Sample, Refusal> {
    if let Some(&value) = replicates.iter().find(|value| !value.is_finite()) {
        return Err(Refusal::StatisticNotFinite { value });
    }
    Sample::new(replicates)
}

fn finite(value: f64) -> Result<f64, Refusal> {
    if value.is_finite() { Ok(value) } else { Err(Refusal::StatisticNotFinite { value }) }
}

/// The statistic of the values without each one of them in turn.
fn leave_each_out(
    values: &[f64],
    statistic: &impl Fn(&[f64]) -> f64,
) -> Result<bca::Jackknife, Refusal> {
    // All values except the one at `left_out`; each step puts that one back and takes out the next.
    let mut rest = values[1..].to_vec();
    let mut without = vec![finite(statistic(&rest))?];
    for left_out in 1..values.len() {
        rest[left_out - 1] = values[left_out - 1];
        without.push(finite(statistic(&rest))?);
    }
    Ok(without.into_iter().map(|value| (value, 1)).collect())
}

#[cfg(test)]
mod tests;
