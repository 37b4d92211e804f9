//! Whether a series rises or falls over time: the straight line through it.
//!
//! Least squares, with Student's t on the slope (Jain, "The Art of Computer Systems Performance
//! Analysis", chapter 14). If values depend on the previous ones, the p value is too small.

use std::collections::BTreeMap;

use crate::distribution::student;
use crate::sample;

/// Minimum number of values for telling a line from chance.
pub const VALUES_MIN: usize = 6;

/// A straight line through a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    first: f64,
    last: f64,
    p: f64,
}

impl Line {
    /// The line through values by their index. None for fewer than [`VALUES_MIN`] values, or if a
    /// value is not finite.
    #[must_use]
    pub fn through(values: &BTreeMap<u32, f64>) -> Option<Self> {
        if values.len() < VALUES_MIN || values.values().any(|value| !value.is_finite()) {
            return None;
        }
        let places: Vec<f64> = values.keys().map(|&place| f64::from(place)).collect();
        let heights: Vec<f64> = values.values().copied().collect();
        let (place, height) = (sample::mean(&places), sample::mean(&heights));
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            places.iter().zip(&heights).map(|(x, y)| of(x - place, y - height)).sum()
        };
        let (across, along) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
        let slope = along / across;
        let residual = sum(&|x, y| (y - slope * x).powi(2));
        let df = values.len() as f64 - 2.0;
        let error = (residual / df / across).sqrt();
        let p = if error > 0.0 {
            student::two_sided_p(slope / error, df)
        } else {
            f64::from(u8::from(slope == 0.0))
        };
        let at = |x: f64| height + slope * (x - place);
        Some(Self { first: at(places[0]), last: at(places[places.len() - 1]), p })
    }

    /// The last value on the line minus the first, in percent of the first; 0 if that is not above
    /// 0.
    #[must_use]
    pub fn change_percent(&self) -> f64 {
        if self.first > 0.0 { (self.last / self.first - 1.0) * 100.0 } else { 0.0 }
    }

    /// The probability that values without a trend rise or fall as much.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> BTreeMap<u32, f64> {
        (0..).zip(values.iter().copied()).collect()
    }

    // From SciPy 1.17.1: `scipy.stats.linregress(range(7), y)`.
    #[test]
    fn the_line_is_that_of_least_squares() {
        let line = Line::through(&series(&[10.0, 10.4, 10.1, 10.9, 11.2, 11.0, 11.6])).unwrap();
        assert!((line.p() - 0.003_112_900_343_398_5).abs() < 1e-9, "{}", line.p());
        assert!(
            (line.change_percent() - 15.241_502_683_363_144).abs() < 1e-9,
            "{}",
            line.change_percent()
        );
    }

    #[test]
    fn what_stays_has_no_trend_and_too_few_have_no_line() {
        let flat = Line::through(&series(&[4.2; 8])).unwrap();
        assert_eq!((flat.p(), flat.change_percent()), (1.0, 0.0));
        let exact = Line::through(&series(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
        assert!(exact.p() < 1e-9, "{exact:?}");
        assert_eq!(Line::through(&series(&[1.0; 5])), None);
    }
}
