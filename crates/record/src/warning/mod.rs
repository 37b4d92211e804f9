//! Warnings: what makes a figure doubtful, with the numbers that triggered it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use textual::plural;

use crate::cliff::Axis;
use crate::doubt::Doubt;

mod sentence;

use sentence::{
    FRESH, LOOP_BUFFERED, SPARSE_IMAGE, beyond_threads, busy_machine, bytes, cache_benchmark,
    call_overhead, clock_overhead, dependent_blocks, dependent_ratios, depends_on_volume_size,
    far_outliers, fragile_zone, hidden_below, in_batches, journal_damaged, mean_above_median,
    measured_spread, no_steady_state, stalls, throttled, thrown_away, trend, unaligned,
    warm_up_inside,
};

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

    /// How bad it is compared with others of its kind.
    #[must_use]
    pub fn severity(&self) -> f64 {
        match self {
            Self::WarmUpInside { first_over_rest } => *first_over_rest,
            Self::Stalls { share_percent, .. } => *share_percent,
            Self::MeanAboveMedian { mean_ns, p50_ns, .. } => mean_ns / p50_ns,
            Self::SpeedUpBeyondThreads { speed_up, threads } => speed_up / f64::from(*threads),
            Self::DirtyCarried { dirty_bytes } => *dirty_bytes as f64,
            Self::FragileZone { spread_inside_percent: Some(percent), .. } => *percent,
            // Worse the closer it is to the cache's size, but never as bad as a measured spread.
            Self::FragileZone { working_set_bytes, cache_bytes, .. } => {
                -(*working_set_bytes as f64 / *cache_bytes as f64).ln().abs()
            }
            Self::CacheBenchmark { size_bytes, memory_bytes, .. } => {
                *memory_bytes as f64 / *size_bytes as f64
            }
            Self::UnalignedRandomAccess { alignment_bytes } => -(*alignment_bytes as f64),
            Self::CallOverheadDominates { call_ns, operation_ns } => call_ns / operation_ns,
            Self::ClockOverhead { clock_ns, interval_ns } => clock_ns / interval_ns,
            Self::TooFewReplicates { have, .. } => -f64::from(*have),
            Self::CacheStateNotAsAsked { discarded, .. } => f64::from(*discarded),
            Self::CpuStolen { percent } => *percent,
            Self::BusyMachine { replicates, of, .. } => f64::from(*replicates) / f64::from(*of),
            Self::CpuThrottled { periods } => *periods as f64,
            Self::MoreConcurrencyThanCores { threads, .. } => f64::from(*threads),
            Self::TimedInBatches { batch } => f64::from(*batch),
            Self::ClockDrift { ppm } => ppm.abs(),
            Self::NoSteadyState { range_percent, excursion_percent } => {
                range_percent.max(excursion_percent.abs())
            }
            Self::FarOutliers { farthest, .. } => farthest.ln().abs(),
            Self::Trend { change_percent } => change_percent.abs(),
            Self::DependsOnVolumeSize { volume_bytes, .. } => -(*volume_bytes as f64),
            // A run has at most one of each of these, or they are all alike.
            Self::BackgroundWork { .. }
            | Self::FreshFileSystem
            | Self::LoopBuffered
            | Self::SparseImage
            | Self::HiddenBelow { .. }
            | Self::DependentBlocks { .. }
            | Self::DependentRatios { .. }
            | Self::HistogramLost { .. }
            | Self::JournalDamaged { .. } => 0.0,
        }
    }
}

impl Warning {
    /// The sentence of a fragile zone; empty if the warning is another.
    fn fragile_zone(&self) -> String {
        let Self::FragileZone {
            working_set_bytes,
            axis,
            cache,
            cache_bytes,
            spread_inside_percent: inside,
            spread_outside_percent: outside,
        } = self
        else {
            return String::new();
        };
        let spread = measured_spread(*inside, *outside);
        let axis = axis.unwrap_or(Axis::WorkingSet);
        fragile_zone(axis, *working_set_bytes, cache, *cache_bytes, &spread)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sentence_of(self))
    }
}

/// The sentence for people; long ones are written in their own functions.
fn sentence_of(warning: &Warning) -> String {
    match warning {
        Warning::WarmUpInside { first_over_rest } => warm_up_inside(*first_over_rest),
        Warning::DirtyCarried { dirty_bytes } => {
            format!("{} from before were still dirty when it began", bytes(*dirty_bytes))
        }
        Warning::CallOverheadDominates { call_ns, operation_ns } => {
            call_overhead(*call_ns, *operation_ns)
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
        Warning::FragileZone { .. } => warning.fragile_zone(),
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
