//! Options of bonnie and bonnie-metadata; bonnie-anova takes only bonnie's sizes.

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use record::{BonnieMetadataOptions, BonnieOptions, BonniePhaseOrder, BonnieRun, SuiteOptions};
use suites::classic::bonnie;
use suites::{NoSuite, OwnOptions, Suite};

use crate::arguments::sizes::{self, Sizes};
use crate::arguments::values;

/// Those that are not given are as published.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of bonnie")]
pub(crate) struct BonnieArguments {
    #[command(flatten)]
    sizes: BonnieSizes,
    /// What is read and written at once, a power of two; by default 16k
    #[arg(long, value_name = "SIZE", value_parser = values::size, conflicts_with = "resume")]
    pub(crate) chunk: Option<u64>,
    /// Number of random seeks; by default 4000
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) seeks: Option<u32>,
    /// Number of threads that seek at the same time; by default 4
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) seekers: Option<u32>,
    /// Let each phase end with fsync, as in Bonnie++; Bonnie only closes its file
    #[arg(long, conflicts_with = "resume")]
    pub(crate) fsync: bool,
    /// Which phases bonnie has, and their order; by default bonnie
    #[arg(long, value_enum, conflicts_with = "resume")]
    pub(crate) phase_order: Option<PhaseOrder>,
}

/// The sizes of Bonnie's file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of bonnie")]
pub(crate) struct BonnieSizes {
    /// Size of the file; by default 320m. Several, separated by commas, make curves: 16m,256m.
    /// `around-memory` stands for sizes far below and far above the memory that can cache the file
    #[arg(long, value_name = "SIZE", value_parser = sizes::around_memory,
        conflicts_with = "resume")]
    size: Option<Sizes>,
}

/// Which phases there are, and in which order the file is rewritten and written by block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PhaseOrder {
    /// Rewrite what was written per character, then write a new file by block
    Bonnie,
    /// Write a new file by block, then rewrite that
    #[value(name = "bonnie++")]
    BonniePlusPlus,
    /// The same without the phases per character, like bonnie++ -f
    #[value(name = "bonnie++-f")]
    BonniePlusPlusByBlock,
}

impl From<PhaseOrder> for BonniePhaseOrder {
    fn from(order: PhaseOrder) -> Self {
        match order {
            PhaseOrder::Bonnie => Self::Bonnie,
            PhaseOrder::BonniePlusPlus => Self::BonniePlusPlus,
            PhaseOrder::BonniePlusPlusByBlock => Self::BonniePlusPlusByBlock,
        }
    }
}

impl OwnOptions for BonnieArguments {
    fn shape(self, suite: Suite, targets: &[String]) -> Result<Suite, NoSuite> {
        let published = bonnie::published();
        let options = BonnieOptions {
            chunk_bytes: self.chunk.unwrap_or(published.chunk_bytes),
            seeks: self.seeks.unwrap_or(published.seeks),
            seekers: self.seekers.unwrap_or(published.seekers),
            fsync: self.fsync,
            phase_order: self.phase_order.map_or(published.phase_order, Into::into),
            ..published
        };
        self.sizes.shape_with(&options, suite, targets)
    }
}

impl OwnOptions for BonnieSizes {
    fn shape(self, suite: Suite, targets: &[String]) -> Result<Suite, NoSuite> {
        self.shape_with(&bonnie::published(), suite, targets)
    }
}

impl BonnieSizes {
    /// Gives the suite these options, and the sizes from the command line.
    fn shape_with(
        self,
        options: &BonnieOptions,
        suite: Suite,
        targets: &[String],
    ) -> Result<Suite, NoSuite> {
        let mut sizes = match self.size {
            Some(Sizes::Given(sizes)) => sizes,
            Some(Sizes::Around) => {
                let memories = sizes::memories(targets);
                if memories.is_empty() {
                    let why = "this machine does not say how much memory it has";
                    return Err(anyhow!("{why}: give sizes instead of around-memory").into());
                }
                bonnie::around_memory(&memories, options.chunk_bytes)?
            }
            None => Vec::new(),
        }
        .into_iter();
        let size_bytes = sizes.next().unwrap_or(options.size_bytes);
        let run = BonnieRun {
            options: BonnieOptions { size_bytes, ..options.clone() },
            further_size_bytes: sizes.collect(),
        };
        Ok(suite.with_classic(Some(&SuiteOptions::Bonnie(run)))?)
    }
}

/// The directories and files of bonnie-metadata.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of bonnie-metadata")]
pub(crate) struct BonnieMetadataArguments {
    /// Number of directories; by default 1024
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=99_999))]
    dirs: Option<u32>,
    /// Number of files in each directory; by default 16
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    files: Option<u32>,
}

impl OwnOptions for BonnieMetadataArguments {
    fn shape(self, suite: Suite, _targets: &[String]) -> Result<Suite, NoSuite> {
        let published = bonnie::metadata::published();
        let options = BonnieMetadataOptions {
            directories: self.dirs.unwrap_or(published.directories),
            files_per_directory: self.files.unwrap_or(published.files_per_directory),
        };
        Ok(suite.with_classic(Some(&SuiteOptions::BonnieMetadata(options)))?)
    }
}
