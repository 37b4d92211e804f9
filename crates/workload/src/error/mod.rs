//! What can go wrong while a file set is made or a workload runs.
//!
//! Every error has the operation and the path; errors of the kernel have their error number too.
//! Errors that users can fix (a full file system, a failing device, a read-only mount) have their
//! own variants, so that the message can say how.

mod uring;
mod workload;

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::alignment::DirectAlignment;
use crate::content::Mismatch;
use crate::io_path::CallFlags;

pub use uring::UringRefusal;
pub use workload::WorkloadError;

/// What the user can do about a call that is refused although others are allowed.
fn advice(source: &io::Error) -> &'static str {
    match Errno::from_io_error(source) {
        Some(Errno::PERM | Errno::NOSYS) => {
            "; if a container's filter of system calls (seccomp) blocks it, allow it there"
        }
        _ => "",
    }
}

/// Why a file set could not be made or a workload could not be completed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The processor's counters could not be read.
    #[error(transparent)]
    Counters(#[from] measure::CountersError),
    /// A worker process returned no result.
    #[error("a worker process failed: {message}")]
    Worker {
        /// What it reported, or what was observed.
        message: String,
    },
    /// ENOSPC or EDQUOT: the target is full.
    #[error(
        "{operation} {}: no space left ({source}); give the target more room (`size=` of a scratch \
         target) or ask for a smaller working set", path.display()
    )]
    NoSpace {
        /// The system call that failed.
        operation: &'static str,
        /// The file or directory it was called on.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// EIO: the device failed, or the file system is inconsistent.
    #[error(
        "{operation} {}: the device failed ({source}); check the kernel log before measuring this \
         target again", path.display()
    )]
    DeviceFailed {
        /// The system call that failed.
        operation: &'static str,
        /// The file or directory it was called on.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// EROFS: the target is mounted read-only, or became so after an error.
    #[error(
        "{operation} {}: the file system is read-only ({source}); mount it read-write or name \
         another target", path.display()
    )]
    ReadOnly {
        /// The system call that failed.
        operation: &'static str,
        /// The file or directory it was called on.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// EMFILE or ENFILE: the process may not have as many files open as the workload needs.
    #[error(
        "{operation} {}: too many open files ({source}); raise the limit (`ulimit -n`) or use \
         fewer files, threads or directories", path.display()
    )]
    TooManyOpenFiles {
        /// The system call that failed.
        operation: &'static str,
        /// The file or directory it was called on.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The file system does not support direct I/O, or not with this request size and alignment.
    #[error(
        "{operation} {}: the file system refuses O_DIRECT here ({source}); use the buffered I/O \
         path, or a request size that is a multiple of the device's logical block", path.display()
    )]
    DirectIoRefused {
        /// The system call that failed.
        operation: &'static str,
        /// The file it was called on.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// EOPNOTSUPP: the kernel or the file system does not support a flag of the call, or not here.
    #[error(
        "{operation} {}: the kernel or this file system does not support all of {flags} here \
         ({source}); leave them out or name another target", path.display()
    )]
    FlagsRefused {
        /// The system call that failed.
        operation: &'static str,
        /// The file it was called on.
        path: PathBuf,
        /// The flags it was given.
        flags: CallFlags,
        /// The kernel's error.
        source: io::Error,
    },
    /// `RWF_HIPRI` on a device that does not poll: the kernel would accept the flag and ignore it.
    #[error(
        "{}: its device does not poll ({state}), so RWF_HIPRI would have no effect; turn polling \
         on in /sys/block/DEVICE/queue/io_poll or leave the flag out", path.display()
    )]
    NoPolling {
        /// The file.
        path: PathBuf,
        /// What is known about the device.
        state: &'static str,
    },
    /// A file is shorter than the span to be mapped.
    #[error(
        "{}: it has {found_bytes} bytes, but {span_bytes} must be mapped; make the file set \
         again", path.display()
    )]
    FileTooShort {
        /// The file.
        path: PathBuf,
        /// The length to be mapped.
        span_bytes: u64,
        /// The length of the file.
        found_bytes: u64,
    },
    /// The file system has no direct I/O for the file, or does not report its requirements.
    #[error(
        "{}: {file_system} {reason}; use a buffered I/O path or name another target",
        path.display()
    )]
    NoDirectIo {
        /// The file.
        path: PathBuf,
        /// The type of the file system, as in `/proc/self/mountinfo`.
        file_system: String,
        /// What is missing.
        reason: &'static str,
    },
    /// The workload's requests do not meet the file's alignment for direct I/O.
    #[error(
        "{}: direct I/O here needs sizes and offsets that are multiples of {} bytes, and memory \
         aligned to {} bytes (from {}); requests of {request_bytes} bytes at multiples of \
         {granule_bytes} do not meet this: change the request size or the alignment",
        path.display(), alignment.offset_bytes, alignment.memory_bytes, alignment.source
    )]
    DirectAlignment {
        /// The file.
        path: PathBuf,
        /// The request size.
        request_bytes: u64,
        /// Requests begin at multiples of this.
        granule_bytes: u64,
        /// What the file requires for this kind of transfer.
        alignment: DirectAlignment,
    },
    /// Any other error of the kernel.
    #[error("{operation} {}: {source}{}", path.display(), advice(source))]
    System {
        /// The system call that failed.
        operation: &'static str,
        /// The file or directory it was called on.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A transfer stopped early, and continuing it moved nothing.
    #[error(
        "{operation} {}: only {done_bytes} of {wanted_bytes} bytes at offset {offset_bytes}; the \
         file is shorter than the file set says: make the file set again", path.display()
    )]
    ShortTransfer {
        /// The system call that was short.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Where the request began.
        offset_bytes: u64,
        /// The size of the request.
        wanted_bytes: u64,
        /// How many bytes were moved.
        done_bytes: u64,
    },
    /// Verification found bytes other than those written.
    #[error(
        "{}: wrong content at offset {offset_bytes}: expected byte {expected:#04x}, found \
         {found:#04x}; the target does not return what was written to it", path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The first byte that differs.
        offset_bytes: u64,
        /// The byte that the content function gives.
        expected: u8,
        /// The byte that was read.
        found: u8,
    },
    /// The data on the device differ from the file's.
    #[error(
        "{}: the data at offset {offset_bytes} differ from those on the device at the place that \
         the file system reports, so nothing was written there; is something else using the \
         target?", path.display()
    )]
    Elsewhere {
        /// The file.
        path: PathBuf,
        /// The offset in the file of the request whose data differ.
        offset_bytes: u64,
    },
    /// A directory does not have as many entries as the file set says.
    #[error(
        "{}: {found} entries, but the file set has {expected}; something else changed the \
         directory: make the file set again", path.display()
    )]
    WrongEntryCount {
        /// The directory.
        path: PathBuf,
        /// The number of entries according to the file set.
        expected: u64,
        /// The number of entries found.
        found: u64,
    },
    /// The description asks for something that cannot be executed.
    #[error("the workload cannot run: {0}")]
    Workload(#[from] WorkloadError),
    /// The stop flag was raised while the file set was being made.
    #[error("stopped while the file set was being made")]
    Stopped,
    /// The I/O path is io_uring, which cannot be used here.
    #[error("the io_uring path cannot be used: {0}")]
    Uring(#[from] UringRefusal),
    /// `run` was called twice on one session.
    #[error("the session has already run; prepare another")]
    AlreadyRun,
}

impl EngineError {
    /// A worker process could not be started, or exited abnormally.
    pub(crate) fn from_worker(error: &std::io::Error) -> Self {
        Self::Worker { message: error.to_string() }
    }

    /// The error for `operation` on `path`, which failed with `errno`.
    #[must_use]
    pub(crate) fn from_errno(
        operation: &'static str,
        path: impl AsRef<Path>,
        errno: Errno,
    ) -> Self {
        let path = path.as_ref().to_path_buf();
        let source = io::Error::from(errno);
        match errno {
            Errno::NOSPC | Errno::DQUOT => Self::NoSpace { operation, path, source },
            Errno::IO => Self::DeviceFailed { operation, path, source },
            Errno::ROFS => Self::ReadOnly { operation, path, source },
            Errno::MFILE | Errno::NFILE => Self::TooManyOpenFiles { operation, path, source },
            _ => Self::System { operation, path, source },
        }
    }

    /// Like [`EngineError::from_errno`], for a file opened with `O_DIRECT`, where EINVAL and
    /// EOPNOTSUPP mean that direct I/O is refused.
    #[must_use]
    pub(crate) fn from_direct_errno(
        operation: &'static str,
        path: impl AsRef<Path>,
        errno: Errno,
    ) -> Self {
        if matches!(errno, Errno::INVAL | Errno::OPNOTSUPP) {
            let path = path.as_ref().to_path_buf();
            return Self::DirectIoRefused { operation, path, source: io::Error::from(errno) };
        }
        Self::from_errno(operation, path, errno)
    }

    /// The error for a file whose content is not what was written to it.
    pub(crate) fn corrupt(path: &Path, mismatch: Mismatch) -> Self {
        let Mismatch { offset_bytes, expected, found } = mismatch;
        Self::Corrupt { path: path.to_path_buf(), offset_bytes, expected, found }
    }

    /// Adds the offset of the request to the message: with many in flight, the path alone does not
    /// identify it. The kernel's error becomes an [`AtOffset`].
    #[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
    pub(crate) fn at_offset(mut self, errno: Errno, offset_bytes: u64) -> Self {
        match &mut self {
            Self::NoSpace { source, .. }
            | Self::DeviceFailed { source, .. }
            | Self::ReadOnly { source, .. }
            | Self::TooManyOpenFiles { source, .. }
            | Self::DirectIoRefused { source, .. }
            | Self::System { source, .. } => {
                *source = io::Error::new(source.kind(), AtOffset { errno, offset_bytes });
            }
            _ => {}
        }
        self
    }
}

/// The kernel's error for one of many requests in flight: the `source` of an [`EngineError`] in
/// that case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{errno}, for the request at offset {offset_bytes}")]
pub struct AtOffset {
    /// The kernel's error.
    pub errno: Errno,
    /// Where in the file the request began.
    pub offset_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_a_user_can_mend_are_told_apart() {
        let of = |errno| EngineError::from_errno("pwrite", "/t/file", errno);
        assert!(matches!(of(Errno::NOSPC), EngineError::NoSpace { .. }));
        assert!(matches!(of(Errno::DQUOT), EngineError::NoSpace { .. }));
        assert!(matches!(of(Errno::IO), EngineError::DeviceFailed { .. }));
        assert!(matches!(of(Errno::ROFS), EngineError::ReadOnly { .. }));
        assert!(matches!(of(Errno::MFILE), EngineError::TooManyOpenFiles { .. }));
        assert!(matches!(of(Errno::ACCESS), EngineError::System { .. }));
        let direct = EngineError::from_direct_errno("openat", "/t/file", Errno::INVAL);
        assert!(matches!(direct, EngineError::DirectIoRefused { .. }));
    }

    #[test]
    fn the_sentence_names_call_path_reason_and_remedy() {
        let text = EngineError::from_errno("pwrite", "/t/file", Errno::NOSPC).to_string();
        for part in ["pwrite", "/t/file", "No space left", "size="] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }
}
