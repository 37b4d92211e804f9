//! What is measured on: the live targets, and the workshop in which they were made.

use record::TargetRecord;
use targets::{Selection, Target, TargetError, Workshop};
use thiserror::Error;

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
        "three files of {bytes} bytes do not fit on {label}, which has {free_bytes} bytes for \
         them: give a smaller --size{}",
        or_more_room
    )]
    TooLarge {
        /// The size that was asked for.
        bytes: u64,
        /// The label of the target.
        label: String,
        /// What it has free.
        free_bytes: u64,
        /// What would give it more, behind what to make smaller.
        or_more_room: &'static str,
    },
    /// They would not hold the largest request.
    #[error("the files must hold at least one request of 1 MiB: give a larger --size")]
    TooSmall,
    /// A target has no room for any.
    #[error("a target has no room for files of 1 MiB: make room, or give it a larger size=")]
    NoRoom,
}

impl Testbed {
    /// Makes the targets. The process must still have one thread.
    ///
    /// # Errors
    /// What failed, with all that was made removed again.
    pub fn make(selection: Selection) -> Result<Self, TargetError> {
        let (workshop, made) = selection.make()?;
        Ok(Self { live: made.into_iter().map(LiveTarget::new).collect(), workshop })
    }

    /// What a run records of the targets.
    #[must_use]
    pub fn records(&self) -> Vec<TargetRecord> {
        self.live.iter().map(target_record).collect()
    }

    /// The size of the data files: as asked if it fits, else what every target has room for.
    ///
    /// # Errors
    /// There is no room for them, or what is asked for is too small to be measured.
    pub fn data_file_bytes(&self, asked: Option<u64>) -> Result<u64, DataFileError> {
        let mut fits = DATA_FILE_BYTES;
        for live in &self.live {
            let target = live.target();
            let free_bytes = target.space()?.free_bytes.saturating_sub(DIRECTORIES_BYTES);
            if let Some(bytes) = asked.filter(|bytes| bytes.saturating_mul(3) > free_bytes) {
                let (label, or_more_room) = (target.spec().label.clone(), live.or_more_room());
                return Err(DataFileError::TooLarge { bytes, label, free_bytes, or_more_room });
            }
            fits = fits.min(free_bytes / 4).min(memory_share(target));
        }
        match asked {
            Some(bytes) if bytes < DATA_FILE_BYTES_MIN => Err(DataFileError::TooSmall),
            Some(bytes) => Ok(whole(bytes)),
            None if whole(fits) == 0 => Err(DataFileError::NoRoom),
            None => Ok(whole(fits)),
        }
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

/// Whole requests of the largest size.
fn whole(bytes: u64) -> u64 {
    bytes / DATA_FILE_BYTES_MIN * DATA_FILE_BYTES_MIN
}

/// An eighth of the target's memory limit: the file that is read, the one that is written and that
/// of an experiment are to stay in memory beside directories.
fn memory_share(target: &Target) -> u64 {
    target.facts().conditions.limits.memory_bytes.map_or(u64::MAX, |bytes| bytes / 8)
}
