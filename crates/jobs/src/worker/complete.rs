//! Taking completions, and what becomes of operations that are complete, partly so, or failed.

use job_offsets::Direction;
use measure::Clock;
use rustix::fs::fsync;
use rustix::io::Errno;

use super::target::Next;
use super::{Failure, Worker, shown_path};
use crate::control::Stage;
use crate::edge::calls::Moved;
use crate::plan::ErrorOf;

impl Worker<'_> {
    /// Waits for as many completions as the job wants, and for one at least if its queue is full or
    /// `must` says so.
    pub(super) fn wait_for_completions(&mut self, must: bool) {
        let plan = self.plan.depth;
        let is_full = must || self.is_queue_full();
        let mut least = (plan.complete_min as usize).min(self.depth());
        if (is_full && least == 0) || plan.complete_min == 0 {
            least = usize::from(is_full || plan.complete_min > 0);
        }
        loop {
            if !self.reap(least) || self.failure.is_some() {
                return;
            }
            if !(is_full && self.depth() > plan.low as usize) {
                return;
            }
        }
    }

    /// Takes completions, at least so many; false if there are none to wait for.
    pub(super) fn reap(&mut self, least: usize) -> bool {
        if least > 0 {
            self.commit();
        }
        if self.in_flight == 0 {
            return false;
        }
        let least = least.min(self.in_flight);
        let most = (self.plan.depth.complete_max as usize).max(least).max(1).min(self.in_flight);
        let mut completions = std::mem::take(&mut self.taken);
        if let Err(errno) = self.engine.reap(least, most, &mut completions) {
            self.fail(Failure::new(errno, "td_io_getevents"));
            self.taken = completions;
            return false;
        }
        let count = completions.len();
        self.in_flight -= count;
        self.account.result.completed.add(u32::try_from(count).unwrap_or(u32::MAX));
        if count > 0 {
            let now = if self.account.reads_clock() { self.clock.end() } else { 0 };
            for completion in completions.drain(..) {
                self.complete(completion.unit, completion.moved, now);
            }
        }
        self.taken = completions;
        true
    }

    /// Waits for all that is in flight.
    pub(super) fn quiesce(&mut self) {
        self.commit();
        while self.in_flight > 0 && self.failure.is_none() {
            self.reap(1);
        }
    }

    /// Ends what is queued or in flight, also after a failure.
    pub(super) fn drain(&mut self) {
        self.commit();
        while self.in_flight > 0 {
            if !self.reap(self.in_flight) {
                break;
            }
        }
        self.note_findings(true);
        // What moved a part, and has not been issued again, is given up.
        for unit in std::mem::take(&mut self.again) {
            self.release(unit);
        }
    }

    fn release(&mut self, unit: u32) {
        self.files.release(self.units[unit as usize].file);
        if !self.files.changes.is_empty() {
            self.tell_of_changes();
        }
        self.free.push(unit);
    }

    /// An operation is done, or part of it.
    pub(super) fn complete(&mut self, unit: u32, moved: Moved, now: u64) {
        let own = self.units[unit as usize];
        let Some(direction) = own.direction() else {
            self.complete_sync(unit, moved, now);
            return;
        };
        match moved {
            Err(errno) => self.complete_wrongly(unit, direction, errno),
            Ok(bytes) if own.done + bytes >= own.length => {
                self.complete_wholly(unit, direction, now);
            }
            Ok(0) => {
                self.complete_wrongly(unit, direction, Errno::IO);
            }
            Ok(bytes) => {
                self.account.result.directions[super::account::shown(direction)].short_ios += 1;
                let file = &self.files.files[own.file];
                let done = own.done + bytes;
                let is_at_end = file.bytes == Some(own.offset + done as u64);
                self.units[unit as usize].done = done;
                self.units[unit as usize].has_drawn = false;
                if is_at_end {
                    self.units[unit as usize].length = done;
                    self.complete_wholly(unit, direction, now);
                } else {
                    self.again.push(unit);
                }
            }
        }
    }

    fn complete_sync(&mut self, unit: u32, moved: Moved, now: u64) {
        let own = self.units[unit as usize];
        self.completions.last_was_sync = true;
        self.completions.syncs_in_flight -= 1;
        match moved {
            Ok(_) => {
                self.files.files[own.file].written = None;
                self.account.synced(&own, now);
            }
            Err(errno) => {
                let path = shown_path(&self.files.files[own.file].path);
                self.fail(Failure::new(errno, format!("sync({path})")));
            }
        }
        self.release(unit);
    }

    fn complete_wholly(&mut self, unit: u32, direction: Direction, now: u64) {
        let own = self.units[unit as usize];
        self.completions.last_was_sync = false;
        let bytes = own.length as u64;
        let verifies = self.checks.as_ref().is_some_and(|checks| checks.verifies(unit));
        if !(verifies && self.plan.writes()) {
            self.pass_bytes[direction as usize] += bytes;
        }
        if direction == Direction::Write {
            self.files.files[own.file].note_written(own.offset, own.offset + bytes);
        }
        self.account.completed(&own, direction, now);
        self.control.count(direction, bytes);
        let limit_us = self.plan.latency_max_us;
        if limit_us > 0 {
            let took_ns = self.clock.nanos(now.saturating_sub(own.started));
            if took_ns > limit_us * 1000 {
                self.fail(Failure::new(Errno::TIMEDOUT, "max latency exceeded"));
            }
        }
        if let Some(think) = &mut self.think {
            think.completed += 1;
        }
        if let Some(target) = &mut self.target {
            let took_ns = self.clock.nanos(now.saturating_sub(own.started));
            let next = target.observe(took_ns);
            self.heed(next);
        }
        if let Some(checks) = &mut self.checks {
            checks.last_was_read = direction == Direction::Read;
            if direction == Direction::Write {
                checks.wrote(unit, own.file, own.offset);
            }
            self.check(unit);
        }
        self.release(unit);
    }

    fn complete_wrongly(&mut self, unit: u32, direction: Direction, errno: Errno) {
        let own = self.units[unit as usize];
        if let Some(checks) = &mut self.checks {
            checks.failed(unit);
        }
        let of = match direction {
            Direction::Read => ErrorOf::Read,
            Direction::Write | Direction::Trim => ErrorOf::Write,
        };
        let continues = self.plan.errors.goes_on(of, errno.raw_os_error());
        let path = shown_path(&self.files.files[own.file].path);
        let place = format!("offset={}, buflen={}", own.offset, own.length);
        let what = super::account::shown(direction).name();
        let is_full = matches!(errno, Errno::NOSPC | Errno::DQUOT);
        if is_full && self.plan.files.fill_device {
            self.has_run_out = true;
        } else if continues {
            self.go_on_after(errno);
            if self.plan.errors.are_printed {
                let why = super::error_word(errno);
                let text = format!("fio: io_u error on file {path}: {why}: {what} {place}");
                self.control.complain(text);
            }
        } else {
            let text = format!("io_u error on file {path}: {what} {place}");
            self.fail(Failure::new(errno, text));
        }
        self.release(unit);
    }

    /// Counts an error that does not end the job.
    pub(super) fn go_on_after(&mut self, errno: Errno) {
        self.errors.total += 1;
        if self.errors.first == 0 {
            self.errors.first = errno.raw_os_error();
        }
    }

    /// Looks whether latencies are still below their target.
    pub(super) fn check_latencies(&mut self) {
        let done = self.account.operations();
        if let Some(target) = &mut self.target {
            let next = target.look(&self.clock, done);
            self.heed(next);
        }
    }

    fn heed(&mut self, next: Option<Next>) {
        match next {
            Some(Next::GoOn) => {}
            Some(Next::Quiesce) => self.must_quiesce = true,
            Some(Next::CountAnew) => {
                self.quiesce();
                self.count_anew();
            }
            Some(Next::End) => self.has_run_out = true,
            None => self.fail(Failure::new(Errno::TIMEDOUT, "latency target cannot be met")),
        }
    }

    /// Makes all files durable, if the job wants that.
    pub(super) fn sync_at_end(&mut self) {
        let syncs = self.plan.syncs;
        if !self.plan.writes() || !(syncs.at_end || syncs.at_close) || self.failure.is_some() {
            return;
        }
        let before = self.control.stage();
        self.control.set_stage(Stage::Syncing);
        for file in 0..self.files.files.len() {
            let own = &self.files.files[file];
            let done = match own.descriptor() {
                Some(open) => fsync(open),
                None if own.path.exists() => {
                    std::fs::File::open(&own.path).map_or(Ok(()), |open| fsync(&open))
                }
                None => Ok(()),
            };
            match done {
                Ok(()) => self.files.files[file].written = None,
                Err(errno) => {
                    let path = shown_path(&own.path);
                    self.fail(Failure::new(errno, format!("end_fsync({path})")));
                }
            }
        }
        self.control.set_stage(before);
    }
}
