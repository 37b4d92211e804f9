//! Quantiles: the value at which a tail has a given probability, by Newton's method.
//!
//! The logarithm of a tail, as a function of the logarithm of the value, is nearly straight far out
//! and curved in one direction everywhere (the densities of ln x here are log-concave, hence so are
//! both tails), so Newton's method approaches the root from one side after its first step. A
//! bracket guards against rounding and underflow.

use super::{KnownTail, Side};

/// More than the worst quantile needs.
const STEPS_MAX: u32 = 200;

/// Maximum step, as a difference of logarithms.
const STEP_LONGEST: f64 = 8.0;

/// After a relative change this small, the next would be lost in rounding, since errors are squared
/// at every step.
const CLOSE_ENOUGH: f64 = 1e-11;

/// What Newton's method needs to know about a distribution at one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// The probability of the target's tail.
    pub(super) tail: f64,
    /// The density of the logarithm of the value.
    pub(super) density_per_log: f64,
}

/// The positive value whose tail is `target`, searched for from `start`.
pub(super) fn quantile(target: KnownTail, start: f64, read: impl Fn(f64) -> Reading) -> f64 {
    let (mut low, mut high) = (0.0, f64::MAX);
    let mut value = start;
    for _ in 0..STEPS_MAX {
        let reading = read(value);
        let too_high = match target.side {
            Side::Lower => reading.tail > target.probability,
            Side::Upper => reading.tail < target.probability,
        };
        if too_high {
            high = value;
        } else {
            low = value;
        }
        let step = newton_step(target, reading);
        let mut next = value * step.exp();
        if !(next > low && next < high) && step.abs() > CLOSE_ENOUGH {
            next = middle(low, high);
        }
        if (next / value - 1.0).abs() < CLOSE_ENOUGH || next == 0.0 {
            return next;
        }
        value = next;
    }
    value
}

/// Newton's step in ln value, applied to the logarithm of the tail.
fn newton_step(target: KnownTail, reading: Reading) -> f64 {
    let outwards = match target.side {
        Side::Lower => -1.0,
        Side::Upper => 1.0,
    };
    if reading.tail <= 0.0 || reading.density_per_log <= 0.0 {
        return -outwards * STEP_LONGEST;
    }
    let excess = (reading.tail / target.probability).ln();
    let step = outwards * excess * reading.tail / reading.density_per_log;
    step.clamp(-STEP_LONGEST, STEP_LONGEST)
}

/// The geometric mean, which halves the range of exponents.
fn middle(low: f64, high: f64) -> f64 {
    low.max(f64::MIN_POSITIVE).sqrt() * high.sqrt()
}
