//! Steady state as defined by the SNIA for solid-state storage: a window of rounds that neither
//! spread nor drift.
//!
//! SNIA, "Solid State Storage Performance Test Specification", definition of steady state: over a
//! measurement window of five rounds, the difference between the largest and the smallest value is
//! at most 20 % of the window's average, and the least-squares line through the window's values
//! rises or falls by at most 10 % of that average from the first round of the window to the last.
//! The line's whole excursion counts: a limit on the slope per round would allow four times the
//! drift.

use std::collections::VecDeque;

use crate::refusal::{Refusal, check_finite, check_positive};

/// When a window is steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The number of rounds in the window, at least 2.
    pub rounds: usize,
    /// Maximum difference between the largest and the smallest value, in percent of the window's
    /// mean; above 0.
    pub range_percent_max: f64,
    /// Maximum rise or fall of the fitted line over the window, in percent of its mean; above 0.
    pub excursion_percent_max: f64,
}

impl Default for Rule {
    /// The SNIA's: five rounds, 20 % and 10 %.
    fn default() -> Self {
        Self { rounds: 5, range_percent_max: 20.0, excursion_percent_max: 10.0 }
    }
}

/// A window, or a series, judged by a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    /// Whether the rule is met.
    pub steady: bool,
    /// Index, in the whole series, of the first value of the window that meets the rule.
    pub from: Option<usize>,
    /// The rule.
    pub rule: Rule,
    /// Difference between the largest and the smallest value of the window, in percent of the
    /// magnitude of its mean.
    pub range_percent: f64,
    /// Rise or fall of the fitted line over the window, in percent of the magnitude of its mean.
    pub excursion_percent: f64,
}

/// Watches a live series, round by round.
#[derive(Clone, Debug)]
pub struct Detector {
    rule: Rule,
    window: VecDeque<f64>,
    observed: usize,
}

impl Detector {
    /// A detector that has not seen any values.
    ///
    /// # Errors
    /// Refuses a window of fewer than two rounds and percentages that are not above 0.
    pub fn new(rule: Rule) -> Result<Self, Refusal> {
        if rule.rounds < 2 {
            let (what, value) = ("the number of rounds in a window", rule.rounds as f64);
            return Err(Refusal::OutOfRange { what, value, range: "at least 2" });
        }
        check_positive("the range allowed", rule.range_percent_max)?;
        check_positive("the excursion allowed", rule.excursion_percent_max)?;
        Ok(Self { rule, window: VecDeque::with_capacity(rule.rounds), observed: 0 })
    }

    /// Takes the next round's value. Judges the last rounds once there are enough of them for a
    /// window.
    ///
    /// # Errors
    /// Refuses a value that is not finite, which is then ignored, and a window of mean 0.
    pub fn observe(&mut self, value: f64) -> Result<Option<SteadyState>, Refusal> {
        if !value.is_finite() {
            return Err(Refusal::NotFinite { index: self.observed, value });
        }
        if self.window.len() == self.rule.rounds {
            self.window.pop_front();
        }
        self.window.push_back(value);
        self.observed += 1;
        if self.window.len() < self.rule.rounds {
            return Ok(None);
        }
        self.judge().map(Some)
    }

    fn judge(&self) -> Result<SteadyState, Refusal> {
        let (rule, window) = (self.rule, &self.window);
        let n = rule.rounds as f64;
        let largest = window.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        if largest == 0.0 {
            return Err(Refusal::ZeroMean);
        }
        // In units of the largest magnitude, so that no sum overflows.
        let shares: Vec<f64> = window.iter().map(|value| value / largest).collect();
        let mean = shares.iter().sum::<f64>() / n;
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let middle = (n - 1.0) / 2.0;
        let rise: f64 = shares
            .iter()
            .enumerate()
            .map(|(round, it)| (round as f64 - middle) * (it - mean))
            .sum();
        // The sum of squares of the rounds around their middle.
        let slope = rise / (n * (n * n - 1.0) / 12.0);
        let range_percent = 100.0 * ((most - least) / mean).abs();
        let excursion_percent = 100.0 * (slope * (n - 1.0) / mean).abs();
        if !(range_percent.is_finite() && excursion_percent.is_finite()) {
            return Err(Refusal::ZeroMean);
        }
        let steady = range_percent <= rule.range_percent_max
            && excursion_percent <= rule.excursion_percent_max;
        let from = steady.then_some(self.observed - rule.rounds);
        Ok(SteadyState { steady, from, rule, range_percent, excursion_percent })
    }
}

