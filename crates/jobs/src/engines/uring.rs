//! `io_uring`, as fio uses it: one call to submit, one to wait.

use rustix::fd::AsRawFd;
use rustix::io::Errno;

use super::asynchronous::errno;
use super::synchronous::other;
use super::{Answer, Call, Completion, Engine, Request};
use crate::edge::memory::Span;
use crate::edge::ring::{Ring, RingEntry, RingKind, RingSetup};
use job_offsets::Direction;

use crate::plan::{EngineOptions, JobPlan};

const NO_WAIT: i32 = 0x8;

pub(super) struct Uring {
    ring: Ring,
    depth: usize,
    queued: usize,
    options: EngineOptions,
    is_vectored: bool,
    /// What operations have without one of their own: a thread of the kernel that submits them
    /// does not have the job's.
    priority: u16,
    prepared: u32,
    /// Descriptors that are registered, by file.
    registered: Vec<Option<i32>>,
    taken: Vec<(u64, i32)>,
}

impl Uring {
    pub(super) fn new(plan: &JobPlan, buffers: &[Span]) -> Result<Self, Errno> {
        let (depth, options) = (plan.depth.depth, plan.engine_options);
        let setup = RingSetup {
            depth,
            polls_completions: options.high_priority,
            kernel_polls: options.kernel_polls,
            kernel_polls_on: options.kernel_polls_on,
        };
        let wrong = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        let ring = Ring::new(setup).map_err(wrong)?;
        if options.fixed_buffers {
            ring.register_buffers(buffers).map_err(wrong)?;
        }
        let is_vectored = options.is_vectored.unwrap_or(!ring.has_plain_transfers());
        Ok(Self {
            ring,
            depth: depth as usize,
            queued: 0,
            options,
            is_vectored,
            priority: plan.process.io_priority.unwrap_or(0),
            prepared: 0,
            registered: Vec::new(),
            taken: Vec::new(),
        })
    }

    fn kind(&mut self, request: &Request<'_>, is_write: bool) -> RingKind {
        let (index, span) = (request.unit as usize, request.span);
        if self.options.fixed_buffers {
            let index = u16::try_from(index).expect("the kernel registers no more buffers");
            return match is_write {
                true => RingKind::WriteFixed(span, index),
                false => RingKind::ReadFixed(span, index),
            };
        }
        match (self.is_vectored, is_write) {
            (false, true) => RingKind::Write(span),
            (false, false) => RingKind::Read(span),
            (true, is_write) => {
                self.ring.set_vector(index, span);
                if is_write { RingKind::WriteVector(index) } else { RingKind::ReadVector(index) }
            }
        }
    }

    /// Whether the next operation is for a thread of the kernel.
    fn is_async(&mut self) -> bool {
        if self.options.force_async == 0 {
            return false;
        }
        self.prepared = (self.prepared + 1) % self.options.force_async;
        self.prepared == 0
    }
}

impl Engine for Uring {
    fn is_synchronous(&self) -> bool {
        false
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        if self.queued == self.depth {
            return Answer::Busy;
        }
        let kind = match request.call {
            Call::Transfer(Direction::Trim) => {
                if self.queued > 0 {
                    return Answer::Busy;
                }
                return Answer::Complete(other(request, |_, _, _| Err(Errno::INVAL)));
            }
            Call::Transfer(Direction::Read) => self.kind(request, false),
            Call::Transfer(Direction::Write) => self.kind(request, true),
            Call::Sync => RingKind::Sync,
            Call::DataSync => RingKind::DataSync,
            Call::SyncRange { bytes, flags, .. } => {
                RingKind::SyncRange { bytes: u32::try_from(bytes).unwrap_or(u32::MAX), flags }
            }
        };
        let offset = match request.call {
            Call::Transfer(_) => request.offset,
            Call::Sync | Call::DataSync => 0,
            Call::SyncRange { offset, .. } => offset,
        };
        let Ok(file) = request.file.open() else { return Answer::Complete(Err(Errno::BADF)) };
        let (index, number) = (request.file.index, file.as_raw_fd());
        let is_registered = self.registered.get(index).is_some_and(|one| *one == Some(number));
        let entry = RingEntry {
            kind,
            file: match (is_registered, i32::try_from(index)) {
                (true, Ok(index)) => index,
                (true, Err(_)) | (false, _) => number,
            },
            is_registered,
            offset,
            rw_flags: if self.options.no_wait { NO_WAIT } else { 0 },
            priority: request.priority.unwrap_or(self.priority),
            is_async: self.is_async(),
            data: u64::from(request.unit),
        };
        if !self.ring.push(entry) {
            return Answer::Busy;
        }
        self.queued += 1;
        Answer::Queued
    }

    fn commit(&mut self) -> Result<usize, Errno> {
        let mut taken = 0;
        while self.queued > 0 {
            match self.ring.submit() {
                Ok(count) => {
                    taken += count;
                    self.queued -= count;
                }
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::INTR) => {}
                    // Completions have to be taken first.
                    Some(Errno::AGAIN | Errno::BUSY) => break,
                    Some(why) => return Err(why),
                    None => return Err(Errno::IO),
                },
            }
        }
        Ok(taken)
    }

    fn reap(&mut self, least: usize, most: usize, into: &mut Vec<Completion>) -> Result<(), Errno> {
        self.taken.clear();
        let mut has_called = false;
        loop {
            let before = self.taken.len();
            self.ring.take(most - before, &mut self.taken);
            if self.taken.len() >= most || (self.taken.len() >= least && has_called) {
                break;
            }
            if self.taken.len() > before && self.taken.len() >= least {
                break;
            }
            let missing = least.saturating_sub(self.taken.len());
            match self.ring.wait(missing) {
                Ok(()) => has_called = true,
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::INTR | Errno::AGAIN) => {}
                    Some(why) => return Err(why),
                    None => return Err(Errno::IO),
                },
            }
        }
        into.extend(self.taken.drain(..).map(|(data, result)| Completion {
            unit: u32::try_from(data).expect("it was queued with the number of a unit"),
            moved: match usize::try_from(result) {
                Ok(bytes) => Ok(bytes),
                Err(_) => Err(errno(i64::from(result))),
            },
        }));
        Ok(())
    }

    fn register(&mut self, files: &[i32]) -> Result<(), Errno> {
        if self.options.registered_files {
            let wrong = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
            self.ring.register_files(files).map_err(wrong)?;
            self.registered = files.iter().copied().map(Some).collect();
        }
        Ok(())
    }

    fn close(&mut self, file: usize) {
        if let Some(registered) = self.registered.get_mut(file) {
            *registered = None;
        }
    }
}
