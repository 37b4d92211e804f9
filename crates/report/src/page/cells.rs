//! What the page shows about a cell besides its figures: each replicate, all operations, and how
//! they developed.

use std::collections::BTreeMap;

use measure::Bucket;
use record::{Replicate, TimelineRecord};

use super::block::Bulk;
use super::contract::{HistogramArrays, PageCell, Replicates, TimelineArrays};
use super::course;
use crate::analysis::{Gathered, summary};

/// If the last slice was cut off before this share of its width, it has no rate.
const SLICE_SHARE_MIN: f64 = 0.25;
/// At least this many of every four replicates are in a timeline; the rest took much longer.
const OF_FOUR_REPLICATES: usize = 3;
/// Minimum number of operations in a slice, at the replicate's mean rate: a slice that is narrower
/// than an operation contains none or one, and so has a rate of 0 or one that was never reached.
const OPERATIONS_PER_SLICE: u64 = 8;

/// The cell of `gathered`, whose operations took `latencies`; `level` is that of intervals.
pub(super) fn page_cell(
    block: &mut Bulk,
    gathered: &Gathered<'_>,
    latencies: &[Bucket],
    level: f64,
) -> PageCell {
    let mut replicates: Vec<&Replicate> = gathered.replicates.values().copied().collect();
    replicates.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    PageCell {
        replicates: (!replicates.is_empty()).then(|| in_run_order(block, &replicates)),
        histogram: histogram(block, latencies),
        timeline: timeline(block, &replicates, level),
        course: course::course_arrays(block, &replicates, level),
    }
}

fn in_run_order(block: &mut Bulk, replicates: &[&Replicate]) -> Replicates {
    let of = |value: fn(&Replicate) -> f64| replicates.iter().map(move |one| value(one));
    Replicates {
        at_s: block.f64s(of(|one| one.at_s)),
        block: block.u32s(replicates.iter().map(|one| one.block)),
        value: block.f64s(of(|one| one.metrics.first().copied().unwrap_or(f64::NAN))),
        device_read_bytes: block
            .f64s(of(|one| one.evidence.device_read_bytes.map_or(f64::NAN, |bytes| bytes as f64))),
    }
}

fn histogram(block: &mut Bulk, buckets: &[Bucket]) -> Option<HistogramArrays> {
    (!buckets.is_empty()).then(|| HistogramArrays {
        low_ns: block.f64s(buckets.iter().map(|bucket| bucket.low as f64)),
        end_ns: block.f64s(buckets.iter().map(|bucket| (bucket.high + 1) as f64)),
        count: block.f64s(buckets.iter().map(|bucket| bucket.count as f64)),
    })
}

/// The slices of all replicates together, as wide as most need them; those of replicates that took
/// less time are merged to that width. A slice that fewer than half of the replicates reach has no
/// rate.
fn timeline(block: &mut Bulk, replicates: &[&Replicate], level: f64) -> Option<TimelineArrays> {
    let slice_ns = wide_enough(replicates, common_width(replicates)?);
    let those: Vec<(Vec<Slice>, u64)> = replicates
        .iter()
        .filter_map(|one| Some((widened(one.timeline.as_ref()?, slice_ns)?, one.elapsed_ns)))
        .collect();
    let slices = those.iter().map(|(own, _)| own.len()).max()?;
    let mut operations: BTreeMap<u8, Vec<f64>> = BTreeMap::new();
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); slices];
    for (own, elapsed_ns) in &those {
        for (index, slice) in own.iter().enumerate() {
            for (&log2, &count) in slice {
                operations.entry(log2).or_insert_with(|| vec![0.0; slices])[index] += count as f64;
            }
            rates[index].extend(rate(slice.values().sum(), index, slice_ns, *elapsed_ns));
        }
    }
    let (first, last) = (*operations.keys().next()?, *operations.keys().next_back()?);
    let empty = vec![0.0; slices];
    let rows = (first..=last).flat_map(|log2| operations.get(&log2).unwrap_or(&empty).clone());
    let count = block.f64s(rows);
    let is_common = |rates: &&Vec<f64>| 2 * rates.len() >= those.len();
    let summaries: Vec<_> = rates
        .iter()
        .map(|rates| Some(rates).filter(is_common).and_then(|rates| summary(rates, level)))
        .collect();
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

/// Operations in one slice of time, by power of 2 of their latency.
type Slice = BTreeMap<u8, u64>;

