//! Finding the position at which two values become equal, with few probes.
//!
//! A pure state machine, like [`crate::cliff`]: [`Crossing::ask`] names a position, the caller
//! measures both values there and [`Crossing::tell`]s the logarithm of their ratio;
//! [`Crossing::place`] returns the findings so far. The ratio is assumed to fall along the axis, so
//! there is at most one crossing.
//!
//! * **Sides.** A position is before the crossing, or after it, once the mean of its values is
//!   significantly above 0, or below: by Student's t, with the spread that all positions share
//!   around their own means, and at a level that allows for repeated looks. Until then it is probed
//!   again, at most [`REPLICATES_MAX`] times. One that stays undecided is next to the crossing, and
//!   the search continues on both sides of it.
//! * **Course.** First the upper end, which also shows the spread. Then downwards by a factor
//!   of 4 until a position is before the crossing, or around the position that the caller
//!   [`Crossing::expect`]s. Then by halving, on the logarithm of the axis.
//! * **Interval.** From the last position found before the crossing to the first found after it. In
//!   simulations (noise of 1 to 10 %, level 0.95) it contains the crossing in at least 95 % of
//!   cases.

use crate::distribution::student;
use crate::refusal::{Refusal, check_open_unit, check_positive};

/// How often a position is probed before it counts as undecided.
pub const REPLICATES_MAX: usize = 6;
/// The number of looks by which an interval's level is divided: those at both of its ends, and some
/// made on the way.
const LOOKS: f64 = 8.0;
/// Minimum number of probes of the upper end, for a first idea of the spread.
const FIRST_REPLICATES: usize = 3;
/// The factor between positions on the way down.
const STRIDE: f64 = 4.0;
/// How far on either side of the expected crossing the search begins.
const BESIDE: f64 = 1.3;

/// What to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The lowest position; above 0.
    pub low: f64,
    /// The highest; above the lowest.
    pub high: f64,
    /// The wanted width of the interval, above 0: 0.2 is 20 %, highest over lowest minus 1.
    pub width: f64,
    /// How often the interval should contain the crossing: 0 to 1.
    pub level: f64,
}

/// Where two values are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CrossingPosition {
    /// Between these positions.
    Between(f64, f64),
    /// Above the highest: even there the first value is greater.
    Above(f64),
    /// Above this position: the second value was not found to be greater anywhere above it.
    From(f64),
    /// Below the lowest: even there the second value is greater.
    Below(f64),
    /// Unknown: too few probes so far, or one end of the range is too close to it.
    Unknown,
}

/// Which value is greater at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// The first: the crossing is further along.
    Before,
    /// The second: the crossing is behind.
    After,
    /// Neither significantly, after the maximum number of probes.
    Undecided,
}

/// A search in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    options: Options,
    /// Positions and the values told there.
    points: Vec<(f64, Vec<f64>)>,
    expected: Option<f64>,
}

impl Crossing {
    /// A search that has not measured anything yet.
    ///
    /// # Errors
    /// Refuses positions not above 0, a highest not above the lowest, a width not above 0 and a
    /// level outside 0 to 1.
    pub fn new(options: Options) -> Result<Self, Refusal> {
        check_positive("the lowest position", options.low)?;
        check_positive("the highest position", options.high)?;
        check_positive("the width", options.width)?;
        check_open_unit("the level", options.level)?;
        if options.high <= options.low {
            let (what, value) = ("the highest position", options.high);
            return Err(Refusal::OutOfRange { what, value, range: "above the lowest position" });
        }
        Ok(Self { options, points: Vec::new(), expected: None })
    }

    /// A hint where the crossing may be. It saves probes but does not affect the result.
    pub fn expect(&mut self, position: f64) {
        let is_within = position > self.options.low && position < self.options.high;
        self.expected = is_within.then_some(position);
    }

