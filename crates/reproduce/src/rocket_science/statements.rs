//! What the paper says about its figures, each compared with what was measured.

use super::{DEVICE_LOG2, Estimate, Reproduction, SizePoint, Statement};
use crate::statement::statement;

/// All statements, in the paper's order.
pub(super) fn all(of: &Reproduction) -> Vec<Statement> {
    vec![
        drop_place(of),
        drop_width(of),
        deviation_of_device(of),
        deviation_of_transition(of),
        alike_at_the_ends(of),
        apart_between(of),
        one_peak(of),
        equal_peaks(of),
        vanished_peak(of),
        span_of_latencies(of),
        fading_peak(of),
        two_modes(of),
    ]
}

/// The throughput of files that fit into memory: the median over sizes up to half of the memory.
pub(super) fn plateau(points: &[SizePoint]) -> Option<f64> {
    let small = points.iter().filter(|point| point.memory_percent <= 50.0);
    let mut medians: Vec<f64> = small.map(|point| point.throughput.median).collect();
    medians.sort_by(f64::total_cmp);
    medians.get(medians.len() / 2).copied()
}

/// The two neighbouring sizes between which throughput falls by the largest factor.
pub(super) fn largest_drop(points: &[SizePoint]) -> Option<(&SizePoint, &SizePoint, f64)> {
    let pairs = points.windows(2).map(|pair| {
        let factor = pair[0].throughput.median / pair[1].throughput.median.max(f64::MIN_POSITIVE);
        (&pair[0], &pair[1], factor)
    });
    pairs.max_by(|left, right| left.2.total_cmp(&right.2))
}

fn drop_place(of: &Reproduction) -> Statement {
    let found = || {
        let (before, after, factor) = largest_drop(&of.figure_1)?;
        let (from, to) = (before.memory_percent, after.memory_percent);
        let text = format!("{from:.0} % to {to:.0} % of memory, by a factor of {factor:.0}");
        Some((text, from >= 62.5 && to <= 112.5 && factor >= 10.0))
    };
    let claim = "throughput drops suddenly, within one size step, where the page cache is full";
    statement("section 3.1, Figure 1", claim, "75 % to 88 % of memory", found())
}

/// The range of sizes over which throughput falls from at least half of the plateau to at most a
/// tenth of it, measured in the finer steps.
fn drop_width(of: &Reproduction) -> Statement {
    let found = || {
        let plateau = plateau(&of.figure_1)?;
        let points = &of.figure_1_zoom;
        let last_fast = points.iter().rposition(|one| one.throughput.median >= plateau / 2.0)?;
        let slow =
            points[last_fast..].iter().find(|point| point.throughput.median <= plateau / 10.0)?;
        let width_bytes = slow.file_bytes - points[last_fast].file_bytes;
        let percent = 100.0 * width_bytes / of.scale.memory_bytes as f64;
        let mib = width_bytes / f64::from(1 << 20);
        let text = format!("{mib:.0} MiB, {percent:.1} % of memory (steps of 1 MiB)");
        // A range narrower than a step cannot be resolved.
        Some((text, percent <= 2.0 * 100.0 / 64.0))
    };
    let claim = "the drop itself spans an even narrower range";
    statement("section 3.1", claim, "less than 6 MB, 1.2 % of memory", found())
}

fn mean_deviation(points: &[SizePoint], is_it: impl Fn(&SizePoint) -> bool) -> Option<f64> {
    let these = points.iter().filter(|point| is_it(point));
    let deviations: Vec<f64> = these.filter_map(|one| one.relative_deviation_percent).collect();
    let sum: f64 = deviations.iter().sum();
    (!deviations.is_empty()).then(|| sum / deviations.len() as f64)
}

fn deviation_of_device(of: &Reproduction) -> Statement {
    let found = || {
        let memory = mean_deviation(&of.figure_1, |point| point.memory_percent <= 75.0)?;
        let device = mean_deviation(&of.figure_1, |point| point.memory_percent >= 112.5)?;
        let text = format!("{:.1}x ({device:.1} % against {memory:.1} %)", device / memory);
        Some((text, device > memory))
    };
    let claim = "runs vary more when the device limits them than when memory does";
    statement("section 3.1, Figure 1", claim, "up to 5x", found())
}

fn deviation_of_transition(of: &Reproduction) -> Statement {
    let found = || {
        let both = || of.figure_1.iter().chain(&of.figure_1_zoom);
        let near = both().filter(|one| (75.0..112.5).contains(&one.memory_percent));
        let worst = near
            .filter_map(|one| Some((one.relative_deviation_percent?, one.memory_percent)))
            .max_by(|left, right| left.0.total_cmp(&right.0))?;
        let beside = |one: &SizePoint| !(75.0..112.5).contains(&one.memory_percent);
        let calm = mean_deviation(&of.figure_1, beside)?;
        let (deviation, at) = worst;
        let text = format!("{deviation:.0} % at {at:.0} % of memory; {calm:.1} % elsewhere");
        Some((text, deviation > 2.0 * calm))
    };
    let claim = "in the transition, the relative standard deviation explodes";
    statement("section 3.1", claim, "up to 35 %", found())
}

/// Ratio of the highest throughput of the file systems to the lowest, at the point with this index.
fn ratio_at(of: &Reproduction, index: usize) -> Option<f64> {
    let rates: Vec<f64> =
        of.figure_2.iter().filter_map(|curve| Some(curve.points.get(index)?.1)).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    (rates.len() > 1 && least > 0.0).then(|| most / least)
}

