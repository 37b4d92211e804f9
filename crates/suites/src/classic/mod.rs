//! Classic benchmarks, as published and as corrected.
//!
//! They are sequences: what a phase measures depends on those before it, and that is what is
//! studied here. [docs/classic.md](../../../../docs/classic.md) says what is run, from which
//! sources, and how it differs from them.

pub mod array_walk;
pub mod bonnie;
pub mod bonnie_anova;
mod calls;
pub mod memory_rich;
mod phase_evidence;
pub mod processor_counts;
pub mod sizes;
mod slices;
pub mod sprite_lfs;

use record::SuiteOptions;
use textual::{plural, size};
use thiserror::Error;

use crate::applications::{self, ApplicationsError};
use crate::benchmark::Benchmark;
use crate::job_file::{self, JobFileRefusal};
use crate::live_target::LiveTarget;
use crate::pollution::{self, PollutionError};

/// Why a classic benchmark cannot run as requested.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClassicError {
    /// A job file cannot be executed on targets.
    #[error("{why}")]
    JobFile {
        /// What is wrong, and where.
        why: String,
    },
    /// A file is not a whole number of blocks.
    #[error(
        "--file-size must be a multiple of {block_bytes}, the benchmark's block, but {file_bytes} \
         is not: give {}",
        (file_bytes / block_bytes + 1) * block_bytes
    )]
    NotWholeBlocks {
        /// The size requested.
        file_bytes: u64,
        /// The size of a block.
        block_bytes: u64,
    },
    /// There are no files, or none are left.
    #[error(
        "--drop-first leaves nothing of {}: give --files 2 or more, or --drop-first=false",
        plural(*files as usize, "file")
    )]
    NothingLeft {
        /// The number requested.
        files: u32,
    },
    /// This machine's processor does not count what the run counts.
    #[error(
        "this run uses the processor's counters, but {why}: resume it where they can be read, or \
         begin a new run with --out"
    )]
    NotCounted {
        /// Why it is not counted here.
        why: String,
    },
    /// An array is not a whole number of elements.
    #[error(
        "--size must be a multiple of 4, the size of an element, but {array_bytes} is not: give {}",
        (array_bytes / 4 + 1) * 4
    )]
    NotWholeElements {
        /// The size requested.
        array_bytes: u64,
    },
    /// Code cannot be put between operations so.
    #[error(transparent)]
    Pollution(#[from] PollutionError),
    /// Programs cannot run so.
    #[error(transparent)]
    Applications(#[from] ApplicationsError),
    /// Bonnie cannot have chunks of this size.
    #[error("--chunk must be a power of two from 256 to 1m, but {chunk_bytes} is not: give 16k")]
    OddChunk {
        /// The size requested.
        chunk_bytes: u64,
    },
    /// Bonnie's file is not a whole number of chunks.
    #[error(
        "--size must be a multiple of {chunk_bytes}, the size of a chunk, but {size_bytes} is not: \
         give {}",
        (size_bytes / chunk_bytes + 1).saturating_mul(*chunk_bytes)
    )]
    NotWholeChunks {
        /// The size requested.
        size_bytes: u64,
        /// The size of a chunk.
        chunk_bytes: u64,
    },
    /// Sizes around a memory were requested, but a chunk is not far smaller than that memory.
    #[error(
        "chunks of {} are too large for files far below a memory of {}: give a smaller --chunk, or \
         a larger memory= for the target",
        size(*chunk_bytes as f64, 3),
        size(*memory_bytes as f64, 3)
    )]
    LargeChunk {
        /// The size of a chunk.
        chunk_bytes: u64,
        /// The size of the memory.
        memory_bytes: u64,
    },
    /// Bonnie's file does not fit on a target.
    #[error(
        "a file of {} will not fit on {label}, which has {} free: give {}{}",
        size(*size_bytes as f64, 3),
        size(*free_bytes as f64, 3),
        if *has_sizes {
            "smaller sizes; for around-memory, less memory for the target, as in ext4:memory=64m"
        } else {
            "a smaller --size"
        },
        or_more_room
    )]
    NoRoomForSize {
        /// The size requested.
        size_bytes: u64,
        /// The label of the target.
        label: String,
        /// What it has free.
        free_bytes: u64,
        /// Whether several sizes were requested.
        has_sizes: bool,
        /// What would give it more, as a second suggestion.
        or_more_room: &'static str,
    },
    /// A target cannot hold so many files.
    #[error(
        "{} with their directories are too many for {label}, which has {free_inodes} inodes free: \
         give fewer --dirs or --files{}",
        plural(usize::try_from(*files).unwrap_or(usize::MAX), "file"),
        if *is_scratch { ", or a larger size= for the target" } else { "" }
    )]
    NoInodes {
        /// The number requested, including directories.
        files: u64,
        /// The label of the target.
        label: String,
        /// What it has free.
        free_inodes: u64,
        /// Whether its own size can be chosen.
        is_scratch: bool,
    },
    /// The files do not fit on a target.
    #[error(
        "{} of {} will not fit on {label}, which has {} free: give a smaller --file-size{}",
        plural(usize::try_from(*files).unwrap_or(usize::MAX), "file"),
        size(*file_bytes as f64, 3),
        size(*free_bytes as f64, 3),
        or_more_room
    )]
    NoRoom {
        /// The number requested.
        files: u64,
        /// Their size.
        file_bytes: u64,
        /// The label of the target.
        label: String,
        /// What it has free.
        free_bytes: u64,
        /// What would give it more, as a second suggestion.
        or_more_room: &'static str,
    },
}

