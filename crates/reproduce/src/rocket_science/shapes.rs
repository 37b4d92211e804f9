//! The shape of each figure in words: what the paper's text says about its own, beside the same
//! description of ours. Sizes are shares of the memory, since ours is an eighth of the paper's.

use super::{DEVICE_LOG2, Estimate, LatencySlice, Reproduction, Shape, SizePoint};

/// What the text of sections 3.1 and 3.2 says about Figures 1 to 4.
const PUBLISHED: [&str; 4] = [
    "memory-bound up to 75 % of memory, device-bound from 88 % on, with one sudden drop in \
     between; deviation up to 5 times higher when device-bound, up to 35 % in the drop",
    "identical at first, at the device's throughput; up to nearly 10x apart between minutes 4 and \
     13; identical at the end, at memory's throughput",
    "(a) one peak near 4 us; (b) two peaks of about the same height; (c) the memory peak cannot be \
     seen; the device peak is over 3 orders of magnitude from the peak in (a)",
    "a peak near 2^23 ns fades and one around 2^11 ns takes its place; both are present for most \
     of the run",
];

/// The shapes of Figures 1 to 4, as far as they were measured.
pub(super) fn all(of: &Reproduction) -> Vec<Shape> {
    let measured = [by_size(of), over_time(of), latencies(of), latencies_over_time(of)];
    let shape = |((figure, published), measured): ((u8, &'static str), Option<String>)| {
        Some(Shape { figure, published, measured: measured? })
    };
    (1..).zip(PUBLISHED).zip(measured).filter_map(shape).collect()
}

/// What limits the throughput of a file size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Regime {
    /// Memory: the file is in the page cache.
    Memory,
    /// Neither alone: throughput is on the way down.
    Falling,
    /// The device.
    Device,
}

impl Regime {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Falling => "falling",
            Self::Device => "device",
        }
    }
}

/// What limits a file of this size in the paper, where throughput drops between 384 and 448 MB of
/// 512 MB.
pub(super) fn published_regime(memory_percent: f64) -> Regime {
    match memory_percent {
        percent if percent <= 75.0 => Regime::Memory,
        percent if percent < 87.5 => Regime::Falling,
        _ => Regime::Device,
    }
}

/// What limits a point: memory from half of the plateau on, the device up to a tenth of it.
pub(super) fn measured_regime(throughput: f64, plateau: f64) -> Regime {
    match throughput / plateau {
        share if share >= 0.5 => Regime::Memory,
        share if share > 0.1 => Regime::Falling,
        _ => Regime::Device,
    }
}

fn by_size(of: &Reproduction) -> Option<String> {
    let plateau = plateau(&of.figure_1)?;
    let mut both: Vec<&SizePoint> = of.figure_1.iter().chain(&of.figure_1_zoom).collect();
    both.sort_by(|left, right| left.file_bytes.total_cmp(&right.file_bytes));
    let regime = |point: &&SizePoint| measured_regime(point.throughput.median, plateau);
    let fast = both.iter().take_while(|point| regime(point) == Regime::Memory).last()?;
    let slow = both.iter().rev().take_while(|point| regime(point) == Regime::Device).last()?;
    let factor = largest_drop(&of.figure_1).map_or(1.0, |(_, _, factor)| factor);
    let worst = both.iter().filter_map(|point| point.relative_deviation_percent);
    Some(format!(
        "memory-bound up to {:.0} % of memory, device-bound from {:.0} % on, with a drop by a \
         factor of {factor:.0}; deviation up to {:.0} %",
        fast.memory_percent,
        slow.memory_percent,
        worst.fold(0.0, f64::max)
    ))
}

