//! `libaio`: Linux' own asynchronous I/O. Syncs and trims are calls of their own, made when nothing
//! is queued, since the kernel's are not asynchronous everywhere.

use std::thread;
use std::time::{Duration, Instant};

use rustix::fd::AsRawFd;
use rustix::io::Errno;

use super::synchronous::other;
use super::{Answer, Call, Completion, Engine, Request};
use crate::edge::aio::{Context, ControlBlock};
use job_offsets::Direction;

use crate::plan::EngineOptions;

const NO_WAIT: u32 = 0x8;
/// How long the kernel may take nothing before the job fails.
const STALLED: Duration = Duration::from_secs(30);

pub(super) struct Asynchronous {
    context: Context,
    depth: usize,
    in_flight: usize,
    flags: u32,
    reaps_in_memory: bool,
}

impl Asynchronous {
    pub(super) fn new(depth: u32, options: EngineOptions) -> Result<Self, Errno> {
        Ok(Self {
            context: Context::new(depth)?,
            depth: depth as usize,
            in_flight: 0,
            flags: if options.no_wait { NO_WAIT } else { 0 },
            reaps_in_memory: options.userspace_reap,
        })
    }

    fn take(&mut self, least: usize, most: usize, into: &mut Vec<Completion>) -> Moves {
        let found = match self.reaps_in_memory && least == 0 {
            true => match self.context.events_in_memory(most) {
                Some(events) => Ok(events),
                None => return self.take_by_call(least, most, into),
            },
            false => return self.take_by_call(least, most, into),
        };
        found.map(|events| append(events, into)).inspect(|count| self.in_flight -= *count)
    }

    fn take_by_call(&mut self, least: usize, most: usize, into: &mut Vec<Completion>) -> Moves {
        let found = self.context.events(least, most).map(|events| append(events, into));
        found.inspect(|count| self.in_flight -= *count)
    }
}

type Moves = Result<usize, Errno>;

fn append(events: &[crate::edge::aio::Event], into: &mut Vec<Completion>) -> usize {
    into.extend(events.iter().map(|event| Completion {
        unit: u32::try_from(event.data).expect("it was submitted with the number of a unit"),
        moved: match usize::try_from(event.result) {
            Ok(bytes) => Ok(bytes),
            Err(_) => Err(errno(event.result)),
        },
    }));
    events.len()
}

/// The error of a result below 0.
pub(super) fn errno(result: i64) -> Errno {
    Errno::from_raw_os_error(i32::try_from(-result).unwrap_or(libc::EIO))
}

impl Engine for Asynchronous {
    fn is_synchronous(&self) -> bool {
        false
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        if self.context.queued() == self.depth {
            return Answer::Busy;
        }
        let Call::Transfer(direction @ (Direction::Read | Direction::Write)) = request.call else {
            if self.context.queued() > 0 {
                return Answer::Busy;
            }
            return Answer::Complete(other(request, |_, _, _| Err(Errno::INVAL)));
        };
        let Ok(file) = request.file.open() else { return Answer::Complete(Err(Errno::BADF)) };
        let (span, offset) = (request.span, request.offset);
        let is_write = direction == Direction::Write;
        let data = u64::from(request.unit);
        let block = ControlBlock::new(is_write, file.as_raw_fd(), span, offset, data);
        let block = request.priority.map_or(block, |priority| block.with_priority(priority));
        self.context.queue(request.unit as usize, block.with_flags(self.flags));
        Answer::Queued
    }

    fn commit(&mut self) -> Result<usize, Errno> {
        let mut taken = 0;
        let mut stalled: Option<Instant> = None;
        while self.context.queued() > 0 {
            match self.context.submit() {
                Ok(count) => {
                    taken += count;
                    self.in_flight += count;
                    stalled = None;
                }
                Err(Errno::INTR) => stalled = None,
                // Completions have to be taken first.
                Err(Errno::AGAIN | Errno::NOMEM) if self.in_flight > 0 => break,
                Err(Errno::AGAIN) => {
                    let since = *stalled.get_or_insert_with(Instant::now);
                    if since.elapsed() > STALLED {
                        return Err(Errno::AGAIN);
                    }
                    thread::sleep(Duration::from_micros(1));
                }
                Err(why) => return Err(why),
            }
        }
        Ok(taken)
    }

    fn reap(&mut self, least: usize, most: usize, into: &mut Vec<Completion>) -> Result<(), Errno> {
        let mut found = 0;
        loop {
            let missing = least.saturating_sub(found).min(self.in_flight);
            match self.take(missing, most - found, into) {
                Ok(count) => found += count,
                Err(Errno::INTR) => {}
                Err(why) => return Err(why),
            }
            if found >= least || self.in_flight == 0 {
                return Ok(());
            }
        }
    }
}
