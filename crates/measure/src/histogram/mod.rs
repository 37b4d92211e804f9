//! The histogram of all operations: log-linear, exact at both ends, never saturated.
//!
//! The module `layout` says which values share a bucket. Recording is a shift, an addition and a
//! few increments, with no branch that depends on the bucket; everything else here runs after the
//! measurement.

mod layout;

use layout::{BUCKETS, bounds_of, bucket_of};
use std::fmt;

/// Counts of values over the whole range of `u64`, with a relative error below 1 %.
///
/// Values are nanoseconds everywhere in this project, but nothing depends on that. The minimum, the
/// maximum and the sum are exact. An empty histogram answers 0 to every question.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
    /// `u64::MAX` while empty.
    min: u64,
    max: u64,
    sum: u128,
}

/// A bucket that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// The lowest value of this bucket.
    pub low: u64,
    /// The highest value of this bucket, inclusive.
    pub high: u64,
    /// How many values were recorded here.
    pub count: u64,
}

/// What a histogram knows exactly, beyond its buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exact {
    /// The minimum of the values recorded.
    pub min: u64,
    /// The maximum of the values recorded.
    pub max: u64,
    /// The sum of all values recorded.
    pub sum: u128,
}

/// Why stored buckets are not a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistogramError {
    /// The bounds are not those of one bucket of this layout.
    #[error(
        "values {low} to {high} are not a bucket of a histogram with two significant digits and \
         unit 1; rebuild it from a file written with these settings"
    )]
    NoSuchBucket {
        /// The lower bound given.
        low: u64,
        /// The upper bound given.
        high: u64,
    },
    /// The counts add up to more than fits into a `u64`.
    #[error("the counts add up to more than 2^64 - 1; the stored histogram is damaged")]
    TooMany,
    /// The exact minimum, maximum or sum contradicts the buckets.
    #[error("{exact:?} does not match the stored buckets; the stored histogram is damaged")]
    Contradiction {
        /// What was claimed.
        exact: Exact,
    },
}

impl Histogram {
    /// An empty histogram. Its memory, 58 KiB, is touched here, so that recording never faults.
    pub fn new() -> Self {
        Self { counts: zeroed_counts(), min: u64::MAX, max: 0, sum: 0 }
    }

