//! Why a run ends early.

use std::path::PathBuf;
use std::time::Duration;

use record::RecordError;
use thiserror::Error;

use crate::economy;

/// Why a run could not go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The run directory can no longer be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The budget is too short for even one interval.
    #[error(
        "{} s is too short: an interval takes {} blocks, and those of the quickest benchmark here \
         take about {least_s:.0} s; use --budget {least_s:.0}s or more",
        budget.as_secs_f64(),
        economy::BLOCKS_MIN
    )]
    Budget {
        /// The budget.
        budget: Duration,
        /// A sufficient budget, in seconds.
        least_s: f64,
    },
    /// A search for cliffs cannot be carried out as planned, or was given an invalid value.
    #[error("the search for cliffs: {0}; choose another range with --low and --high")]
    Search(#[from] stats::Refusal),
    /// The disk of a search's run directory is full.
    #[error(
        "the disk of the run directory {} is full: what the search found so far is kept, and \
         `fsprism report` shows it; free some space and begin the search again, or choose another \
         disk with --out",
        path.display()
    )]
    SearchDiskFull {
        /// The file that was being written.
        path: PathBuf,
    },
}

impl RunError {
    /// Turns a full disk into the message for a search, which cannot be resumed.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others stay as they are")]
    pub fn for_search(self) -> Self {
        match self {
            Self::Record(RecordError::DiskFull { path }) => Self::SearchDiskFull { path },
            other => other,
        }
    }
}
