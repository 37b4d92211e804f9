//! One probe: evicts the file from memory, reads in the working set (and writes it, if operations
//! write), executes operations until they are steady, and then times some. On a new volume, the
//! first operations are timed.
//!
//! Which state that *is* follows from the operations; how it was is recorded: the resident pages of
//! the working set before and after, what the device read and wrote meanwhile and, if operations
//! write, what was dirty and what threads waited for. Eviction begins by writing back everything
//! dirty, so that no probe inherits anything from another.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use measure::SystemClock;
use record::{Compared, Neighbours, Observation, ProbeEvidence, Spent, Warning};
use runner::{Failure, Measured};
use stats::steady_state::{Detector, Rule, SteadyState};
use targets::Target;
use targets::cache::cache_state::{self, Residency};
use workload::{Access, EngineError, FileSet, Operation, Outcome, Role, Workload};

use crate::counters::{CounterDeltas, Counters};
use crate::failure::failed;
use crate::nanoseconds::nanos;
use crate::neighbours::Snapshot;
use crate::observed::Observed;
use crate::operations::Operations;
use crate::replicate::measuring_threads;
use crate::state;

use super::watch::{self, Watch};

/// Rounds of operations that are compared to find the steady state. The rule is more lenient than
/// the SNIA's window: next to a cliff, rounds of any length spread, and it is the trend that must
/// have ended.
const ROUND: Duration = Duration::from_millis(25);
const RULE: Rule = Rule { rounds: 4, range_percent_max: 40.0, excursion_percent_max: 20.0 };
/// Rounds after which it is measured anyway, with a warning.
const ROUNDS_MAX: usize = 16;
/// How long operations are timed at least.
const WINDOW: Duration = Duration::from_millis(300);
/// How long they are timed at most to get [`OPERATIONS_WANTED`], if values from the device are
/// compared with each other, since those of a slow device vary.
const WINDOW_MAX: Duration = Duration::from_secs(1);
/// How long all operations may take on a new volume; fewer of them would answer another question.
const WINDOW_ON_NEW_VOLUME: Duration = Duration::from_secs(600);
const OPERATIONS_WANTED: f64 = 2000.0;
/// How long to wait for pages that are being read, so that they can be evicted.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it may take to notice that the run was told to stop.
const STOP_UNSEEN: Duration = Duration::from_millis(20);

/// What to probe, and with what.
#[derive(Debug)]
pub(super) struct Probe<'a> {
    pub(super) of: &'a Operations,
    pub(super) file_set: &'a FileSet,
    pub(super) target: &'a Target,
    pub(super) counters: &'a Counters,
    pub(super) seed: u64,
    pub(super) clock: &'a SystemClock,
    pub(super) stop: &'a AtomicBool,
    /// Whether the volume is new, so that its first operations are timed.
    pub(super) is_on_new_volume: bool,
    /// How its value is compared with those of other probes.
    pub(super) compared: Compared,
}

/// How far the operations before the timed ones have got.
#[derive(Clone, Copy, Default)]
struct WarmUpProgress {
    /// Blocks done by each thread.
    blocks_done: u64,
    /// Operations per second of the last round.
    rate_per_s: f64,
}

/// The timed operations, and what else happened meanwhile.
struct TimedOperations {
    outcome: Outcome,
    deltas: CounterDeltas,
    neighbours: Neighbours,
    seen: ProbeEvidence,
}

