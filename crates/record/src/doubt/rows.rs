//! What is known about each doubt: one entry each, from which the enum and the rows are made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DoubtRow, KnownMistake, Weight};

macro_rules! doubts {
    ($($name:ident { title: $title:literal, $($field:ident: $value:expr,)* })*) => {
        /// One kind of doubt.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(rename_all = "kebab-case")]
        pub enum Doubt {
            $(#[doc = concat!($title, ".")] $name,)*
        }

        /// A row for each kind, in their order.
        pub(super) const ROWS: &[DoubtRow] =
            &[$(DoubtRow { doubt: Doubt::$name, title: $title, $($field: $value,)* },)*];
    };
}

doubts! {
    WarmUpInside {
        title: "Warming up was measured too",
        mistake: Some(KnownMistake {
            name: "warm-up inside what is measured",
            source: "Memory-rich microbenchmarks, sections 4.1 and 8",
        }),
        means: "The mean includes the slow start. See the time course under Single operations.",
        avoid: Some(
            "Measure for longer (--replicate), or leave the first file out (--drop-first).",
        ),
        weight: Weight::Misleads,
        source: "It IS Rocket Science, section 3.1 (Figure 2)",
    }
    Stalls {
        title: "A few long operations make the mean",
        mistake: None,
        means: "Mean and p50 differ: read both, and the tail under Single operations.",
        avoid: None,
        weight: Weight::Misleads,
        source: "fsprism, docs/invariants.md",
    }
    MeanAboveMedian {
        title: "Means are far above medians",
        mistake: None,
        means: "A slow part of the operations makes the mean. See Single operations for both.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    }
    SpeedUpBeyondThreads {
        title: "More speed-up than threads",
        mistake: None,
        means: "The single thread was held up by something else. Compare times, not speed-ups.",
        avoid: None,
        weight: Weight::Misleads,
        source: "fsprism, docs/invariants.md",
    }
    DirtyCarried {
        title: "Earlier writes were still being written",
        mistake: Some(KnownMistake {
            name: "dirty cache from the phase before",
            source: "Memory-rich microbenchmarks, sections 4.5, 4.6 and 8",
        }),
        means: "The measurement may pay for work that was done before it.",
        avoid: Some("Have each phase start from a clean cache (--files 11 --drop-first)."),
        weight: Weight::Misleads,
        source: "Memory-rich microbenchmarks, section 4",
    }
    FragileZone {
        title: "The working set is near the size of a cache",
        mistake: Some(KnownMistake {
            name: "working set near the size of a cache or of memory",
            source: "Memory-rich microbenchmarks, section 8",
        }),
        means: "Small changes in memory use change the figure: it may not repeat elsewhere.",
        avoid: Some("Choose a --size or --file-size well below or above that cache."),
        weight: Weight::Blurs,
        source: "It IS Rocket Science, section 3.1",
    }
    CacheBenchmark {
        title: "A cache benchmark",
        mistake: None,
        means: "The file fits into memory, so the storage below shows in part at most.",
        avoid: Some("Use a larger --size, or limit the memory (memory=)."),
        weight: Weight::Misleads,
        source: "File Systems Performance Analysis, section 1.1",
    }
    UnalignedRandomAccess {
        title: "Random offsets are not aligned like sequential ones",
        mistake: Some(KnownMistake {
            name: "unaligned access",
            source: "Memory-rich microbenchmarks, sections 5 and 8",
        }),
        means: "Part of the difference between random and sequential access is alignment.",
        avoid: Some("Align them (--align page)."),
        weight: Weight::Misleads,
        source: "Memory-rich microbenchmarks, section 5",
    }
    CallOverheadDominates {
        title: "Mostly the cost of the system call",
        mistake: Some(KnownMistake {
            name: "call overhead",
            source: "Memory-rich microbenchmarks, section 6",
        }),
        means: "Targets look more alike than they are, because most of the time is spent outside \
                them.",
        avoid: Some("Pad the calls (--pad-calls), or move more bytes per call."),
        weight: Weight::Misleads,
        source: "Memory-rich microbenchmarks, section 8",
    }
    ClockOverhead {
        title: "Reading the clock takes part of the time",
        mistake: Some(KnownMistake {
            name: "too short for the clock",
            source: "fsprism, docs/invariants.md",
        }),
        means: "Short operations are faster than their figures say; compare ratios with care.",
        avoid: Some("Time longer operations (--file-size)."),
        weight: Weight::Misleads,
        source: "fsprism, docs/invariants.md",
    }
    TooFewReplicates {
        title: "Too few replicates for an interval",
        mistake: None,
        means: "These figures stand alone: nothing says how far they vary.",
        avoid: Some("Give a larger --budget."),
        weight: Weight::Blurs,
        source: "Le Boudec, Performance Evaluation, section 2.2",
    }
    CacheStateNotAsAsked {
        title: "Replicates were thrown away",
        mistake: None,
        means: "They were not in the requested state. The rest are, but there are fewer.",
        avoid: None,
        weight: Weight::Blurs,
        source: "It IS Rocket Science, section 2",
    }
    CpuStolen {
        title: "The hypervisor took processor time",
        mistake: None,
        means: "Times are longer than on a machine of one's own; ratios suffer less.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    }
    BusyMachine {
        title: "Other programs kept the machine busy",
        mistake: Some(KnownMistake {
            name: "machine kept busy by others",
            source: "fsprism, docs/neighbours.md",
        }),
        means: "A difference may be theirs and not the file systems'.",
        avoid: Some(
            "Measure on an idle machine, or have the run end otherwise (--on-busy refuse).",
        ),
        weight: Weight::Misleads,
        source: "fsprism, docs/neighbours.md",
    }
    DependsOnVolumeSize {
        title: "The difference depends on the volume's size",
        mistake: Some(KnownMistake {
            name: "difference that depends on the volume's size",
            source: "fsprism, docs/volume-size.md",
        }),
        means: "On a larger volume it may be gone.",
        avoid: Some("Measure on a volume as large as yours (size=)."),
        weight: Weight::Misleads,
        source: "fsprism, docs/volume-size.md",
    }
    CpuThrottled {
        title: "A processor quota was reached",
        mistake: None,
        means: "Some operations waited for the quota and not for the file system.",
        avoid: Some("Raise the control group's processor quota."),
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    }
    BackgroundWork {
        title: "The file system works in the background",
        mistake: None,
        means: "Its work can fall into any block, and makes intervals wide.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    }
    FreshFileSystem {
        title: "The file system is new",
        mistake: None,
        means: "An aged file system is fragmented, and slower.",
        avoid: Some("Age it first (aged=)."),
        weight: Weight::Limits,
        source: "It IS Rocket Science, section 2",
    }
    NoSteadyState {
        title: "No steady state was reached",
        mistake: None,
        means: "The figures are of a system that was still changing; a longer run can give others.",
        avoid: Some("Measure for longer (--replicate)."),
        weight: Weight::Misleads,
        source: "It IS Rocket Science, section 3.1",
    }
    MoreConcurrencyThanCores {
        title: "More threads than processors",
        mistake: None,
        means: "Threads take turns: this shows how the machine shares its processors.",
        avoid: None,
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    }
    TimedInBatches {
        title: "Timed several at a time",
        mistake: None,
        means: "One operation is too short for the clock, so percentiles are those of batches.",
        avoid: None,
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    }
    LoopBuffered {
        title: "Reads may come from the cache of the image",
        mistake: None,
        means: "The device's own cost is hidden.",
        avoid: Some("Choose another directory for images (--scratch)."),
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    }
    SparseImage {
        title: "First writes also allocate in the host's file system",
        mistake: None,
        means: "Appends and creates cost more here than on a device.",
        avoid: Some("Write the image in full beforehand (image=allocated)."),
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    }
    HiddenBelow {
        title: "The disk is virtual",
        mistake: None,
        means: "Cold is cold for this machine only: the host may have cached it.",
        avoid: None,
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    }
    ClockDrift {
        title: "The clock drifted",
        mistake: None,
        means: "Times are off by as much; ratios are not.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    }
    DependentBlocks {
        title: "Blocks resemble the ones before them",
        mistake: None,
        means: "They count as fewer. Intervals of figures have been widened for that already.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/statistics.md",
    }
    DependentRatios {
        title: "Ratios resemble those of the block before",
        mistake: None,
        means: "They count as fewer. Intervals of comparisons have been widened for that already.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/statistics.md",
    }
    FarOutliers {
        title: "Some blocks were far off",
        mistake: None,
        means: "Medians and comparisons hardly move; means do.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/statistics.md",
    }
    Trend {
        title: "Figures drifted during the run",
        mistake: None,
        means: "The median is between before and after. See Replicates in run order.",
        avoid: None,
        weight: Weight::Misleads,
        source: "fsprism, docs/statistics.md",
    }
    HistogramLost {
        title: "No percentiles",
        mistake: None,
        means: "The histograms cannot be used; medians over blocks are not affected.",
        avoid: Some("Measure again."),
        weight: Weight::Blurs,
        source: "fsprism, docs/run-directory.md",
    }
    JournalDamaged {
        title: "Part of the record is damaged",
        mistake: None,
        means: "What the damaged lines recorded is missing from every figure.",
        avoid: Some("Measure again."),
        weight: Weight::Misleads,
        source: "fsprism, docs/run-directory.md",
    }
    UnequalStates {
        title: "Targets or phases did not begin in the same state",
        mistake: Some(KnownMistake {
            name: "unequal initial states",
            source: "Memory-rich microbenchmarks, sections 4.2 and 8",
        }),
        means: "Part of the difference is that of their states.",
        avoid: Some(
            "Give all targets the same options, and read files before they are timed (--pre-read).",
        ),
        weight: Weight::Misleads,
        source: "Memory-rich microbenchmarks, sections 4.2 and 8",
    }
    CacheReuse {
        title: "Random faster than sequential",
        mistake: Some(KnownMistake {
            name: "random faster than sequential",
            source: "Memory-rich microbenchmarks, section 6",
        }),
        means: "Random operations found blocks in a cache that sequential ones had to fetch.",
        avoid: Some("Use files of a size that the cache does not hold (--file-size)."),
        weight: Weight::Misleads,
        source: "Memory-rich microbenchmarks, section 6",
    }
}