/// Number of points that all curves have.
fn common_points(of: &Reproduction) -> usize {
    of.figure_2.iter().map(|curve| curve.points.len()).min().unwrap_or(0)
}

fn alike_at_the_ends(of: &Reproduction) -> Statement {
    let found = || {
        let (first, last) = (ratio_at(of, 0)?, ratio_at(of, common_points(of).checked_sub(1)?)?);
        let text = format!("{first:.2}x at the beginning, {last:.2}x at the end");
        Some((text, first < 2.0 && last < 2.0))
    };
    let claim = "at both ends of the warm-up, ext2, ext3 and xfs look alike";
    statement("section 3.1, Figure 2", claim, "identical", found())
}

fn apart_between(of: &Reproduction) -> Statement {
    let found = || {
        let ratios = (0..common_points(of)).filter_map(|index| ratio_at(of, index));
        let most = ratios.fold(0.0, f64::max);
        let ends = ratio_at(of, 0)?.max(ratio_at(of, common_points(of).checked_sub(1)?)?);
        let halves: Vec<String> = of
            .figure_2
            .iter()
            .map(|curve| format!("{} {}", curve.target, seconds(&curve.half_speed_s)))
            .collect();
        let text = format!("{most:.1}x at most; half the final speed after {}", halves.join(", "));
        Some((text, most > 2.0 * ends))
    };
    let claim = "in between they differ, depending on when you look";
    statement("section 3.1, Figure 2", claim, "a few % to nearly 10x", found())
}

pub(super) fn seconds(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{:.1} s [{low:.1}, {high:.1}]", estimate.median),
        _ => format!("{:.1} s", estimate.median),
    }
}

pub(super) fn percent(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{:.1} % [{low:.1}, {high:.1}]", estimate.median),
        _ => format!("{:.1} %", estimate.median),
    }
}

fn one_peak(of: &Reproduction) -> Statement {
    let found = || {
        let small = of.figure_3.first()?;
        let share = small.from_memory_percent;
        Some((format!("{} from memory", percent(&share)), share.median > 99.0))
    };
    let claim = "a file that fits into memory has one latency peak, that of memory";
    statement("section 3.2, Figure 3(a)", claim, "one, near 4 us", found())
}

fn equal_peaks(of: &Reproduction) -> Statement {
    let found = || {
        let share = of.figure_3.get(1)?.from_memory_percent;
        let (low, high) = (share.low.unwrap_or(share.median), share.high.unwrap_or(share.median));
        let text = format!("{} from memory", percent(&share));
        // The kernel uses part of the limit for itself.
        Some((text, low <= 55.0 && high >= 40.0))
    };
    let claim = "at twice the memory there are two peaks of about equal size";
    statement("section 3.2, Figure 3(b)", claim, "half of the reads hit", found())
}

fn vanished_peak(of: &Reproduction) -> Statement {
    let found = || {
        let share = of.figure_3.get(2)?.from_memory_percent;
        Some((format!("{} from memory", percent(&share)), share.median < 10.0))
    };
    let claim = "for a much larger file, the memory peak is invisibly small";
    statement("section 3.2, Figure 3(c)", claim, "49x memory: 2 %", found())
}

/// The most frequent latency on one side of the boundary, as the floor of log2 of nanoseconds.
pub(super) fn mode(buckets: &[(u8, f64)], of_device: bool) -> Option<u8> {
    let side = buckets.iter().filter(|(log2, _)| (*log2 >= DEVICE_LOG2) == of_device);
    side.max_by(|left, right| left.1.total_cmp(&right.1)).map(|(log2, _)| *log2)
}

fn span_of_latencies(of: &Reproduction) -> Statement {
    let found = || {
        let memory = mode(&of.figure_3.first()?.buckets, false)?;
        let device = mode(&of.figure_3.get(2)?.buckets, true)?;
        let orders = f64::from(device - memory) * std::f64::consts::LOG10_2;
        let text = format!("peaks at 2^{memory} ns and 2^{device} ns: {orders:.1} orders");
        Some((text, orders >= 3.0))
    };
    let claim = "across working-set sizes, latency spans three orders of magnitude";
    statement("section 3.2", claim, "over 3 orders", found())
}

/// Percentage of operations that went to the device, in each slice.
fn device_shares(of: &Reproduction) -> Vec<f64> {
    let share = |buckets: &[(u8, f64)]| -> f64 {
        buckets.iter().filter(|(log2, _)| *log2 >= DEVICE_LOG2).map(|(_, percent)| percent).sum()
    };
    of.figure_4.iter().map(|slice| share(&slice.buckets)).collect()
}

fn fading_peak(of: &Reproduction) -> Statement {
    let found = || {
        let shares = device_shares(of);
        let (first, last) = (shares.first()?, shares.last()?);
        let text =
            format!("device reads: {first:.0} % in the first slice, {last:.1} % in the last");
        Some((text, *first > 50.0 && *last < 5.0))
    };
    let claim = "while the file warms up, the device peak fades and the memory peak grows";
    statement("section 3.2, Figure 4", claim, "2^23 ns to 2^11 ns", found())
}

fn two_modes(of: &Reproduction) -> Statement {
    let found = || {
        let shares = device_shares(of);
        let both = shares.iter().filter(|share| (1.0..=99.0).contains(*share)).count();
        if shares.is_empty() {
            return None;
        }
        let percent = 100.0 * both as f64 / shares.len() as f64;
        let text =
            format!("{percent:.0} % of the time, with 1 % or more of the reads in each mode");
        Some((text, percent > 50.0))
    };
    let claim = "for most of the run, latencies have two modes";
    statement("section 3.2, Figure 4", claim, "most of the run", found())
}
