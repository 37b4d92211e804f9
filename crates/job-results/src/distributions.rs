//! Coarse distributions of a job: how deep its queue was, how many operations were submitted and
//! completed at a time, how long operations took.

/// How many levels of depth are told apart.
pub const DEPTH_LEVELS: usize = 7;

/// Depths of the queue when operations were submitted: 1, 2, 4, 8, 16, 32, 64 or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthDistribution {
    /// Operations that were submitted at each level.
    pub counts: [u64; DEPTH_LEVELS],
}

impl DepthDistribution {
    /// Counts operations that were submitted while the queue was this deep, themselves included.
    #[inline]
    pub fn add(&mut self, depth: u32, operations: u64) {
        let level = depth.max(1).ilog2().min(6);
        self.counts[level as usize] += operations;
    }

    /// Takes in those of another job.
    pub fn merge(&mut self, other: &Self) {
        add_all(&mut self.counts, &other.counts);
    }
}

/// How many operations each call submitted or reaped: none, up to 4, 8, 16, 32, 64, more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchDistribution {
    /// Calls by the number of their operations.
    pub counts: [u64; DEPTH_LEVELS],
}

impl BatchDistribution {
    /// Counts a call that submitted or reaped this many operations.
    #[inline]
    pub fn add(&mut self, operations: u32) {
        let level = match operations {
            0 => 0,
            1..=4 => 1,
            5.. => (operations - 1).ilog2().min(6),
        };
        self.counts[level as usize] += 1;
    }

    /// All calls.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Takes in those of another job.
    pub fn merge(&mut self, other: &Self) {
        add_all(&mut self.counts, &other.counts);
    }
}

/// Upper ends of the bins below 1000 of a unit.
const ENDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// How long operations took, in bins that people read: below 2, 4, 10, 20, 50, 100, 250, 500, 750
/// and 1000 nanoseconds, the same in microseconds, the same and 2000 and above in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyBins {
    /// Of less than a microsecond, by their nanoseconds.
    pub ns: [u64; 10],
    /// Of less than a millisecond, by their microseconds.
    pub us: [u64; 10],
    /// The others, by their milliseconds.
    pub ms: [u64; 12],
}

impl LatencyBins {
    /// Counts an operation by its completion latency.
    #[inline]
    pub fn add(&mut self, latency_ns: u64) {
        let bin = |latency: u64| ENDS.iter().take_while(|end| latency >= **end).count();
        if latency_ns < 1_000 {
            self.ns[bin(latency_ns)] += 1;
        } else if latency_ns < 1_000_000 {
            self.us[bin(latency_ns / 1_000)] += 1;
        } else if latency_ns < 2_000_000_000 {
            self.ms[bin(latency_ns / 1_000_000)] += 1;
        } else {
            self.ms[11] += 1;
        }
    }

    /// Takes in those of another job.
    pub fn merge(&mut self, other: &Self) {
        add_all(&mut self.ns, &other.ns);
        add_all(&mut self.us, &other.us);
        add_all(&mut self.ms, &other.ms);
    }
}

fn add_all(ours: &mut [u64], theirs: &[u64]) {
    for (our, their) in ours.iter_mut().zip(theirs) {
        *our += their;
    }
}

/// Shares of a total in percent, none that is not empty below `least`. All 0 without a total.
pub(crate) fn percentages(counts: &[u64], total: u64, least: f64) -> Vec<f64> {
    // Not by a division for each: shares that end in a 5 are then rounded as fio rounds them.
    let inverse = if total > 0 { 1.0 / total as f64 } else { 0.0 };
    let share = |count: u64| {
        let share = count as f64 * inverse * 100.0;
        if count > 0 && total > 0 { share.max(least) } else { share }
    };
    counts.iter().map(|count| share(*count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_counted_by_powers_of_two() {
        let mut depths = DepthDistribution::default();
        for depth in [1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 1000] {
            depths.add(depth, 1);
        }
        assert_eq!(depths.counts, [1, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn batches_are_counted_up_to_powers_of_two() {
        let mut batches = BatchDistribution::default();
        for size in [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 1000] {
            batches.add(size);
        }
        assert_eq!(batches.counts, [1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(batches.total(), 13);
    }

    #[test]
    fn latencies_fall_below_the_end_of_their_bin() {
        let mut bins = LatencyBins::default();
        for latency in [0, 1, 2, 999, 1_000, 1_999, 2_000, 750_000, 999_999] {
            bins.add(latency);
        }
        for latency_ms in [1, 2, 999, 1_000, 1_999, 2_000, 60_000] {
            bins.add(latency_ms * 1_000_000);
        }
        assert_eq!(bins.ns, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(bins.us, [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(bins.ms, [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2]);
    }

    #[test]
    fn a_small_share_is_never_shown_as_nothing() {
        assert_eq!(percentages(&[1, 0, 30_000], 40_000, 0.1), [0.1, 0.0, 75.0]);
        assert_eq!(percentages(&[1, 0], 0, 0.1), [0.0, 0.0]);
    }
}
