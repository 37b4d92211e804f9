//! What can go wrong with a run directory.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;
use thiserror::Error;

/// Why a run directory cannot be made, read or continued.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The directory for a new run is not empty.
    #[error(
        "{path} is not empty: name another run directory with --out, or continue with --resume"
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The cache traffic in a run's directory is incomplete or belongs to another run.
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
    /// A file of the run has invalid content.
    #[error("{path}, line {line}: {why}: the run directory is damaged")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A value in the manifest is impossible.
    #[error("{path}: {why}: the run directory is damaged")]
    Implausible {
        /// The file.
        path: PathBuf,
        /// Which value, and what it should be.
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
    /// The disk of the run directory is too full for a run to begin.
    #[error(
        "the disk of the run directory {path} is full, so no run was begun: free some space, or \
         choose another disk with --out"
    )]
    NoRoom {
        /// The file that could not be written.
        path: PathBuf,
    },
    /// A file next to those of a run cannot be written; the run is complete without it.
    #[error("{path} cannot be written: {source}")]
    Beside {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A line was not written because it would not be readable.
    #[error(
        "{path}: a line was not written, because it could not be read again ({why}); what was \
         measured before is kept"
    )]
    NotReadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Any other failure of reading or writing.
    #[error("cannot {action} {path}: {source}{}", advice(.source))]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

/// What helps against a failure, as the end of a sentence; empty if another directory would fail in
/// the same way.
fn advice(source: &io::Error) -> &'static str {
    match Errno::from_io_error(source) {
        Some(Errno::MFILE | Errno::NFILE) => "; raise the limit on open files (`ulimit -n`)",
        Some(Errno::NOMEM | Errno::INTR | Errno::NOSYS) => "",
        _ => "; choose another run directory with --out",
    }
}

/// Why something cannot be taken into a run's directory.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TakeInError {
    /// There is nothing to take in, with the reason.
    #[error("{0}")]
    NotFilled(String),
    /// The directory cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl RecordError {
    /// Adds the path to an I/O error, and gives a full disk its own variant.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_directory_is_advised_only_where_it_would_help() {
        let of = |errno: Errno| RecordError::io("make", "run")(errno.into()).to_string();
        assert!(of(Errno::ACCESS).ends_with("--out"), "{}", of(Errno::ACCESS));
        assert!(of(Errno::MFILE).ends_with("(`ulimit -n`)"), "{}", of(Errno::MFILE));
        assert!(!of(Errno::NOMEM).contains("--out"), "{}", of(Errno::NOMEM));
    }
}