impl Probe<'_> {
    /// Takes one measurement.
    ///
    /// `buffer` is what the working set is read into. Allocated here, it would use up part of a
    /// memory limit just as pages come in, and which of them stay would depend on it.
    pub(super) fn measure(&self, buffer: &mut [u8]) -> Result<Measured, Failure> {
        let began = Instant::now();
        let entered = self.target.enter().map_err(|error| failed(&error))?;
        self.read_in(buffer)?;
        let mut warm = WarmUpProgress::default();
        let mut restless = None;
        if !self.is_on_new_volume {
            self.write_in(buffer)?;
            restless = self.until_steady(&mut warm)?;
        }
        let before = self.resident()?;
        let TimedOperations { outcome, deltas, neighbours, seen } = self.timed(warm)?;
        let wanted = self.of.workload.operations_per_thread * self.of.workload.threads as u64;
        if self.is_on_new_volume && outcome.recorder.operations() < wanted {
            let within = WINDOW_ON_NEW_VOLUME.as_secs();
            let why = format!(
                "the first {wanted} operations on a new volume took more than {within} s: give a \
                 smaller --working-set"
            );
            return Err(Failure::Cell { why });
        }
        let after = self.resident()?;
        entered.leave().map_err(|error| failed(&error))?;
        let evidence = state::evidence(Some(before), Some(after), &deltas);
        let overhead_ns = nanos(began.elapsed()).saturating_sub(outcome.elapsed_ns);
        let timed_ns = outcome.elapsed_ns;
        let spent = Spent { timed_ns, state_ns: overhead_ns, ..Spent::default() };
        let observed = Observed {
            outcome,
            evidence,
            deltas,
            neighbours,
            others_read_bytes: None,
            other_time_ns: None,
            written: None,
            restless: None,
            overhead_ns,
            spent,
        };
        let mut measured = observed.into_measured(self.of, self.clock);
        // Dirty pages here were left by the operations before: they are the steady state.
        measured.warnings.retain(|warning| !matches!(warning, Warning::DirtyCarried { .. }));
        measured.warnings.extend(restless);
        measured.observations.push(Observation::Probe(seen));
        Ok(measured)
    }

    /// The file that operations work on.
    fn path(&self) -> PathBuf {
        let is_read = self.of.workload.operation == Operation::Read;
        let role = if is_read { Role::Read } else { Role::Write };
        self.file_set.data_file(role, 0)
    }

    /// Whether some operations write.
    fn writes(&self) -> bool {
        !matches!(
            self.of.workload.operation,
            Operation::Read | Operation::Mixed { read_percent: 100 }
        )
    }

    /// Bytes of the file that the operations cover.
    fn span_bytes(&self) -> u64 {
        self.of.workload.span_bytes.unwrap_or(u64::MAX)
    }

    /// Evicts the file from memory and reads in the working set, as much of it as stays.
    fn read_in(&self, buffer: &mut [u8]) -> Result<(), Failure> {
        let path = self.path();
        // Pages that are the only copy stay in any case.
        let patience = if self.target.supports_cold() { PATIENCE } else { Duration::ZERO };
        cache_state::evict_all(self.target.root(), [&path], patience)
            .and_then(|_| cache_state::read_in_span(&path, self.span_bytes(), buffer))
            .map_err(|error| failed(&error))
    }

    /// If operations write, writes the whole working set once, page by page, as they would have
    /// sooner or later.
    fn write_in(&self, buffer: &[u8]) -> Result<(), Failure> {
        if !self.writes() {
            return Ok(());
        }
        let file = File::options().write(true).open(self.path()).map_err(|error| failed(&error))?;
        let page = &buffer[..rustix::param::page_size().min(buffer.len())];
        let mut offset = 0;
        while offset < self.span_bytes() {
            let length = page.len().min(usize::try_from(self.span_bytes() - offset).unwrap_or(1));
            file.write_all_at(&page[..length], offset).map_err(|error| failed(&error))?;
            offset += length as u64;
            if self.stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
        }
        Ok(())
    }

    fn resident(&self) -> Result<Residency, Failure> {
        cache_state::residency_of_span(&self.path(), self.span_bytes())
            .map_err(|error| failed(&error))
    }

    /// Executes rounds of operations until their rates neither spread nor drift. Returns a warning
    /// if they never settle.
    fn until_steady(&self, warm: &mut WarmUpProgress) -> Result<Option<Warning>, Failure> {
        let mut detector = Detector::new(RULE).map_err(|refusal| failed(&refusal))?;
        let mut last: Option<SteadyState> = None;
        for round in 0..ROUNDS_MAX as u64 {
            let seed = self.going_on(self.seed ^ (round + 1).rotate_left(32), *warm);
            let outcome = self.run(ROUND, seed, None)?;
            let threads = self.of.workload.threads as u64;
            warm.blocks_done += outcome.recorder.operations() / threads;
            warm.rate_per_s = outcome.rate_per_s;
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

    fn timed(&self, warm: WarmUpProgress) -> Result<TimedOperations, Failure> {
        let path = self.path();
        let mut watch = Watch::new(&path, self.span_bytes(), self.of.workload.threads as u64);
        let look = Snapshot::take(Some(self.counters));
        let before = self.counters.read().map_err(|error| failed(&error))?;
        let watching = self.writes().then_some(&mut watch);
        let outcome = self.run(self.window(warm), self.going_on(self.seed, warm), watching)?;
        let after = self.counters.read().map_err(|error| failed(&error))?;
        let deltas = after.since(&before);
        let activity = Snapshot::take(Some(self.counters)).since(&look);
        let neighbours = activity.neighbours(measuring_threads(&outcome));
        let seen =
            if self.writes() { watch.into_evidence(self.target) } else { ProbeEvidence::default() };
        let seen = ProbeEvidence {
            device_reads: deltas.device_reads,
            device_writes: deltas.device_writes,
            written_bytes: outcome.tally.writes * self.of.workload.request_bytes as u64,
            ..seen
        };
        Ok(TimedOperations { outcome, deltas, neighbours, seen })
    }

    fn window(&self, warm: WarmUpProgress) -> Duration {
        if self.is_on_new_volume {
            return WINDOW_ON_NEW_VOLUME;
        }
        match self.compared {
            Compared::Alike => {
                let wanted_s = OPERATIONS_WANTED / warm.rate_per_s.max(1.0);
                Duration::from_secs_f64(wanted_s).clamp(WINDOW, WINDOW_MAX)
            }
            Compared::DeviceApart => WINDOW,
        }
    }

    /// A seed with which purely sequential operations continue where the previous ones ended,
    /// instead of finding in memory what those have just read. For others, any seed will do.
    fn going_on(&self, seed: u64, warm: WarmUpProgress) -> u64 {
        match self.of.workload.access {
            Access::Mixed { sequential_percent: 100 } => {
                let blocks = self.span_bytes() / self.of.workload.request_bytes as u64;
                beginning_at(seed, warm.blocks_done, blocks.max(1))
            }
            Access::Sequential
            | Access::Uniform
            | Access::Shuffled
            | Access::Zipf { .. }
            | Access::Mixed { .. } => seed,
        }
    }

    /// Executes operations for `length`, while `watch` looks on.
    fn run(
        &self,
        length: Duration,
        seed: u64,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<Outcome, Failure> {
        let workload: &Workload = &self.of.workload;
        let pause = if watch.is_some() { watch::PAUSE } else { STOP_UNSEEN };
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
                    let ended = is_done.recv_timeout(left.min(pause));
                    let is_over = ended != Err(RecvTimeoutError::Timeout);
                    if is_over || left.is_zero() || self.stop.load(Ordering::Relaxed) {
                        break time_is_up.store(true, Ordering::Relaxed);
                    }
                    if let Some(watch) = &mut watch {
                        watch.look();
                    }
                }
            });
            let outcome = session.run(self.clock, time_is_up);
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

/// A seed whose remainder is the block after those already done.
fn beginning_at(seed: u64, blocks_done: u64, blocks: u64) -> u64 {
    (seed >> 32) / blocks * blocks + blocks_done % blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_operations_go_on_where_those_before_ended() {
        for seed in [0, 1 << 40, u64::MAX] {
            for (done, blocks, at) in [(0, 100, 0), (99, 100, 99), (250, 100, 50), (7, 1, 0)] {
                assert_eq!(beginning_at(seed, done, blocks) % blocks, at);
            }
        }
        assert_ne!(beginning_at(u64::MAX, 5, 100), beginning_at(1 << 40, 5, 100));
    }
}
