//! Judges, second by second, whether a job has become steady.

use std::collections::VecDeque;

use super::{SteadyGoal, SteadyQuantity, SteadyState, SteadyTest, SteadyUnit};

/// Takes a sample every second, and says when the last ones are steady.
#[derive(Clone, Debug)]
pub struct SteadyStateDetector {
    goal: SteadyGoal,
    /// Bytes and operations per second, oldest first.
    samples: VecDeque<(u64, u64)>,
    is_attained: bool,
    criterion: f64,
    deviation: f64,
    slope: f64,
}

impl SteadyStateDetector {
    /// A detector that has not seen anything.
    pub fn new(goal: SteadyGoal) -> Self {
        let samples = VecDeque::with_capacity(goal.duration_s);
        Self { goal, samples, is_attained: false, criterion: 0.0, deviation: 0.0, slope: 0.0 }
    }

    /// Takes in the last second of a job, or of a group, and says whether it is steady now. Once it
    /// is, samples are no longer taken in.
    pub fn observe(&mut self, bytes_per_second: u64, ios_per_second: u64) -> bool {
        if self.is_attained {
            return true;
        }
        if self.samples.len() == self.goal.duration_s {
            self.samples.pop_front();
        }
        self.samples.push_back((bytes_per_second, ios_per_second));
        if self.samples.len() == self.goal.duration_s {
            let values: Vec<u64> = self.samples.iter().map(|sample| self.judged(*sample)).collect();
            self.judge(&values);
            self.is_attained = self.criterion.abs() < self.goal.limit;
        }
        self.is_attained
    }

    /// What came of it so far.
    pub fn state(&self) -> SteadyState {
        let padded = |part: &dyn Fn(&(u64, u64)) -> u64| {
            let seen = self.samples.iter().map(part).chain(std::iter::repeat(0));
            seen.take(self.goal.duration_s).collect()
        };
        SteadyState {
            goal: self.goal,
            is_attained: self.is_attained,
            criterion: self.criterion,
            deviation: self.deviation,
            slope: self.slope,
            bandwidth: padded(&|sample| sample.0),
            iops: padded(&|sample| sample.1),
        }
    }

    fn judged(&self, (bandwidth, iops): (u64, u64)) -> u64 {
        match self.goal.quantity {
            SteadyQuantity::Iops => iops,
            SteadyQuantity::Bandwidth => bandwidth,
        }
    }

    fn judge(&mut self, values: &[u64]) {
        let count = values.len() as f64;
        let sum: u64 = values.iter().sum();
        let mean = sum as f64 / count;
        let (criterion, mean) = match self.goal.test {
            SteadyTest::Deviation => {
                let distances = values.iter().map(|value| (*value as f64 - mean).abs());
                self.deviation = distances.fold(0.0, f64::max);
                (self.deviation, mean)
            }
            SteadyTest::Slope => {
                self.slope = slope(values);
                (self.slope, mean.floor())
            }
        };
        self.criterion = match self.goal.unit {
            SteadyUnit::Absolute => criterion,
            SteadyUnit::Percent => 100.0 * criterion / mean,
        };
    }
}

/// The slope of the line of least squares through values at 0, 1, 2, ...
fn slope(values: &[u64]) -> f64 {
    let count = values.len() as f64;
    let (mut x_sum, mut x_squares, mut y_sum, mut products) = (0.0, 0.0, 0.0, 0.0);
    for (place, value) in values.iter().enumerate() {
        let (x, y) = (place as f64, *value as f64);
        x_sum += x;
        x_squares += x * x;
        y_sum += y;
        products += x * y;
    }
    (products - x_sum * y_sum / count) / (x_squares - x_sum * x_sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(test: SteadyTest, unit: SteadyUnit, limit: f64) -> SteadyGoal {
        SteadyGoal { quantity: SteadyQuantity::Iops, test, unit, limit, duration_s: 4 }
    }

    #[test]
    fn a_line_has_its_slope() {
        assert_eq!(slope(&[10, 13, 16, 19]), 3.0);
        assert_eq!(slope(&[10, 13, 13, 10]), 0.0);
    }

    #[test]
    fn the_last_seconds_decide() {
        let mut detector =
            SteadyStateDetector::new(goal(SteadyTest::Deviation, SteadyUnit::Percent, 5.0));
        for iops in [10, 500, 100, 101, 99] {
            assert!(!detector.observe(iops * 4096, iops));
        }
        assert_eq!(detector.state().iops, [500, 100, 101, 99]);
        assert!(detector.observe(100 * 4096, 100));
        let state = detector.state();
        assert_eq!((state.deviation, state.criterion), (1.0, 1.0));
        assert_eq!((state.iops_mean(), state.bandwidth_mean()), (100, 409_600));
    }

    #[test]
    fn a_fall_is_not_steady() {
        let mut detector =
            SteadyStateDetector::new(goal(SteadyTest::Slope, SteadyUnit::Absolute, 2.0));
        assert!(!detector.observe(0, 90));
        assert_eq!(detector.state().iops, [90, 0, 0, 0]);
        assert!([85, 80, 75].iter().all(|iops| !detector.observe(0, *iops)));
        assert_eq!(detector.state().criterion, -5.0);
    }
}
