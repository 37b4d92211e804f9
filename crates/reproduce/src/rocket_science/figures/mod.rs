//! The data of the four figures, from the replicates of a run.

use std::collections::BTreeMap;

use record::{Cell, Replicate, StandardMetric, TimelineRecord};
use stats::Sample;

use super::{DEVICE_LOG2, Latencies, LatencySlice, SizePoint, TimeCurve};
use crate::gathered::{Gathered, estimate, values};

/// Number of points in a curve over time.
const POINTS: usize = 40;

/// Figure 1: the points of a curve, by size.
pub(super) fn sizes(gathered: &Gathered<'_>, curve: &str) -> Vec<SizePoint> {
    let memory_bytes = gathered.memory_bytes as f64;
    let point = |(cell, replicates): &(&Cell, Vec<&Replicate>)| {
        let place = cell.curve.as_ref().filter(|point| point.curve == curve)?;
        let rates = values(cell, replicates, StandardMetric::THROUGHPUT.name);
        let deviation = Sample::new(rates.as_slice()).ok()?.coefficient_of_variation().ok();
        Some(SizePoint {
            file_bytes: place.value,
            memory_percent: 100.0 * place.value / memory_bytes,
            throughput: estimate(&rates)?,
            relative_deviation_percent: deviation.map(|share| 100.0 * share),
            runs: rates.len(),
        })
    };
    let mut points: Vec<SizePoint> = gathered.cells.iter().filter_map(point).collect();
    points.sort_by(|left, right| left.file_bytes.total_cmp(&right.file_bytes));
    points
}

/// Figure 2: throughput over time by target, all on one time grid.
pub(super) fn time_curves(gathered: &Gathered<'_>) -> Vec<TimeCurve> {
    let cells: Vec<_> = gathered.named("figure-2").collect();
    let end_s = cells.iter().flat_map(|(_, replicates)| replicates.iter()).map(|one| end_s(one));
    let end_s = end_s.fold(0.0, f64::max);
    let curve = |(cell, replicates): &(&Cell, &[&Replicate])| {
        let at = |point: usize| {
            let (from_s, to_s) =
                (end_s * point as f64 / POINTS as f64, end_s * (point + 1) as f64 / POINTS as f64);
            let rates: Vec<f64> =
                replicates.iter().filter_map(|one| rate_between(one, from_s, to_s)).collect();
            Some((f64::midpoint(from_s, to_s), Sample::new(rates).ok()?.median()))
        };
        let halves: Vec<f64> = values(cell, replicates, StandardMetric::TIME_TO_HALF_SPEED.name);
        let seconds: Vec<f64> = halves.iter().map(|ns| ns / 1e9).collect();
        Some(TimeCurve {
            target: cell.target.clone(),
            points: (0..POINTS).filter_map(at).collect(),
            half_speed_s: estimate(&seconds)?,
        })
    };
    cells.iter().filter_map(curve).collect()
}

/// Figure 3: latencies by file size.
pub(super) fn latencies(gathered: &Gathered<'_>) -> Vec<Latencies> {
    let one = |name: &str| {
        let (cell, replicates) = gathered.named(name).next()?;
        let histograms: Vec<BTreeMap<u8, u64>> =
            replicates.iter().filter_map(|one| Some(total(one.timeline.as_ref()?))).collect();
        let shares: Vec<f64> = histograms.iter().map(from_memory_percent).collect();
        Some(Latencies {
            title: cell.title.clone(),
            buckets: mean_percent(&histograms),
            from_memory_percent: estimate(&shares)?,
        })
    };
    ["figure-3a", "figure-3b", "figure-3c"].into_iter().filter_map(one).collect()
}

