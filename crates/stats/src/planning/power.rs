//! The smallest difference that a number of paired blocks, or of runs per side, can show; and how
//! many runs per side a difference takes.
//!
//! If the log ratios of the pairs are normal with mean d and standard deviation s, the t of n pairs
//! is noncentral t distributed with n - 1 degrees of freedom and noncentrality d sqrt(n) / s, and
//! the power is the probability that it lies beyond the test's critical values on either side
//! (Cohen, "Statistical Power Analysis for the Behavioral Sciences", 2nd edition, chapter 2). No
//! normal approximation is used: noncentral t is (Z + noncentrality) / sqrt(W / df) with Z normal
//! and W chi-square, and is integrated over W numerically.

use super::fewest;
use crate::distribution::{normal, stirling_error, student};
use crate::refusal::{Refusal, check_open_unit};

/// The smallest logarithm of a ratio that this many blocks show at `level` with the probability
/// `power` (0.8 by convention), in standard deviations of log ratios from block to block.
///
/// # Errors
/// Refuses fewer than two blocks, a level outside 0 to 1, and a power that is not between 1 -
/// level, the chance of finding a difference where there is none, and 1.
pub fn least_detectable_deviations(blocks: u64, level: f64, power: f64) -> Result<f64, Refusal> {
    check_open_unit("the level", level)?;
    check_open_unit("the power", power)?;
    if power <= 1.0 - level {
        let (what, range) = ("the power", "above 1 - level");
        return Err(Refusal::OutOfRange { what, value: power, range });
    }
    if blocks < 2 {
        let what = "a paired comparison";
        return Err(Refusal::TooFew { what, needed: 2, given: blocks });
    }
    let test = Test::new((blocks - 1) as f64, level);
    Ok(test.noncentrality_of(power) / (blocks as f64).sqrt())
}

/// The smallest difference of logarithms that this many runs per side show at `level` with the
/// probability `power`, in standard deviations of the results of single runs: see
/// [`crate::Independent::of_runs`].
///
/// # Errors
/// Refuses fewer than two runs on a side, and otherwise like [`least_detectable_deviations`].
pub fn least_detectable_of_runs(runs: [u64; 2], level: f64, power: f64) -> Result<f64, Refusal> {
    let [first, second] = runs;
    let what = "a comparison of runs";
    if let Some(&given) = runs.iter().find(|&&count| count < 2) {
        return Err(Refusal::TooFew { what, needed: 2, given });
    }
    check_open_unit("the level", level)?;
    check_open_unit("the power", power)?;
    if power <= 1.0 - level {
        let (what, range) = ("the power", "above 1 - level");
        return Err(Refusal::OutOfRange { what, value: power, range });
    }
    let test = Test::new((first + second - 2) as f64, level);
    Ok(test.noncentrality_of(power) * (1.0 / first as f64 + 1.0 / second as f64).sqrt())
}

/// The smallest number of runs per side, from 2 to `most`, that show a difference of logarithms at
/// `level` with the probability `power`; `difference` is in standard deviations of the results of
/// single runs. None if more than `most` would be needed.
///
/// # Errors
/// Refuses a difference that is not above 0, and otherwise like [`least_detectable_deviations`].
pub fn runs_needed(
    difference: f64,
    level: f64,
    power: f64,
    most: u64,
) -> Result<Option<u64>, Refusal> {
    // Also rejects invalid arguments.
    least_detectable_of_runs([2; 2], level, power)?;
    power_of_runs(difference, [2; 2], level)?;
    let is_enough =
        |runs| power_of_runs(difference, [runs; 2], level).is_ok_and(|shown| shown >= power);
    Ok(fewest(most.max(2), is_enough))
}

/// How often this many runs per side show a difference of logarithms at `level`; `difference` is in
/// standard deviations of the results of single runs. If there is no difference, they rule this one
/// out equally often: their interval ends below it.
///
/// # Errors
/// Refuses fewer than two runs on a side, a difference that is not above 0, and a level outside 0
/// to 1.
pub fn power_of_runs(difference: f64, runs: [u64; 2], level: f64) -> Result<f64, Refusal> {
    /// Differences beyond this are never missed.
    const LARGE: f64 = 1e6;
    check_open_unit("the level", level)?;
    if let Some(&given) = runs.iter().find(|&&count| count < 2) {
        return Err(Refusal::TooFew { what: "a comparison of runs", needed: 2, given });
    }
    if difference.is_nan() || difference <= 0.0 {
        let (what, range) = ("the difference", "above 0");
        return Err(Refusal::OutOfRange { what, value: difference, range });
    }
    let [first, second] = runs.map(|count| count as f64);
    let test = Test::new(first + second - 2.0, level);
    Ok(test.power(difference.min(LARGE) / (1.0 / first + 1.0 / second).sqrt()))
}

