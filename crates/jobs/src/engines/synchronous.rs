//! Engines whose calls return when the operation is done.

use rustix::fd::BorrowedFd;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, fdatasync, fsync, seek};
use rustix::io::Errno;

use super::{Answer, Call, Engine, OpenFile, Request};
use crate::edge::calls::{self, Moved};
use crate::edge::memory::Span;
use job_offsets::Direction;

use crate::plan::EngineOptions;

const NO_WAIT: u32 = 0x8;
const HIGH_PRIORITY: u32 = 0x1;

/// Everything but reads and writes.
pub(super) fn other(
    request: &Request<'_>,
    transfer: impl FnOnce(BorrowedFd<'_>, Direction, Span) -> Moved,
) -> Moved {
    let file = request.file.open()?;
    match request.call {
        Call::Transfer(Direction::Trim) => trim(request.file, file, request),
        Call::Transfer(direction) => transfer(file, direction, request.span),
        Call::Sync => fsync(file).map(|()| 0),
        Call::DataSync => fdatasync(file).map(|()| 0),
        Call::SyncRange { bytes: 0, .. } => Ok(0),
        Call::SyncRange { offset, bytes, flags } => {
            calls::sync_file_range(file, offset, bytes, flags).map(|()| 0)
        }
    }
}

/// Discards bytes, as fio does: by a request that block devices alone know.
pub(super) fn trim(what: OpenFile<'_>, file: BorrowedFd<'_>, request: &Request<'_>) -> Moved {
    debug_assert_eq!(what.index, request.file.index);
    let length = request.span.length();
    calls::discard(file, request.offset, length as u64).map(|()| length)
}

/// Punches a hole.
pub(super) fn punch(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), Errno> {
    fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length)
}

/// `pread` and `pwrite`.
pub(super) struct ByOffset;

impl Engine for ByOffset {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let offset = request.offset;
        Answer::Complete(other(request, |file, direction, span| match direction {
            Direction::Read => calls::pread(file, span, offset),
            Direction::Write | Direction::Trim => calls::pwrite(file, span, offset),
        }))
    }
}

/// `preadv` and `pwritev`.
pub(super) struct ByVector;

impl Engine for ByVector {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let offset = request.offset;
        Answer::Complete(other(request, |file, direction, span| match direction {
            Direction::Read => calls::preadv(file, span, offset),
            Direction::Write | Direction::Trim => calls::pwritev(file, span, offset),
        }))
    }
}

/// `preadv2` and `pwritev2`.
pub(super) struct WithFlags {
    flags: u32,
    polled_percent: u32,
    operations: u32,
}

impl WithFlags {
    pub(super) fn new(options: EngineOptions) -> Self {
        let polled_percent = if options.high_priority { options.high_priority_percent } else { 0 };
        Self { flags: if options.no_wait { NO_WAIT } else { 0 }, polled_percent, operations: 0 }
    }
}

impl Engine for WithFlags {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let offset = request.offset;
        // 61 has no factor in common with 100, so all numbers below 100 come.
        self.operations = (self.operations + 61) % 100;
        let is_polled = self.operations < self.polled_percent;
        let flags = if is_polled { self.flags | HIGH_PRIORITY } else { self.flags };
        Answer::Complete(other(request, |file, direction, span| match direction {
            Direction::Read => calls::preadv2(file, span, offset, flags),
            Direction::Write | Direction::Trim => calls::pwritev2(file, span, offset, flags),
        }))
    }
}

/// `read` and `write`, after `lseek` if the file's position is another.
pub(super) struct ByPosition {
    positions: Vec<Option<u64>>,
}

impl ByPosition {
    pub(super) fn new(files: usize) -> Self {
        Self { positions: vec![None; files] }
    }
}

impl Engine for ByPosition {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let position = &mut self.positions[request.file.index];
        Answer::Complete(other(request, |file, direction, span| {
            if *position != Some(request.offset) {
                seek(file, SeekFrom::Start(request.offset))?;
            }
            let moved = match direction {
                Direction::Read => calls::read(file, span),
                Direction::Write | Direction::Trim => calls::write(file, span),
            };
            *position = moved.ok().map(|bytes| request.offset + bytes as u64);
            moved
        }))
    }

    fn add_file(&mut self) {
        self.positions.push(None);
    }

    fn close(&mut self, file: usize) {
        // A file that is opened again begins at 0.
        self.positions[file] = None;
    }
}
