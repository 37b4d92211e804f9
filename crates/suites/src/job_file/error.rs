//! Why a job file cannot be a suite.

use std::io;
use std::path::PathBuf;

use jobs::JobError;
use textual::size;

/// Why a job file cannot be executed on targets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobFileRefusal {
    /// A job is wrong, or cannot be done.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The file cannot be read.
    #[error("the job file {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something that a job cannot have here.
    #[error("job {job}: {what}; {instead}")]
    NotOnTargets {
        /// The job.
        job: String,
        /// What it is.
        what: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// Jobs that are in several places.
    #[error("the jobs are in several directories ({directories}): name one of them as TARGET")]
    SeveralDirectories {
        /// Which.
        directories: String,
    },
    /// The files are too large.
    #[error(
        "the job file needs {} of files and {label} has {} free: give a smaller size= or \
             nrfiles={or_more_room}",
        size(*needed_bytes as f64, 3),
        size(*free_bytes as f64, 3)
    )]
    NoRoom {
        /// Bytes of all files.
        needed_bytes: u64,
        /// The target.
        label: String,
        /// What it has free.
        free_bytes: u64,
        /// What would give it more, as a second suggestion.
        or_more_room: &'static str,
    },
}
