//! Options of bonnie and bonnie-metadata, which other suites do not take.

use clap::Args;
use record::{BonnieMetadataOptions, BonnieOptions};
use suites::classic::bonnie;

use crate::arguments::values;

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
    /// Number of directories of bonnie-metadata; by default 1024
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=99_999))]
    pub(crate) dirs: Option<u32>,
}

impl BonnieArguments {
    /// How bonnie is run. `size` is what --size says.
    pub(super) fn bonnie(&self, size: Option<u64>) -> BonnieOptions {
        let published = bonnie::published();
        BonnieOptions {
            size_bytes: size.unwrap_or(published.size_bytes),
            chunk_bytes: self.chunk.unwrap_or(published.chunk_bytes),
            seeks: self.seeks.unwrap_or(published.seeks),
            seekers: self.seekers.unwrap_or(published.seekers),
            fsync: self.fsync,
        }
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