    /// The position to measure next; none once there is nothing more to learn.
    #[must_use]
    pub fn ask(&self) -> Option<f64> {
        let Options { low, high, .. } = self.options;
        let open = |(position, values): &(f64, Vec<f64>)| {
            (self.side(*position, values).is_none()).then_some(*position)
        };
        if let Some(position) = self.points.iter().find_map(open) {
            return Some(position);
        }
        if self.points.is_empty() {
            return Some(high);
        }
        let (before, after) = self.bracket();
        let undecided = self.undecided();
        let Some(before) = before else {
            let lowest = undecided.map_or(high, |(lowest, _)| lowest);
            let lowest = after.map_or(lowest, |after| lowest.min(after));
            return (lowest > low).then(|| self.further_down(lowest));
        };
        // If the upper end is undecided, it is itself next to the crossing.
        let after = after.or(undecided.map(|(_, highest)| highest))?;
        if after / before <= 1.0 + self.options.width {
            return None;
        }
        match undecided {
            None => Some(self.halved(before, after)),
            Some((lowest, highest)) => {
                // The gaps on either side of the undecided positions.
                let gaps = [(before, lowest), (highest, after)];
                let (from, to) =
                    if gaps[0].1 / gaps[0].0 >= gaps[1].1 / gaps[1].0 { gaps[0] } else { gaps[1] };
                let wide = (1.0 + self.options.width).sqrt();
                (to / from > wide).then(|| (from * to).sqrt())
            }
        }
    }

    /// Takes the logarithm of the first value over the second at the position last asked for.
    ///
    /// # Errors
    /// Refuses a value that is not finite.
    pub fn tell(&mut self, log_ratio: f64) -> Result<(), Refusal> {
        if !log_ratio.is_finite() {
            let index = self.points.iter().map(|(_, values)| values.len()).sum();
            return Err(Refusal::NotFinite { index, value: log_ratio });
        }
        let Some(position) = self.ask() else { return Ok(()) };
        match self.points.iter_mut().find(|(at, _)| at.total_cmp(&position).is_eq()) {
            Some((_, values)) => values.push(log_ratio),
            None => self.points.push((position, vec![log_ratio])),
        }
        Ok(())
    }

    /// The findings so far.
    #[must_use]
    pub fn place(&self) -> CrossingPosition {
        let Options { low, high, .. } = self.options;
        match self.bracket() {
            (Some(before), Some(after)) => CrossingPosition::Between(before, after),
            (Some(before), None) if before >= high => CrossingPosition::Above(high),
            (Some(before), None) => CrossingPosition::From(before),
            (None, Some(after)) if after <= low => CrossingPosition::Below(low),
            _ => CrossingPosition::Unknown,
        }
    }

    /// The last position before the crossing and the first after it.
    fn bracket(&self) -> (Option<f64>, Option<f64>) {
        let of = |side| {
            let points = self
                .points
                .iter()
                .filter(move |(position, values)| self.side(*position, values) == Some(side));
            points.map(|(position, _)| *position)
        };
        let after = of(Side::After).reduce(f64::min);
        let before = of(Side::Before).filter(|at| after.is_none_or(|after| *at < after));
        (before.reduce(f64::max), after)
    }

    /// The lowest and the highest undecided position within the bracket.
    fn undecided(&self) -> Option<(f64, f64)> {
        let (before, after) = self.bracket();
        let within = |position: f64| {
            before.is_none_or(|before| position > before)
                && after.is_none_or(|after| position < after)
        };
        let points = self.points.iter().filter(|(position, values)| {
            within(*position) && self.side(*position, values) == Some(Side::Undecided)
        });
        let positions: Vec<f64> = points.map(|(position, _)| *position).collect();
        let lowest = positions.iter().copied().reduce(f64::min)?;
        Some((lowest, positions.iter().copied().reduce(f64::max)?))
    }

    fn further_down(&self, from: f64) -> f64 {
        let aimed = self.expected.map(|expected| expected / BESIDE).filter(|at| *at < from);
        aimed.unwrap_or(from / STRIDE).max(self.options.low)
    }

    fn halved(&self, before: f64, after: f64) -> f64 {
        let above = self.expected.map(|expected| expected * BESIDE);
        let aimed = above.filter(|at| *at > before && *at < after);
        // Once the expected position is outside the bracket or has been probed, halving is faster.
        aimed.unwrap_or_else(|| (before * after).sqrt())
    }