    /// The size of what [`new`](Self::new) allocates.
    pub(crate) const HEAP_BYTES: usize = size_of::<[u64; BUCKETS]>();

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        // Not checked for overflow: adding one at a time never reaches 2^64.
        self.counts[bucket_of(value)] += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += u128::from(value);
    }

    /// Counts one value `count` times. Counts saturate at `u64::MAX`, the sum at `u128::MAX`.
    pub fn record_n(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        let bucket = &mut self.counts[bucket_of(value)];
        *bucket = bucket.saturating_add(count);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum = self.sum.saturating_add(u128::from(value) * u128::from(count));
    }

    /// Adds the contents of `other`, as if its values had been recorded here.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count = count.saturating_add(*more);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// How many values were recorded. Added up on request: keeping a separate counter would cost
    /// one more store per value.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.min > self.max
    }

    /// The minimum, exact.
    pub fn min(&self) -> u64 {
        if self.is_empty() { 0 } else { self.min }
    }

    /// The maximum, exact.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The sum of all values, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The arithmetic mean, from the exact sum.
    pub fn mean(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.sum as f64 / self.count() as f64 }
    }

    /// Estimates the quantile `q` of the distribution that the values come from: the order
    /// statistic of rank (n + 1/3) q + 1/3, interpolated linearly between whole ranks.
    ///
    /// Whatever the distribution, almost half of all samples give more than the true value and
    /// almost half less (Hyndman & Fan, "Sample Quantiles in Statistical Packages", The American
    /// Statistician 50, 1996, definition 8). The rank `ceil(q n)` does not have this property: of
    /// six values it takes the third as the median. The first and the last order statistic are
    /// exact, others are within 1 %: the values of a bucket are assumed to be spread evenly over
    /// it. `q` below 0 (or not a number) gives the minimum, above 1 the maximum.
    pub fn quantile(&self, q: f64) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let count = self.count();
        let share = if q.is_nan() { 0.0 } else { q.clamp(0.0, 1.0) };
        let rank = ((count as f64 + 1.0 / 3.0) * share + 1.0 / 3.0).clamp(1.0, count as f64);
        let below = self.at_rank(rank.floor(), count);
        let part = rank.fract();
        if part == 0.0 { below } else { below + part * (self.at_rank(rank.ceil(), count) - below) }
    }

    /// The order statistic of `rank`, from 1 (the minimum) to the number of values; within 1 %,
    /// except that the first and the last are exact. A rank outside this range is clamped to it.
    pub fn order_statistic(&self, rank: u64) -> f64 {
        self.at_rank(rank as f64, self.count())
    }

    /// The order statistic of a whole rank, from 1 to `count`, the number of all values.
    fn at_rank(&self, rank: f64, count: u64) -> f64 {
        if rank <= 1.0 {
            return self.min as f64;
        }
        if rank >= count as f64 {
            return self.max as f64;
        }
        let mut before = 0.0;
        for bucket in self.buckets() {
            let held = bucket.count as f64;
            if before + held >= rank {
                let share = (rank - before - 0.5) / held;
                let value = bucket.low as f64 + share * (bucket.high - bucket.low) as f64;
                return value.clamp(self.min as f64, self.max as f64);
            }
            before += held;
        }
        self.max as f64
    }

    /// The buckets that are not empty, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        let filled = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        filled.map(|(index, &count)| {
            let (low, high) = bounds_of(index);
            Bucket { low, high, count }
        })
    }

    /// What is known exactly, beyond the buckets; `None` while empty.
    pub fn exact(&self) -> Option<Exact> {
        (!self.is_empty()).then_some(Exact { min: self.min, max: self.max, sum: self.sum })
    }

    /// Rebuilds a histogram from stored buckets. Its extremes are the outer bounds of the buckets,
    /// and its sum is computed from their middles, until [`with_exact`](Self::with_exact) replaces
    /// them.
    ///
    /// # Errors
    ///
    /// If bounds are not those of a bucket, or the counts add up to more than `u64::MAX`.
    pub(crate) fn from_buckets(
        buckets: impl IntoIterator<Item = Bucket>,
    ) -> Result<Self, HistogramError> {
        let mut histogram = Self::new();
        let mut total = 0_u64;
        for Bucket { low, high, count } in buckets {
            if bounds_of(bucket_of(low)) != (low, high) {
                return Err(HistogramError::NoSuchBucket { low, high });
            }
            total = total.checked_add(count).ok_or(HistogramError::TooMany)?;
            histogram.record_n(low + (high - low) / 2, count);
        }
        if !histogram.is_empty() {
            histogram.min = bounds_of(bucket_of(histogram.min)).0;
            histogram.max = bounds_of(bucket_of(histogram.max)).1;
        }
        Ok(histogram)
    }

    /// This histogram with the exact extremes and sum, which the buckets do not keep.
    ///
    /// # Errors
    ///
    /// If they contradict the buckets.
    pub(crate) fn with_exact(self, exact: Exact) -> Result<Self, HistogramError> {
        let sum_of = |bound: fn(&Bucket) -> u64| {
            let products = self.buckets().map(|b| u128::from(bound(&b)) * u128::from(b.count));
            products.fold(0, u128::saturating_add)
        };
        let possible = !self.is_empty()
            && exact.min <= exact.max
            && bucket_of(exact.min) == bucket_of(self.min)
            && bucket_of(exact.max) == bucket_of(self.max)
            && (sum_of(|b| b.low)..=sum_of(|b| b.high)).contains(&exact.sum);
        if !possible {
            return Err(HistogramError::Contradiction { exact });
        }
        Ok(Self { min: exact.min, max: exact.max, sum: exact.sum, ..self })
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("exact", &self.exact())
            .field("buckets", &self.buckets().count())
            .finish_non_exhaustive()
    }
}

/// Counts of zero, made on the heap without passing over the stack, every page touched.
fn zeroed_counts() -> Box<[u64; BUCKETS]> {
    let mut counts = vec![0; BUCKETS];
    // Fresh zero pages are mapped at the first write, which must not happen during a measurement.
    // The black box keeps the compiler from seeing that this write changes nothing.
    counts.fill(std::hint::black_box(0));
    counts.into_boxed_slice().try_into().expect("the vector was made with this length")
}

#[cfg(test)]
mod tests;
