//! The doubts: everything that can make figures doubtful, whoever finds it. A row each, which
//! warnings, the known mistakes that `fsprism check` looks for, and the page read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::warning::Warning;

/// What a doubt does to what is read.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// The figure may not be what its name says.
    Misleads,
    /// It is less certain.
    Blurs,
    /// It may not hold elsewhere.
    Limits,
}

/// What is known about a doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoubtRow {
    /// Which.
    pub doubt: Doubt,
    /// In a few words.
    pub title: &'static str,
    /// The mistake that `fsprism check` looks for, if it looks for this.
    pub mistake: Option<KnownMistake>,
    /// What it means for the reader.
    pub means: &'static str,
    /// What avoids it; `None` if nothing that a user can do does.
    pub avoid: Option<&'static str>,
    /// What it does to what is read.
    pub weight: Weight,
    /// Where it is described: a paper with its section, or a document of fsprism's.
    pub source: &'static str,
}

/// A doubt as a mistake of whoever benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownMistake {
    /// What it is called.
    pub name: &'static str,
    /// Where it is described as a mistake.
    pub source: &'static str,
}

/// One kind of doubt.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// Warming up was measured too.
    WarmUpInside,
    /// A few long operations make the mean.
    Stalls,
    /// Means are far above medians.
    MeanAboveMedian,
    /// More speed-up than threads.
    SpeedUpBeyondThreads,
    /// Earlier writes were still being written.
    DirtyCarried,
    /// The working set is near the size of a cache.
    FragileZone,
    /// A cache benchmark.
    CacheBenchmark,
    /// Random offsets are not aligned like sequential ones.
    UnalignedRandomAccess,
    /// Mostly the cost of the system call.
    CallOverheadDominates,
    /// Reading the clock takes part of the time.
    ClockOverhead,
    /// Too few replicates for an interval.
    TooFewReplicates,
    /// Replicates were thrown away.
    CacheStateNotAsAsked,
    /// The hypervisor took processor time.
    CpuStolen,
    /// Other programs kept the machine busy.
    BusyMachine,
    /// The difference depends on the volume's size.
    DependsOnVolumeSize,
    /// A processor quota was reached.
    CpuThrottled,
    /// The file system works in the background.
    BackgroundWork,
    /// The file system is new.
    FreshFileSystem,
    /// No steady state was reached.
    NoSteadyState,
    /// More threads than processors.
    MoreConcurrencyThanCores,
    /// Timed several at a time.
    TimedInBatches,
    /// Reads may come from the cache of the image.
    LoopBuffered,
    /// First writes also allocate in the host's file system.
    SparseImage,
    /// The disk is virtual.
    HiddenBelow,
    /// The clock drifted.
    ClockDrift,
    /// Blocks resemble the ones before them.
    DependentBlocks,
    /// Ratios resemble those of the block before.
    DependentRatios,
    /// Some blocks were far off.
    FarOutliers,
    /// Figures drifted during the run.
    Trend,
    /// No percentiles.
    HistogramLost,
    /// Part of the record is damaged.
    JournalDamaged,
    /// Targets or phases did not begin in the same state.
    UnequalStates,
    /// Random faster than sequential.
    CacheReuse,
}

