//! Bandwidth and operations per second, sampled every so often.

use crate::direction::{DataDirection, PerDirection};

/// How many milliseconds early a sample may be.
const SLACK_MS: u64 = 1;

/// What a rate is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RateUnit {
    /// KiB/s of totals in bytes.
    Bandwidth,
    /// Operations per second.
    Iops,
}

/// Makes samples of a rate from totals that grow: `bwavgtime`, `iopsavgtime`.
#[derive(Clone, Debug)]
pub struct RateSampler {
    unit: RateUnit,
    interval_ms: u64,
    last_ms: u64,
    last: PerDirection<u64>,
}

impl RateSampler {
    /// Samples of KiB/s, from totals in bytes.
    pub fn of_bandwidth(interval_ms: u64, now_ms: u64) -> Self {
        Self::new(RateUnit::Bandwidth, interval_ms, now_ms)
    }

    /// Samples of operations per second.
    pub fn of_iops(interval_ms: u64, now_ms: u64) -> Self {
        Self::new(RateUnit::Iops, interval_ms, now_ms)
    }

    fn new(unit: RateUnit, interval_ms: u64, now_ms: u64) -> Self {
        Self { unit, interval_ms, last_ms: now_ms, last: PerDirection::default() }
    }

    /// In how many milliseconds the next sample is due.
    pub fn due_in_ms(&self, now_ms: u64) -> u64 {
        let left_ms = self.interval_ms.saturating_sub(now_ms.saturating_sub(self.last_ms));
        if left_ms > SLACK_MS { left_ms } else { 0 }
    }

    /// The rates since the last sample, if one is due: of the directions whose totals have grown.
    pub fn sample(
        &mut self,
        now_ms: u64,
        totals: &PerDirection<u64>,
    ) -> Option<PerDirection<Option<u64>>> {
        if self.due_in_ms(now_ms) > 0 {
            return None;
        }
        let spent_ms = now_ms.saturating_sub(self.last_ms);
        let mut rates = PerDirection::default();
        for direction in DataDirection::ALL {
            let grown = totals[direction].wrapping_sub(self.last[direction]);
            if grown > 0 {
                rates[direction] = Some(self.rate(grown, spent_ms));
            }
        }
        self.last = *totals;
        self.last_ms = now_ms;
        Some(rates)
    }

    /// Counts totals from 0 again, as a job does that starts its next loop.
    pub fn restart(&mut self) {
        self.last = PerDirection::default();
    }

    fn rate(&self, grown: u64, spent_ms: u64) -> u64 {
        let per_second = crate::report::per_second(grown, spent_ms);
        match self.unit {
            RateUnit::Bandwidth => per_second / 1024,
            RateUnit::Iops => per_second,
        }
    }

    /// The bandwidth of one operation, as logs have it that hold each one. Thousands of bytes per
    /// second: unlike averages, which are in KiB/s.
    pub fn of_one(bytes: u64, latency_ns: u64) -> u64 {
        bytes.wrapping_mul(1_000_000).checked_div(latency_ns).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_what_was_added() {
        let mut sampler = RateSampler::of_bandwidth(500, 1_000);
        assert_eq!(sampler.sample(1_400, &PerDirection::new(9, 9, 9)), None);
        assert_eq!(sampler.due_in_ms(1_400), 100);
        let first = sampler.sample(1_499, &PerDirection::new(499 * 1_024, 0, 0)).unwrap();
        assert_eq!(first, PerDirection::new(Some(1_000), None, None));
        let second = sampler.sample(2_000, &PerDirection::new(499 * 1_024, 1_024, 0)).unwrap();
        assert_eq!(second, PerDirection::new(None, Some(1), None));
    }

    #[test]
    fn iops_are_not_in_thousands() {
        let mut sampler = RateSampler::of_iops(100, 0);
        let rates = sampler.sample(200, &PerDirection::new(0, 0, 50)).unwrap();
        assert_eq!(rates[DataDirection::Trim], Some(250));
        assert_eq!(RateSampler::of_one(4_096, 45_377), 90_265);
        assert_eq!(RateSampler::of_one(4_096, 0), 0);
    }
}
