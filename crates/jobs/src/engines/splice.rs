//! `splice`: pages go through a pipe.

use job_offsets::Direction;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};

use super::synchronous::other;
use super::{Answer, Engine, Request};
use crate::edge::calls::{self, Moved};
use crate::edge::memory::Span;

/// What goes through the pipe at once, in bytes: what it holds.
const PIPE_BYTES: usize = 64 << 10;

pub(super) struct Splice {
    from: OwnedFd,
    into: OwnedFd,
}

impl Splice {
    pub(super) fn new() -> Result<Self, Errno> {
        let (from, into) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { from, into })
    }

    fn read(&self, file: BorrowedFd<'_>, mut span: Span, mut offset: u64) -> Moved {
        let all = span.length();
        while span.length() > 0 {
            let most = span.length().min(PIPE_BYTES);
            let moved = splice(file, Some(&mut offset), &self.into, None, most, SpliceFlags::MORE)?;
            if moved == 0 {
                break;
            }
            let mut left = moved;
            while left > 0 {
                let read = calls::read_at_most(rustix::fd::AsFd::as_fd(&self.from), span, left)?;
                span = span.after(read);
                left -= read;
            }
        }
        Ok(all - span.length())
    }

    fn write(&self, file: BorrowedFd<'_>, mut span: Span, mut offset: u64) -> Moved {
        let all = span.length();
        while span.length() > 0 {
            let lent = calls::lend_pages(rustix::fd::AsFd::as_fd(&self.into), span)?;
            span = span.after(lent);
            let mut left = lent;
            while left > 0 {
                let moved =
                    splice(&self.from, None, file, Some(&mut offset), left, SpliceFlags::empty())?;
                left -= moved;
            }
        }
        Ok(all)
    }
}

impl Engine for Splice {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let offset = request.offset;
        Answer::Complete(other(request, |file, direction, span| match direction {
            Direction::Read => self.read(file, span, offset),
            Direction::Write | Direction::Trim => self.write(file, span, offset),
        }))
    }
}