/// A row for each kind, in their order.
const ROWS: [DoubtRow; 33] = [
    DoubtRow {
        doubt: Doubt::WarmUpInside,
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
    },
    DoubtRow {
        doubt: Doubt::Stalls,
        title: "A few long operations make the mean",
        mistake: None,
        means: "Mean and p50 differ: read both, and the tail under Single operations.",
        avoid: None,
        weight: Weight::Misleads,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::MeanAboveMedian,
        title: "Means are far above medians",
        mistake: None,
        means: "A slow part of the operations makes the mean. See Single operations for both.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::SpeedUpBeyondThreads,
        title: "More speed-up than threads",
        mistake: None,
        means: "The single thread was held up by something else. Compare times, not speed-ups.",
        avoid: None,
        weight: Weight::Misleads,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::DirtyCarried,
        title: "Earlier writes were still being written",
        mistake: Some(KnownMistake {
            name: "dirty cache from the phase before",
            source: "Memory-rich microbenchmarks, sections 4.5, 4.6 and 8",
        }),
        means: "The measurement may pay for work that was done before it.",
        avoid: Some("Have each phase start from a clean cache (--files 11 --drop-first)."),
        weight: Weight::Misleads,
        source: "Memory-rich microbenchmarks, section 4",
    },
    DoubtRow {
        doubt: Doubt::FragileZone,
        title: "The working set is near the size of a cache",
        mistake: Some(KnownMistake {
            name: "working set near the size of a cache or of memory",
            source: "Memory-rich microbenchmarks, section 8",
        }),
        means: "Small changes in memory use change the figure: it may not repeat elsewhere.",
        avoid: Some("Choose a --size or --file-size well below or above that cache."),
        weight: Weight::Blurs,
        source: "It IS Rocket Science, section 3.1",
    },
    DoubtRow {
        doubt: Doubt::CacheBenchmark,
        title: "A cache benchmark",
        mistake: None,
        means: "The file fits into memory, so the storage below shows in part at most.",
        avoid: Some("Use a larger --size, or limit the memory (memory=)."),
        weight: Weight::Misleads,
        source: "File Systems Performance Analysis, section 1.1",
    },
    DoubtRow {
        doubt: Doubt::UnalignedRandomAccess,
        title: "Random offsets are not aligned like sequential ones",
        mistake: Some(KnownMistake {
            name: "unaligned access",
            source: "Memory-rich microbenchmarks, sections 5 and 8",
        }),
        means: "Part of the difference between random and sequential access is alignment.",
        avoid: Some("Align them (--align page)."),
        weight: Weight::Misleads,
        source: "Memory-rich microbenchmarks, section 5",
    },
    DoubtRow {
        doubt: Doubt::CallOverheadDominates,
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
    },
    DoubtRow {
        doubt: Doubt::ClockOverhead,
        title: "Reading the clock takes part of the time",
        mistake: Some(KnownMistake {
            name: "too short for the clock",
            source: "fsprism, docs/invariants.md",
        }),
        means: "Short operations are faster than their figures say; compare ratios with care.",
        avoid: Some("Time longer operations (--file-size)."),
        weight: Weight::Misleads,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::TooFewReplicates,
        title: "Too few replicates for an interval",
        mistake: None,
        means: "These figures stand alone: nothing says how far they vary.",
        avoid: Some("Give a larger --budget."),
        weight: Weight::Blurs,
        source: "Le Boudec, Performance Evaluation, section 2.2",
    },
    DoubtRow {
        doubt: Doubt::CacheStateNotAsAsked,
        title: "Replicates were thrown away",
        mistake: None,
        means: "They were not in the requested state. The rest are, but there are fewer.",
        avoid: None,
        weight: Weight::Blurs,
        source: "It IS Rocket Science, section 2",
    },
    DoubtRow {
        doubt: Doubt::CpuStolen,
        title: "The hypervisor took processor time",
        mistake: None,
        means: "Times are longer than on a machine of one's own; ratios suffer less.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::BusyMachine,
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
    },
    DoubtRow {
        doubt: Doubt::DependsOnVolumeSize,
        title: "The difference depends on the volume's size",
        mistake: Some(KnownMistake {
            name: "difference that depends on the volume's size",
            source: "fsprism, docs/volume-size.md",
        }),
        means: "On a larger volume it may be gone.",
        avoid: Some("Measure on a volume as large as yours (size=)."),
        weight: Weight::Misleads,
        source: "fsprism, docs/volume-size.md",
    },
    DoubtRow {
        doubt: Doubt::CpuThrottled,
        title: "A processor quota was reached",
        mistake: None,
        means: "Some operations waited for the quota and not for the file system.",
        avoid: Some("Raise the control group's processor quota."),
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::BackgroundWork,
        title: "The file system works in the background",
        mistake: None,
        means: "Its work can fall into any block, and makes intervals wide.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::FreshFileSystem,
        title: "The file system is new",
        mistake: None,
        means: "An aged one is fragmented, and slower.",
        avoid: Some("Age it first (aged=)."),
        weight: Weight::Limits,
        source: "It IS Rocket Science, section 2",
    },
    DoubtRow {
        doubt: Doubt::NoSteadyState,
        title: "No steady state was reached",
        mistake: None,
        means: "The figures are of a system that was still changing; a longer run can give others.",
        avoid: Some("Measure for longer (--replicate)."),
        weight: Weight::Misleads,
        source: "It IS Rocket Science, section 3.1",
    },
    DoubtRow {
        doubt: Doubt::MoreConcurrencyThanCores,
        title: "More threads than processors",
        mistake: None,
        means: "Threads take turns: this shows how the machine shares its processors.",
        avoid: None,
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::TimedInBatches,
        title: "Timed several at a time",
        mistake: None,
        means: "One operation is too short for the clock, so percentiles are those of batches.",
        avoid: None,
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::LoopBuffered,
        title: "Reads may come from the cache of the image",
        mistake: None,
        means: "The device's own cost is hidden.",
        avoid: Some("Choose another directory for images (--scratch)."),
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::SparseImage,
        title: "First writes also allocate in the host's file system",
        mistake: None,
        means: "Appends and creates cost more here than on a device.",
        avoid: Some("Write the image in full beforehand (image=allocated)."),
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::HiddenBelow,
        title: "The disk is virtual",
        mistake: None,
        means: "Cold is cold for this machine only: the host may have cached it.",
        avoid: None,
        weight: Weight::Limits,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::ClockDrift,
        title: "The clock drifted",
        mistake: None,
        means: "Times are off by as much; ratios are not.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/invariants.md",
    },
    DoubtRow {
        doubt: Doubt::DependentBlocks,
        title: "Blocks resemble the ones before them",
        mistake: None,
        means: "They count as fewer. Intervals of figures have been widened for that already.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/statistics.md",
    },
    DoubtRow {
        doubt: Doubt::DependentRatios,
        title: "Ratios resemble those of the block before",
        mistake: None,
        means: "They count as fewer. Intervals of comparisons have been widened for that already.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/statistics.md",
    },
    DoubtRow {
        doubt: Doubt::FarOutliers,
        title: "Some blocks were far off",
        mistake: None,
        means: "Medians and comparisons hardly move; means do.",
        avoid: None,
        weight: Weight::Blurs,
        source: "fsprism, docs/statistics.md",
    },
    DoubtRow {
        doubt: Doubt::Trend,
        title: "Figures drifted during the run",
        mistake: None,
        means: "The median is between before and after. See Replicates in run order.",
        avoid: None,
        weight: Weight::Misleads,
        source: "fsprism, docs/statistics.md",
    },
    DoubtRow {
        doubt: Doubt::HistogramLost,
        title: "No percentiles",
        mistake: None,
        means: "The histograms cannot be used; medians over blocks are not affected.",
        avoid: Some("Measure again."),
        weight: Weight::Blurs,
        source: "fsprism, docs/run-directory.md",
    },
    DoubtRow {
        doubt: Doubt::JournalDamaged,
        title: "Part of the record is damaged",
        mistake: None,
        means: "What the damaged lines recorded is missing from every figure.",
        avoid: Some("Measure again."),
        weight: Weight::Misleads,
        source: "fsprism, docs/run-directory.md",
    },
    DoubtRow {
        doubt: Doubt::UnequalStates,
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
    },
    DoubtRow {
        doubt: Doubt::CacheReuse,
        title: "Random faster than sequential",
        mistake: Some(KnownMistake {
            name: "random faster than sequential",
            source: "Memory-rich microbenchmarks, section 6",
        }),
        means: "Random operations found blocks in a cache that sequential ones had to fetch.",
        avoid: Some("Use files of a size that the cache does not hold (--file-size)."),
        weight: Weight::Misleads,
        source: "Memory-rich microbenchmarks, section 6",
    },
];

impl Doubt {
    /// Its row.
    #[must_use]
    pub fn row(self) -> &'static DoubtRow {
        &ROWS[self as usize]
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_row() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.doubt as usize, place, "{}", row.title);
        }
        assert_eq!(Doubt::CacheReuse as usize + 1, ROWS.len());
    }

    #[test]
    fn what_fsprism_describes_itself_is_described_in_a_document_that_users_have() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        for row in &ROWS {
            if let Some(document) = row.source.strip_prefix("fsprism, ") {
                assert!(std::path::Path::new(root).join(document).is_file(), "{document}");
            }
        }
    }

    #[test]
    fn rows_are_sentences_and_titles_differ() {
        let titles: std::collections::BTreeSet<_> = ROWS.iter().map(|row| row.title).collect();
        assert_eq!(titles.len(), ROWS.len());
        for row in &ROWS {
            assert!(row.means.ends_with('.') && !row.title.ends_with('.'), "{}", row.title);
            assert!(row.avoid.is_none_or(|avoid| avoid.ends_with('.')), "{}", row.title);
        }
    }
}
