//! The measurements of a run by block: what statements compare within each block, and between
//! blocks.

use std::collections::BTreeMap;

use record::{Cell, Replicate, StandardMetric, TimelineRecord};
use stats::Sample;

use super::DEVICE_LOG2;
use super::figures::{end_s, rate_between, total, whole_s};
use crate::gathered::{Gathered, values};

/// A peak has at least this share of the operations: a lower one cannot be seen in the paper's
/// figures.
const PEAK_PERCENT: f64 = 2.0;
/// Between two sizes, a step is a fall of throughput by at least this factor.
const STEP_FACTOR: f64 = 1.5;
/// The warm-up has ended when all but this share of the reads from the device are done. The last
/// pages come late: by chance, or because something else made a read from memory slow.
const LAST_READS: f64 = 0.01;

/// The share of a warm-up that its last moments take.
const LAST_MOMENTS: f64 = 0.05;

/// The measurements of one block, each if the run has it.
#[derive(Debug, Default)]
pub(super) struct Measured<'a> {
    /// Figure 1: sizes in bytes, ascending, and operations per second.
    pub(super) sizes: Vec<(f64, f64)>,
    /// Its close-up, likewise.
    pub(super) zoom: Vec<(f64, f64)>,
    /// The same on a device that has a cache of its own.
    pub(super) levels: Vec<(f64, f64)>,
    /// Figure 2: by target.
    pub(super) warm_ups: BTreeMap<&'a str, WarmUp<'a>>,
    /// Figure 3, (a) to (c).
    pub(super) latencies: [Option<Latencies>; 3],
    /// Figure 4.
    pub(super) fading: Option<&'a TimelineRecord>,
}

/// Throughput from a cold start.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarmUp<'a> {
    replicate: &'a Replicate,
    /// When half of the final throughput was reached.
    pub(super) half_speed_ns: f64,
}

/// Latencies of one file.
#[derive(Clone, Debug)]
pub(super) struct Latencies {
    /// Operations by the floor of log2 of their latency in nanoseconds.
    counts: BTreeMap<u8, u64>,
    /// Their mean.
    pub(super) mean_ns: f64,
    /// Their median.
    pub(super) median_ns: f64,
}

/// The blocks of a run, in order.
pub(super) fn of_run<'a>(gathered: &Gathered<'a>) -> Vec<Measured<'a>> {
    let mut blocks: BTreeMap<u32, Measured<'a>> = BTreeMap::new();
    for (cell, replicates) in &gathered.cells {
        for replicate in replicates {
            let block = blocks.entry(replicate.block).or_default();
            block.take(cell, replicate);
        }
    }
    let mut blocks: Vec<Measured<'a>> = blocks.into_values().collect();
    for block in &mut blocks {
        for points in [&mut block.sizes, &mut block.zoom, &mut block.levels] {
            points.sort_by(|left, right| left.0.total_cmp(&right.0));
        }
    }
    blocks
}

/// Which of Figure 1's curves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Curve {
    /// All sizes.
    Sizes,
    /// The close-up of the drop.
    Zoom,
}

impl<'a> Measured<'a> {
    /// Sizes in bytes, ascending, and operations per second.
    pub(super) fn points(&self, curve: Curve) -> &[(f64, f64)] {
        match curve {
            Curve::Sizes => &self.sizes,
            Curve::Zoom => &self.zoom,
        }
    }

    /// The throughput of a size.
    pub(super) fn rate_of(&self, curve: Curve, bytes: f64) -> Option<f64> {
        let point = self.points(curve).iter().find(|(own, _)| *own == bytes);
        point.map(|(_, rate)| *rate)
    }

    fn take(&mut self, cell: &'a Cell, replicate: &'a Replicate) {
        let metric =
            |metric: StandardMetric| values(cell, &[replicate], metric.name).first().copied();
        let point = cell.curve.as_ref().and_then(|point| {
            Some((point.curve.as_str(), (point.value, metric(StandardMetric::THROUGHPUT)?)))
        });
        match (point, cell.benchmark.as_str()) {
            (Some(("figure-1", point)), _) => self.sizes.push(point),
            (Some(("figure-1-zoom", point)), _) => self.zoom.push(point),
            (Some(("figure-1-levels", point)), _) => self.levels.push(point),
            (_, "figure-2") => {
                if let Some(half_speed_ns) = metric(StandardMetric::TIME_TO_HALF_SPEED) {
                    self.warm_ups.insert(&cell.target, WarmUp { replicate, half_speed_ns });
                }
            }
            (_, "figure-3a") => self.latencies[0] = Latencies::new(cell, replicate),
            (_, "figure-3b") => self.latencies[1] = Latencies::new(cell, replicate),
            (_, "figure-3c") => self.latencies[2] = Latencies::new(cell, replicate),
            (_, "figure-4") => self.fading = replicate.timeline.as_ref(),
            _ => {}
        }
    }

