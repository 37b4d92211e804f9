//! The two small functions of Loader's saddle-point expansions: the error of Stirling's formula,
//! and the deviance u - ln(1 + u).
//!
//! gamma(z + 1) = sqrt(2 pi z) (z / e)^z exp(E(z)), where E is [`stirling_error`]. With that, a
//! density such as x^a e^-x / gamma(a) is sqrt(a / (2 pi)) exp(-a D(x / a - 1) - E(a)), where D is
//! [`deviance`]; these exponents are small wherever the density is not (Loader, "Fast and Accurate
//! Computation of Binomial Probabilities", 2000, where they are called delta and D0).

/// From here on, the asymptotic series of [`stirling_error`] is exact with these terms.
const SERIES_FROM: f64 = 10.0;

/// The coefficients B(2k) / (2k (2k - 1)) of Stirling's series, k = 1 to 8 (Abramowitz & Stegun,
/// "Handbook of Mathematical Functions", equation 6.1.41).
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1_260.0,
    -1.0 / 1_680.0,
    1.0 / 1_188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3_617.0 / 122_400.0,
];

/// ln gamma(z + 1) - (z + 1/2) ln z + z - ln(2 pi) / 2, for `z` above 0.
pub(crate) fn stirling_error(z: f64) -> f64 {
    // Small z are raised to the range of the series by gamma(z + 2) = (z + 1) gamma(z + 1).
    let (mut climbed, mut z) = (0.0, z);
    while z < SERIES_FROM {
        climbed += (z + 0.5) * (1.0 / z).ln_1p() - 1.0;
        z += 1.0;
    }
    let inverse_square = 1.0 / (z * z);
    let series = STIRLING.iter().rev().fold(0.0, |sum, term| sum * inverse_square + term);
    climbed + series / z
}

/// u - ln(1 + u), at least 0, given `ratio` = 1 + u as exactly as the caller knows it.
///
/// Near 0, where the difference would cancel, ln(1 + u) is 2 atanh(r) with r = u / (2 + u), whose
/// series starts with 2 r; and 2 r - u = -r u.
pub(super) fn deviance(u: f64, ratio: f64) -> f64 {
    let terms = match u.abs() {
        small if small < 0.01 => 5,
        small if small < 0.1 => 8,
        small if small < 0.5 => 19,
        _ => return u - ratio.ln(),
    };
    let r = u / (2.0 + u);
    let square = r * r;
    let series = (0..terms).rev().fold(0.0, |sum, k| sum * square + ODD_INVERSES[k]);
    r * (u - 2.0 * square * series)
}

/// 1/3, 1/5, 1/7 and so on.
const ODD_INVERSES: [f64; 19] = {
    let mut inverses = [0.0; 19];
    let (mut k, mut odd) = (0, 3.0);
    while k < inverses.len() {
        inverses[k] = 1.0 / odd;
        odd += 2.0;
        k += 1;
    }
    inverses
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::assert_relative;

    // From mpmath 1.4.1 with 40 digits:
    // `loggamma(z+1) - (z+mpf(1)/2)*log(z) + z - log(2*pi)/2`.
    #[test]
    fn stirlings_error_agrees_with_mpmath() {
        for (z, wanted) in STIRLING_ERRORS {
            assert!((stirling_error(z) - wanted).abs() < 3e-15, "{z}");
        }
    }

    // From mpmath 1.4.1 with 40 digits: `u - log1p(u)`.
    #[test]
    fn the_deviance_agrees_with_mpmath() {
        for (u, wanted) in DEVIANCES {
            assert_relative(deviance(u, 1.0 + u), wanted, 2e-15);
        }
    }

    const STIRLING_ERRORS: [(f64, f64); 10] = [
        (0.35, 0.20816937526675816),
        (0.5, 0.15342640972002736),
        (1.0, 0.08106146679532726),
        (2.75, 0.03017408243368456),
        (9.5, 0.008768700134139386),
        (9.999, 0.008331396020466343),
        (10.0, 0.00833056343336287),
        (17.5, 0.00476138694171445),
        (10000.0, 8.333333330555555e-06),
        (50000000.0, 1.6666666666666667e-09),
    ];

    const DEVIANCES: [(f64, f64); 17] = [
        (-0.999, 5.908755278982136),
        (-0.6, 0.316290731874155),
        (-0.49, 0.1833445532637656),
        (-0.3, 0.056674943938732375),
        (-0.0999, 0.005349410719097487),
        (-0.05, 0.0012932943875505335),
        (-0.009, 4.07446521490622e-05),
        (-1e-09, 5.000000003333334e-19),
        (1e-15, 4.999999999999998e-31),
        (0.002, 1.997337326943982e-06),
        (0.0101, 5.0664146998559146e-05),
        (0.07, 0.002341351526185195),
        (0.11, 0.005639984675757232),
        (0.499, 0.09420178087953934),
        (0.51, 0.09789034917316704),
        (3.0, 1.6137056388801094),
        (1000000.0, 999986.184488442),
    ];
}
