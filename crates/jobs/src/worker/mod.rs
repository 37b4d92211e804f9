//! A job at work: one thread that chooses operations, hands them to its engine, and accounts for
//! them.
//!
//! The order of things is that of fio's `do_io`, since what a job does depends on it: when a queue
//! is full, down to which depth it is emptied, when what is queued is handed to the kernel, when
//! the clock is read.

mod account;
mod complete;
mod examine;
mod issue;
mod logged;
mod logs;
mod pace;
mod priorities;
mod source;
mod start;
mod target;
mod think;
mod trace;
mod trims;
mod unit;
mod verify;

use std::path::Path;

use job_offsets::{Completions, Direction};
use job_results::{JobError as ResultError, JobResult, LatencyGoal};
use measure::{Clock, SystemClock};
use rustix::io::Errno;

use crate::contents::Contents;
use crate::control::{JobControl, Stage};
use crate::edge::memory::{IoMemory, LockedMemory};
use crate::edge::thread::{Usage, usage};
use crate::engines::{Completion, Engine};
use crate::files::{Change, FileError, Table, remove};
use crate::pages::PageCounts;
use crate::plan::JobPlan;
use account::Account;
use issue::Issued;
use pace::Pace;
use priorities::Priorities;
use source::Operations;
use target::Target;
use think::Think;
use trace::Trace;
use unit::Unit;
use verify::Checks;

pub(crate) use start::Start;

/// Why a job has to end.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) errno: Errno,
    /// What was done, and to what.
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(errno: Errno, text: impl Into<String>) -> Self {
        Self { errno, text: text.into() }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let errno = Errno::from_io_error(&error.source).unwrap_or(Errno::IO);
        Self::new(errno, format!("{}({})", error.what, error.path.display()))
    }
}

/// A job at work. The engine is dropped before the memory that it moves bytes from and to.
#[expect(clippy::struct_excessive_bools, reason = "each says something else about the job")]
pub(crate) struct Worker<'a> {
    plan: &'a JobPlan,
    name: &'a str,
    control: &'a JobControl,
    clock: SystemClock,
    files: Table,
    operations: Operations,
    is_synchronous: bool,
    engine: Box<dyn Engine + Send>,
    memory: IoMemory,
    _locked: Option<LockedMemory>,
    moves_no_bytes: bool,
    contents: Contents,
    units: Vec<Unit>,
    free: Vec<u32>,
    /// Units that have to be issued again, the last first.
    again: Vec<u32>,
    /// Units that the engine has taken and not yet handed on.
    queued: std::collections::VecDeque<u32>,
    /// Units that are with the kernel.
    in_flight: usize,
    taken: Vec<Completion>,
    /// What those who choose are told of what has completed.
    completions: Completions,
    account: Account,
    priorities: Option<Priorities>,
    pace: Option<Pace>,
    think: Option<Think>,
    checks: Option<Box<Checks>>,
    trace: Option<Box<Trace>>,
    number: u32,
    thread_number: u32,
    target: Option<Target>,
    /// The depth has been lowered: what is in flight has to end.
    must_quiesce: bool,
    failure: Option<Failure>,
    errors: job_results::ErrorCounts,
    /// Bytes of this pass.
    pass_bytes: [u64; 3],
    /// How long each direction was in use, in nanoseconds.
    runtime_ns: [u64; 3],
    pass_started: u64,
    used_before: Usage,
    has_run_out: bool,
}

