//! What is measured on: the live targets, and the workshop in which they were made.

use std::fmt;

use record::TargetRecord;
use targets::{Selection, Target, TargetError, Workshop};
use thiserror::Error;

use crate::benchmark::Benchmark;
use crate::live_target::{LiveTarget, target_record};

/// Size of the data files where nothing speaks against it: twice the last-level cache of most
/// machines, and small enough to be renewed for every block.
const DATA_FILE_BYTES: u64 = 64 << 20;
const DATA_FILE_BYTES_MIN: u64 = 1 << 20;
/// Room for the directories of the file sets.
const DIRECTORIES_BYTES: u64 = 48 << 20;

/// Live targets in their workshop.
#[derive(Debug)]
pub struct Testbed {
    /// The targets.
    pub live: Vec<LiveTarget>,
    /// Where they were made.
    pub workshop: Workshop,
}

/// Why data files cannot have the size that is asked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataFileError {
    /// A target does not say how much room it has.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// They do not fit on a target.
    #[error(
        "three files of {} MiB do not fit on {label}, which has {room}: give a smaller \
         --size{or_more_room}",
        mebibytes(*bytes)
    )]
    TooLarge {
        /// The size that was asked for.
        bytes: u64,
        /// The label of the target.
        label: String,
        /// What it has free.
        room: Room,
        /// What would give it more, as a second suggestion.
        or_more_room: &'static str,
    },
    /// They would be too small for the largest request.
    #[error("the files must hold at least one request of 1 MiB: give a larger --size")]
    TooSmall,
    /// A target has no space for any.
    #[error("files of 1 MiB do not fit on {label}, which has {room}: make room{or_more_room}")]
    NoRoom {
        /// The label of the target.
        label: String,
        /// What it has free.
        room: Room,
        /// What would give it more.
        or_more_room: &'static str,
    },
    /// A target's memory limit is so low that no file would stay in memory.
    #[error(
        "files of 1 MiB are more than an eighth of the memory that {label} may use: give it more \
         (memory=8m or more), or name a --size"
    )]
    LittleMemory {
        /// The label of the target.
        label: String,
    },
}

/// A target's free space, and how much of it is for things other than data files.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    free_bytes: u64,
    directories_bytes: u64,
}

impl Room {
    fn for_data_files(self) -> u64 {
        self.free_bytes.saturating_sub(self.directories_bytes)
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB free", mebibytes(self.free_bytes))?;
        if self.directories_bytes > 0 {
            let directories = mebibytes(self.directories_bytes);
            write!(f, ", and directories of small files take {directories} MiB")?;
        }
        Ok(())
    }
}

/// `1.5`, `48`.
fn mebibytes(bytes: u64) -> String {
    let text = format!("{:.1}", bytes as f64 / 1_048_576.0);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

impl Testbed {
    /// Makes the targets. The process must still be single-threaded.
    ///
    /// # Errors
    /// What failed, after everything made has been removed again.
    pub fn make(selection: Selection) -> Result<Self, TargetError> {
        let (workshop, made) = selection.make()?;
        Ok(Self { live: made.into_iter().map(LiveTarget::new).collect(), workshop })
    }

    /// What a run records of the targets.
    #[must_use]
    pub fn records(&self) -> Vec<TargetRecord> {
        self.live.iter().map(target_record).collect()
    }

    /// The size of the data files: as asked if it fits; otherwise what every target has room for
    /// after what else `benchmarks` need.
    ///
    /// # Errors
    /// There is no room for them, or the size asked for is too small to be measured.
    pub fn data_file_bytes(
        &self,
        asked: Option<u64>,
        benchmarks: &[Benchmark],
    ) -> Result<u64, DataFileError> {
        if asked.is_some_and(|bytes| bytes < DATA_FILE_BYTES_MIN) {
            return Err(DataFileError::TooSmall);
        }
        let have_directories = !benchmarks.iter().all(Benchmark::has_data_files_alone);
        let directories_bytes = if have_directories { DIRECTORIES_BYTES } else { 0 };
        let mut fits = DATA_FILE_BYTES;
        for live in &self.live {
            let target = live.target();
            let room = Room { free_bytes: target.space()?.free_bytes, directories_bytes };
            let (label, or_more_room) = (target.spec().label.clone(), live.or_more_room());
            let left_bytes = room.for_data_files();
            let (fitting, share) = (left_bytes / 4, memory_share(target));
            match asked {
                Some(bytes) if bytes.saturating_mul(3) > left_bytes => {
                    return Err(DataFileError::TooLarge { bytes, label, room, or_more_room });
                }
                None if whole(fitting) == 0 => {
                    return Err(DataFileError::NoRoom { label, room, or_more_room });
                }
                None if whole(share) == 0 => return Err(DataFileError::LittleMemory { label }),
                Some(_) | None => fits = fits.min(fitting).min(share),
            }
        }
        Ok(whole(asked.unwrap_or(fits)))
    }

    /// Removes the targets and waits until nothing of them is left.
    ///
    /// # Errors
    /// Something could not be removed.
    pub fn close(live: Vec<LiveTarget>, workshop: Workshop) -> Result<(), TargetError> {
        let closed: Vec<_> = live.into_iter().map(LiveTarget::close).collect();
        workshop.close()?;
        closed.into_iter().collect()
    }
}

/// Rounded down to a multiple of the largest request.
fn whole(bytes: u64) -> u64 {
    bytes / DATA_FILE_BYTES_MIN * DATA_FILE_BYTES_MIN
}

/// An eighth of the target's memory limit: three files (one read, one written, one for an
/// experiment) should stay in memory along with directories.
fn memory_share(target: &Target) -> u64 {
    target.facts().conditions.limits.memory_bytes.map_or(u64::MAX, |bytes| bytes / 8)
}
