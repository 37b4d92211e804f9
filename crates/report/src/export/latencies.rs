//! The latencies of single operations, cell by cell, with all replicates of a cell together.

use std::path::Path;

use measure::{Bucket, Histogram};
use record::{Replicate, Run};

use crate::analysis::{Gathered, gather};

/// The latencies of each cell of a run, if they are known.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Vec<CellLatencies>);

/// What is known about one cell's latencies.
#[derive(Clone, Debug)]
pub(super) enum CellLatencies {
    /// Every operation was timed individually.
    Known(Distribution),
    /// Several operations were timed at once, so there are no latencies of single ones.
    InBatches,
    /// Nothing was recorded, or its log cannot be read.
    Absent,
}

/// The latencies of all operations of a cell, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Distribution {
    /// The non-empty buckets, by increasing value; their counts add up to `count`.
    pub(super) buckets: Vec<Bucket>,
    /// Number of operations.
    pub(super) count: u64,
    /// The sum of their times, exact.
    pub(super) sum_ns: u64,
    /// The smallest, exact.
    pub(super) min_ns: u64,
    /// The largest, exact.
    pub(super) max_ns: u64,
}

#[cfg(test)]
impl Distribution {
    /// The distribution of these latencies.
    pub(super) fn of_values(values: &[u64]) -> Self {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        Self {
            buckets: histogram.buckets().collect(),
            count: histogram.count(),
            sum_ns: values.iter().sum(),
            min_ns: histogram.min(),
            max_ns: histogram.max(),
        }
    }
}

impl Latencies {
    /// Reads the histogram logs of the run at `path`. A cell whose log cannot be read has no
    /// latencies here; the document has a warning about it.
    #[must_use]
    pub fn read(run: &Run, path: &Path) -> Self {
        let of_cell = |gathered: &Gathered<'_>| {
            if gathered.pilot.is_some_and(|pilot| pilot.batch > 1) {
                return CellLatencies::InBatches;
            }
            let histogram = run.histogram(path, gathered.index).ok();
            let known = histogram.and_then(|histogram| distribution(gathered, &histogram));
            known.map_or(CellLatencies::Absent, CellLatencies::Known)
        };
        Self(gather(run).iter().map(of_cell).collect())
    }

    /// The latencies of the cell at this index of the document.
    pub(super) fn of_cell(&self, cell: usize) -> &CellLatencies {
        self.0.get(cell).unwrap_or(&CellLatencies::Absent)
    }
}

/// The histogram, with the extremes and the sum from the journal, which the log does not keep
/// exactly. `None` unless the histogram covers exactly the operations in the journal.
fn distribution(gathered: &Gathered<'_>, histogram: &Histogram) -> Option<Distribution> {
    let replicates: Vec<&Replicate> = gathered.replicates.values().copied().collect();
    let total = |of: fn(&Replicate) -> u64| replicates.iter().map(|one| of(one)).sum::<u64>();
    let count = histogram.count();
    if count == 0 || count != total(|one| one.operations) {
        return None;
    }
    let buckets = histogram.buckets().collect();
    let sum_ns = total(|one| one.busy_ns);
    let min_ns = replicates.iter().map(|one| one.latency.min_ns).min()?;
    let max_ns = replicates.iter().map(|one| one.latency.max_ns).max()?;
    Some(Distribution { buckets, count, sum_ns, min_ns, max_ns })
}

impl Distribution {
    /// The arithmetic mean, in nanoseconds.
    pub(super) fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.count as f64
    }

    /// The standard deviation of single operations, in nanoseconds, up to the width of buckets.
    pub(super) fn standard_deviation_ns(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let mean = self.mean_ns();
        let square = |bucket: &Bucket| bucket.count as f64 * (middle(bucket) as f64 - mean).powi(2);
        (self.buckets.iter().map(square).sum::<f64>() / (self.count - 1) as f64).sqrt()
    }
}

/// The middle of a bucket.
pub(super) fn middle(bucket: &Bucket) -> u64 {
    bucket.low + (bucket.high - bucket.low) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    fn read(sample: &Sample, damage: impl Fn(&Path)) -> Latencies {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("run");
        let run = sample.write(&path);
        damage(&path.join("histograms/0000.hlog"));
        Latencies::read(&run, &path)
    }

    #[test]
    fn all_replicates_of_a_cell_are_together() {
        let sample = Sample::new(&["a"]).benchmark("create", &[&[1000.0, 2000.0]]);
        let latencies = read(&sample, |_| ());
        let CellLatencies::Known(known) = latencies.of_cell(0) else { panic!("{latencies:?}") };
        assert_eq!(known.count, 200);
        assert_eq!(known.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 200);
        assert_eq!(known.mean_ns(), 1500.0);
        assert!((500.0..560.0).contains(&known.standard_deviation_ns()), "{known:?}");
    }

    #[test]
    fn what_was_not_timed_by_itself_or_cannot_be_read_is_not_made_up() {
        let sample = Sample::new(&["a"]).benchmark("create", &[&[1000.0]]);
        let lost = read(&sample, |log| std::fs::remove_file(log).unwrap());
        assert!(matches!(lost.of_cell(0), CellLatencies::Absent));
        let batches = Sample::new(&["a"]).batch(8).benchmark("create", &[&[1000.0]]);
        assert!(matches!(read(&batches, |_| ()).of_cell(0), CellLatencies::InBatches));
    }
}
