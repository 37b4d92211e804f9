//! The sentences of warnings that take more than a line to write.

use textual::{plural, size};

use crate::cliff::Axis;

pub(super) const FRESH: &str =
    "the file system was made for this run and never aged, which flatters it";
pub(super) const LOOP_BUFFERED: &str = "the loop device uses the page cache of its image, which \
                                        hides the device's own cost (choose another --scratch)";
pub(super) const SPARSE_IMAGE: &str = "the image is sparse: when the file system first writes a \
                                       block, the host's file system allocates it, and that time \
                                       is included";

pub(super) fn warm_up_inside(first_over_rest: f64) -> String {
    let took = format!("{first_over_rest:.2} x the rest");
    format!("warm-up inside the measured window: its first quarter took {took}")
}

pub(super) fn call_overhead(call_ns: f64, operation_ns: f64) -> String {
    format!("the bare system call takes {call_ns:.0} ns of the operation's {operation_ns:.0} ns")
}

/// How much replicates spread within a fragile zone and beside it, as the end of a sentence; empty
/// if it is not known.
pub(super) fn measured_spread(inside: Option<f64>, outside: Option<f64>) -> String {
    match (inside, outside) {
        (Some(inside), Some(outside)) => {
            format!(", where replicates spread by {inside:.1} %, against {outside:.1} % outside it")
        }
        (Some(inside), None) => format!(", where replicates spread by {inside:.1} %"),
        (None, _) => String::new(),
    }
}

pub(super) fn hidden_below(hypervisor: &str) -> String {
    format!(
        "cold means only that the blocks were not in this machine's memory: its disk is virtual \
         ({hypervisor}), and fsprism cannot see whether the host cached them"
    )
}

pub(super) fn thrown_away(discarded: u32, why: &str) -> String {
    match discarded {
        1 => format!("1 replicate was thrown away ({why})"),
        more => format!("{more} replicates were thrown away (the last time: {why})"),
    }
}

pub(super) fn in_batches(batch: u32) -> String {
    format!("timed {batch} operations at a time: a single one is too short for the clock")
}

pub(super) fn throttled(periods: u64) -> String {
    let times = plural(usize::try_from(periods).unwrap_or(usize::MAX), "period");
    format!("the control group's processor quota was reached in {times}")
}

pub(super) fn clock_overhead(clock_ns: f64, interval_ns: f64) -> String {
    let of = format!("of a timed interval of {interval_ns:.0} ns");
    format!("reading the clock takes {clock_ns:.0} ns {of}")
}

pub(super) fn depends_on_volume_size(volume_bytes: u64, stands_from_bytes: u64) -> String {
    format!(
        "depends on the volume's size, which is {}: on this file system the figure moves below {} \
         (give size={}g or more)",
        bytes(volume_bytes),
        bytes(stands_from_bytes),
        stands_from_bytes.div_ceil(1 << 30)
    )
}

