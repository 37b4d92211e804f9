//! The text of each warning for people, one sentence each.

use std::fmt;

use textual::{plural, size};

use super::Warning;
use crate::cliff::Axis;

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sentence(self))
    }
}

/// Writes the short sentences, and calls the functions that write the long ones.
fn sentence(warning: &Warning) -> String {
    match warning {
        Warning::WarmUpInside { first_over_rest } => {
            let took = format!("{first_over_rest:.2} x the rest");
            format!("warm-up inside the measured window: its first quarter took {took}")
        }
        Warning::DirtyCarried { dirty_bytes } => {
            format!("{} from before were still dirty when it began", bytes(*dirty_bytes))
        }
        Warning::CallOverheadDominates { call_ns, operation_ns } => {
            let of = format!("of the operation's {operation_ns:.0} ns");
            format!("the bare system call takes {call_ns:.0} ns {of}")
        }
        Warning::ClockOverhead { clock_ns, interval_ns } => clock_overhead(*clock_ns, *interval_ns),
        Warning::TooFewReplicates { have, need } => {
            format!("{}; an interval needs {need}", plural(*have as usize, "replicate"))
        }
        Warning::CacheStateNotAsAsked { discarded, why } => thrown_away(*discarded, why),
        Warning::CpuStolen { percent } => {
            format!("the hypervisor took {percent:.1} % of the processors' time")
        }
        Warning::BusyMachine { replicates, of, waited_percent, who } => {
            busy_machine(*replicates, *of, *waited_percent, who)
        }
        Warning::DependsOnVolumeSize { volume_bytes, stands_from_bytes } => {
            depends_on_volume_size(*volume_bytes, *stands_from_bytes)
        }
        Warning::CpuThrottled { periods } => throttled(*periods),
        Warning::BackgroundWork { what } => format!("background work of the file system: {what}"),
        Warning::MoreConcurrencyThanCores { threads, cores } => {
            format!("{threads} threads on {}", plural(*cores as usize, "core"))
        }
        Warning::TimedInBatches { batch } => in_batches(*batch),
        Warning::ClockDrift { ppm } => format!("the clock drifted by {ppm:.0} ppm"),
        Warning::HistogramLost { why } => {
            format!("no percentiles, because the histograms cannot be used: {why}")
        }
        Warning::FreshFileSystem => FRESH.to_owned(),
        Warning::LoopBuffered => LOOP_BUFFERED.to_owned(),
        Warning::SparseImage => SPARSE_IMAGE.to_owned(),
        Warning::HiddenBelow { hypervisor } => hidden_below(hypervisor),
        Warning::FragileZone { working_set_bytes, axis, cache, cache_bytes, .. } => {
            let spread = warning.measured_spread();
            let axis = axis.unwrap_or(Axis::WorkingSet);
            fragile_zone(axis, *working_set_bytes, cache, *cache_bytes, &spread)
        }
        Warning::CacheBenchmark { size_bytes, memory, memory_bytes, least_bytes } => {
            cache_benchmark(*size_bytes, memory, *memory_bytes, *least_bytes)
        }
        Warning::UnalignedRandomAccess { alignment_bytes } => unaligned(*alignment_bytes),
        Warning::Stalls { operations, of, longer_than_ns, longest_ns, share_percent } => {
            stalls(*operations, *of, *longer_than_ns, *longest_ns, *share_percent)
        }
        Warning::MeanAboveMedian { mean_ns, p50_ns, slowest_tenth_percent } => {
            mean_above_median(mean_ns / p50_ns, *slowest_tenth_percent)
        }
        Warning::SpeedUpBeyondThreads { speed_up, threads } => beyond_threads(*speed_up, *threads),
        Warning::NoSteadyState { range_percent, excursion_percent } => {
            no_steady_state(*range_percent, *excursion_percent)
        }
        Warning::DependentBlocks { correlation, p, blocks, effective } => {
            dependent_blocks(*correlation, *p, *blocks, *effective)
        }
        Warning::DependentRatios { correlation, p, blocks, effective } => {
            dependent_ratios(*correlation, *p, *blocks, *effective)
        }
        Warning::FarOutliers { outliers, of, farthest } => far_outliers(*outliers, *of, *farthest),
        Warning::Trend { change_percent } => trend(*change_percent),
        Warning::JournalDamaged { places, line, why } => journal_damaged(*places, *line, why),
    }
}