fn over_time(of: &Reproduction) -> Option<String> {
    let points = of.figure_2.iter().map(|curve| curve.points.len()).min()?;
    let ratios: Vec<(f64, f64)> = (0..points)
        .filter_map(|index| {
            let rates = of.figure_2.iter().map(|curve| curve.points[index].1);
            let (least, most) = rates
                .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), rate| {
                    (low.min(rate), high.max(rate))
                });
            (least > 0.0).then(|| (of.figure_2[0].points[index].0, most / least))
        })
        .collect();
    let apart: Vec<f64> =
        ratios.iter().filter(|(_, ratio)| *ratio >= 2.0).map(|(at_s, _)| *at_s).collect();
    let most = ratios.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
    let halves: Vec<String> = of
        .figure_2
        .iter()
        .map(|curve| format!("{} {}", curve.target, seconds(&curve.half_speed_s)))
        .collect();
    let where_apart = match (apart.first(), apart.last()) {
        (Some(from), Some(to)) => {
            format!("up to {most:.1}x apart between {from:.1} and {to:.1} s, within 2x otherwise")
        }
        _ => "always less than 2x apart".to_owned(),
    };
    Some(format!("{where_apart}; half the final throughput after {}", halves.join(", ")))
}

/// The highest bucket on either side of the boundary, if it has at least 1 %.
fn latencies(of: &Reproduction) -> Option<String> {
    let one = |(letter, latencies): (char, &super::Latencies)| {
        let peak = |of_device| {
            let log2 = mode(&latencies.buckets, of_device)?;
            let (_, percent) = latencies.buckets.iter().find(|(own, _)| *own == log2)?;
            (*percent >= 1.0).then(|| format!("2^{log2}"))
        };
        let peaks: Vec<String> = [false, true].into_iter().filter_map(peak).collect();
        let share = percent(&latencies.from_memory_percent);
        format!("({letter}) peaks at {} ns, {share} from memory", peaks.join(" and "))
    };
    let all: Vec<String> = ('a'..).zip(&of.figure_3).map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn latencies_over_time(of: &Reproduction) -> Option<String> {
    let highest = |slice: &LatencySlice| {
        let highest = slice.buckets.iter().max_by(|left, right| left.1.total_cmp(&right.1))?;
        Some(format!("2^{} ns ({:.0} %)", highest.0, highest.1))
    };
    let has_both = |slice: &&LatencySlice| {
        let device = slice.buckets.iter().filter(|(log2, _)| *log2 >= DEVICE_LOG2);
        (1.0..=99.0).contains(&device.map(|(_, percent)| percent).sum::<f64>())
    };
    Some(format!(
        "the highest peak is at {} in the first time slice and at {} in the last; memory and \
         device each have 1 % or more in {} of {} slices",
        highest(of.figure_4.first()?)?,
        highest(of.figure_4.last()?)?,
        of.figure_4.iter().filter(has_both).count(),
        of.figure_4.len()
    ))
}

/// The throughput of files that fit into memory: the median over sizes up to half of the memory.
pub(super) fn plateau(points: &[SizePoint]) -> Option<f64> {
    let small = points.iter().filter(|point| point.memory_percent <= 50.0);
    let mut medians: Vec<f64> = small.map(|point| point.throughput.median).collect();
    medians.sort_by(f64::total_cmp);
    medians.get(medians.len() / 2).copied()
}

/// The two neighbouring sizes between which throughput falls by the largest factor.
fn largest_drop(points: &[SizePoint]) -> Option<(&SizePoint, &SizePoint, f64)> {
    let pairs = points.windows(2).map(|pair| {
        let factor = pair[0].throughput.median / pair[1].throughput.median.max(f64::MIN_POSITIVE);
        (&pair[0], &pair[1], factor)
    });
    pairs.max_by(|left, right| left.2.total_cmp(&right.2))
}

fn seconds(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{:.1} s [{low:.1}, {high:.1}]", estimate.median),
        _ => format!("{:.1} s", estimate.median),
    }
}

fn percent(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{:.1} % [{low:.1}, {high:.1}]", estimate.median),
        _ => format!("{:.1} %", estimate.median),
    }
}

/// The most frequent latency on one side of the boundary, as the floor of log2 of nanoseconds.
fn mode(buckets: &[(u8, f64)], of_device: bool) -> Option<u8> {
    let side = buckets.iter().filter(|(log2, _)| (*log2 >= DEVICE_LOG2) == of_device);
    side.max_by(|left, right| left.1.total_cmp(&right.1)).map(|(log2, _)| *log2)
}
