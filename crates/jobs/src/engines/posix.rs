//! `posixaio`: POSIX asynchronous I/O.

use job_offsets::Direction;
use rustix::fd::AsRawFd;
use rustix::io::Errno;

use super::synchronous::other;
use super::{Answer, Call, Completion, Engine, Request};
use crate::edge::posix::{Blocks, PosixCall};

pub(super) struct Posix {
    blocks: Blocks,
    /// Operations that have begun since the last commit.
    begun: usize,
}

impl Posix {
    pub(super) fn new(depth: u32) -> Self {
        Self { blocks: Blocks::new(depth), begun: 0 }
    }
}

impl Engine for Posix {
    fn is_synchronous(&self) -> bool {
        false
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        let call = match request.call {
            Call::Transfer(Direction::Read) => PosixCall::Read(request.span),
            Call::Transfer(Direction::Write) => PosixCall::Write(request.span),
            Call::Sync => PosixCall::Sync,
            Call::DataSync => PosixCall::DataSync,
            Call::Transfer(Direction::Trim) | Call::SyncRange { .. } => {
                if self.blocks.in_flight() > 0 {
                    return Answer::Busy;
                }
                return Answer::Complete(other(request, |_, _, _| Err(Errno::INVAL)));
            }
        };
        let Ok(file) = request.file.open() else { return Answer::Complete(Err(Errno::BADF)) };
        match self.blocks.begin(request.unit, file.as_raw_fd(), call, request.offset) {
            Ok(()) => {
                self.begun += 1;
                Answer::Queued
            }
            Err(Errno::AGAIN) if self.blocks.in_flight() > 0 => Answer::Busy,
            Err(why) => Answer::Complete(Err(why)),
        }
    }

    fn commit(&mut self) -> Result<usize, Errno> {
        Ok(std::mem::take(&mut self.begun))
    }

    fn reap(&mut self, least: usize, most: usize, into: &mut Vec<Completion>) -> Result<(), Errno> {
        let mut found = 0;
        loop {
            let done = |unit, moved| into.push(Completion { unit, moved });
            found += self.blocks.take(most - found, done);
            if found >= least || self.blocks.in_flight() == 0 {
                return Ok(());
            }
            self.blocks.wait();
        }
    }
}