impl From<JobFileRefusal> for ClassicError {
    fn from(refusal: JobFileRefusal) -> Self {
        Self::JobFile { why: refusal.to_string() }
    }
}

/// The suite of a classic benchmark: its name and summary.
pub(crate) fn named(options: &SuiteOptions) -> (&'static str, &'static str) {
    match options {
        SuiteOptions::SpriteLfs(_) => {
            ("sprite-lfs", "Sprite LFS large-file: a file written and read in order and at random")
        }
        SuiteOptions::ArrayWalk(_) => {
            ("array-walk", "an array written and read twice, by its size; takes no target")
        }
        SuiteOptions::Bonnie(_) => {
            (bonnie::SUITE, "Bonnie: a file by character and by block, and random seeks")
        }
        SuiteOptions::BonnieMetadata(_) => (
            bonnie::metadata::SUITE,
            "what Bonnie++ added: files made, looked at and deleted, in order and at random",
        ),
        SuiteOptions::Pollution(_) => {
            (pollution::SUITE, "what operations cost the code around them, by its footprint")
        }
        SuiteOptions::Applications(_) => (
            applications::SUITE,
            "whole programs on a tree of sources: grep, find, tar, git status",
        ),
        SuiteOptions::JobFile(_) => {
            (job_file::SUITE, "the jobs of a job file of fio: fsprism run FILE.fio TARGET...")
        }
    }
}

/// The benchmarks of a classic benchmark with these options.
///
/// # Errors
/// Which options make no sense.
pub(crate) fn benchmarks(options: &SuiteOptions) -> Result<Vec<Benchmark>, ClassicError> {
    match options {
        SuiteOptions::SpriteLfs(options) => sprite_lfs::benchmarks(options),
        SuiteOptions::ArrayWalk(options) => array_walk::benchmarks(options),
        SuiteOptions::Bonnie(options) => bonnie::benchmarks(options),
        SuiteOptions::BonnieMetadata(options) => Ok(bonnie::metadata::benchmarks(options)),
        SuiteOptions::Pollution(options) => Ok(pollution::benchmarks(options)?),
        SuiteOptions::Applications(options) => Ok(applications::benchmarks(options)?),
        SuiteOptions::JobFile(options) => Ok(job_file::benchmarks(options)?),
    }
}

/// Checks that every target has room for what the options ask for. If the sizes are our choice, the
/// smallest is enough.
///
/// # Errors
/// The first that does not.
pub fn check_room(
    options: &SuiteOptions,
    are_sizes_placed: bool,
    live: &[LiveTarget],
) -> Result<(), ClassicError> {
    match options {
        SuiteOptions::SpriteLfs(run) => {
            let all = run.by_size();
            let needed = if are_sizes_placed { &all[..1] } else { &all[..] };
            needed.iter().try_for_each(|options| {
                live.iter().try_for_each(|one| sprite_lfs::check_room(options, one))
            })
        }
        SuiteOptions::ArrayWalk(_) | SuiteOptions::Pollution(_) => Ok(()),
        SuiteOptions::Bonnie(run) => {
            let all = run.by_size();
            // If the largest fits, all do.
            let largest = all.last().unwrap_or(&run.options);
            live.iter().try_for_each(|one| bonnie::check_room(largest, all.len() > 1, one))
        }
        SuiteOptions::BonnieMetadata(options) => {
            live.iter().try_for_each(|one| bonnie::metadata::check_room(options, one))
        }
        SuiteOptions::Applications(options) => {
            Ok(live.iter().try_for_each(|one| applications::check_room(options, one))?)
        }
        SuiteOptions::JobFile(options) => {
            Ok(live.iter().try_for_each(|one| job_file::check_room(options, one))?)
        }
    }
}
