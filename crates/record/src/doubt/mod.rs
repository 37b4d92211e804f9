//! The doubts: everything that can make figures doubtful, whoever finds it. A row each, which
//! warnings, the known mistakes that `fsprism check` looks for, and the page read.

mod rows;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::warning::Warning;
use rows::ROWS;

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