/// The first window of `values` that meets the rule, or, if none does, the last window.
///
/// A window of mean 0 is never steady.
///
/// # Errors
/// Refuses fewer values than a window has rounds, values that are not finite, a rule that
/// [`Detector::new`] refuses, and a series in which every window has mean 0.
pub fn steady_state(values: &[f64], rule: Rule) -> Result<SteadyState, Refusal> {
    let mut detector = Detector::new(rule)?;
    check_finite(values)?;
    let (needed, given) = (rule.rounds as u64, values.len() as u64);
    let mut last = Err(Refusal::TooFew { what: "a steady state", needed, given });
    for &value in values {
        match detector.observe(value) {
            Ok(Some(it)) if it.steady => return Ok(it),
            Ok(Some(it)) => last = Ok(it),
            Ok(None) => {}
            Err(refusal) if last.is_err() => last = Err(refusal),
            Err(_) => {}
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(values: &[f64]) -> SteadyState {
        steady_state(values, Rule::default()).unwrap()
    }

    // By hand: mean 100, range 8; slope (-2*96 - 98 + 102 + 2*104) / 10 = 2, over four steps 8.
    #[test]
    fn range_and_excursion_by_hand() {
        let it = judged(&[96.0, 98.0, 100.0, 102.0, 104.0]);
        assert!((it.range_percent - 8.0).abs() < 1e-12);
        assert!((it.excursion_percent - 8.0).abs() < 1e-12);
        assert_eq!((it.steady, it.from), (true, Some(0)));
    }

    /// A slope per round of 3 % would pass a limit of 10 %; over the window it is 12 %.
    #[test]
    fn the_whole_excursion_counts() {
        let it = judged(&[94.0, 97.0, 100.0, 103.0, 106.0]);
        assert!(it.range_percent <= 20.0 && (it.excursion_percent - 12.0).abs() < 1e-12);
        assert!(!it.steady && it.from.is_none());
    }

    #[test]
    fn a_spread_without_a_drift_is_no_steady_state() {
        let it = judged(&[100.0, 111.0, 89.0, 111.0, 100.0]);
        assert!(it.range_percent > 20.0 && it.excursion_percent < 10.0 && !it.steady);
    }

    #[test]
    fn the_limits_themselves_are_steady() {
        let rule = Rule { rounds: 2, range_percent_max: 50.0, excursion_percent_max: 50.0 };
        let it = steady_state(&[3.0, 5.0], rule).unwrap();
        assert!((it.range_percent - 50.0).abs() < 1e-12 && it.steady);
    }

    #[test]
    fn the_first_steady_window_is_named_live_and_afterwards() {
        let values = [300.0, 200.0, 150.0, 120.0, 104.0, 102.0, 101.0, 100.0, 100.0, 99.0];
        let mut detector = Detector::new(Rule::default()).unwrap();
        let live = values.iter().find_map(|&value| {
            detector.observe(value).unwrap().filter(|it| it.steady).and_then(|it| it.from)
        });
        assert_eq!(live, Some(4));
        let whole = judged(&values);
        assert_eq!(whole.from, Some(4));
        let unit: Vec<f64> = values.iter().map(|value| value * -1e300).collect();
        assert_eq!(judged(&unit).from, Some(4));
    }

    #[test]
    fn what_has_no_window_is_refused() {
        let with = |values: &[f64]| steady_state(values, Rule::default());
        assert!(matches!(with(&[1.0; 4]), Err(Refusal::TooFew { needed: 5, given: 4, .. })));
        assert_eq!(with(&[0.0; 6]), Err(Refusal::ZeroMean));
        assert_eq!(with(&[-2.0, -1.0, 0.0, 1.0, 2.0]), Err(Refusal::ZeroMean));
        assert!(with(&[1.0, f64::NAN, 1.0, 1.0, 1.0]).is_err());
        assert!(Detector::new(Rule { rounds: 1, ..Rule::default() }).is_err());
        assert!(Detector::new(Rule { range_percent_max: 0.0, ..Rule::default() }).is_err());
        assert!(
            Detector::new(Rule { excursion_percent_max: f64::NAN, ..Rule::default() }).is_err()
        );
        let mut detector = Detector::new(Rule::default()).unwrap();
        assert!(detector.observe(f64::INFINITY).is_err());
        assert_eq!(detector.observe(1.0), Ok(None));
    }
}
