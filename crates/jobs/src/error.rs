//! Why jobs cannot be done.

use std::io;
use std::path::PathBuf;

use job_files::{JobFileError, Place};

/// Why a job cannot be planned or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The job file is none.
    #[error(transparent)]
    File(JobFileError),
    /// Something of fio that is not supported.
    #[error("{place}: `{option}` is not supported: {why}; instead: {instead}")]
    Unsupported {
        /// Where it is asked for.
        place: Place,
        /// The option, perhaps with its value.
        option: String,
        /// Why not.
        why: String,
        /// The nearest that is.
        instead: String,
    },
    /// A value, or several together, that cannot be.
    #[error("{place}: `{option}`: {why}")]
    Wrong {
        /// Where.
        place: Place,
        /// The option.
        option: String,
        /// Why.
        why: String,
    },
    /// Files cannot be made as the job needs them.
    #[error("{job}: {}: {what}: {source}", path.display())]
    Files {
        /// The job.
        job: String,
        /// The file.
        path: PathBuf,
        /// What was done.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The job as a whole cannot be.
    #[error("{job}: {why}")]
    Job {
        /// The job.
        job: String,
        /// Why.
        why: String,
    },
}