/// The smallest width that [`OF_FOUR_REPLICATES`] of every four replicates do not exceed: one that
/// took much longer than all others would reduce them to a slice or two.
fn common_width(replicates: &[&Replicate]) -> Option<u64> {
    let mut widths: Vec<u64> = replicates
        .iter()
        .filter_map(|one| one.timeline.as_ref())
        .map(|timeline| timeline.slice_ns)
        .collect();
    widths.sort_unstable();
    let wanted = (widths.len() * OF_FOUR_REPLICATES).div_ceil(4);
    widths.get(wanted.checked_sub(1)?).copied()
}

/// The width, doubled until a slice contains enough operations in most replicates: slices can only
/// be merged in whole numbers.
fn wide_enough(replicates: &[&Replicate], slice_ns: u64) -> u64 {
    let mut needed: Vec<u64> = replicates
        .iter()
        .filter(|one| one.timeline.is_some())
        .map(|one| OPERATIONS_PER_SLICE * (one.elapsed_ns / one.operations.max(1)))
        .collect();
    needed.sort_unstable();
    let most = (needed.len() * OF_FOUR_REPLICATES).div_ceil(4);
    let needed_ns = most.checked_sub(1).map_or(0, |most| needed[most]);
    let mut wide_ns = slice_ns.max(1);
    while wide_ns < needed_ns {
        wide_ns *= 2;
    }
    wide_ns
}

/// The slices merged to `slice_ns`, which must be a multiple of their width; `None` if they are
/// wider. Widths double while a replicate is running, in ticks of the clock: in nanoseconds they
/// are off by rounding errors.
fn widened(timeline: &TimelineRecord, slice_ns: u64) -> Option<Vec<Slice>> {
    let own_ns = timeline.slice_ns.max(1);
    let together = (slice_ns + own_ns / 2) / own_ns;
    let is_whole = together > 0 && (together * own_ns).abs_diff(slice_ns) <= together;
    let merged = |slices: &[Vec<(u8, u64)>]| {
        let mut merged = Slice::new();
        for &(log2, count) in slices.iter().flatten() {
            *merged.entry(log2).or_default() += count;
        }
        merged
    };
    let together = usize::try_from(together).ok()?;
    is_whole.then(|| timeline.slices.chunks(together).map(merged).collect())
}

/// Operations per second in a slice. The last one ends with the replicate; if too little of it is
/// left, it has no rate.
fn rate(operations: u64, index: usize, slice_ns: u64, elapsed_ns: u64) -> Option<f64> {
    let begin_ns = index as u64 * slice_ns;
    let width_ns = elapsed_ns.saturating_sub(begin_ns).min(slice_ns) as f64;
    (width_ns >= SLICE_SHARE_MIN * slice_ns as f64).then(|| operations as f64 / width_ns * 1e9)
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

    fn timeline_of(slice_ns: u64, slices: &[&[(u8, u64)]]) -> TimelineRecord {
        TimelineRecord { slice_ns, slices: slices.iter().map(|slice| slice.to_vec()).collect() }
    }

    #[test]
    fn slices_are_as_long_as_the_operations_need() {
        let sample = crate::sample::Sample::new(&["ext4"]).benchmark("commit", &[&[1e6; 4]]);
        let mut replicates: Vec<Replicate> = sample
            .run
            .lines
            .into_iter()
            .filter_map(
                |line| {
                    if let record::Line::Replicate(one) = line { Some(*one) } else { None }
                },
            )
            .collect();
        for one in &mut replicates {
            (one.operations, one.elapsed_ns) = (100, 50_000_000);
            one.timeline = Some(timeline_of(1000, &[]));
        }
        // One operation every half millisecond, so eight take 4 ms.
        let width = |replicates: &[Replicate], slice_ns| {
            wide_enough(&replicates.iter().collect::<Vec<_>>(), slice_ns)
        };
        assert_eq!(width(&replicates, 1_000_000), 4_000_000);
        assert_eq!(width(&replicates, 8_000_000), 8_000_000);
        // A single replicate that stalled does not make them wider.
        replicates[0].elapsed_ns *= 100;
        assert_eq!(width(&replicates, 1_000_000), 4_000_000);
    }

    #[test]
    fn narrow_slices_are_put_together_and_wide_ones_cannot_be_taken_apart() {
        let narrow = timeline_of(2019, &[&[(9, 1)], &[(9, 2), (10, 5)], &[(8, 7)]]);
        let expected = vec![Slice::from([(9, 3), (10, 5)]), Slice::from([(8, 7)])];
        assert_eq!(widened(&narrow, 4039), Some(expected), "4038, but for rounding");
        let same = widened(&narrow, 2019).unwrap();
        assert_eq!(same.len(), 3);
        assert_eq!(widened(&narrow, 1010), None, "half as wide");
        assert_eq!(widened(&narrow, 3000), None, "no multiple");
    }
}
