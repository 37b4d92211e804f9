//! Percentiles of latencies, from their histogram.

use crate::extended::Extended;
use crate::histogram::LatencyHistogram;

/// Which percentiles are reported.
#[derive(Clone, Debug, PartialEq)]
pub struct PercentileList {
    percents: Vec<f64>,
    decimals: usize,
}

impl PercentileList {
    /// How many percentiles there may be.
    pub const MOST: usize = 20;

    /// These percentiles, sorted. The list ends before the first 0, and at [`Self::MOST`]. The
    /// normal output shows them with so many decimals: as many as the user wrote.
    pub fn new(percents: &[f64], decimals: usize) -> Self {
        let wanted = percents.iter().copied().take(Self::MOST);
        let mut percents: Vec<f64> = wanted.take_while(|percent| *percent != 0.0).collect();
        percents.sort_by(f64::total_cmp);
        Self { percents, decimals }
    }

    /// The percentiles in ascending order.
    pub fn percents(&self) -> &[f64] {
        &self.percents
    }

    /// With how many decimals the normal output shows them.
    pub fn decimals(&self) -> usize {
        self.decimals
    }
}

impl Default for PercentileList {
    fn default() -> Self {
        let tens = (1..=9).map(|tens| f64::from(tens) * 10.0);
        let percents = [1.0, 5.0].into_iter().chain(tens);
        let tail = [95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
        Self { percents: percents.chain(tail).collect(), decimals: 2 }
    }
}

impl LatencyHistogram {
    /// The latency of each percentile among so many samples, in nanoseconds: the midpoint of the
    /// first bucket up to which at least this share of them lies; 0 if there are not enough.
    pub fn percentiles(&self, samples: u64, list: &PercentileList) -> Vec<u64> {
        let mut latencies = vec![0; list.percents.len()];
        let mut wanted = list.percents.iter().zip(&mut latencies).peekable();
        let mut reached = 0;
        for (bucket, count) in self.filled() {
            reached += count;
            let is_in = |(percent, _): &(&f64, &mut u64)| {
                Extended::rank(**percent, samples).is_reached_by(reached)
            };
            while let Some((_, latency)) = wanted.next_if(is_in) {
                *latency = Self::midpoint_ns(bucket);
            }
        }
        latencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_at_zero_and_are_sorted() {
        let list = PercentileList::new(&[99.0, 50.0, 0.0, 10.0], 1);
        assert_eq!(list.percents(), [50.0, 99.0]);
        assert_eq!(PercentileList::new(&[1.0; 30], 2).percents().len(), 20);
        assert_eq!(PercentileList::default().percents().len(), 17);
    }

    #[test]
    fn percentiles_are_midpoints_of_buckets() {
        let mut histogram = LatencyHistogram::default();
        (1..=100).for_each(|latency_ns| histogram.add(latency_ns));
        let list = PercentileList::new(&[1.0, 50.0, 99.0, 100.0], 2);
        assert_eq!(histogram.percentiles(100, &list), [1, 50, 99, 100]);
        histogram.add(1_000_000);
        assert_eq!(histogram.percentiles(101, &list)[3], 1_003_520);
        assert_eq!(histogram.percentiles(1_000, &list), [10, 0, 0, 0]);
        assert_eq!(LatencyHistogram::default().percentiles(0, &list), [0; 4]);
    }
}
