//! Series whose values depend on the ones before: how strongly, and intervals that allow for it.
//!
//! The usual interval of a mean assumes independent values. In a series with positive
//! autocorrelation, each value repeats part of what the previous one said, so the interval is too
//! narrow. [`lag_one`] warns of that, [`effective_size`] says how many independent values the
//! series is worth, and [`batch_means`] gives a valid interval.

use crate::distribution::normal;
use crate::interval::{Interval, t_interval};
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit, check_spread};
use crate::sample;

/// Minimum number of values for a lag-1 autocorrelation: with fewer, the warning's 95 % threshold
/// is above 0.6.
pub const LAG_VALUES_MIN: u64 = 10;

/// Minimum number of values for an effective size (Box, Jenkins & Reinsel, "Time Series Analysis",
/// section 2.1.6: useful autocorrelations need about fifty values).
pub const EFFECTIVE_VALUES_MIN: u64 = 50;

/// The usual number of batches: between 10 and 30 whatever the length of the series (Schmeiser,
/// "Batch Size Effects in the Analysis of Simulation Output", Operations Research 30(3), 1982).
pub const BATCHES: u32 = 20;

/// Minimum number of batches: the lower of Schmeiser's bounds.
pub const BATCHES_MIN: u32 = 10;

/// Minimum number of values in a batch.
pub const BATCH_SIZE_MIN: u64 = 10;

/// How strongly each value of a series is correlated with the previous one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LagOne {
    /// The lag-1 autocorrelation, between -1 and 1.
    pub r: f64,
    /// The magnitude that independent values exceed with a probability of only 1 - level.
    pub threshold: f64,
}

impl LagOne {
    /// Whether the values are not independent. Intervals that assume independence are then wrong:
    /// too narrow if `r` is positive.
    pub fn is_correlated(&self) -> bool {
        self.r.abs() > self.threshold
    }
}

/// The lag-1 autocorrelation of `values` in the order in which they were measured, and the
/// threshold z / sqrt(n) below which independent values stay with probability `level` (Brockwell &
/// Davis, "Introduction to Time Series and Forecasting", section 1.6).
///
/// # Errors
/// Refuses fewer than [`LAG_VALUES_MIN`] values, values that are not finite or are all equal, and a
/// level outside 0 to 1.
pub fn lag_one(values: &[f64], level: f64) -> Result<LagOne, Refusal> {
    check_open_unit("the level", level)?;
    let what = "a lag-1 autocorrelation";
    check_count(what, values.len(), LAG_VALUES_MIN)?;
    let centred = Centred::new(what, values)?;
    let z = normal::quantile((1.0 + level) / 2.0);
    let r = centred.covariance(1) / centred.covariance(0);
    Ok(LagOne { r, threshold: z / (values.len() as f64).sqrt() })
}

/// How many independent values a series is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectiveSize {
    /// The number of independent values whose mean would be as precise as the series' mean; at most
    /// the length of the series.
    pub values: f64,
    /// How many values of the series are worth one independent value: at least 1.
    pub time: f64,
}

/// The effective number of values of a series, by the initial positive sequence (Geyer, "Practical
/// Markov Chain Monte Carlo", Statistical Science 7(4), 1992, section 3.3): autocovariances are
/// summed in pairs of neighbouring lags up to the first pair that is not positive, beyond which
/// there is little but noise. A series that swings back and forth, whose mean is more precise than
/// that of independent values, gets no credit for that.
///
/// # Errors
/// Refuses fewer than [`EFFECTIVE_VALUES_MIN`] values, and values that are not finite or are all
/// equal.
pub fn effective_size(values: &[f64]) -> Result<EffectiveSize, Refusal> {
    let what = "an effective number of values";
    check_count(what, values.len(), EFFECTIVE_VALUES_MIN)?;
    let centred = Centred::new(what, values)?;
    let pairs = (0..values.len() / 2)
        .map(|pair| centred.covariance(2 * pair) + centred.covariance(2 * pair + 1));
    let positive: f64 = pairs.take_while(|&sum| sum > 0.0).sum();
    let time = (2.0 * positive / centred.covariance(0) - 1.0).max(1.0);
    Ok(EffectiveSize { values: values.len() as f64 / time, time })
}

/// The mean of a series and its interval from the means of batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMeans {
    /// The mean of the values that belong to a batch.
    pub mean: f64,
    /// The interval of the mean.
    pub interval: Interval,
    /// The number of values in each batch.
    pub batch_size: u64,
    /// The autocorrelation that remains between batches. If it is significant, the batches are too
    /// short and the interval is too narrow: a longer series is needed.
    pub between_batches: LagOne,
}

/// The interval of the mean of the process behind `values`, from `batches` batch means (Law &
/// Kelton, "Simulation Modeling and Analysis", 3rd edition, section 9.5.3). Successive values are
/// divided into batches of equal size, long enough for their means to be nearly independent, and
/// Student's t on these means gives the interval. Values that do not fill a batch are dropped from
/// the beginning of the series, where the influence of what came before is strongest.
///
/// # Errors
/// Refuses fewer than [`BATCHES_MIN`] batches, fewer than [`BATCH_SIZE_MIN`] values in a batch,
/// values that are not finite, batch means that are all equal, and a level outside 0 to 1.
pub fn batch_means(values: &[f64], batches: u32, level: f64) -> Result<BatchMeans, Refusal> {
    check_open_unit("the level", level)?;
    if batches < BATCHES_MIN {
        let (what, range) = ("the number of batches", "at least 10");
        return Err(Refusal::OutOfRange { what, value: f64::from(batches), range });
    }
    let needed = u64::from(batches) * BATCH_SIZE_MIN;
    check_count("an interval from batch means", values.len(), needed)?;
    check_finite(values)?;
    let batch_size = values.len() / batches as usize;
    let used = &values[values.len() % batches as usize..];
    let means: Vec<f64> = used.chunks_exact(batch_size).map(sample::mean).collect();
    let between_batches = lag_one(&means, level)?;
    let (mean, interval) = (sample::mean(&means), t_interval(&means, level));
    Ok(BatchMeans { mean, interval, batch_size: batch_size as u64, between_batches })
}

/// A series minus its mean, in units of its largest deviation so that no square overflows.
struct Centred {
    deviations: Vec<f64>,
}

impl Centred {
    fn new(what: &'static str, values: &[f64]) -> Result<Self, Refusal> {
        check_finite(values)?;
        if sample::is_constant(values) {
            return Err(Refusal::NoSpread { what });
        }
        let mean = sample::mean(values);
        let largest = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        check_spread(what, largest)?;
        let deviations = values.iter().map(|value| (value - mean) / largest).collect();
        Ok(Self { deviations })
    }

    /// The autocovariance at `lag`, divided by n rather than n - lag (Brockwell & Davis, section
    /// 1.4), in the unit of the deviations.
    fn covariance(&self, lag: usize) -> f64 {
        let later = &self.deviations[lag..];
        let sum: f64 = later.iter().zip(&self.deviations).map(|(a, b)| a * b).sum();
        sum / self.deviations.len() as f64
    }
}

#[cfg(test)]
mod tests;
