//! Options of bonnie and bonnie-metadata, which other suites do not take.

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use record::{BonnieMetadataOptions, BonnieOptions, BonniePhaseOrder, BonnieRun};
use suites::classic::bonnie;

use crate::arguments::sizes::Sizes;
use crate::arguments::values;
use crate::exit::Blame;

const HEADING: &str = "Options of bonnie and bonnie-metadata";

/// Those that are not given are as published.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct BonnieArguments {
    /// What bonnie reads and writes at once, a power of two; by default 16k
    #[arg(long, value_name = "SIZE", value_parser = values::size, conflicts_with = "resume")]
    pub(crate) chunk: Option<u64>,
    /// Number of random seeks of bonnie; by default 4000
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) seeks: Option<u32>,
    /// Number of threads that seek at the same time; by default 4
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) seekers: Option<u32>,
    /// Let each phase of bonnie end with fsync, as in Bonnie++; Bonnie only closes its file
    #[arg(long, conflicts_with = "resume")]
    pub(crate) fsync: bool,
    /// Which phases bonnie has, and their order; by default bonnie
    #[arg(long, value_enum, conflicts_with = "resume")]
    pub(crate) phase_order: Option<PhaseOrder>,
    /// Number of directories of bonnie-metadata; by default 1024
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=99_999))]
    pub(crate) dirs: Option<u32>,
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

impl BonnieArguments {
    /// How bonnie is run. `size` is what --size says; `memories` are those that there are for the
    /// targets' caches.
    ///
    /// # Errors
    /// When sizes are asked for around memories of which none is known, or one is tiny.
    pub(super) fn bonnie(
        &self,
        size: Option<&Sizes>,
        memories: impl FnOnce() -> Vec<u64>,
    ) -> anyhow::Result<BonnieRun> {
        let published = bonnie::published();
        let chunk_bytes = self.chunk.unwrap_or(published.chunk_bytes);
        let mut sizes = match size {
            Some(Sizes::Given(sizes)) => sizes.clone(),
            Some(Sizes::Around) => {
                let memories = memories();
                if memories.is_empty() {
                    let why = "this machine does not say how much memory it has";
                    return Err(anyhow!("{why}: give sizes instead of around-memory"))
                        .blame_input();
                }
                bonnie::around_memory(&memories, chunk_bytes).blame_input()?
            }
            None => Vec::new(),
        }
        .into_iter();
        let options = BonnieOptions {
            size_bytes: sizes.next().unwrap_or(published.size_bytes),
            chunk_bytes,
            seeks: self.seeks.unwrap_or(published.seeks),
            seekers: self.seekers.unwrap_or(published.seekers),
            fsync: self.fsync,
            phase_order: self.phase_order.map_or(published.phase_order, Into::into),
        };
        Ok(BonnieRun { options, further_size_bytes: sizes.collect() })
    }

    /// How bonnie-metadata is run. `files` is what --files says.
    pub(super) fn metadata(&self, files: Option<u32>) -> BonnieMetadataOptions {
        let published = bonnie::metadata::published();
        BonnieMetadataOptions {
            directories: self.dirs.unwrap_or(published.directories),
            files_per_directory: files.unwrap_or(published.files_per_directory),
        }
    }
}
