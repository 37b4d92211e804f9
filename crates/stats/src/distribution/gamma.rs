//! The regularised incomplete gamma function, both tails to full relative accuracy.
//!
//! Below the mean, the power series of the lower tail; above it, the continued fraction of the
//! upper one (Abramowitz & Stegun, "Handbook of Mathematical Functions", equations 6.5.29 and
//! 6.5.31, the even part of the fraction), both times the density in Loader's form. For large
//! shapes, for which both converge slowly, the density itself is integrated.

use super::saddle::{deviance, stirling_error};
use super::{Tails, quadrature};

/// The shape beyond which the density is integrated.
const LARGE_SHAPE: f64 = 1_000.0;

/// Enough for every shape up to [`LARGE_SHAPE`].
const STEPS_MAX: u32 = 10_000;

/// The tails at `x` of the gamma distribution of shape `a` and scale 1.
pub(super) fn tails(a: f64, x: f64) -> Tails {
    if x.is_nan() {
        return Tails::from_lower(f64::NAN);
    }
    if x <= 0.0 {
        return Tails::from_lower(0.0);
    }
    if (x / a).is_infinite() {
        return Tails::from_upper(0.0);
    }
    if a > LARGE_SHAPE {
        return integrated(a, x);
    }
    if x < a + 1.0 {
        Tails::from_lower(density_per_log(a, x) * lower_series(a, x))
    } else {
        Tails::from_upper(density_per_log(a, x) * upper_fraction(a, x))
    }
}

/// x^a e^-x / gamma(a), which is the density of ln x.
pub(super) fn density_per_log(a: f64, x: f64) -> f64 {
    let exponent = -a * deviance((x - a) / a, x / a) - stirling_error(a);
    (a / std::f64::consts::TAU).sqrt() * exponent.exp()
}

/// The lower tail divided by the density.
fn lower_series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut divisor) = (1.0, 1.0, a);
    for _ in 0..STEPS_MAX {
        divisor += 1.0;
        term *= x / divisor;
        sum += term;
        if term < sum * f64::EPSILON / 4.0 {
            break;
        }
    }
    sum / a
}

/// The upper tail divided by the density.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let mut denominator = x + 1.0 - a;
    let mut c = f64::INFINITY;
    let mut d = 1.0 / denominator;
    let mut fraction = d;
    for step in 1..=STEPS_MAX {
        let n = f64::from(step);
        let numerator = -n * (n - a);
        denominator += 2.0;
        d = 1.0 / super::beta::not_zero(denominator + numerator * d);
        c = super::beta::not_zero(denominator + numerator / c);
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
}

/// The tails by quadrature, outwards from `x`.
fn integrated(a: f64, x: f64) -> Tails {
    let (deviation, distance) = (a.sqrt(), x - a);
    let outwards = if distance > 0.0 { 1.0 } else { -1.0 };
    let decay = distance.abs() * deviation / x;
    let sum = quadrature::tail(decay, |s| {
        let from_mean = (distance + outwards * deviation * s) / a;
        let ratio = 1.0 + from_mean;
        if ratio <= 0.0 { 0.0 } else { (-a * deviance(from_mean, ratio)).exp() / ratio }
    });
    let tail = sum * (-stirling_error(a)).exp() / std::f64::consts::TAU.sqrt();
    if distance > 0.0 { Tails::from_upper(tail) } else { Tails::from_lower(tail) }
}
