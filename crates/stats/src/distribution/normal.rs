//! The standard normal distribution.
//!
//! Tails by the rational approximations of Cody, "Rational Chebyshev Approximations for the Error
//! Function" (Mathematics of Computation 23, 1969), in the scaling of the SPECFUN package, as in R:
//! correct in both tails, except for the last digit or two. Quantiles by Newton's method.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::assert_open_unit;

/// Up to the third quartile, the distance from the median is approximated; beyond it, the tail.
const CENTRAL: f64 = 0.674_489_75;

/// Where the approximation of the tail changes: sqrt(32).
const FAR: f64 = 5.656_854_249_492_381;

/// The probability of a value of at most `z`.
pub fn cdf(z: f64) -> f64 {
    sf(-z)
}

/// The probability of a value above `z`.
pub fn sf(z: f64) -> f64 {
    if z.abs() <= CENTRAL {
        0.5 - from_median(z)
    } else if z > 0.0 {
        upper_tail(z)
    } else if z < 0.0 {
        1.0 - upper_tail(-z)
    } else {
        f64::NAN
    }
}

/// The density at `z`.
pub(crate) fn density(z: f64) -> f64 {
    bell(z) * FRAC_1_SQRT_2 / PI.sqrt()
}

/// The `probability` quantile.
///
/// # Panics
/// If `probability` is not strictly between 0 and 1.
pub fn quantile(probability: f64) -> f64 {
    assert_open_unit(probability);
    let above_median = probability - 0.5;
    let distance = above_median.abs();
    let z = if distance < 0.25 {
        central_quantile(distance)
    } else {
        tail_quantile(probability.min(1.0 - probability))
    };
    z.copysign(above_median)
}

/// The z above 0 that is separated from the median by the probability `distance`.
fn central_quantile(distance: f64) -> f64 {
    let mut z = distance * (2.0 * PI).sqrt();
    for _ in 0..NEWTON_STEPS {
        z -= (from_median(z) - distance) / density(z);
    }
    z
}

/// The z above 0 that is exceeded with probability `tail`, by Newton's method on the logarithm of
/// the tail. The starting point is within 4.5e-4 (Abramowitz & Stegun, "Handbook of Mathematical
/// Functions", equation 26.2.23), and every step at least squares the error.
fn tail_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - numerator / denominator;
    for _ in 0..NEWTON_STEPS {
        z += (upper_tail(z) / tail).ln() * tail_per_density(z);
    }
    z
}

/// One more than needed from either starting point.
const NEWTON_STEPS: u32 = 5;

/// cdf(z) - 1/2 for |z| up to the quartiles, and accurate enough slightly beyond.
fn from_median(z: f64) -> f64 {
    z * ratio(z * z, &NUMERATOR_CENTRAL, &DENOMINATOR_CENTRAL)
}

/// The upper tail at `z`, which is at least about the upper quartile.
fn upper_tail(z: f64) -> f64 {
    // From here on the tail is too small for f64; up to here none of the squares below overflows.
    if z > 39.0 { 0.0 } else { bell(z) * tail_per_bell(z) }
}

/// The upper tail divided by the density.
fn tail_per_density(z: f64) -> f64 {
    tail_per_bell(z) * (2.0 * PI).sqrt()
}

/// The upper tail divided by exp(-z^2 / 2).
fn tail_per_bell(z: f64) -> f64 {
    if z <= FAR {
        return ratio(z, &NUMERATOR_TAIL, &DENOMINATOR_TAIL);
    }
    let inverse_square = 1.0 / (z * z);
    let correction = inverse_square * ratio(inverse_square, &NUMERATOR_FAR, &DENOMINATOR_FAR);
    (FRAC_1_SQRT_2 / PI.sqrt() - correction) / z
}

/// exp(-z^2 / 2), with the square split so that its rounding does not matter.
fn bell(z: f64) -> f64 {
    let coarse = (z * 16.0).trunc() / 16.0;
    let rest = (z - coarse) * (z + coarse);
    (-coarse * coarse / 2.0).exp() * (-rest / 2.0).exp()
}

/// The ratio of two polynomials whose coefficients are given from the highest power down.
fn ratio<const N: usize>(x: f64, numerator: &[f64; N], denominator: &[f64; N]) -> f64 {
    let value = |coefficients: &[f64; N]| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    value(numerator) / value(denominator)
}

const NUMERATOR_CENTRAL: [f64; 5] = [
    0.06568233791820745,
    2.2352520354606837,
    161.02823106855587,
    1067.6894854603709,
    18154.98125334356,
];
const DENOMINATOR_CENTRAL: [f64; 5] =
    [1.0, 47.202581904688245, 976.0985517377767, 10260.932208618979, 45507.78933502673];
const NUMERATOR_TAIL: [f64; 9] = [
    1.0765576773720192e-08,
    0.39894151208813466,
    8.883149794388377,
    93.50665613217785,
    597.2702763948002,
    2494.5375852903726,
    6848.190450536283,
    11602.65143764735,
    9842.714838383978,
];
const DENOMINATOR_TAIL: [f64; 9] = [
    1.0,
    22.266688044328117,
    235.387901782625,
    1519.3775994075547,
    6485.558298266761,
    18615.571640885097,
    34900.95272114598,
    38912.00328609327,
    19685.429676859992,
];
const NUMERATOR_FAR: [f64; 6] = [
    0.023073441764940174,
    0.215898534057957,
    0.12740116116024736,
    0.022235277870649807,
    0.0014216191932278934,
    2.9112874951168793e-05,
];
const DENOMINATOR_FAR: [f64; 6] = [
    1.0,
    1.284260096144911,
    0.4682382124808651,
    0.06598813786892856,
    0.0037823963320275824,
    7.297515550839662e-05,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::assert_relative;

    // From mpmath 1.4.1: `erfc(mpf(z) / sqrt(2)) / 2`.
    #[test]
    fn both_tails_are_exact_far_out() {
        for (z, tail) in TAILS {
            assert_relative(sf(z), tail, 2e-15);
            assert_relative(cdf(-z), tail, 2e-15);
            assert_relative(sf(-z), 1.0 - tail, 1e-15);
        }
    }

    const TAILS: [(f64, f64); 5] = [
        (0.7, 0.24196365222307303),
        (2.0, 0.02275013194817921),
        (6.0, 9.86587645037698e-10),
        (8.0, 6.220960574271784e-16),
        (38.0, 2.88542835e-316),
    ];

    #[test]
    fn the_approximations_meet() {
        for meeting in [CENTRAL, FAR] {
            assert_relative(sf(meeting * (1.0 + 1e-15)), sf(meeting * (1.0 - 1e-15)), 1e-13);
        }
    }

    #[test]
    fn quantiles_invert_the_tails() {
        for p in [1e-300, 1e-9, 0.2499, 0.2501, 0.4999] {
            assert_relative(cdf(quantile(p)), p, 1e-12);
        }
        assert_relative(quantile(0.975), 1.959_963_984_540_054, 1e-15);
        assert_eq!(quantile(0.5), 0.0);
    }

    #[test]
    fn infinity_has_no_tail() {
        assert_eq!((sf(f64::INFINITY), cdf(f64::INFINITY)), (0.0, 1.0));
        assert_eq!((sf(1e200), cdf(-1e200)), (0.0, 0.0));
        assert!(sf(f64::NAN).is_nan());
    }
}
