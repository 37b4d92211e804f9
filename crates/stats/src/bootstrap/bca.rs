//! The bias correction and the acceleration of BCa intervals.
//!
//! Efron & Tibshirani, "An Introduction to the Bootstrap", section 14.3: the ends are the quantiles
//! Phi(z0 + (z0 + z) / (1 - a (z0 + z))) of the resampled statistics instead of Phi(z), with z0 the
//! normal quantile of the share of them below the estimate, and a the skewness of the jackknife
//! values over 6. Resampled statistics equal to the estimate, which are common for quantiles, count
//! by half, as in SciPy.

use crate::distribution::normal;
use crate::refusal::Refusal;
use crate::sample::Sample;

/// The statistic without one value of the sample, and for how many of the values it is the same.
pub(crate) type Jackknife = Vec<(f64, usize)>;

/// The corrections of a BCa interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// z0: how far the resampled statistics are below the estimate, in standard deviations.
    pub bias: f64,
    /// a: how fast the statistic's standard error changes with its true value.
    pub acceleration: f64,
}

impl Correction {
    pub(super) fn new(
        estimate: f64,
        replicates: &Sample,
        jackknife: &Jackknife,
    ) -> Result<Self, Refusal> {
        Ok(Self { bias: bias(estimate, replicates)?, acceleration: acceleration(jackknife)? })
    }

    /// The quantile to read instead of `probability` (equation 14.10).
    pub(super) fn corrected(&self, probability: f64) -> Result<f64, Refusal> {
        let shifted = self.bias + normal::quantile(probability);
        let shrunk = 1.0 - self.acceleration * shifted;
        if shrunk <= 0.0 {
            return Err(Refusal::NoBca { why: "the acceleration reverses the quantiles" });
        }
        Ok(normal::cdf(self.bias + shifted / shrunk).clamp(0.0, 1.0))
    }
}

/// Equation 14.14; values equal to the estimate count by half.
fn bias(estimate: f64, replicates: &Sample) -> Result<f64, Refusal> {
    let ascending = replicates.ascending();
    let below = ascending.partition_point(|&value| value < estimate);
    let at_most = ascending.partition_point(|&value| value <= estimate);
    let doubled = below + at_most;
    if doubled == 0 || doubled == 2 * ascending.len() {
        let why = "the estimate lies outside all resampled estimates";
        return Err(Refusal::NoBca { why });
    }
    Ok(normal::quantile(doubled as f64 / (2 * ascending.len()) as f64))
}

/// Equation 14.15.
fn acceleration(jackknife: &Jackknife) -> Result<f64, Refusal> {
    let low = jackknife.iter().map(|one| one.0).fold(f64::INFINITY, f64::min);
    let high = jackknife.iter().map(|one| one.0).fold(f64::NEG_INFINITY, f64::max);
    // If the statistics differ only by rounding, their skewness is an artefact of rounding.
    if high - low <= 8.0 * f64::EPSILON * low.abs().max(high.abs()) {
        let why = "the estimate is the same whichever value is left out";
        return Err(Refusal::NoBca { why });
    }
    // In units of the range, so that no power overflows.
    let all: usize = jackknife.iter().map(|one| one.1).sum();
    let scaled = |value: f64| value / (high - low);
    let mean = jackknife.iter().map(|one| one.1 as f64 * scaled(one.0)).sum::<f64>() / all as f64;
    let sum_of_powers = |power: i32| -> f64 {
        jackknife.iter().map(|one| one.1 as f64 * (mean - scaled(one.0)).powi(power)).sum()
    };
    Ok(sum_of_powers(3) / (6.0 * sum_of_powers(2).powf(1.5)))
}