impl Worker<'_> {
    /// Does all passes, and answers what was done.
    pub(crate) fn run(mut self) -> JobResult {
        self.begin();
        let mut is_again = false;
        while self.failure.is_none() && !self.is_over() && self.begin_pass() {
            self.tell_of_changes();
            if std::mem::replace(&mut is_again, true) && self.plan.files.unlink_each_loop {
                self.unlink_files();
            }
            self.pass_started = self.clock.ticks();
            self.pass_bytes = [0; 3];
            if let Some(checks) = &mut self.checks {
                checks.begin_pass();
            }
            let verifies_only = self.plan.verify.as_ref().is_some_and(|verify| verify.only);
            match verifies_only && self.plan.writes() {
                true => self.pass_without_writing(),
                false => self.pass(),
            }
            self.end_pass();
            if self.pass_bytes.iter().sum::<u64>() == 0 && !self.plan.engine.is_by_name() {
                break;
            }
            self.verify_pass();
        }
        self.finish()
    }

    fn begin_pass(&mut self) -> bool {
        let now = self.clock.ticks();
        self.operations.begin_pass(&mut self.files, now)
    }

    fn begin(&mut self) {
        self.account.restart();
        self.used_before = usage();
        let epoch = self.account.epoch;
        if let Some(pace) = &mut self.pace {
            pace.restart(epoch);
        }
        if let Some(think) = &mut self.think {
            think.restart(epoch);
        }
        if let Some(target) = &mut self.target {
            target.restart(epoch, 0);
        }
        let stage = if self.account.is_on { Stage::Running } else { Stage::Ramp };
        self.control.set_stage(stage);
    }

    fn is_over(&self) -> bool {
        self.has_run_out || self.control.is_stopped()
    }

    /// One pass over the files, until there is nothing more to do, or no more time.
    fn pass(&mut self) {
        loop {
            if self.control.is_stopped() || self.failure.is_some() {
                break;
            }
            if self.has_time_run_out() {
                self.has_run_out = true;
                break;
            }
            if self.control.wants_snapshot() {
                self.tell();
            }
            let issued = self.issue_next();
            if matches!(issued, Issued::Nothing) {
                break;
            }
            let waits = matches!(issued, Issued::Wait) && self.depth() > 0;
            let polls = self.plan.depth.complete_min == 0 && self.plan.depth.complete_max == 0;
            if self.is_queue_full() || waits || polls {
                self.wait_for_completions(waits);
            }
            if self.think.is_some() {
                self.think();
            }
            if let Issued::Unit(None) | Issued::Wait = issued {
                continue;
            }
            self.check_least_rate();
            if std::mem::take(&mut self.must_quiesce) {
                self.quiesce();
            }
            if self.target.is_some() && self.account.is_on {
                self.check_latencies();
            }
        }
        self.drain();
        self.sync_at_end();
    }

    /// Whether nothing more can be issued before something completes.
    fn is_queue_full(&self) -> bool {
        let is_out = self.free.is_empty() && self.again.is_empty();
        is_out || self.target.as_ref().is_some_and(|target| self.depth() >= target.depth as usize)
    }

    /// How many units are not free.
    fn depth(&self) -> usize {
        self.units.len() - self.free.len() - self.again.len()
    }

    fn has_time_run_out(&mut self) -> bool {
        let schedule = &self.plan.schedule;
        if !self.account.is_on {
            let now = self.clock.ticks();
            if self.account.elapsed_ns(now) < schedule.ramp_us * 1000 {
                return false;
            }
            self.end_ramp();
        }
        schedule.runtime_us > 0
            && self.account.elapsed_ns(self.clock.ticks()) / 1000 >= schedule.runtime_us
    }

    fn end_ramp(&mut self) {
        self.account.is_on = true;
        self.count_anew();
    }

    /// Forgets what was counted.
    fn count_anew(&mut self) {
        self.operations.end_ramp(self.depth() as u64);
        self.control.forget_counts();
        self.runtime_ns = [0; 3];
        self.begin();
        self.pass_started = self.account.epoch;
        self.pass_bytes = [0; 3];
    }

    fn end_pass(&mut self) {
        let now = self.clock.ticks();
        let took = self.clock.nanos(now.saturating_sub(self.pass_started));
        for direction in Direction::ALL {
            let done = self.account.result.directions[account::shown(direction)].bytes;
            if self.plan.has(direction) && done > 0 {
                self.runtime_ns[direction as usize] += took;
            }
        }
    }

    fn unlink_files(&mut self) {
        remove(self.plan, &self.files.files);
    }

    /// Tells those who want to know that files have been opened and closed. Engines keep what
    /// belongs to a descriptor, which may come again for another file.
    fn tell_of_changes(&mut self) {
        for change in self.files.changes.drain(..) {
            if let Some(trace) = &mut self.trace {
                trace.changed(change);
            }
            match change {
                Change::Opened(_) => {}
                Change::Closed(file) => self.engine.close(file),
            }
        }
        self.control.set_open_files(self.files.open_count());
    }

    /// Ends the job with an error, the first of which counts.
    fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    fn check_least_rate(&mut self) {
        if !self.account.is_on || !self.plan.rate.demands() {
            return;
        }
        let now = self.clock.ticks();
        let elapsed_ms = self.account.elapsed_ms(now);
        if elapsed_ms < self.plan.rate.cycle_ms {
            return;
        }
        for direction in Direction::ALL.into_iter().filter(|way| self.plan.has(*way)) {
            let way = direction as usize;
            let result = &self.account.result.directions[account::shown(direction)];
            let per_second = |count: u64| count.saturating_mul(1000) / elapsed_ms.max(1);
            let (bytes, operations) = (per_second(result.bytes), per_second(result.ios));
            let rate = &self.plan.rate;
            if bytes < rate.bytes_per_s_min[way] || operations < rate.operations_per_s_min[way] {
                self.fail(Failure::new(Errno::IO, "check_min_rate"));
            }
        }
    }

    fn finish(mut self) -> JobResult {
        self.control.set_stage(Stage::Finishing);
        let now = self.clock.ticks();
        self.account.sample(now);
        let mut used = usage();
        used.add(self.engine.end());
        self.save_verify_state();
        self.files.close_all();
        self.tell_of_changes();
        if let Some(error) = self.files.error.take() {
            self.fail(error.into());
        }
        if let Some(trace) = self.trace.take()
            && let Err(failure) = trace.finish()
        {
            self.fail(failure);
        }
        let mut pages = PageCounts::default();
        self.files.files.iter().for_each(|file| pages.add(file.pages));
        self.control.set_pages(pages);
        if self.plan.files.unlink {
            self.unlink_files();
        }
        if let Some(logs) = self.account.logs.take()
            && let Err(failure) = logs.write(self.account.elapsed_ms(now))
        {
            self.fail(failure);
        }
        let result = std::mem::take(&mut self.account.result);
        self.completed(result, now, used)
    }

    /// A result with what is known besides the counts.
    fn completed(&self, mut result: JobResult, now: u64, used: Usage) -> JobResult {
        for direction in Direction::ALL {
            let runtime = self.runtime_ns[direction as usize].div_ceil(1_000_000);
            result.directions[account::shown(direction)].runtime_ms = runtime;
        }
        result.runtime_ms = self.account.elapsed_ms(now);
        result.latency_goal = self.latency_goal();
        result.errors = self.errors;
        let before = self.used_before;
        result.processor = job_results::ProcessorUsage {
            user_ms: (used.user_us - before.user_us) / 1000,
            system_ms: (used.system_us - before.system_us) / 1000,
            context_switches: used.context_switches - before.context_switches,
            major_faults: used.major_faults - before.major_faults,
            minor_faults: used.minor_faults - before.minor_faults,
        };
        result.error = self.failure.as_ref().map(|failure| ResultError {
            number: failure.errno.raw_os_error(),
            text: error_text(failure),
        });
        result
    }

    /// Tells who asks what has been done so far.
    #[cold]
    fn tell(&mut self) {
        let now = self.clock.ticks();
        let kept = self.runtime_ns;
        self.end_pass();
        let result = self.completed(self.account.result.clone(), now, usage());
        self.runtime_ns = kept;
        self.control.tell(result);
    }
}

impl Worker<'_> {
    /// The depth that was used, and what it was chosen by.
    fn latency_goal(&self) -> LatencyGoal {
        let depth = self.target.as_ref().map_or(self.plan.depth.depth, |target| target.depth);
        match self.plan.latency_target {
            None => LatencyGoal { depth, ..LatencyGoal::default() },
            Some(target) => LatencyGoal {
                depth,
                target_ns: target.target_ns,
                window_us: target.window_us,
                percentile: target.percentile,
            },
        }
    }
}

/// What fio says of an error, without the place in its source.
pub(crate) fn error_text(failure: &Failure) -> String {
    format!("func={}, error={}", failure.text, error_word(failure.errno))
}

/// What the system calls an error.
fn error_word(errno: Errno) -> String {
    let why = std::io::Error::from(errno).to_string();
    why.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The file of a name for messages.
fn shown_path(path: &Path) -> String {
    path.display().to_string()
}