const FRESH: &str = "the file system was made for this run and never aged, which flatters it";
const LOOP_BUFFERED: &str = "the loop device uses the page cache of its image, which hides the \
                             device's own cost (choose another --scratch)";
const SPARSE_IMAGE: &str = "the image is sparse: when the file system first writes a block, the \
                            host's file system allocates it, and that time is included";

fn hidden_below(hypervisor: &str) -> String {
    format!(
        "cold means only that the blocks were not in this machine's memory: its disk is virtual \
         ({hypervisor}), and fsprism cannot see whether the host cached them"
    )
}

fn thrown_away(discarded: u32, why: &str) -> String {
    match discarded {
        1 => format!("1 replicate was thrown away ({why})"),
        more => format!("{more} replicates were thrown away (the last time: {why})"),
    }
}

fn in_batches(batch: u32) -> String {
    format!("timed {batch} operations at a time: a single one is too short for the clock")
}

fn throttled(periods: u64) -> String {
    let times = plural(usize::try_from(periods).unwrap_or(usize::MAX), "period");
    format!("the control group's processor quota was reached in {times}")
}

fn clock_overhead(clock_ns: f64, interval_ns: f64) -> String {
    let of = format!("of a timed interval of {interval_ns:.0} ns");
    format!("reading the clock takes {clock_ns:.0} ns {of}")
}

fn depends_on_volume_size(volume_bytes: u64, stands_from_bytes: u64) -> String {
    format!(
        "depends on the volume's size, which is {}: on this file system the figure moves below {} \
         (give size={}g or more)",
        bytes(volume_bytes),
        bytes(stands_from_bytes),
        stands_from_bytes.div_ceil(1 << 30)
    )
}

fn busy_machine(replicates: u32, of: u32, waited_percent: f64, who: &str) -> String {
    let verb = if replicates == 1 { "was" } else { "were" };
    let waited = match waited_percent {
        0.5.. => {
            format!(", and the measuring threads waited up to {waited_percent:.0} % of the time")
        }
        _ => String::new(),
    };
    format!(
        "{replicates} of {} {verb} measured while the machine was busy: {who}{waited}",
        plural(of as usize, "replicate")
    )
}

fn mean_above_median(times: f64, slowest_tenth_percent: f64) -> String {
    format!(
        "the mean is {times:.1} x p50: the slowest tenth of the operations took \
         {slowest_tenth_percent:.0} % of the time"
    )
}

fn beyond_threads(speed_up: f64, threads: u32) -> String {
    format!(
        "{speed_up:.1} x with {threads} threads cannot come from sharing the work: the single \
         thread was held up by something else, so compare times, not speed-ups"
    )
}

/// A size; exact if it is a whole number of its unit.
fn bytes(bytes: u64) -> String {
    size(bytes as f64, 3)
}

fn fragile_zone(axis: Axis, at_bytes: u64, cache: &str, cache_bytes: u64, spread: &str) -> String {
    format!(
        "figures may not repeat well where the {} ({}) is near the size of {cache} ({}){spread}",
        axis.title(),
        bytes(at_bytes),
        bytes(cache_bytes)
    )
}

fn cache_benchmark(size_bytes: u64, memory: &str, memory_bytes: u64, least_bytes: u64) -> String {
    let option = match least_bytes.div_ceil(1 << 20) {
        mib @ ..1024 => format!("{mib}m"),
        mib => format!("{}g", mib.div_ceil(1024)),
    };
    format!(
        "a cache benchmark: the file ({}) is less than 4 x {memory} ({}), so much of it is never \
         read from the device; to measure that, give --size {option} or more",
        bytes(size_bytes),
        bytes(memory_bytes)
    )
}

fn unaligned(alignment_bytes: u64) -> String {
    format!(
        "random offsets are aligned only to {alignment_bytes} bytes; sequential ones are aligned \
         to the request size"
    )
}

fn stalls(
    operations: u64,
    of: u64,
    longer_than_ns: u64,
    longest_ns: u64,
    share_percent: f64,
) -> String {
    format!(
        "{operations} of {of} operations took {} to {} ms, {share_percent:.0} % of the total time: \
         they determine the mean, not p50",
        milliseconds(longer_than_ns),
        milliseconds(longest_ns)
    )
}

