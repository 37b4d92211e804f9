//! One probe: memory emptied of the file, the working set read in, operations until they are
//! steady, then those that are timed.
//!
//! What the state *is* follows from the operations; how it was is recorded: the resident pages of
//! the working set before and after, and what the device read meanwhile.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use machine::target::Target;
use machine::target::cache_state::{self, Residency};
use measure::SystemClock;
use record::Warning;
use runner::{Failure, Measured};
use stats::steady_state::{Detector, Rule, SteadyState};
use workload::{EngineError, FileSet, Outcome, Workload};

use crate::counters::{Counters, Happened};
use crate::observed::Observed;
use crate::operations::Operations;
use crate::state;

/// Rounds of operations that are compared to find the steady state. Wider than the SNIA's window:
/// beside a cliff, rounds of any length spread, and it is the trend that must be over.
const ROUND: Duration = Duration::from_millis(25);
const RULE: Rule = Rule { rounds: 4, range_percent_max: 40.0, excursion_percent_max: 20.0 };
/// Rounds after which it is measured all the same, with a warning.
const ROUNDS_MAX: usize = 16;
/// How long operations are timed.
const WINDOW: Duration = Duration::from_millis(300);
/// How long pages that are on their way may take to come, to be thrown out.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a stop of the whole run goes unseen.
const STOP_UNSEEN: Duration = Duration::from_millis(20);

/// What is to be probed, and with what.
#[derive(Debug)]
pub(super) struct Probe<'a> {
    pub(super) of: &'a Operations,
    pub(super) file_set: &'a FileSet,
    pub(super) target: &'a Target,
    pub(super) counters: &'a Counters,
    pub(super) seed: u64,
    pub(super) clock: &'a SystemClock,
    pub(super) stop: &'a AtomicBool,
}

impl Probe<'_> {
    /// Measures it once.
    ///
    /// `buffer` is what the working set is read into: were it made here, it would take its part of
    /// a memory limit just while pages come in, and which of them stay would hang on that.
    pub(super) fn measure(&self, buffer: &mut [u8]) -> Result<Measured, Failure> {
        let began = Instant::now();
        let entered = self.target.enter().map_err(|error| failed(&error))?;
        self.read_in(buffer)?;
        let restless = self.until_steady()?;
        let before = self.resident()?;
        let (outcome, happened) = self.timed()?;
        let after = self.resident()?;
        entered.leave().map_err(|error| failed(&error))?;
        let evidence = state::evidence(Some(before), Some(after), &happened);
        let whole_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let overhead_ns = whole_ns.saturating_sub(outcome.elapsed_ns);
        let observed = Observed { outcome, evidence, happened, written: None, overhead_ns };
        let mut measured = observed.into_measured(self.of, self.clock);
        measured.warnings.extend(restless);
        Ok(measured)
    }

    /// Bytes of the file that the operations range over.
    fn span_bytes(&self) -> u64 {
        self.of.workload.span_bytes.unwrap_or(u64::MAX)
    }

    /// Empties memory of the file and reads the working set into it, as far as it stays there.
    fn read_in(&self, buffer: &mut [u8]) -> Result<(), Failure> {
        let path = self.file_set.data_file(workload::Role::Read, 0);
        cache_state::evict_all(self.target.root(), [&path], PATIENCE)
            .and_then(|_| cache_state::read_in_span(&path, self.span_bytes(), buffer))
            .map_err(|error| failed(&error))
    }

    fn resident(&self) -> Result<Residency, Failure> {
        let path = self.file_set.data_file(workload::Role::Read, 0);
        cache_state::residency_of_span(&path, self.span_bytes()).map_err(|error| failed(&error))
    }

    /// Rounds of operations until their rates neither spread nor drift; a warning where they go on
    /// doing so.
    fn until_steady(&self) -> Result<Option<Warning>, Failure> {
        let mut detector = Detector::new(RULE).map_err(|refusal| failed(&refusal))?;
        let mut last: Option<SteadyState> = None;
        for round in 0..ROUNDS_MAX as u64 {
            let outcome = self.run(ROUND, self.seed ^ (round + 1).rotate_left(32))?;
            last = detector.observe(outcome.rate_per_s).map_err(|refusal| failed(&refusal))?;
            if last.is_some_and(|state| state.steady) {
                return Ok(None);
            }
        }
        Ok(last.map(|state| Warning::NoSteadyState {
            range_percent: state.range_percent,
            excursion_percent: state.excursion_percent,
        }))
    }

    fn timed(&self) -> Result<(Outcome, Happened), Failure> {
        let before = self.counters.read().map_err(|error| failed(&error))?;
        let outcome = self.run(WINDOW, self.seed)?;
        let after = self.counters.read().map_err(|error| failed(&error))?;
        Ok((outcome, after.since(&before)))
    }

    /// Does operations for as long as `length`.
    fn run(&self, length: Duration, seed: u64) -> Result<Outcome, Failure> {
        let workload: &Workload = &self.of.workload;
        let mut session = workload::prepare(workload, self.file_set, seed)
            .map_err(|error| self.engine_failure(&error))?;
        let time_is_up = AtomicBool::new(false);
        let outcome = std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let time_is_up = &time_is_up;
            scope.spawn(move || {
                let began = Instant::now();
                loop {
                    let left = length.saturating_sub(began.elapsed());
                    let ended = is_done.recv_timeout(left.min(STOP_UNSEEN));
                    let is_over = ended != Err(RecvTimeoutError::Timeout);
                    if is_over || left.is_zero() || self.stop.load(Ordering::Relaxed) {
                        break time_is_up.store(true, Ordering::Relaxed);
                    }
                }
            });
            let outcome = match self.clock {
                SystemClock::Tsc(clock) => session.run(clock, time_is_up),
                SystemClock::Monotonic(clock) => session.run(clock, time_is_up),
            };
            drop(done);
            outcome
        });
        let outcome = outcome.map_err(|error| self.engine_failure(&error))?;
        session.restore().map_err(|error| self.engine_failure(&error))?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        Ok(outcome)
    }

    fn engine_failure(&self, error: &EngineError) -> Failure {
        if self.stop.load(Ordering::Relaxed) {
            return Failure::Interrupted;
        }
        failed(error)
    }
}

fn failed(error: &dyn Display) -> Failure {
    Failure::Cell { why: error.to_string() }
}
