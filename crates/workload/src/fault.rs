//! What went wrong in a step: small and never allocating, because the hot loop carries it.

use std::path::Path;

use rustix::io::Errno;

use crate::content::Mismatch;
use crate::error::EngineError;

/// What went wrong in one call of a step. [`crate::Step::explain`] turns it into an error with a
/// path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    call: &'static str,
    kind: FaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultKind {
    Errno { errno: Errno },
    ErrnoAt { errno: Errno, offset_bytes: u64 },
    Short { offset_bytes: u64, wanted_bytes: u64, done_bytes: u64 },
    Content(Mismatch),
    Entries { expected: u64, found: u64 },
}

impl Fault {
    /// The system call `call` failed.
    #[must_use]
    pub fn errno(call: &'static str, errno: Errno) -> Self {
        Self { call, kind: FaultKind::Errno { errno } }
    }

    /// The system call `call` failed for one of many requests in flight.
    pub(crate) fn errno_at(call: &'static str, errno: Errno, offset_bytes: u64) -> Self {
        Self { call, kind: FaultKind::ErrnoAt { errno, offset_bytes } }
    }

    pub(crate) fn short(call: &'static str, offset_bytes: u64, wanted: usize, done: usize) -> Self {
        let (wanted_bytes, done_bytes) = (wanted as u64, done as u64);
        Self { call, kind: FaultKind::Short { offset_bytes, wanted_bytes, done_bytes } }
    }

    pub(crate) fn content(mismatch: Mismatch) -> Self {
        Self { call: "pread", kind: FaultKind::Content(mismatch) }
    }

    pub(crate) fn entries(expected: u64, found: u64) -> Self {
        Self { call: "getdents64", kind: FaultKind::Entries { expected, found } }
    }

    /// The error for this fault when acting on `path`.
    #[must_use]
    pub(crate) fn into_error(self, path: &Path) -> EngineError {
        let operation = self.call;
        match self.kind {
            FaultKind::Errno { errno } => EngineError::from_errno(operation, path, errno),
            FaultKind::ErrnoAt { errno, offset_bytes } => {
                EngineError::from_errno(operation, path, errno).at_offset(errno, offset_bytes)
            }
            FaultKind::Content(mismatch) => EngineError::corrupt(path, mismatch),
            FaultKind::Short { offset_bytes, wanted_bytes, done_bytes } => {
                let path = path.to_path_buf();
                EngineError::ShortTransfer {
                    operation,
                    path,
                    offset_bytes,
                    wanted_bytes,
                    done_bytes,
                }
            }
            FaultKind::Entries { expected, found } => {
                EngineError::WrongEntryCount { path: path.to_path_buf(), expected, found }
            }
        }
    }

    /// Whether the kernel answered with `errno`.
    pub(crate) fn is(self, errno: Errno) -> bool {
        self.kind == FaultKind::Errno { errno }
    }

    /// The system call that failed.
    pub(crate) fn call(self) -> &'static str {
        self.call
    }

    /// Like [`Fault::into_error`], for a file opened with `O_DIRECT`, where EINVAL and EOPNOTSUPP
    /// mean that direct I/O is refused.
    pub(crate) fn into_direct_error(self, path: &Path) -> EngineError {
        match self.kind {
            FaultKind::Errno { errno } => EngineError::from_direct_errno(self.call, path, errno),
            FaultKind::ErrnoAt { errno, offset_bytes } => {
                let error = EngineError::from_direct_errno(self.call, path, errno);
                error.at_offset(errno, offset_bytes)
            }
            FaultKind::Short { .. } | FaultKind::Content(_) | FaultKind::Entries { .. } => {
                self.into_error(path)
            }
        }
    }
}