pub(super) fn busy_machine(replicates: u32, of: u32, waited_percent: f64, who: &str) -> String {
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

pub(super) fn mean_above_median(times: f64, slowest_tenth_percent: f64) -> String {
    format!(
        "the mean is {times:.1} x p50: the slowest tenth of the operations took \
         {slowest_tenth_percent:.0} % of the time"
    )
}

pub(super) fn beyond_threads(speed_up: f64, threads: u32) -> String {
    format!(
        "{speed_up:.1} x with {threads} threads cannot come from sharing the work: the single \
         thread was held up by something else, so compare times, not speed-ups"
    )
}

/// A size; exact if it is a whole number of its unit.
pub(super) fn bytes(bytes: u64) -> String {
    size(bytes as f64, 3)
}

pub(super) fn fragile_zone(
    axis: Axis,
    at_bytes: u64,
    cache: &str,
    cache_bytes: u64,
    spread: &str,
) -> String {
    format!(
        "figures may not repeat well where the {} ({}) is near the size of {cache} ({}){spread}",
        axis.title(),
        bytes(at_bytes),
        bytes(cache_bytes)
    )
}

pub(super) fn cache_benchmark(
    size_bytes: u64,
    memory: &str,
    memory_bytes: u64,
    least_bytes: u64,
) -> String {
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

pub(super) fn unaligned(alignment_bytes: u64) -> String {
    format!(
        "random offsets are aligned only to {alignment_bytes} bytes; sequential ones are aligned \
         to the request size"
    )
}

pub(super) fn stalls(
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

pub(super) fn no_steady_state(range_percent: f64, excursion_percent: f64) -> String {
    format!(
        "no steady state before measuring: the last rounds spread over {range_percent:.0} % of \
         their mean, and rose or fell by {excursion_percent:.0} %"
    )
}

pub(super) fn dependent_blocks(correlation: f64, p: f64, blocks: u32, effective: f64) -> String {
    format!(
        "blocks {} the ones before them (correlation {correlation:.2}): {blocks} count as \
         {effective:.1} independent ones, so the intervals of figures, but not of ratios, are \
         widened",
        resemble(p)
    )
}

pub(super) fn dependent_ratios(correlation: f64, p: f64, blocks: u32, effective: f64) -> String {
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

pub(super) fn far_outliers(outliers: u32, of: u32, farthest: f64) -> String {
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

pub(super) fn trend(change_percent: f64) -> String {
    let verb = if change_percent > 0.0 { "rose" } else { "fell" };
    format!(
        "it {verb} by {:.0} % from the first block to the last: the figure holds only for the time \
         at which it was measured",
        change_percent.abs()
    )
}

pub(super) fn journal_damaged(places: u32, line: u64, why: &str) -> String {
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
    use crate::Warning;

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

    #[test]
    fn new_warnings_say_what_they_mean() {
        let lost = Warning::HistogramLost { why: "the log ends early".to_owned() };
        let expected = "no percentiles, because the histograms cannot be used: the log ends early";
        assert_eq!(lost.to_string(), expected);
        let few = |have| Warning::TooFewReplicates { have, need: 6 }.to_string();
        assert_eq!(few(1), "1 replicate; an interval needs 6");
        assert_eq!(few(2), "2 replicates; an interval needs 6");
        let unsettled = Warning::NoSteadyState { range_percent: 31.0, excursion_percent: 12.0 };
        assert!(unsettled.to_string().contains("31 % of their mean, and rose or fell by 12 %"));
        assert!(unsettled.source().contains("section 3.1"));
        let zone = |inside, outside| Warning::FragileZone {
            working_set_bytes: 5,
            axis: None,
            cache: "the cliff".to_owned(),
            cache_bytes: 6,
            spread_inside_percent: inside,
            spread_outside_percent: outside,
        };
        let plain = "figures may not repeat well where the working set (5 bytes) is near the size \
                     of the cliff (6 bytes)";
        assert_eq!(zone(None, Some(1.0)).to_string(), plain);
        let known = format!("{plain}, where replicates spread by 34.6 %, against 2.2 % outside it");
        assert_eq!(zone(Some(34.6), Some(2.2)).to_string(), known);
        let cached = |least_bytes| Warning::CacheBenchmark {
            size_bytes: 320 << 20,
            memory: "the machine's memory".to_owned(),
            memory_bytes: least_bytes / 4,
            least_bytes,
        };
        let text = cached((96 << 30) - 5).to_string();
        assert!(text.starts_with("a cache benchmark: the file (320 MiB) is "), "{text}");
        assert!(text.ends_with("give --size 96g or more"), "{text}");
        assert!(cached(400 << 20).to_string().ends_with("give --size 400m or more"));
        let small =
            Warning::DependsOnVolumeSize { volume_bytes: 2 << 30, stands_from_bytes: 64 << 30 };
        let expected = "depends on the volume's size, which is 2 GiB: on this file system the \
                        figure moves below 64 GiB (give size=64g or more)";
        assert_eq!(small.to_string(), expected);
        let dependent =
            |p| Warning::DependentRatios { correlation: 0.5, p, blocks: 9, effective: 3.7 };
        assert!(dependent(0.05).to_string().contains("ratios resemble those of the block before"));
        let unsure = "ratios may resemble those of the block before (correlation 0.50): 9 blocks";
        assert!(dependent(0.06).to_string().contains(unsure));
        assert!(Warning::SparseImage.to_string().contains("the host's file system allocates it"));
    }
}
