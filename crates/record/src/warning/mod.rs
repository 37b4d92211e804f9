//! Warnings: what makes a figure doubtful, with the numbers that triggered it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cliff::Axis;
use crate::doubt::Doubt;

mod sentence;

/// One reason to doubt a figure. `Display` is the sentence for people; [`Warning::source`] says
/// where the problem is described.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    /// Operations at the beginning of the measured window were slower than later ones.
    WarmUpInside {
        /// Time per operation in the first quarter of the window over that in the rest: the median
        /// over replicates.
        first_over_rest: f64,
    },
    /// A few long operations take up much of the time, so they determine the mean.
    Stalls {
        /// Number of long operations.
        operations: u64,
        /// Number of operations in all replicates.
        of: u64,
        /// What each long operation took at least, in nanoseconds.
        longer_than_ns: u64,
        /// The longest operation, in nanoseconds.
        longest_ns: u64,
        /// Share of the long operations in the time of all operations, in percent.
        share_percent: f64,
    },
    /// Slow operations that are not few make the mean at least twice p50.
    MeanAboveMedian {
        /// The mean over all operations, in nanoseconds.
        mean_ns: f64,
        /// The median over all operations, in nanoseconds.
        p50_ns: f64,
        /// Share of the slowest tenth of operations in the time of all, in percent.
        slowest_tenth_percent: f64,
    },
    /// Several threads together are faster than so many times one alone, which sharing work does
    /// not explain.
    SpeedUpBeyondThreads {
        /// The speed-up: the median over blocks.
        speed_up: f64,
        /// Threads of the benchmark, over those of its baseline.
        threads: u32,
    },
    /// Dirty pages from an earlier phase had not been written when the replicate began.
    DirtyCarried {
        /// How much was dirty, in bytes.
        dirty_bytes: u64,
    },
    /// The working set is near the size of a cache, where results are least repeatable.
    FragileZone {
        /// The working set, in bytes; along another axis of sizes, the position on it.
        working_set_bytes: u64,
        /// That other axis.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        axis: Option<Axis>,
        /// The cache, in words.
        cache: String,
        /// Its size, in bytes.
        cache_bytes: u64,
        /// Relative standard deviation of replicates within the zone, in percent; none if there are
        /// too few.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spread_inside_percent: Option<f64>,
        /// The same outside the zone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spread_outside_percent: Option<f64>,
    },
    /// The file is so small that the page cache can hold most of it.
    CacheBenchmark {
        /// The file, in bytes.
        size_bytes: u64,
        /// What holds it, in words.
        memory: String,
        /// The size of that, in bytes.
        memory_bytes: u64,
        /// The least file that would mostly be on the device, in bytes.
        least_bytes: u64,
    },
    /// Random offsets are not multiples of the machine word, while sequential ones are.
    UnalignedRandomAccess {
        /// The alignment of the offsets, in bytes.
        alignment_bytes: u64,
    },
    /// Entering and leaving the kernel is a large part of what was timed.
    CallOverheadDominates {
        /// Cost of the cheapest system call, in nanoseconds.
        call_ns: f64,
        /// Median time of an operation, in nanoseconds.
        operation_ns: f64,
    },
    /// Reading the clock takes more than 5 % of what was timed.
    ClockOverhead {
        /// Cost of one reading, in nanoseconds.
        clock_ns: f64,
        /// Median length of the timed interval, in nanoseconds.
        interval_ns: f64,
    },
    /// There are fewer replicates than an interval of the median needs.
    TooFewReplicates {
        /// Number of replicates.
        have: u32,
        /// Number of replicates needed.
        need: u32,
    },
    /// Replicates were discarded because the cache state was not as required.
    CacheStateNotAsAsked {
        /// Number of replicates discarded.
        discarded: u32,
        /// What was found instead in the last of them.
        why: String,
    },
    /// The hypervisor gave processor time to others during the measurement.
    CpuStolen {
        /// Share of the time of all processors during the measurement, in percent.
        percent: f64,
    },
    /// Replicates were measured while other programs kept the machine busy.
    BusyMachine {
        /// Number of such replicates.
        replicates: u32,
        /// Number of all replicates.
        of: u32,
        /// Share of their time in which the measuring threads of the worst of them waited for a
        /// processor, in percent.
        waited_percent: f64,
        /// Who kept the machine busy then, in words.
        who: String,
    },
    /// A real difference of this figure would be another on a larger volume.
    DependsOnVolumeSize {
        /// The volume's size, in bytes.
        volume_bytes: u64,
        /// The size from which the figure no longer moves, in bytes.
        stands_from_bytes: u64,
    },
    /// The control group's processor quota held the threads back.
    CpuThrottled {
        /// Number of quota periods in which it did.
        periods: u64,
    },
    /// The file system does work in the background while it is measured.
    BackgroundWork {
        /// What it does.
        what: String,
    },
    /// The file system was made for this run and not aged.
    FreshFileSystem,
    /// No steady state was reached: the last rounds of operations still rose, fell or varied.
    NoSteadyState {
        /// Largest minus smallest of the last rounds, in percent of their mean.
        range_percent: f64,
        /// Rise or fall over the last rounds, in percent of their mean.
        excursion_percent: f64,
    },
    /// There are more threads than processors, or than cores, whose hardware threads share the
    /// core's units.
    MoreConcurrencyThanCores {
        /// Threads of the benchmark.
        threads: u32,
        /// Number of processors or cores that they can use, as limited by a CPU quota.
        cores: u32,
    },
    /// Operations were timed several at a time, because a single one is too short for the clock.
    TimedInBatches {
        /// Operations per timed interval.
        batch: u32,
    },
    /// The loop device uses the page cache of its image, which hides the device.
    LoopBuffered,
    /// The image is sparse: the host allocates its blocks while the file system is measured.
    SparseImage,
    /// Something below the device may keep its blocks in memory, which cannot be seen from here.
    HiddenBelow {
        /// The hypervisor that provides the device.
        hypervisor: String,
    },
    /// The clock drifted during the run.
    ClockDrift {
        /// By how much, in parts per million.
        ppm: f64,
    },
    /// Blocks resemble the ones before them, so they count as fewer independent blocks.
    DependentBlocks {
        /// The lag-1 autocorrelation, over all benchmarks.
        correlation: f64,
        /// Probability of a correlation at least this large by chance alone.
        p: f64,
        /// Number of blocks in the cell with the most.
        blocks: u32,
        /// Number of independent blocks that these are worth.
        effective: f64,
    },
    /// The targets' ratios resemble those of the block before, so blocks count as fewer independent
    /// blocks.
    DependentRatios {
        /// The lag-1 autocorrelation, over all comparisons.
        correlation: f64,
        /// Probability of a correlation at least this large by chance alone.
        p: f64,
        /// Number of blocks in the comparison with the most.
        blocks: u32,
        /// Number of independent blocks that these are worth.
        effective: f64,
    },
    /// Some blocks of a cell are far from the others.
    FarOutliers {
        /// Number of such blocks.
        outliers: u32,
        /// Number of all blocks.
        of: u32,
        /// Value of the farthest one, divided by the median.
        farthest: f64,
    },
    /// A cell's figure rose or fell from the first block to the last.
    Trend {
        /// Change from the first block to the last, on a straight line fitted to all blocks, in
        /// percent of the first.
        change_percent: f64,
    },
    /// The histograms of a cell cannot be used, so it has no percentiles.
    HistogramLost {
        /// What is wrong with them.
        why: String,
    },
    /// Some lines of the journal are damaged; what they record is left out of all figures.
    JournalDamaged {
        /// Number of damaged places.
        places: u32,
        /// The first damaged line, counting from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

impl Warning {
    /// Where the danger is described: a paper with its section, or fsprism's own document.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.doubt().row().source
    }

    /// The doubt that it is a case of.
    #[must_use]
    pub fn doubt(&self) -> Doubt {
        match self {
            Self::WarmUpInside { .. } => Doubt::WarmUpInside,
            Self::Stalls { .. } => Doubt::Stalls,
            Self::MeanAboveMedian { .. } => Doubt::MeanAboveMedian,
            Self::SpeedUpBeyondThreads { .. } => Doubt::SpeedUpBeyondThreads,
            Self::DirtyCarried { .. } => Doubt::DirtyCarried,
            Self::FragileZone { .. } => Doubt::FragileZone,
            Self::CacheBenchmark { .. } => Doubt::CacheBenchmark,
            Self::UnalignedRandomAccess { .. } => Doubt::UnalignedRandomAccess,
            Self::CallOverheadDominates { .. } => Doubt::CallOverheadDominates,
            Self::ClockOverhead { .. } => Doubt::ClockOverhead,
            Self::TooFewReplicates { .. } => Doubt::TooFewReplicates,
            Self::CacheStateNotAsAsked { .. } => Doubt::CacheStateNotAsAsked,
            Self::CpuStolen { .. } => Doubt::CpuStolen,
            Self::BusyMachine { .. } => Doubt::BusyMachine,
            Self::DependsOnVolumeSize { .. } => Doubt::DependsOnVolumeSize,
            Self::CpuThrottled { .. } => Doubt::CpuThrottled,
            Self::BackgroundWork { .. } => Doubt::BackgroundWork,
            Self::FreshFileSystem => Doubt::FreshFileSystem,
            Self::NoSteadyState { .. } => Doubt::NoSteadyState,
            Self::MoreConcurrencyThanCores { .. } => Doubt::MoreConcurrencyThanCores,
            Self::TimedInBatches { .. } => Doubt::TimedInBatches,
            Self::LoopBuffered => Doubt::LoopBuffered,
            Self::SparseImage => Doubt::SparseImage,
            Self::HiddenBelow { .. } => Doubt::HiddenBelow,
            Self::ClockDrift { .. } => Doubt::ClockDrift,
            Self::DependentBlocks { .. } => Doubt::DependentBlocks,
            Self::DependentRatios { .. } => Doubt::DependentRatios,
            Self::FarOutliers { .. } => Doubt::FarOutliers,
            Self::Trend { .. } => Doubt::Trend,
            Self::HistogramLost { .. } => Doubt::HistogramLost,
            Self::JournalDamaged { .. } => Doubt::JournalDamaged,
        }
    }
}

impl Warning {
    /// How much replicates spread within a fragile zone and beside it, as the end of a sentence;
    /// empty where it is not known, or the warning is another.
    #[must_use]
    fn measured_spread(&self) -> String {
        let Self::FragileZone { spread_inside_percent, spread_outside_percent, .. } = self else {
            return String::new();
        };
        match (spread_inside_percent, spread_outside_percent) {
            (Some(inside), Some(outside)) => format!(
                ", where replicates spread by {inside:.1} %, against {outside:.1} % outside it"
            ),
            (Some(inside), None) => format!(", where replicates spread by {inside:.1} %"),
            (None, _) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