/// A two-sided t test, and the grid for integrals over its estimated spread.
struct Test {
    critical: f64,
    df: f64,
    /// Where the integration starts, the step, and the number of steps.
    from: f64,
    step: f64,
    steps: u32,
}

impl Test {
    /// The integrand is ignored where its weight is below e^-40 of its peak.
    const NEGLIGIBLE: f64 = 40.0;

    /// The trapezoidal rule's error falls exponentially with the number of steps once they resolve
    /// the rise of the power, whose steepness grows with the critical value.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between four thousand and a few hundred thousand"
    )]
    fn new(df: f64, level: f64) -> Self {
        let critical = student::quantile((1.0 + level) / 2.0, df);
        let from = -(Self::NEGLIGIBLE / df) - (2.0 * Self::NEGLIGIBLE / df).sqrt();
        let to = (2.0 * Self::NEGLIGIBLE / df).sqrt().min(3.0);
        let steps = (4_000.0 + 60.0 * critical.min(1e4)) as u32;
        Self { critical, df, from, step: (to - from) / f64::from(steps), steps }
    }

    /// The probability of a t beyond either critical value.
    ///
    /// Integrated over y = ln sqrt(W / df), whose density is proportional to e^(df (y - (e^(2y) -
    /// 1) / 2)).
    fn power(&self, noncentrality: f64) -> f64 {
        let df = self.df;
        // 2 (df / 2)^(df / 2) e^(-df / 2) / Gamma(df / 2), by the error term of Stirling's formula.
        let half = df / 2.0;
        let log_constant =
            2f64.ln() + 0.5 * (half / std::f64::consts::TAU).ln() - stirling_error(half);
        let at = |index: u32| {
            let y = self.from + f64::from(index) * self.step;
            let log_density = log_constant + df * (y - (2.0 * y).exp_m1() / 2.0);
            let bound = self.critical * y.exp();
            let beyond = normal::sf(bound - noncentrality) + normal::sf(bound + noncentrality);
            log_density.exp() * beyond
        };
        let sum: f64 = (0..=self.steps).map(at).sum();
        (sum * self.step).clamp(0.0, 1.0)
    }

    /// The noncentrality at which the power is as requested, by bisection.
    fn noncentrality_of(&self, power: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        while self.power(high) < power && high < 1e12 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.power(middle) < power {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // If there is no difference, the power is 1 - level, for any degrees of freedom.
    #[test]
    fn no_difference_is_shown_as_often_as_the_level_leaves_over() {
        for df in [1.0, 2.0, 5.0, 30.0, 1e3, 1e6, 1e8] {
            for level in [0.9, 0.95, 0.999] {
                let got = Test::new(df, level).power(0.0);
                assert!((got / (1.0 - level) - 1.0).abs() < 1e-8, "{df} {level}: {got}");
            }
        }
    }

    #[test]
    fn more_blocks_show_less_and_in_the_end_as_the_normal_distribution_says() {
        let all: Vec<f64> = [2, 3, 5, 10, 100, 1_000_000]
            .map(|blocks| least_detectable_deviations(blocks, 0.95, 0.8).unwrap())
            .to_vec();
        assert!(all.windows(2).all(|pair| pair[0] > pair[1]), "{all:?}");
        // z(0.975) + z(0.8).
        let wanted = (1.959963984540054 + 0.8416212335729143) / 1e3;
        assert!((all[5] / wanted - 1.0).abs() < 1e-5, "{all:?}");
    }

    // By `statsmodels` 0.15, `TTestIndPower().solve_power(effect_size=d, alpha=.05, power=.8)` is
    // 63.77 runs for 0.5, 16.71 for 1, 5.09 for 2 and 3.07 for 3.
    #[test]
    fn the_runs_needed_are_those_of_statsmodels() {
        let needed = |difference| runs_needed(difference, 0.95, 0.8, 100).unwrap();
        assert_eq!([0.5, 1.0, 2.0, 3.0].map(needed), [64, 17, 6, 4].map(Some));
        assert_eq!((needed(1e9), needed(f64::INFINITY), needed(0.3)), (Some(2), Some(2), None));
        for (place, count) in [(1.0, 17), (2.0, 6)] {
            let least = |runs| least_detectable_of_runs([runs; 2], 0.95, 0.8).unwrap();
            assert!(least(count) <= place && least(count - 1) > place);
        }
        assert!(runs_needed(0.0, 0.95, 0.8, 100).is_err());
    }

    #[test]
    fn senseless_plans_are_refused() {
        let refused = |blocks: u64, level: f64, power: f64| {
            least_detectable_deviations(blocks, level, power).is_err()
                && least_detectable_of_runs([blocks, 3], level, power).is_err()
        };
        assert!(refused(1, 0.95, 0.8) && refused(5, 1.0, 0.8));
        assert!(refused(5, 0.95, 0.05) && refused(5, 0.95, 1.0));
    }
}