    /// Which side a position is on; none while it must still be probed again.
    fn side(&self, position: f64, values: &[f64]) -> Option<Side> {
        let is_first = position >= self.options.high;
        if is_first && values.len() < FIRST_REPLICATES {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let (deviation, degrees) = self.spread();
        let t = student::quantile(1.0 - (1.0 - self.options.level) / 2.0 / LOOKS, degrees);
        if mean.abs() > t * deviation / count.sqrt() {
            return Some(if mean > 0.0 { Side::Before } else { Side::After });
        }
        (values.len() >= REPLICATES_MAX).then_some(Side::Undecided)
    }

    /// The standard deviation common to all positions, and its degrees of freedom.
    fn spread(&self) -> (f64, f64) {
        let mut squares = 0.0;
        let mut degrees = 0.0;
        for (_, values) in &self.points {
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            squares += values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            degrees += count - 1.0;
        }
        let degrees = f64::max(degrees, 1.0);
        ((squares / degrees).sqrt(), degrees)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const OPTIONS: Options = Options { low: 1.0, high: 1000.0, width: 0.2, level: 0.95 };

    /// Searches for the position where times of `1 / position + 0.1` and `1 / at + 0.1` are equal.
    fn search(at: f64, noise: f64, seed: u64, expects: bool) -> (CrossingPosition, usize) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut crossing = Crossing::new(OPTIONS).unwrap();
        if expects {
            crossing.expect(at * 1.1);
        }
        let mut probes = 0;
        while let Some(position) = crossing.ask() {
            let ratio = ((1.0 / position + 0.1) / (1.0 / at + 0.1)).ln();
            // Roughly normally distributed.
            let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum();
            crossing.tell(ratio + noise * (sum - 6.0)).unwrap();
            probes += 1;
            assert!(probes < 200);
        }
        (crossing.place(), probes)
    }

    #[test]
    fn a_crossing_is_found_to_the_width_that_was_asked_for() {
        for expects in [false, true] {
            let (place, probes) = search(20.0, 0.0, 1, expects);
            let CrossingPosition::Between(low, high) = place else { panic!("{place:?}") };
            assert!(low < 20.0 && high > 20.0 && high / low <= 1.2, "{low} {high}");
            assert!(probes < 14, "{probes}");
        }
    }

    #[test]
    fn what_lies_outside_the_range_is_told() {
        assert_eq!(search(1e6, 0.0, 1, false).0, CrossingPosition::Above(1000.0));
        assert_eq!(search(1e-3, 0.0, 1, false).0, CrossingPosition::Below(1.0));
    }

    #[test]
    fn the_interval_holds_the_position_in_spite_of_noise() {
        for noise in [0.01, 0.05, 0.1] {
            let holds = |seed: &u64| match search(8.0, noise, *seed, true).0 {
                CrossingPosition::Between(low, high) => low <= 8.0 && 8.0 <= high,
                CrossingPosition::From(low) => low <= 8.0,
                CrossingPosition::Above(_)
                | CrossingPosition::Below(_)
                | CrossingPosition::Unknown => false,
            };
            let held = (0..400).filter(holds).count();
            assert!(held >= 380, "{noise}: {held} of 400");
        }
    }

    #[test]
    fn where_the_upper_end_is_the_crossing_the_rest_is_found() {
        let (place, _) = search(1000.0, 0.05, 3, false);
        let CrossingPosition::From(low) = place else { panic!("{place:?}") };
        assert!(low < 1000.0);
    }

    #[test]
    fn what_cannot_be_searched_is_refused() {
        assert!(Crossing::new(Options { low: 0.0, ..OPTIONS }).is_err());
        assert!(Crossing::new(Options { high: 1.0, ..OPTIONS }).is_err());
        let mut crossing = Crossing::new(OPTIONS).unwrap();
        assert!(crossing.tell(f64::NAN).is_err());
        assert_eq!(crossing.place(), CrossingPosition::Unknown);
    }
}
