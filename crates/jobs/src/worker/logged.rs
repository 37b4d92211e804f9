//! The steps of a log that is replayed: each when it is due.
//!
//! What is due is known since the replay began, not since the last step, so that a replay that was
//! held up catches up, and does not drift.

use std::time::Duration;

use job_iologs::{Extent, FileIndex, Replay, ReplayAction};
use job_offsets::{Direction, FileTable, Next, Opening, SyncKind};
use measure::Clock;
use rustix::io::Errno;

use super::issue::Issued;
use super::source::Operations;
use super::start::memory;
use super::{Failure, Worker};
use crate::files::{FileKind, in_directory, present};
use crate::plan::JobPlan;

/// A log at work.
pub(super) struct Logged {
    steps: Replay,
    /// When the replay began, and all jobs did, in ticks.
    began: u64,
    session_began: u64,
    has_begun: bool,
    /// The largest operation that there is memory for.
    room: usize,
}

/// A sleep may end so much later than it should.
const LATE: Duration = Duration::from_micros(60);
/// How long to sleep at a time, to notice what else happens.
const NAP: Duration = Duration::from_millis(50);
/// How long to sleep while operations are in flight.
const GLANCE: Duration = Duration::from_micros(20);

impl Logged {
    pub(super) fn new(steps: Replay, session_began: u64) -> Self {
        Self { steps, began: 0, session_began, has_begun: false, room: 0 }
    }

    pub(super) fn begin(&mut self, now: u64) -> bool {
        self.began = now;
        !std::mem::replace(&mut self.has_begun, true)
    }
}

/// The next step, taken from its log.
struct Step {
    action: ReplayAction,
    /// When it is due, in ticks.
    due: Option<u64>,
}

impl Worker<'_> {
    /// Takes steps of the log until one is an operation, for which a unit is free.
    pub(super) fn choose_logged(&mut self) -> Result<u32, Issued> {
        loop {
            let Some(step) = self.next_step() else { return Err(Issued::Nothing) };
            if let Some(due) = step.due
                && !self.wait_until(due)
            {
                return Err(Issued::Nothing);
            }
            let unit = self.take_step(step.action);
            if !self.files.changes.is_empty() {
                self.tell_of_changes();
            }
            if let Some(error) = self.files.error.take() {
                self.fail(error.into());
            }
            if self.failure.is_some() {
                return Err(Issued::Nothing);
            }
            if let Some(unit) = unit {
                return Ok(unit);
            }
        }
    }

    fn next_step(&mut self) -> Option<Step> {
        let Operations::Logged(logged) = &mut self.operations else { return None };
        let event = match logged.steps.next()? {
            Ok(event) => event,
            Err(error) => {
                self.fail(Failure::new(Errno::INVAL, format!("read_iolog: {error}")));
                return None;
            }
        };
        let after = |began: u64, time: Duration| {
            let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            began.saturating_add(self.clock.ticks_of(ns))
        };
        let due = if let ReplayAction::WaitUntil { since_run_began } = event.action {
            Some(after(logged.session_began, since_run_began))
        } else {
            event.at.map(|at| after(logged.began, at))
        };
        Some(Step { action: event.action, due })
    }

    /// Does what needs no unit, or fills one.
    fn take_step(&mut self, action: ReplayAction) -> Option<u32> {
        match action {
            ReplayAction::WaitUntil { .. } => None,
            ReplayAction::Open(file) => {
                let file = self.known(file)?;
                match self.files.open(file) {
                    // Why not is in `files.error`.
                    Opening::Opened | Opening::Failed | Opening::TooManyOpen => None,
                }
            }
            ReplayAction::Close(file) => {
                let file = self.known(file)?;
                self.files.close(file);
                None
            }
            ReplayAction::Read(extent) => self.transfer(Direction::Read, extent),
            ReplayAction::Write(extent) => self.transfer(Direction::Write, extent),
            ReplayAction::Trim(extent) => self.transfer(Direction::Trim, extent),
            ReplayAction::Sync(file) => Some(self.fill_with_sync(file.get(), SyncKind::Fsync)),
            ReplayAction::Datasync(file) => {
                Some(self.fill_with_sync(file.get(), SyncKind::Fdatasync))
            }
        }
    }

    fn transfer(&mut self, direction: Direction, extent: Extent) -> Option<u32> {
        if let Err(failure) = self.make_room(extent.length as usize) {
            self.fail(failure);
            return None;
        }
        Some(self.fill_with_transfer(Next {
            file: extent.file.get(),
            direction,
            offset_bytes: extent.offset,
            length_bytes: u64::from(extent.length),
        }))
    }

    /// The number of a file. Those that a log in chunks has added meanwhile are made known.
    fn known(&mut self, file: FileIndex) -> Option<usize> {
        match self.learn_files() {
            Ok(()) => Some(file.get()),
            Err(failure) => {
                self.fail(failure);
                None
            }
        }
    }

    fn learn_files(&mut self) -> Result<(), Failure> {
        let Operations::Logged(logged) = &self.operations else { return Ok(()) };
        let known = self.files.files.len();
        for added in logged.steps.files().get(known..).unwrap_or_default() {
            let path = in_directory(self.plan, &added.name, self.number);
            let file = present(self.plan, path)?;
            if file.kind == FileKind::BlockDevice {
                let path = file.path.display();
                let text = format!("read_iolog: {path} is a device; add it where the log begins");
                return Err(Failure::new(Errno::PERM, text));
            }
            self.files.add(file);
            self.engine.add_file();
        }
        Ok(())
    }

    /// Makes operations of this length possible: how long they are is not known in advance of a log
    /// that is read in chunks.
    fn make_room(&mut self, length: usize) -> Result<(), Failure> {
        let Operations::Logged(logged) = &mut self.operations else { return Ok(()) };
        let room = logged.room.max(largest(self.plan));
        if length <= room || self.moves_no_bytes {
            return Ok(());
        }
        logged.room = length;
        if self.plan.engine_options.fixed_buffers {
            let text = format!("read_iolog: fixedbufs= needs bs={length} at least");
            return Err(Failure::new(Errno::INVAL, text));
        }
        self.quiesce();
        self.memory = memory(self.plan, false, length)?;
        for unit in 0..self.units.len() {
            self.contents.fill_block(self.memory.bytes_mut(unit, length));
        }
        Ok(())
    }

    /// Waits, and takes completions meanwhile. False if the job is over before.
    fn wait_until(&mut self, due: u64) -> bool {
        loop {
            let now = self.clock.ticks();
            if now >= due {
                return true;
            }
            if self.control.is_stopped() || self.failure.is_some() {
                return false;
            }
            if self.has_time_run_out() {
                self.has_run_out = true;
                return false;
            }
            if self.control.wants_snapshot() {
                self.tell();
            }
            self.commit();
            let glances = self.in_flight > 0;
            if glances {
                self.reap(0);
                self.issue_again();
            }
            let left = Duration::from_nanos(self.clock.nanos(due - now));
            match left.checked_sub(LATE) {
                Some(left) => std::thread::sleep(left.min(if glances { GLANCE } else { NAP })),
                None => std::hint::spin_loop(),
            }
        }
    }

    /// Issues the rest of operations of which a part was moved.
    fn issue_again(&mut self) {
        while let Some(unit) = self.again.pop() {
            if let Issued::Wait = self.issue(unit) {
                return;
            }
        }
    }
}

fn largest(plan: &JobPlan) -> usize {
    usize::try_from(plan.offsets.block_bytes_max()).unwrap_or(usize::MAX)
}