/// Figure 4: latencies over time. Since replicates have different durations, each is divided into
/// slices that are shares of its own duration, and the slices are dated by the mean duration.
pub(super) fn latency_slices(gathered: &Gathered<'_>) -> Vec<LatencySlice> {
    const SLICES: usize = 24;
    let Some((_, replicates)) = gathered.named("figure-4").next() else { return Vec::new() };
    let ends: Vec<f64> = replicates.iter().map(|one| end_s(one)).collect();
    let Ok(end_s) = Sample::new(ends).map(|sample| sample.mean()) else { return Vec::new() };
    let slice = |index: usize| {
        let of = |one: &&Replicate| -> Option<BTreeMap<u8, u64>> {
            let timeline = one.timeline.as_ref()?;
            let count = timeline.slices.len();
            let mut sum = BTreeMap::new();
            for (position, slice) in timeline.slices.iter().enumerate() {
                if position * SLICES / count.max(1) == index {
                    slice.iter().for_each(|(log2, count)| *sum.entry(*log2).or_insert(0) += count);
                }
            }
            (!sum.is_empty()).then_some(sum)
        };
        let histograms: Vec<BTreeMap<u8, u64>> = replicates.iter().filter_map(of).collect();
        let start_s = end_s * index as f64 / SLICES as f64;
        LatencySlice { start_s, buckets: mean_percent(&histograms) }
    };
    (0..SLICES).map(slice).filter(|slice| !slice.buckets.is_empty()).collect()
}

/// Operations by log2 of their latency, over all slices.
pub(super) fn total(timeline: &TimelineRecord) -> BTreeMap<u8, u64> {
    let mut sum = BTreeMap::new();
    for (log2, count) in timeline.slices.iter().flatten() {
        *sum.entry(*log2).or_insert(0) += count;
    }
    sum
}

/// Percentage of operations served from memory.
pub(super) fn from_memory_percent(histogram: &BTreeMap<u8, u64>) -> f64 {
    let all: u64 = histogram.values().sum();
    let quick: u64 =
        histogram.iter().filter(|(log2, _)| **log2 < DEVICE_LOG2).map(|(_, count)| count).sum();
    100.0 * quick as f64 / all.max(1) as f64
}

/// Percentage in each bucket, as the mean over histograms.
fn mean_percent(histograms: &[BTreeMap<u8, u64>]) -> Vec<(u8, f64)> {
    let mut sums: BTreeMap<u8, f64> = BTreeMap::new();
    for histogram in histograms {
        let all: u64 = histogram.values().sum();
        for (log2, count) in histogram {
            *sums.entry(*log2).or_insert(0.0) += 100.0 * *count as f64 / all.max(1) as f64;
        }
    }
    sums.into_iter().map(|(log2, sum)| (log2, sum / histograms.len() as f64)).collect()
}

pub(super) fn end_s(replicate: &Replicate) -> f64 {
    let timeline = replicate.timeline.as_ref();
    timeline.map_or(0.0, |one| one.slices.len() as f64 * one.slice_ns as f64 / 1e9)
}

/// When the last whole slice ends: the end of the run cuts the one after it short.
pub(super) fn whole_s(replicate: &Replicate) -> f64 {
    let timeline = replicate.timeline.as_ref();
    timeline.map_or(0.0, |one| whole_slices(one).len() as f64 * one.slice_ns as f64 / 1e9)
}

fn whole_slices(timeline: &TimelineRecord) -> &[Vec<(u8, u64)>] {
    timeline.slices.split_last().map_or(&[], |(_, whole)| whole)
}

/// Operations per second between two moments; `None` if the replicate covers at most half of that
/// time.
pub(super) fn rate_between(replicate: &Replicate, from_s: f64, to_s: f64) -> Option<f64> {
    let timeline = replicate.timeline.as_ref()?;
    let slice_s = timeline.slice_ns as f64 / 1e9;
    let (mut operations, mut covered_s) = (0.0, 0.0);
    for (index, slice) in whole_slices(timeline).iter().enumerate() {
        let (start_s, end_s) = (index as f64 * slice_s, (index + 1) as f64 * slice_s);
        let overlap_s = (end_s.min(to_s) - start_s.max(from_s)).max(0.0);
        let count: u64 = slice.iter().map(|(_, count)| count).sum();
        operations += count as f64 * overlap_s / slice_s;
        covered_s += overlap_s;
    }
    (covered_s > 0.5 * (to_s - from_s)).then(|| operations / covered_s)
}

#[cfg(test)]
mod tests;
