//! `falloc` and `ftruncate`: space is allocated, freed and cut off, and no bytes are moved.

use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::io::Errno;

use super::synchronous::{other, punch};
use super::{Answer, Call, Engine, Request};
use job_offsets::Direction;

/// Reads allocate and keep the size, writes allocate, trims punch holes.
pub(super) struct Allocate;

impl Engine for Allocate {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let (offset, length) = (request.offset, request.span.length());
        let bytes = length as u64;
        let done = |direction| {
            let file = request.file.open()?;
            match direction {
                Direction::Read => fallocate(file, FallocateFlags::KEEP_SIZE, offset, bytes),
                Direction::Write => fallocate(file, FallocateFlags::empty(), offset, bytes),
                Direction::Trim => punch(file, offset, bytes),
            }
        };
        Answer::Complete(match request.call {
            Call::Transfer(direction) => done(direction).map(|()| length),
            Call::Sync | Call::DataSync | Call::SyncRange { .. } => {
                other(request, |_, _, _| Err(Errno::INVAL))
            }
        })
    }
}

/// Writes set the size.
pub(super) struct Truncate;

impl Engine for Truncate {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let length = request.span.length();
        Answer::Complete(match request.call {
            Call::Transfer(Direction::Write) => request
                .file
                .open()
                .and_then(|file| ftruncate(file, request.offset))
                .map(|()| length),
            Call::Transfer(Direction::Read | Direction::Trim) => Err(Errno::INVAL),
            Call::Sync | Call::DataSync | Call::SyncRange { .. } => {
                other(request, |_, _, _| Err(Errno::INVAL))
            }
        })
    }
}
