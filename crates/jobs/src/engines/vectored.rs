//! `vsync`: operations that follow each other in a file are done by one call.

use rustix::fd::{AsRawFd, BorrowedFd, RawFd};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use super::synchronous::other;
use super::{Answer, Call, Completion, Engine, Request};
use crate::edge::calls;
use crate::edge::memory::Span;
use job_offsets::Direction;

/// Requests that are collected until one does not follow.
pub(super) struct Vectored {
    depth: usize,
    queued: Vec<(u32, Span)>,
    /// Where the next request has to begin, of which file, in which direction.
    next: Option<(u64, usize, Direction)>,
    from: u64,
    file: Option<rustix::fd::OwnedFd>,
    descriptor: RawFd,
    done: Vec<Completion>,
}

impl Vectored {
    pub(super) fn new(depth: u32) -> Self {
        Self {
            depth: depth as usize,
            queued: Vec::new(),
            next: None,
            from: 0,
            file: None,
            descriptor: -1,
            done: Vec::new(),
        }
    }

    fn add(&mut self, request: &Request<'_>, direction: Direction) {
        self.queued.push((request.unit, request.span));
        let end = request.offset + request.span.length() as u64;
        self.next = Some((end, request.file.index, direction));
    }

    /// Keeps a descriptor of its own of the file, since requests only lend theirs.
    fn hold(&mut self, file: BorrowedFd<'_>) -> Result<(), Errno> {
        if self.descriptor != file.as_raw_fd() || self.file.is_none() {
            self.file = Some(rustix::io::fcntl_dupfd_cloexec(file, 0)?);
            self.descriptor = file.as_raw_fd();
        }
        Ok(())
    }

    fn finish(&mut self, moved: Result<usize, Errno>) {
        let mut left = moved;
        for (unit, span) in self.queued.drain(..) {
            let own = left.map(|bytes| bytes.min(span.length()));
            if let (Ok(bytes), Ok(own)) = (&mut left, own) {
                *bytes -= own;
            }
            self.done.push(Completion { unit, moved: own });
        }
    }
}

impl Engine for Vectored {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let Call::Transfer(direction @ (Direction::Read | Direction::Write)) = request.call else {
            if !self.queued.is_empty() {
                return Answer::Busy;
            }
            return Answer::Complete(other(request, |_, _, _| Err(Errno::INVAL)));
        };
        let follows = self.next == Some((request.offset, request.file.index, direction));
        if !self.queued.is_empty() && (!follows || self.queued.len() == self.depth) {
            return Answer::Busy;
        }
        if self.queued.is_empty() {
            self.from = request.offset;
            let held = request.file.open().and_then(|file| self.hold(file));
            if let Err(why) = held {
                return Answer::Complete(Err(why));
            }
        }
        self.add(request, direction);
        Answer::Queued
    }

    fn commit(&mut self) -> Result<usize, Errno> {
        let (Some((_, _, direction)), Some(file)) = (self.next, &self.file) else { return Ok(0) };
        let count = self.queued.len();
        if count == 0 {
            return Ok(0);
        }
        let spans: Vec<Span> = self.queued.iter().map(|(_, span)| *span).collect();
        let moved = seek(file, SeekFrom::Start(self.from)).and_then(|_| match direction {
            Direction::Read => calls::readv(rustix::fd::AsFd::as_fd(file), &spans),
            Direction::Write | Direction::Trim => {
                calls::writev(rustix::fd::AsFd::as_fd(file), &spans)
            }
        });
        self.finish(moved);
        Ok(count)
    }

    fn reap(
        &mut self,
        least: usize,
        _most: usize,
        into: &mut Vec<Completion>,
    ) -> Result<(), Errno> {
        if least > 0 {
            into.append(&mut self.done);
        }
        Ok(())
    }

    fn close(&mut self, _file: usize) {
        self.file = None;
        self.descriptor = -1;
        self.next = None;
    }
}
