//! What the page knows of a cell beside its figures: each replicate, all operations, and how they
//! developed.

use std::collections::BTreeMap;

use measure::Histogram;
use record::{Replicate, TimelineRecord};

use super::block::Block;
use super::contract::{HistogramArrays, PageCell, Replicates, TimelineArrays};
use crate::analysis::{Gathered, summary};

/// A last slice that was cut off after less than this share of its width has no rate.
const SLICE_SHARE_LEAST: f64 = 0.25;

/// The cell behind `gathered`, with its replicates' histograms; `level` is that of intervals.
pub(super) fn of(
    block: &mut Block,
    gathered: &Gathered<'_>,
    histograms: &[Histogram],
    level: f64,
) -> PageCell {
    let mut replicates: Vec<&Replicate> = gathered.replicates.values().copied().collect();
    replicates.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    PageCell {
        replicates: (!replicates.is_empty()).then(|| in_run_order(block, &replicates)),
        histogram: histogram(block, histograms),
        timeline: timeline(block, &replicates, level),
    }
}

fn in_run_order(block: &mut Block, replicates: &[&Replicate]) -> Replicates {
    let of = |value: fn(&Replicate) -> f64| replicates.iter().map(move |one| value(one));
    Replicates {
        at_s: block.f64s(of(|one| one.at_s)),
        block: block.u32s(replicates.iter().map(|one| one.block)),
        value: block.f64s(of(|one| one.metrics.first().copied().unwrap_or(f64::NAN))),
        p50_ns: block.f64s(of(|one| one.latency.p50_ns as f64)),
        p99_ns: block.f64s(of(|one| one.latency.p99_ns as f64)),
        device_read_bytes: block
            .f64s(of(|one| one.evidence.device_read_bytes.map_or(f64::NAN, |bytes| bytes as f64))),
    }
}

fn histogram(block: &mut Block, histograms: &[Histogram]) -> Option<HistogramArrays> {
    let mut pooled = Histogram::new();
    histograms.iter().for_each(|histogram| pooled.merge(histogram));
    let buckets: Vec<_> = pooled.buckets().collect();
    (!buckets.is_empty()).then(|| HistogramArrays {
        low_ns: block.f64s(buckets.iter().map(|bucket| bucket.low as f64)),
        end_ns: block.f64s(buckets.iter().map(|bucket| (bucket.high + 1) as f64)),
        count: block.f64s(buckets.iter().map(|bucket| bucket.count as f64)),
    })
}

/// The slices of the replicates together. Where replicates have slices of several widths (one that
/// took longer has wider ones), those of the width that most have count.
fn timeline(block: &mut Block, replicates: &[&Replicate], level: f64) -> Option<TimelineArrays> {
    let slice_ns = commonest_width(replicates)?;
    let those: Vec<(&TimelineRecord, u64)> = replicates
        .iter()
        .filter_map(|one| Some((one.timeline.as_ref()?, one.elapsed_ns)))
        .filter(|(timeline, _)| timeline.slice_ns == slice_ns)
        .collect();
    let slices = those.iter().map(|(timeline, _)| timeline.slices.len()).max()?;
    let mut operations: BTreeMap<u8, Vec<f64>> = BTreeMap::new();
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); slices];
    for (timeline, elapsed_ns) in &those {
        for (index, slice) in timeline.slices.iter().enumerate() {
            for &(log2, count) in slice {
                operations.entry(log2).or_insert_with(|| vec![0.0; slices])[index] += count as f64;
            }
            let total: u64 = slice.iter().map(|(_, count)| count).sum();
            rates[index].extend(rate(total, index, slice_ns, *elapsed_ns));
        }
    }
    let (first, last) = (*operations.keys().next()?, *operations.keys().next_back()?);
    let empty = vec![0.0; slices];
    let rows = (first..=last).flat_map(|log2| operations.get(&log2).unwrap_or(&empty).clone());
    let count = block.f64s(rows);
    let summaries: Vec<_> = rates.iter().map(|rates| summary(rates, level)).collect();
    let median = |index: usize| summaries[index].as_ref().map_or(f64::NAN, |it| it.median);
    let end = |index: usize, pick: fn(&record::IntervalReport) -> f64| {
        let interval = summaries[index].as_ref().and_then(|it| it.interval.as_ref());
        interval.map_or(f64::NAN, pick)
    };
    Some(TimelineArrays {
        slice_ns: slice_ns as f64,
        slices: u32::try_from(slices).ok()?,
        replicates: u32::try_from(those.len()).ok()?,
        log2_first: u32::from(first),
        rows: u32::from(last - first) + 1,
        count,
        rate: block.f64s((0..slices).map(median)),
        rate_low: block.f64s((0..slices).map(|index| end(index, |interval| interval.low))),
        rate_high: block.f64s((0..slices).map(|index| end(index, |interval| interval.high))),
    })
}

fn commonest_width(replicates: &[&Replicate]) -> Option<u64> {
    let mut widths: BTreeMap<u64, usize> = BTreeMap::new();
    for timeline in replicates.iter().filter_map(|one| one.timeline.as_ref()) {
        *widths.entry(timeline.slice_ns).or_default() += 1;
    }
    widths.into_iter().max_by_key(|&(width, times)| (times, width)).map(|(width, _)| width)
}

/// Operations per second of a slice. The last one ends with the replicate; where hardly any of it
/// is left, it has no rate.
fn rate(operations: u64, index: usize, slice_ns: u64, elapsed_ns: u64) -> Option<f64> {
    let begin_ns = index as u64 * slice_ns;
    let width_ns = elapsed_ns.saturating_sub(begin_ns).min(slice_ns) as f64;
    (width_ns >= SLICE_SHARE_LEAST * slice_ns as f64).then(|| operations as f64 / width_ns * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_a_last_slice_is_over_the_time_that_there_was() {
        assert_eq!(rate(50, 0, 100, 1000), Some(5e8));
        assert_eq!(rate(50, 1, 100, 150), Some(1e9), "half a slice");
        assert_eq!(rate(50, 1, 100, 120), None, "a fifth of one");
        assert_eq!(rate(50, 2, 100, 120), None, "beyond the end");
    }
}
