//! Why a run ends before its time.

use std::path::PathBuf;
use std::time::Duration;

use record::RecordError;
use thiserror::Error;

use crate::economy;

/// A run could not go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The run directory cannot be written any more.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// There is no time for the least that gives an interval.
    #[error(
        "{} s is too short: an interval takes {} blocks, and those of the quickest benchmark here \
         take about {least_s:.0} s; use --budget {least_s:.0}s or more",
        budget.as_secs_f64(),
        economy::BLOCKS_LEAST
    )]
    Budget {
        /// The budget.
        budget: Duration,
        /// What would do, in seconds.
        least_s: f64,
    },
    /// A search for cliffs is impossible as planned, or was told a value that is none.
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
        /// The file that was written.
        path: PathBuf,
    },
}

impl RunError {
    /// The same of a search, which cannot be resumed.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others stay as they are")]
    pub fn of_search(self) -> Self {
        match self {
            Self::Record(RecordError::DiskFull { path }) => Self::SearchDiskFull { path },
            other => other,
        }
    }
}
