//! What can go wrong with a run directory.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A run directory cannot be made, read or continued.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The directory for a new run holds something already.
    #[error(
        "{path} is not empty: name another run directory with --out, or continue with --resume"
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// What was counted of caches is not whole, or is of another run than the one it lies in.
    #[error("{path} is not whole, or was not counted beside this run: remove it")]
    NotItsTraffic {
        /// The directory.
        path: PathBuf,
    },
    /// There is no manifest where a run was expected.
    #[error("{path} is not a run directory: it has no manifest.json")]
    NotARun {
        /// The directory.
        path: PathBuf,
    },
    /// Somebody has removed the run directory that is being written to, or part of it.
    #[error("{path} was removed during the run, along with what was measured: begin a new run")]
    Removed {
        /// The directory, or the file in it.
        path: PathBuf,
    },
    /// The run was written by a newer program.
    #[error(
        "{path} has schema version {found}, but this fsprism reads only up to {known}: use a newer \
         fsprism"
    )]
    NewerSchema {
        /// The directory.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The newest one known here.
        known: u32,
    },
    /// A file of the run does not hold what it should.
    #[error("{path}, line {line}: {why}: the run directory is damaged")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A figure of the manifest is none that a run can have.
    #[error("{path}: {why}: the run directory is damaged")]
    Implausible {
        /// The file.
        path: PathBuf,
        /// Which, and what it should be.
        why: String,
    },
    /// Another process is writing to the run.
    #[error(
        "{path} is being written by another fsprism: wait for it, or name another run directory"
    )]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// The disk of the run directory is full.
    #[error(
        "the disk of the run directory {path} is full: what was measured so far is kept; free some \
         space and continue with --resume, or choose another disk with --out"
    )]
    DiskFull {
        /// The file being written.
        path: PathBuf,
    },
    /// Any other failure of reading or writing.
    #[error("cannot {action} {path}: {source}; choose another run directory with --out")]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

/// Something cannot be taken into a run's directory.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TakeInError {
    /// There is nothing to take in, and why.
    #[error("{0}")]
    NotFilled(String),
    /// The directory cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl RecordError {
    /// Gives an input/output error its place, and a full disk its own variant.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { action, path, source },
        }
    }
}
