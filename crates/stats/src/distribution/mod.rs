//! The distributions behind intervals and tests, exact to at least nine significant digits in both
//! tails down to 1e-300 and for every number of degrees of freedom from 1 to 1e8.
//!
//! The tails of t, F, chi-square and the binomial come from two incomplete functions (`beta`,
//! `gamma`), which share Loader's trick: the leading factor x^a e^-x / gamma(a) is written as a
//! saddle point times small corrections (`saddle`), so that large parameters cancel on paper and
//! not in the arithmetic (Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000).
//! Quantiles follow from the logarithm of the smaller tail by Newton's method (`root`).
//!
//! Arguments are the caller's responsibility: a number of degrees of freedom below the documented
//! range, or a probability outside 0 to 1, panics. No function returns NaN unless given one.

pub(crate) mod anderson_darling;
mod beta;
pub mod binomial;
pub mod chi_square;
pub mod fisher;
mod gamma;
pub mod normal;
mod quadrature;
mod root;
mod saddle;
pub mod student;
pub mod studentized_range;

pub(crate) use saddle::stirling_error;

/// Both tails of a distribution at one point. The smaller has full relative accuracy.
#[derive(Clone, Copy, Debug)]
struct Tails {
    /// The probability of a value at or below the point.
    lower: f64,
    /// The probability of a value above it.
    upper: f64,
}

impl Tails {
    fn from_lower(lower: f64) -> Self {
        // Not `min`, which would hide NaN.
        let lower = if lower > 1.0 { 1.0 } else { lower };
        Self { lower, upper: 1.0 - lower }
    }

    fn from_upper(upper: f64) -> Self {
        Self::from_lower(upper).swapped()
    }

    fn swapped(self) -> Self {
        Self { lower: self.upper, upper: self.lower }
    }

    fn at(self, side: Side) -> f64 {
        match side {
            Side::Lower => self.lower,
            Side::Upper => self.upper,
        }
    }
}

/// One of the two tails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Lower,
    Upper,
}

/// A tail of known probability, which determines a quantile.
#[derive(Clone, Copy, Debug)]
struct KnownTail {
    side: Side,
    probability: f64,
}

impl KnownTail {
    /// The smaller tail at the quantile of `probability`, free of rounding.
    fn of_quantile(probability: f64) -> Self {
        assert_open_unit(probability);
        if probability <= 0.5 {
            Self { side: Side::Lower, probability }
        } else {
            Self { side: Side::Upper, probability: 1.0 - probability }
        }
    }

    /// The same, given the upper tail.
    fn of_upper_quantile(probability: f64) -> Self {
        let mirrored = Self::of_quantile(probability);
        let side = if mirrored.side == Side::Lower { Side::Upper } else { Side::Lower };
        Self { side, ..mirrored }
    }
}

fn assert_open_unit(probability: f64) {
    assert!(
        probability > 0.0 && probability < 1.0,
        "a quantile's probability lies strictly between 0 and 1, and {probability} does not"
    );
}

fn assert_degrees(df: f64) {
    assert!(df > 0.0, "degrees of freedom are above 0, and {df} is not");
}

#[cfg(test)]
mod tests;

#[cfg(test)]
fn assert_relative(got: f64, wanted: f64, tolerance: f64) {
    let error = if wanted == 0.0 { got.abs() } else { (got / wanted - 1.0).abs() };
    assert!(error <= tolerance, "{got:e} is not {wanted:e}: relative error {error:e}");
}
