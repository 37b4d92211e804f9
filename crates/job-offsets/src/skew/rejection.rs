//! Zipf's law, drawn from exactly: rejection-inversion.
//!
//! Hörmann and Derflinger, "Rejection-Inversion to Generate Variates from Monotone Discrete
//! Distributions", ACM Transactions on Modeling and Computer Simulation 6 (1996), section 3.

use super::Spread;
use super::scatter::{self, Permutation};
use crate::generator::{Tausworthe88, Tausworthe258, to_f64, to_u64};

/// Values under Zipf's law, each of which has a rank of its own.
#[derive(Clone, Debug)]
pub struct RejectionZipf {
    generator: Tausworthe258,
    permutation: Permutation,
    range: f64,
    theta: f64,
    /// The integral at 1.5, less the first frequency.
    lowest: f64,
    /// The integral at the range and a half.
    highest: f64,
    /// Below this distance from the rank, the draw is always accepted.
    near: f64,
}

/// 53 bits of a number as a share of how many there are.
const SHARE_UNIT: f64 = 1.0 / (1_u64 << 53) as f64;

impl RejectionZipf {
    /// Values from 0 to less than `range`.
    #[must_use]
    pub fn new(range: u64, theta: f64, center: Option<f64>, seed: u32, spread: Spread) -> Self {
        let shift = scatter::shift(range, center, &mut Tausworthe88::new(seed));
        let lowest = integral(1.5, theta) - 1.0;
        let near = 2.0 - inverse(integral(2.5, theta) - 2.0_f64.powf(-theta), theta);
        Self {
            generator: Tausworthe258::new(u64::from(seed)),
            permutation: Permutation::new(range, shift, spread),
            range: to_f64(range),
            theta,
            lowest,
            highest: integral(to_f64(range) + 0.5, theta),
            near,
        }
    }

    /// The next value.
    pub fn draw(&mut self) -> u64 {
        loop {
            let share = to_f64(self.generator.draw() >> 11) * SHARE_UNIT;
            let area = self.highest + share * (self.lowest - self.highest);
            let at = inverse(area, self.theta);
            let rank = (at + 0.5).floor().clamp(1.0, self.range);
            if rank - at <= self.near
                || area >= integral(rank + 0.5, self.theta) - rank.powf(-self.theta)
            {
                return self.permutation.value(to_u64(rank) - 1);
            }
        }
    }
}

/// The integral of x^-theta, up to a constant: (x^(1-theta) - 1) / (1 - theta), or ln x.
fn integral(at: f64, theta: f64) -> f64 {
    let log = at.ln();
    log * relative_exp((1.0 - theta) * log)
}

/// Where the integral has a value.
fn inverse(area: f64, theta: f64) -> f64 {
    let scaled = (area * (1.0 - theta)).max(-1.0);
    (area * relative_log(scaled)).exp()
}

/// (e^x - 1) / x.
fn relative_exp(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x / 2.0 }
}

/// ln(1 + x) / x.
fn relative_log(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_and_its_inverse_agree() {
        for theta in [0.3, 0.99, 1.0, 1.000_000_001, 1.2, 2.0] {
            for at in [1.0, 1.5, 10.0, 1e4] {
                let back = inverse(integral(at, theta), theta);
                assert!((back / at - 1.0).abs() < 1e-6, "{theta} {at} {back}");
            }
        }
    }
}
