//! The regularised incomplete beta function, both tails to full relative accuracy.
//!
//! The lower tail is x^a y^b / B(a, b), y = 1 - x, in Loader's form, times a continued fraction
//! that converges fast below the mean: the one of `DiDonato` & Morris, "Significant Digit
//! Computation of the Incomplete Beta Function Ratios" (ACM Transactions on Mathematical Software
//! 18(3), 1992), evaluated by the modified Lentz method (Press et al., "Numerical Recipes", 3rd
//! edition, section 5.2). Above the mean, x and y swap roles. If both parameters are large, so that
//! the fraction converges slowly, the density itself is integrated.

use super::saddle::{deviance, stirling_error};
use super::{Tails, quadrature};

/// If both parameters exceed this, the density is integrated.
const LARGE_SHAPE: f64 = 1_000.0;

/// Enough for every smaller parameter up to [`LARGE_SHAPE`].
const STEPS_MAX: u32 = 10_000;

/// A beta distribution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beta {
    /// The power of x is a - 1.
    pub(super) a: f64,
    /// The power of 1 - x is b - 1.
    pub(super) b: f64,
}

/// A position between 0 and 1, given as distances from both ends so that neither is rounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitPosition {
    /// The distance from 0.
    pub(super) x: f64,
    /// The distance from 1.
    pub(super) y: f64,
}

impl UnitPosition {
    /// The position at which x / y is `odds`.
    pub(super) fn from_odds(odds: f64) -> Self {
        if odds <= 0.0 {
            return Self { x: 0.0, y: 1.0 };
        }
        if odds.is_infinite() {
            return Self { x: 1.0, y: 0.0 };
        }
        Self { x: odds / (1.0 + odds), y: 1.0 / (1.0 + odds) }
    }

    fn swapped(self) -> Self {
        Self { x: self.y, y: self.x }
    }
}

impl Beta {
    /// The tails at `place`.
    pub(super) fn tails(self, place: UnitPosition) -> Tails {
        if place.x.is_nan() {
            return Tails::from_lower(f64::NAN);
        }
        if place.x <= 0.0 {
            return Tails::from_lower(0.0);
        }
        if place.y <= 0.0 {
            return Tails::from_upper(0.0);
        }
        if self.a.min(self.b) > LARGE_SHAPE {
            return self.integrated(place);
        }
        // The fraction also converges fast just above the mean.
        if place.x * (self.b + 1.0) <= place.y * (self.a + 1.0) {
            Tails::from_lower(self.density_per_log_odds(place) / self.lower_fraction(place))
        } else {
            let (mirrored, place) = (self.swapped(), place.swapped());
            let upper = mirrored.density_per_log_odds(place) / mirrored.lower_fraction(place);
            Tails::from_upper(upper)
        }
    }

    /// x^a y^b / B(a, b), which is the density of ln(x / y).
    pub(super) fn density_per_log_odds(self, place: UnitPosition) -> f64 {
        let Self { a, b } = self;
        let sum = a + b;
        let distance = self.distance(place);
        let saddle = a * deviance(distance / a, sum / a * place.x)
            + b * deviance(-distance / b, sum / b * place.y);
        // a b / (a + b), so that no product overflows.
        let harmonic = a / sum * b;
        (harmonic / std::f64::consts::TAU).sqrt() * (self.stirling_errors() - saddle).exp()
    }

    fn swapped(self) -> Self {
        Self { a: self.b, b: self.a }
    }

    /// (a + b) x - a, computed from the smaller of x and y.
    fn distance(self, place: UnitPosition) -> f64 {
        let sum = self.a + self.b;
        if place.x <= place.y { sum * place.x - self.a } else { self.b - sum * place.y }
    }

    fn stirling_errors(self) -> f64 {
        stirling_error(self.a + self.b) - stirling_error(self.a) - stirling_error(self.b)
    }

    /// x^a y^b / B(a, b) divided by the lower tail.
    fn lower_fraction(self, UnitPosition { x, y }: UnitPosition) -> f64 {
        let Self { a, b } = self;
        let below_mean = a * y - b * x + 1.0;
        let mut fraction = not_zero(a * below_mean / (a + 1.0));
        let (mut c, mut d) = (fraction, 0.0);
        for step in 1..=STEPS_MAX {
            let m = f64::from(step);
            let before = a + 2.0 * m - 1.0;
            let shared = m * (b - m) * x / before;
            let numerator = (a + m - 1.0) / before * (a + b + m - 1.0) * x * shared;
            let denominator = m + shared + (a + m) * (below_mean + m * (2.0 - x)) / (before + 2.0);
            d = 1.0 / not_zero(denominator + numerator * d);
            c = not_zero(denominator + numerator / c);
            let factor = c * d;
            fraction *= factor;
            if (factor - 1.0).abs() < f64::EPSILON {
                break;
            }
        }
        fraction
    }

    /// The tails by quadrature, outwards from the position, in standard deviations of (a + b) x.
    fn integrated(self, place: UnitPosition) -> Tails {
        let distance = self.distance(place);
        if distance > 0.0 {
            return self.swapped().integrated(place.swapped()).swapped();
        }
        let Self { a, b } = self;
        let deviation = (a / (a + b) * b).sqrt();
        let (x_ratio, y_ratio) = (1.0 + distance / a, 1.0 - distance / b);
        // The slope of the logarithm of the integrand.
        let decay = if x_ratio > 0.0 {
            -distance / deviation / (x_ratio * y_ratio)
        } else {
            return Tails::from_lower(0.0);
        };
        let sum = quadrature::tail(decay, |s| {
            let distance = distance - deviation * s;
            let (u, v) = (distance / a, -distance / b);
            if u <= -1.0 {
                return 0.0;
            }
            let exponent = a * deviance(u, 1.0 + u) + b * deviance(v, 1.0 + v);
            (-exponent).exp() / ((1.0 + u) * (1.0 + v))
        });
        Tails::from_lower(sum * self.stirling_errors().exp() / std::f64::consts::TAU.sqrt())
    }
}

/// `value`, or a tiny number that can be divided by.
pub(super) fn not_zero(value: f64) -> f64 {
    if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value }
}