    /// The throughput of files that fit into memory: the median over sizes up to half of it.
    pub(super) fn plateau(&self, memory_bytes: f64) -> Option<f64> {
        let small = self.sizes.iter().filter(|(bytes, _)| *bytes <= memory_bytes / 2.0);
        let rates: Vec<f64> = small.map(|(_, rate)| *rate).collect();
        Some(Sample::new(rates).ok()?.median())
    }

    /// The two neighbouring sizes between which throughput falls by the largest factor, and the
    /// factor.
    pub(super) fn largest_drop(&self) -> Option<(f64, f64, f64)> {
        let drops = self.sizes.windows(2).map(|pair| (pair[0].0, pair[1].0, pair[0].1 / pair[1].1));
        drops.max_by(|left, right| left.2.total_cmp(&right.2))
    }

    /// Number of steps on the way from the first level of cache to the device: where throughput
    /// falls most from one size to the next, on a logarithmic scale, with less than half of that in
    /// between.
    pub(super) fn steps(&self) -> Option<f64> {
        let fall = |pair: &[(f64, f64)]| (pair[0].1 / pair[1].1).ln();
        let falls: Vec<f64> = self.levels.windows(2).map(fall).collect();
        (!falls.is_empty()).then(|| peaks(&falls, STEP_FACTOR.ln()).len() as f64)
    }

    /// Over how many bytes throughput falls from half of the plateau to a tenth of it, in the steps
    /// of the close-up, and in those of the whole curve if it is wider than that.
    pub(super) fn drop_width_bytes(&self, memory_bytes: f64) -> Option<f64> {
        let plateau = self.plateau(memory_bytes)?;
        let mut points: Vec<(f64, f64)> = self.zoom.iter().chain(&self.sizes).copied().collect();
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        let last_fast = points.iter().rposition(|(_, rate)| *rate >= plateau / 2.0)?;
        let slow = points[last_fast..].iter().find(|(_, rate)| *rate <= plateau / 10.0)?;
        (!self.zoom.is_empty()).then_some(slow.0 - points[last_fast].0)
    }
}

impl WarmUp<'_> {
    /// When it ends, in seconds since the cold start.
    pub(super) fn end_s(&self) -> f64 {
        end_s(self.replicate)
    }

    /// Operations per second in its last moments.
    pub(super) fn last_rate(&self) -> Option<f64> {
        let whole_s = whole_s(self.replicate);
        self.rate_between(whole_s * (1.0 - LAST_MOMENTS), whole_s)
    }

    /// Operations per second between two moments.
    pub(super) fn rate_between(&self, from_s: f64, to_s: f64) -> Option<f64> {
        rate_between(self.replicate, from_s, to_s)
    }
}

impl Latencies {
    fn new(cell: &Cell, replicate: &Replicate) -> Option<Self> {
        let counts = total(replicate.timeline.as_ref()?);
        let name = StandardMetric::TIME_PER_OPERATION.name;
        let mean_ns = *values(cell, &[replicate], name).first()?;
        Some(Self { counts, mean_ns, median_ns: replicate.latency.p50_ns as f64 })
    }

    /// Percentage of operations that were served from memory.
    pub(super) fn hit_percent(&self) -> f64 {
        super::figures::from_memory_percent(&self.counts)
    }

    /// The peaks, by the floor of log2 of nanoseconds.
    pub(super) fn peaks(&self) -> Vec<u8> {
        let all: u64 = self.counts.values().sum();
        let share = |log2: u8| {
            let count = self.counts.get(&log2).copied().unwrap_or(0);
            100.0 * count as f64 / all.max(1) as f64
        };
        let buckets: Vec<u8> = (0..=u8::MAX).collect();
        let shares: Vec<f64> = buckets.iter().map(|log2| share(*log2)).collect();
        peaks(&shares, PEAK_PERCENT).into_iter().map(|index| buckets[index]).collect()
    }
}

/// Where the peaks of a series are: the highest places between which it falls to less than half of
/// the lower one, if they have at least the height `least`.
fn peaks(heights: &[f64], least: f64) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for (place, &height) in heights.iter().enumerate().filter(|(_, height)| **height >= least) {
        let Some(last) = found.last_mut() else {
            found.push(place);
            continue;
        };
        let valley = heights[*last..place].iter().copied().fold(f64::INFINITY, f64::min);
        if valley < heights[*last].min(height) / 2.0 {
            found.push(place);
        } else if height > heights[*last] {
            *last = place;
        }
    }
    found
}

/// Counts of reads from the device and of all reads, in each slice of time.
fn reads_by_slice(timeline: &TimelineRecord) -> Vec<(f64, f64)> {
    let reads = |slice: &Vec<(u8, u64)>| {
        let all: u64 = slice.iter().map(|(_, count)| count).sum();
        let device = slice.iter().filter(|(log2, _)| *log2 >= DEVICE_LOG2);
        (device.map(|(_, count)| count).sum::<u64>() as f64, all as f64)
    };
    timeline.slices.iter().map(reads).collect()
}

