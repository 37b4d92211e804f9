//! The bootstrap of a quantile without drawing whole resamples: exact, and a few nanoseconds each.
//!
//! A resample of n values is n indices drawn uniformly from 0 to n - 1, and each index is floor(n
//! U) of a uniform U in [0, 1). floor(n U) does not decrease with U, so the k-th smallest index is
//! floor(n U(k)) of the k-th smallest uniform, and the k-th smallest value of the resample is the
//! sample's value at that index, with or without ties. The quantile of type 7 needs two neighbours,
//! U(k) and U(k + 1), jointly. With S(j) the sum of the first j of n + 1 independent standard
//! exponentials, (U(1), ..., U(n)) are distributed as (S(1), ..., S(n)) / S(n + 1) (David &
//! Nagaraja, "Order Statistics", 3rd edition, section 6.4; Devroye, "Non-Uniform Random Variate
//! Generation", section V.2.1), and S(k) is gamma distributed with shape k. Hence three draws make
//! one resampled quantile: gamma(k), an exponential, gamma(n - k). The only approximation is the
//! rounding of f64.
//!
//! Leaving out one value changes a quantile to one of at most three values, so BCa's jackknife has
//! a closed form.

use rand_distr::{Distribution, Exp1, Gamma};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bca::Jackknife;
use super::{Bootstrap, Resampling, VALUES_MIN, conclude, sorted};
use crate::refusal::{Refusal, check_count, check_open_unit};
use crate::sample::Sample;

/// The interval of the median of the distribution that `sample` was drawn from.
///
/// # Errors
/// As for [`quantile`].
pub fn median(sample: &Sample, how: &Resampling) -> Result<Bootstrap, Refusal> {
    quantile(sample, 0.5, how)
}

/// The interval of the `q` quantile (type 7, see [`Sample::quantile`]) of the distribution that
/// `sample` was drawn from. Equivalent to [`super::statistic`], with other random numbers.
///
/// The jackknife is not a consistent measure of a quantile's spread (Efron & Tibshirani, chapter
/// 11), so BCa's acceleration means little here; it is 0 for the median of an even number of
/// values.
///
/// # Errors
/// Refuses a `q` or a level outside 0 to 1, fewer than [`VALUES_MIN`] values, and too few resamples
/// for the level. BCa is refused if it does not exist: if the quantile is the same whichever value
/// is left out, or if it lies outside all resampled ones.
pub fn quantile(sample: &Sample, q: f64, how: &Resampling) -> Result<Bootstrap, Refusal> {
    how.check()?;
    check_open_unit("the quantile", q)?;
    check_count("a bootstrap", sample.len(), VALUES_MIN)?;
    let resampler = QuantileResampler::new(sample, q);
    let mut random = how.generator();
    let replicates = (0..how.resamples).map(|_| resampler.draw(&mut random)).collect();
    let estimate = sample.quantile(q)?;
    conclude(estimate, &sorted(replicates)?, how, || Ok(leave_each_out(sample.ascending(), q)))
}

/// Draws quantiles of resamples.
pub(crate) struct QuantileResampler<'a> {
    ascending: &'a [f64],
    position: QuantilePosition,
    until: Gamma<f64>,
    beyond: Gamma<f64>,
}

impl<'a> QuantileResampler<'a> {
    /// For the `q` quantile of at least two values; the caller has checked both.
    pub(crate) fn new(sample: &'a Sample, q: f64) -> Self {
        let n = sample.len();
        let position = QuantilePosition::new(q, n);
        // The two neighbours have the ranks `below + 1` and `below + 2`.
        let gamma = |shape: usize| {
            Gamma::new(shape as f64, 1.0).expect("a shape of at least 1 and a scale of 1")
        };
        let (until, beyond) = (gamma(position.below + 1), gamma(n - position.below - 1));
        Self { ascending: sample.ascending(), position, until, beyond }
    }

    /// The quantile of another resample.
    pub(crate) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let first = self.until.sample(random);
        let step: f64 = Exp1.sample(random);
        let all = first + step + self.beyond.sample(random);
        self.position.between(self.value_at(first / all), self.value_at((first + step) / all))
    }

    /// The value selected by a uniform number between 0 and 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the product lies between 0 and the number of values"
    )]
    fn value_at(&self, uniform: f64) -> f64 {
        let n = self.ascending.len();
        // Rounding may make a uniform number 1, whose index would be n.
        let index = (uniform * n as f64) as usize;
        self.ascending[index.min(n - 1)]
    }
}

/// The position of a quantile of type 7 among `n` ascending values.
#[derive(Clone, Copy)]
struct QuantilePosition {
    /// The index of the value at or below it, at most n - 2.
    below: usize,
    /// The weight of the next value, 0 to 1.
    share: f64,
}

impl QuantilePosition {
    /// The position of the `q` quantile of at least two values.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the position lies between 0 and the last index"
    )]
    fn new(q: f64, n: usize) -> Self {
        let position = q * (n - 1) as f64;
        let below = (position.floor() as usize).min(n - 2);
        Self { below, share: position - below as f64 }
    }

    fn between(&self, low: f64, high: f64) -> f64 {
        low * (1.0 - self.share) + high * self.share
    }
}

/// The quantile of `ascending` without each of its values: one for those up to the lower
/// neighbour's index, one for the upper neighbour, one for those above.
pub(super) fn leave_each_out(ascending: &[f64], q: f64) -> Jackknife {
    let n = ascending.len();
    let position = QuantilePosition::new(q, n - 1);
    let [a, b, c] = [0, 1, 2].map(|step| ascending[position.below + step]);
    vec![
        (position.between(b, c), position.below + 1),
        (position.between(a, c), 1),
        (position.between(a, b), n - position.below - 2),
    ]
}
