//! The histogram of latencies that percentiles are read from.
//!
//! Buckets are of one nanosecond up to 128 ns; from there on, each power of two is divided into 64
//! of equal width, so that a bucket's midpoint is off by less than 1 % of any latency in it. The
//! last group begins at 2^33 ns and has no end. These are the buckets of fio, so that its tools can
//! read our histograms.

/// Each power of two is divided into two to the power of this many buckets.
const GROUP_BITS: u32 = 6;
/// Buckets of one group.
const GROUP: usize = 1 << GROUP_BITS;
/// Groups.
const GROUPS: usize = 29;
/// All buckets of a histogram.
pub const BUCKETS: usize = GROUPS * GROUP;

/// How many operations took how long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyHistogram {
    /// Empty until something is added: most histograms of a job are never used.
    counts: Vec<u64>,
}

impl LatencyHistogram {
    /// The bucket that a latency belongs to.
    #[expect(clippy::cast_possible_truncation, reason = "buckets are few")]
    #[inline]
    pub fn bucket(latency_ns: u64) -> usize {
        if latency_ns < (2 * GROUP) as u64 {
            return latency_ns as usize;
        }
        let dropped_bits = latency_ns.ilog2() - GROUP_BITS;
        let within = (latency_ns >> dropped_bits) as usize & (GROUP - 1);
        ((dropped_bits as usize + 1) * GROUP + within).min(BUCKETS - 1)
    }

    /// The latency that stands for a bucket: its midpoint, rounded up.
    pub fn midpoint_ns(bucket: usize) -> u64 {
        assert!(bucket < BUCKETS, "a histogram has {BUCKETS} buckets");
        if bucket < 2 * GROUP {
            return bucket as u64;
        }
        let dropped_bits = bucket / GROUP - 1;
        let halves = 2 * (GROUP + bucket % GROUP) + 1;
        (halves as u64) << (dropped_bits - 1)
    }

    /// Counts an operation.
    #[inline]
    pub fn add(&mut self, latency_ns: u64) {
        self.add_many(Self::bucket(latency_ns), 1);
    }

    /// Counts so many operations in a bucket.
    ///
    /// # Panics
    ///
    /// If there is no such bucket.
    #[inline]
    pub fn add_many(&mut self, bucket: usize, count: u64) {
        if let Some(counted) = self.counts.get_mut(bucket) {
            *counted += count;
        } else {
            self.add_first(bucket, count);
        }
    }

    #[cold]
    fn add_first(&mut self, bucket: usize, count: u64) {
        assert!(self.counts.is_empty() && bucket < BUCKETS, "a histogram has {BUCKETS} buckets");
        self.counts = vec![0; BUCKETS];
        self.counts[bucket] = count;
    }

    /// Adds the counts of another job.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
            return;
        }
        for (ours, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *ours += theirs;
        }
    }

    /// The counts of all buckets; none at all if nothing was added.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Buckets with something in them, each with its count.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0)
    }

    /// All operations that were counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bucket_has_its_own_midpoint() {
        for bucket in 0..BUCKETS {
            let midpoint = LatencyHistogram::midpoint_ns(bucket);
            assert_eq!(LatencyHistogram::bucket(midpoint), bucket);
        }
        assert_eq!(LatencyHistogram::midpoint_ns(BUCKETS - 1), 17_112_760_320);
    }

    #[test]
    fn buckets_follow_one_another_without_gap() {
        let mut last = 0;
        for latency in (0..1 << 14).chain((1..20).map(|n| (1_u64 << 33) + (n << 27))) {
            let bucket = LatencyHistogram::bucket(latency);
            assert!(bucket == last || bucket == last + 1 || latency > 1 << 14, "{latency}");
            last = bucket;
        }
        assert_eq!(LatencyHistogram::bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn midpoints_are_within_one_percent() {
        for latency in [129_u64, 1_000, 45_377, 2_857_847, 999_999_999, (1 << 34) - 1] {
            let midpoint = LatencyHistogram::midpoint_ns(LatencyHistogram::bucket(latency));
            assert!(midpoint.abs_diff(latency) * 100 < latency, "{latency}: {midpoint}");
        }
    }

    #[test]
    fn merged_counts_add_up() {
        let (mut first, mut second) = (LatencyHistogram::default(), LatencyHistogram::default());
        second.add(5);
        second.add(70_000);
        first.merge(&second);
        first.merge(&second);
        first.merge(&LatencyHistogram::default());
        let at = LatencyHistogram::bucket(70_000);
        assert_eq!(first.filled().collect::<Vec<_>>(), [(5, 2), (at, 2)]);
        assert_eq!(first.total(), 4);
    }
}
