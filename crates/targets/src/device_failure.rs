//! Why a device of ours fails, although the file system on it is not to blame.

use std::path::PathBuf;

/// Why every write, or every request, of a target's device fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceFailure {
    /// The scratch directory has no room left for the part of the image that is not allocated yet.
    FullScratch(PathBuf),
    /// The process that delays the requests of this target's device has ended.
    NoServer {
        /// The target's label.
        label: String,
    },
}

impl DeviceFailure {
    /// What to do before anything is measured again, followed by `then`.
    #[must_use]
    pub fn advice(&self, then: &str) -> String {
        match self {
            Self::FullScratch(_) => format!("free some space there, then {then}"),
            Self::NoServer { .. } => then.to_owned(),
        }
    }
}

impl std::fmt::Display for DeviceFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::FullScratch(directory) => {
                write!(formatter, "{}, which holds the images, is full", directory.display())
            }
            Self::NoServer { label } => write!(
                formatter,
                "the device of {label} fails every request, since the process that delays them \
                 (fsprism-slow-device) has ended or was killed"
            ),
        }
    }
}
