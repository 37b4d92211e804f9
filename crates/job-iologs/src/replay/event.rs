//! What a replay executes, one step after another.

use std::time::Duration;

/// Which file of a replay: an index into [`Replay::files`](super::Replay::files).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIndex(pub(super) u32);

impl FileIndex {
    /// # Panics
    ///
    /// With more files than 2^32.
    pub(crate) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("names of so many files do not fit into memory"))
    }

    /// The index.
    #[must_use]
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A step of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayEvent {
    /// When it is due, since the replay began: never before that of the event before it. None if
    /// it is due at once: in a log of version 2, or without stalls.
    ///
    /// Whoever waits until this time, rather than for the time between two events, is not late
    /// with every event that follows a late one.
    pub at: Option<Duration>,
    /// What is done.
    pub action: ReplayAction,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayAction {
    /// Nothing until then. Since the whole run began, not since the replay did, as in fio.
    WaitUntil {
        /// Until when.
        since_run_began: Duration,
    },
    /// A file is opened.
    Open(FileIndex),
    /// A file is closed.
    Close(FileIndex),
    /// Bytes are read.
    Read(Extent),
    /// Bytes are written.
    Write(Extent),
    /// Bytes are trimmed.
    Trim(Extent),
    /// A file's data and metadata become durable: fsync(2).
    Sync(FileIndex),
    /// A file's data become durable: fdatasync(2).
    Datasync(FileIndex),
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The file.
    pub file: FileIndex,
    /// Where the part begins, in bytes.
    pub offset: u64,
    /// How many bytes it has.
    pub length: u32,
}

impl Extent {
    /// Where it ends, in bytes.
    #[must_use]
    pub fn end(self) -> u64 {
        self.offset.saturating_add(u64::from(self.length))
    }
}
