//! Choosing operations and handing them to the engine.

use job_offsets::{Choice, Direction, Next, SyncKind};
use measure::Clock;

use super::source::Operations;
use super::{Failure, Worker};
use crate::contents::scramble;
use crate::engines::{Answer, Call, Request};

/// What became of an attempt to issue an operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Issued {
    /// An operation was issued: that of bytes in this direction, or a sync.
    Unit(Option<Direction>),
    /// None can be now: completions come first.
    Wait,
    /// There is none.
    Nothing,
}

impl Worker<'_> {
    /// Issues the next operation.
    pub(super) fn issue_next(&mut self) -> Issued {
        let unit = match self.again.pop() {
            Some(unit) => unit,
            None => match self.choose() {
                Ok(unit) => unit,
                Err(issued) => return issued,
            },
        };
        self.issue(unit)
    }

    /// Fills a free unit with what comes next.
    fn choose(&mut self) -> Result<u32, Issued> {
        if self.free.is_empty() {
            return Err(Issued::Wait);
        }
        if self.checks.is_some()
            && let Some(unit) = self.backlogged()
        {
            return Ok(unit);
        }
        if let Some(pace) = &self.pace
            && pace.is_ahead()
            && self.depth() > 0
        {
            // Nothing may wait unseen while the job sleeps.
            self.quiesce();
            if self.failure.is_some() {
                return Err(Issued::Nothing);
            }
        }
        if let Operations::Logged(_) = self.operations {
            return self.choose_logged();
        }
        if !self.is_synchronous {
            self.operations.note(self.completions);
        }
        self.files.close_beside();
        let choice = match &mut self.pace {
            None => self.operations.next(&mut self.files),
            Some(pace) => {
                let stop = self.control.stop_flag();
                self.operations.next_paced(&mut self.files, &mut |way| pace.wait(way, stop))
            }
        };
        if !self.files.changes.is_empty() {
            self.tell_of_changes();
        }
        if !self.files.timed_ns.is_empty() {
            self.note_operations_by_name();
        }
        if self.files.error.is_some() {
            let error = self.files.error.take().expect("it is there");
            self.fail(error.into());
            return Err(Issued::Nothing);
        }
        match choice {
            Choice::Wait => Err(Issued::Wait),
            Choice::PassEnd => Err(Issued::Nothing),
            Choice::Sync { file, kind } => Ok(self.fill_with_sync(file, kind)),
            Choice::Transfer(next) => Ok(self.fill_with_transfer(next)),
        }
    }

    fn note_operations_by_name(&mut self) {
        let only_writes = self.plan.writes() && !self.plan.reads();
        let direction = if only_writes { Direction::Write } else { Direction::Read };
        for took_ns in std::mem::take(&mut self.files.timed_ns) {
            self.account.completed_by_name(direction, took_ns);
        }
    }

    pub(super) fn fill_with_sync(&mut self, file: usize, kind: SyncKind) -> u32 {
        let call = match kind {
            SyncKind::Fsync => Call::Sync,
            SyncKind::Fdatasync => Call::DataSync,
            SyncKind::SyncFileRange => {
                let (from, to) = self.files.files[file].written.unwrap_or((0, 0));
                let flags = self.plan.syncs.range_flags;
                Call::SyncRange { offset: from, bytes: to - from, flags }
            }
        };
        self.completions.syncs_in_flight += 1;
        self.fill(call, file, 0, 0)
    }

    pub(super) fn fill_with_transfer(&mut self, next: Next) -> u32 {
        let length = usize::try_from(next.length_bytes).expect("a block fits into memory");
        let call = Call::Transfer(next.direction);
        let unit = self.fill(call, next.file, next.offset_bytes, length);
        if let Some(pace) = &self.pace {
            let own = &mut self.units[unit as usize];
            own.intended = pace.intended(next.direction, own.started);
        }
        match (next.direction, &mut self.checks) {
            (Direction::Write, Some(_)) => self.fill_to_be_verified(unit, length),
            (Direction::Write, None) => self.fill_buffer(unit, length),
            (Direction::Read, Some(checks)) => checks.reads(unit, next.offset_bytes),
            (Direction::Read | Direction::Trim, _) => {}
        }
        unit
    }

    pub(super) fn fill(&mut self, call: Call, file: usize, offset: u64, length: usize) -> u32 {
        let unit = self.free.pop().expect("the caller has looked");
        self.files.take(file);
        let started = if self.account.reads_clock() { self.clock.start() } else { 0 };
        let own = &mut self.units[unit as usize];
        (own.call, own.file, own.offset, own.length) = (call, file, offset, length);
        (own.done, own.started, own.intended) = (0, started, started);
        (own.is_logged, own.has_drawn, own.priority) = (false, false, None);
        unit
    }

    fn fill_buffer(&mut self, unit: u32, length: usize) {
        let buffers = &self.plan.buffers;
        if self.moves_no_bytes {
            return;
        }
        if buffers.refills {
            self.contents.fill_block(self.memory.bytes_mut(unit as usize, length));
        } else if buffers.scrambles && buffers.compress_percent == 0 {
            let own = &self.units[unit as usize];
            let time_ns = self.clock.nanos(own.started);
            scramble(self.memory.bytes_mut(unit as usize, length), own.offset, time_ns);
        }
    }

    /// Hands a unit to the engine.
    pub(super) fn issue(&mut self, unit: u32) -> Issued {
        self.draw_priority(unit);
        let own = &mut self.units[unit as usize];
        let direction = own.direction();
        if self.is_synchronous {
            // Nothing happens between the beginning of such an operation and its call, but where a
            // buffer was filled.
            let is_filled = direction == Some(Direction::Write) || own.done > 0;
            own.issued = match is_filled && self.account.reads_clock() {
                true => self.clock.start(),
                false => own.started,
            };
        }
        let own = *own;
        let length = if self.moves_no_bytes { 0 } else { own.length };
        let span = match self.moves_no_bytes {
            true => self.memory.unbacked(own.length - own.done),
            false => self.memory.span(unit as usize, length).after(own.done),
        };
        let request = Request {
            unit,
            call: own.call,
            file: self.files.files[own.file].open_file(own.file),
            offset: own.offset + own.done as u64,
            span,
            priority: own.priority,
        };
        if let Some(trace) = self.trace.as_mut().filter(|_| !own.is_logged) {
            trace.issues(own.file, own.call, request.offset, own.length - own.done);
            self.units[unit as usize].is_logged = true;
        }
        let answer = self.engine.queue(&request);
        match answer {
            Answer::Busy => {
                self.again.push(unit);
                self.commit();
                Issued::Wait
            }
            Answer::Queued => {
                self.count_issued(direction, own.length - own.done, own.done == 0);
                self.queued.push_back(unit);
                if self.queued.len() >= self.plan.depth.batch as usize {
                    self.commit();
                }
                Issued::Unit(direction)
            }
            Answer::Complete(moved) => {
                self.count_issued(direction, own.length - own.done, own.done == 0);
                self.account.result.depths.add(self.depth_shown(), 1);
                self.account.result.submitted.add(1);
                self.account.result.completed.add(1);
                let now = if self.account.reads_clock() { self.clock.end() } else { 0 };
                if !self.is_synchronous {
                    self.units[unit as usize].issued = own.started;
                }
                self.complete(unit, moved, now);
                Issued::Unit(direction)
            }
        }
    }

    fn depth_shown(&self) -> u32 {
        u32::try_from(self.depth()).unwrap_or(u32::MAX)
    }

    fn count_issued(&mut self, direction: Option<Direction>, bytes: usize, is_first: bool) {
        match direction {
            Some(direction) => {
                if is_first {
                    let way = super::account::shown(direction);
                    self.account.result.directions[way].ios += 1;
                    if let Some(think) = &mut self.think {
                        think.issued += 1;
                    }
                }
                if let Some(pace) = &mut self.pace {
                    pace.issued(direction, bytes as u64);
                }
            }
            None => self.account.result.sync.ios += u64::from(is_first),
        }
    }

    /// Hands what the engine has queued to the kernel.
    pub(super) fn commit(&mut self) {
        if self.queued.is_empty() {
            return;
        }
        let waiting = self.queued.len();
        self.account.result.depths.add(self.depth_shown(), waiting as u64);
        match self.engine.commit() {
            Ok(taken) => {
                let now = if self.account.reads_clock() { self.clock.start() } else { 0 };
                self.account.result.submitted.add(u32::try_from(taken).unwrap_or(u32::MAX));
                for unit in self.queued.drain(..taken) {
                    let own = &mut self.units[unit as usize];
                    if !self.is_synchronous {
                        own.issued = now;
                        self.account.submitted(own);
                    }
                }
                self.in_flight += taken;
            }
            Err(errno) => self.fail(Failure::new(errno, "io commit")),
        }
    }
}
