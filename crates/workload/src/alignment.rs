//! How requests of direct I/O must be aligned.

use std::fmt;

/// Where an alignment comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlignmentSource {
    /// `statx(2)` reported it for the file.
    Statx,
    /// The file system does not report it, but its source code has one rule for all its files.
    FileSystem,
    /// The file system does not report it; this is the logical block size of the underlying device.
    LogicalBlock,
}

impl fmt::Display for AlignmentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Statx => "statx",
            Self::FileSystem => "the file system's rule",
            Self::LogicalBlock => "the device's logical block",
        })
    }
}

/// What direct I/O on a file requires of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DirectAlignment {
    /// Buffers begin at multiples of this.
    pub memory_bytes: u64,
    /// Offsets and sizes of writes are multiples of this.
    pub offset_bytes: u64,
    /// Offsets and sizes of reads are multiples of this, which is at most `offset_bytes`.
    pub read_offset_bytes: u64,
    /// Where these values come from.
    pub source: AlignmentSource,
}

impl DirectAlignment {
    pub(crate) fn same(bytes: u64, source: AlignmentSource) -> Self {
        let (memory_bytes, offset_bytes, read_offset_bytes) = (bytes, bytes, bytes);
        Self { memory_bytes, offset_bytes, read_offset_bytes, source }
    }

    /// The alignment for a file that is only read.
    pub(crate) fn for_reads(self) -> Self {
        Self { offset_bytes: self.read_offset_bytes, ..self }
    }
}