/// Nanoseconds as milliseconds, with about three digits.
fn milliseconds(nanos: u64) -> String {
    let value = nanos as f64 / 1e6;
    let decimals = if value < 1.0 {
        3
    } else if value < 10.0 {
        2
    } else {
        0
    };
    format!("{value:.decimals$}")
}

fn no_steady_state(range_percent: f64, excursion_percent: f64) -> String {
    format!(
        "no steady state before measuring: the last rounds spread over {range_percent:.0} % of \
         their mean, and rose or fell by {excursion_percent:.0} %"
    )
}

fn dependent_blocks(correlation: f64, p: f64, blocks: u32, effective: f64) -> String {
    format!(
        "blocks {} the ones before them (correlation {correlation:.2}): {blocks} count as \
         {effective:.1} independent ones, so the intervals of figures, but not of ratios, are \
         widened",
        resemble(p)
    )
}

fn dependent_ratios(correlation: f64, p: f64, blocks: u32, effective: f64) -> String {
    format!(
        "the targets' ratios {} those of the block before (correlation {correlation:.2}): {blocks} \
         blocks count as {effective:.1} independent ones, so the intervals of comparisons are \
         widened",
        resemble(p)
    )
}

/// How certain it is that successive blocks resemble each other. Intervals are widened in either
/// case.
fn resemble(p: f64) -> &'static str {
    if p <= 0.05 { "resemble" } else { "may resemble" }
}

fn far_outliers(outliers: u32, of: u32, farthest: f64) -> String {
    let verb = if outliers == 1 { "was" } else { "were" };
    let far = if farthest >= 1.0 {
        format!("{farthest:.1} x the median")
    } else {
        format!("the median / {:.1}", 1.0 / farthest)
    };
    format!(
        "{outliers} of {of} blocks {verb} far off (up to {far}): this shifts the mean, but barely \
         the median and the comparisons"
    )
}

fn trend(change_percent: f64) -> String {
    let verb = if change_percent > 0.0 { "rose" } else { "fell" };
    format!(
        "it {verb} by {:.0} % from the first block to the last: the figure holds only for the time \
         at which it was measured",
        change_percent.abs()
    )
}

fn journal_damaged(places: u32, line: u64, why: &str) -> String {
    let others = match places.saturating_sub(1) {
        0 => String::new(),
        1 => ", as is that of another line".to_owned(),
        others => format!(", as are those of {others} other lines"),
    };
    format!(
        "line {line} of cells.jsonl is damaged ({why}); its record is left out of all \
         figures{others}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_where_they_belong() {
        let warning = Warning::Stalls {
            operations: 3,
            of: 4000,
            longer_than_ns: 700_000,
            longest_ns: 25_000_000,
            share_percent: 41.0,
        };
        assert_eq!(
            warning.to_string(),
            "3 of 4000 operations took 0.700 to 25 ms, 41 % of the total time: they determine the \
             mean, not p50"
        );
        let trend = |change_percent| Warning::Trend { change_percent }.to_string();
        assert!(trend(12.0).starts_with("it rose by 12 %"), "{}", trend(12.0));
        assert!(trend(-12.0).starts_with("it fell by 12 %"), "{}", trend(-12.0));
        let blocks = |p| {
            let warning =
                Warning::DependentBlocks { correlation: 0.4, p, blocks: 20, effective: 8.5 };
            warning.to_string()
        };
        assert!(blocks(0.05).starts_with("blocks resemble the ones"), "{}", blocks(0.05));
        assert!(blocks(0.051).starts_with("blocks may resemble the ones"), "{}", blocks(0.051));
        assert!(blocks(0.01).contains("(correlation 0.40): 20 count as 8.5 "), "{}", blocks(0.01));
        let far = |farthest| Warning::FarOutliers { outliers: 1, of: 9, farthest }.to_string();
        assert!(far(4.0).starts_with("1 of 9 blocks was far off (up to 4.0 x the median)"));
        assert!(far(0.25).starts_with("1 of 9 blocks was far off (up to the median / 4.0)"));
        let damaged = |places| {
            Warning::JournalDamaged { places, line: 7, why: "checksum".to_owned() }.to_string()
        };
        assert!(damaged(1).ends_with("left out of all figures"), "{}", damaged(1));
        assert!(damaged(2).ends_with(", as is that of another line"), "{}", damaged(2));
        assert!(damaged(3).ends_with(", as are those of 2 other lines"), "{}", damaged(3));
    }
}
