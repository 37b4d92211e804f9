//! What a line of a log says.

/// The version of a log's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IologVersion {
    /// Without times; lines may wait.
    Two,
    /// With a time on each line.
    Three,
}

impl IologVersion {
    /// What the first line begins with.
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Two => "fio version 2 iolog",
            Self::Three => "fio version 3 iolog",
        }
    }
}

/// An operation on a file that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoKind {
    /// `read`
    Read,
    /// `write`
    Write,
    /// `trim`
    Trim,
    /// `sync`: fsync(2).
    Sync,
    /// `datasync`: fdatasync(2).
    Datasync,
    /// `sync_file_range`: written by fio, ignored when it replays.
    SyncFileRange,
}

impl IoKind {
    /// Its name in logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Sync => "sync",
            Self::Datasync => "datasync",
            Self::SyncFileRange => "sync_file_range",
        }
    }
}

/// What a line of a log says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'line> {
    /// When, in microseconds since the log was begun; version 2 has none.
    pub time_us: Option<u64>,
    /// The file's name. It has no blanks.
    pub name: &'line [u8],
    /// What is done.
    pub action: EntryAction,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// The file is made known.
    Add,
    /// The file is opened.
    Open,
    /// The file is closed.
    Close,
    /// Nothing is done until so many milliseconds after fio began; only in version 2. There is a
    /// file's name on the line, which means nothing.
    Wait {
        /// Until when.
        until_ms: u64,
    },
    /// An operation.
    Io {
        /// Which.
        kind: IoKind,
        /// Where it begins, in bytes.
        offset: u64,
        /// How many bytes. What fio writes for syncs is 0.
        length: u32,
    },
}