/// The slices of a warm-up: until all but the last reads from the device are done.
fn warm_up(timeline: &TimelineRecord) -> Option<Vec<(f64, f64)>> {
    let mut slices = reads_by_slice(timeline);
    let all: f64 = slices.iter().map(|(device, _)| device).sum();
    let mut done = 0.0;
    let last = slices.iter().position(|(device, _)| {
        done += device;
        done >= (1.0 - LAST_READS) * all
    })?;
    slices.truncate(last + 1);
    (all > 0.0).then_some(slices)
}

/// Percentage of the reads that went to the device half-way through a warm-up: in the middle third
/// of its time.
pub(super) fn device_percent_half_way(timeline: &TimelineRecord) -> Option<f64> {
    let slices = warm_up(timeline)?;
    let third = slices.len() / 3;
    let middle = &slices[third..slices.len() - third];
    let device: f64 = middle.iter().map(|(device, _)| device).sum();
    let all: f64 = middle.iter().map(|(_, all)| all).sum();
    (all > 0.0).then(|| 100.0 * device / all)
}

/// Percentage of a warm-up's time in which at least 1 % of the reads came from memory, and at least
/// 1 % from the device.
pub(super) fn bimodal_percent(timeline: &TimelineRecord) -> Option<f64> {
    let slices = warm_up(timeline)?;
    let has_both = |(device, all): &&(f64, f64)| (0.01..=0.99).contains(&(device / all.max(1.0)));
    Some(100.0 * slices.iter().filter(has_both).count() as f64 / slices.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies(counts: &[(u8, u64)]) -> Latencies {
        Latencies { counts: counts.iter().copied().collect(), mean_ns: 1.0, median_ns: 1.0 }
    }

    #[test]
    fn peaks_are_parted_by_a_valley() {
        let peaks = |counts: &[(u8, u64)]| latencies(counts).peaks();
        assert_eq!(peaks(&[(9, 60), (10, 40)]), [9]);
        assert_eq!(peaks(&[(9, 40), (10, 60)]), [10]);
        assert_eq!(peaks(&[(9, 30), (10, 30), (20, 40)]), [9, 20]);
        assert_eq!(peaks(&[(9, 30), (10, 10), (11, 30), (20, 30)]), [9, 11, 20]);
        assert_eq!(peaks(&[(9, 30), (10, 20), (11, 50)]), [11], "no valley of half the height");
        assert_eq!(peaks(&[(9, 99), (20, 1)]), [9], "too low to be seen");
    }

    #[test]
    fn steps_are_parted_by_a_gentler_fall() {
        let steps = |rates: &[f64]| {
            let levels = (1..).zip(rates).map(|(size, rate)| (f64::from(size), *rate)).collect();
            Measured { levels, ..Measured::default() }.steps()
        };
        assert_eq!(steps(&[1e6, 1e6, 2e4, 1.5e4, 5e3, 4e3]), Some(2.0));
        assert_eq!(steps(&[1e6, 1e6, 2e4, 1e4, 5e3, 2.5e3]), Some(1.0), "it goes on falling");
        assert_eq!(steps(&[1e6, 9e5, 8e5]), Some(0.0));
        assert_eq!(steps(&[]), None);
    }

    #[test]
    fn the_last_moments_are_those_of_whole_slices() {
        for slices in [2, 19, 21, 40, 200] {
            let mut all = vec![vec![(10, 100)]; slices];
            all.push(vec![(10, 1)]);
            let timeline = Some(TimelineRecord { slice_ns: 1_000_000_000, slices: all });
            let replicate = Replicate { timeline, ..Replicate::from_metrics(0, 0, vec![1.0]) };
            let last = WarmUp { replicate: &replicate, half_speed_ns: 1.0 }.last_rate();
            assert!(last.is_some_and(|rate| (rate - 100.0).abs() < 1e-9), "{slices}: {last:?}");
        }
    }

    #[test]
    fn the_warm_up_ends_with_the_reads_from_the_device() {
        let slices = vec![
            vec![(20, 100)],
            vec![(20, 50), (10, 50)],
            vec![(20, 50), (10, 150)],
            vec![(10, 9000)],
            vec![(10, 9000), (20, 1)],
        ];
        let timeline = TimelineRecord { slice_ns: 1, slices };
        let percent = device_percent_half_way(&timeline).expect("there are reads");
        assert!((percent - 50.0).abs() < 1e-9, "{percent}");
        let bimodal = bimodal_percent(&timeline).expect("there are reads");
        assert!((bimodal - 200.0 / 3.0).abs() < 1e-9, "{bimodal}");
        let warm = TimelineRecord { slice_ns: 1, slices: vec![vec![(10, 9)]] };
        assert_eq!(bimodal_percent(&warm), None);
    }
}
