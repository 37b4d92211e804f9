//! One execution of a cell: the cache state made and proved, the operations, the proof, the
//! restoration.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use machine::target::Target;
use machine::target::cache_state::{self, Residency};
use measure::{MonotonicClock, SystemClock};
use record::CacheState;
use runner::Failure;
use workload::{ClosedSession, EngineError, FileSet, Operation, Outcome, Session, Workload};

use crate::counters::{Counters, Happened, Reading};
use crate::live_target::LiveTarget;
use crate::observed::Observed;
use crate::operations::{Layer, Operations, Question, Written};
use crate::state::{self, Claim};
use crate::trial::prepare_below;

/// What is to be executed, and with what.
#[derive(Debug)]
pub(crate) struct Replicate<'a> {
    pub(crate) of: &'a Operations,
    pub(crate) cache_state: CacheState,
    pub(crate) workload: &'a Workload,
    pub(crate) seed: u64,
    pub(crate) clock: &'a SystemClock,
    pub(crate) stop: &'a AtomicBool,
}

/// What was seen around the operations.
struct Seen {
    outcome: Outcome,
    happened: Happened,
    before: Option<Residency>,
    after: Option<Residency>,
    written: Option<Written>,
}

impl Replicate<'_> {
    /// Executes it on `live`, which is left as it was found.
    pub(crate) fn observe(&self, live: &mut LiveTarget) -> Result<Observed, Failure> {
        let began = Instant::now();
        let seen = self.within_conditions(live)?;
        if seen.outcome.interrupted {
            return Err(Failure::Interrupted);
        }
        let evidence = state::evidence(seen.before, seen.after, &seen.happened);
        if let Err(why) = state::verify(self.claim(seen.outcome.bytes), &evidence) {
            live.cooled.insert(self.of.place);
            Self::empty_memory(live)?;
            return Err(Failure::State { why, evidence });
        }
        let whole_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let overhead_ns = whole_ns.saturating_sub(seen.outcome.elapsed_ns);
        let Seen { outcome, happened, written, .. } = seen;
        Ok(Observed { outcome, evidence, happened, written, overhead_ns })
    }

    /// Under a limit of memory, what others left there may be in the way, and what is only looked
    /// up where it is kept is not brought in again: mounted again, the file system begins anew.
    fn empty_memory(live: &mut LiveTarget) -> Result<(), Failure> {
        if is_limited(&live.target) && live.is_scratch() && live.target.supports_cold() {
            live.remount().map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// What `bytes` that were moved have to do with the device.
    fn claim(&self, bytes: u64) -> Claim {
        let is = |operation| self.workload.operation == operation;
        let reads = is(Operation::Read);
        let writes_past_cache = is(Operation::Write) && self.of.is_direct();
        Claim {
            state: self.cache_state,
            read_bytes: if reads { bytes } else { 0 },
            written_bytes: if writes_past_cache { bytes } else { 0 },
            is_of_names: self.of.place.directories().is_some(),
        }
    }

    /// Everything that is charged to the target's limits.
    fn within_conditions(&self, live: &mut LiveTarget) -> Result<Seen, Failure> {
        let closed = self.mounted_again(live)?;
        let (Some(file_set), Some(counters)) =
            (live.file_sets.get(&self.of.place), live.counters.as_ref())
        else {
            return Err(Failure::Cell { why: "its file set could not be made".to_owned() });
        };
        let entered = live.target.enter().map_err(|error| failed(&error))?;
        self.rehearse(file_set)?;
        let mut session = match closed {
            Some(closed) => closed.open().map_err(|error| self.engine_failure(&error))?,
            None => self.prepare(&live.target, file_set)?,
        };
        let touched = session.touched().to_vec();
        let wants_names =
            self.of.place.directories().is_some() && self.cache_state != CacheState::Cold;
        // Under a limit of memory, whatever was done since may have cooled them.
        let is_limited = is_limited(&live.target);
        if wants_names && (live.cooled.remove(&self.of.place) || is_limited) {
            // All of them: the next that works on this place may share them out differently.
            let count = file_set.spec().directories.count;
            let all: Vec<PathBuf> = (0..count).map(|number| file_set.directory(number)).collect();
            state::warm_directories(&all).map_err(|error| failed(&error))?;
        }
        // Nothing of an earlier phase, or of the preparation, is to be written while it runs.
        live.target.sync().map_err(|error| failed(&error))?;
        let files = if self.of.moves_data_in_place() { touched } else { Vec::new() };
        let before = state::make(self.cache_state, live.target.root(), &files)
            .map_err(|error| failed(&error))?;
        let (outcome, happened, before_run) = self.run(&mut session, counters)?;
        let written = match self.of.question {
            Question::DeviceWrites => Some(self.written(live, counters, &before_run, &outcome)?),
            _ => None,
        };
        let after = self.resident_after(before, &files)?;
        session.restore().map_err(|error| self.engine_failure(&error))?;
        // What this one made dirty is not to be written while another target is measured.
        live.target.sync().map_err(|error| failed(&error))?;
        entered.leave().map_err(|error| failed(&error))?;
        Ok(Seen { outcome, happened, before, after, written })
    }

    /// Mounts the file system of cold names again. What operations are to remove is made before,
    /// so that it is as cold as the rest.
    fn mounted_again(&self, live: &mut LiveTarget) -> Result<Option<ClosedSession>, Failure> {
        if !self.of.is_of_names_cold(self.cache_state) {
            return Ok(None);
        }
        let file_set = live.file_sets.get(&self.of.place);
        let closed = match file_set.filter(|_| self.workload.operation.removes_names()) {
            Some(file_set) => {
                let entered = live.target.enter().map_err(|error| failed(&error))?;
                let session = self.prepare(&live.target, file_set)?;
                let closed = session.close().map_err(|error| self.engine_failure(&error))?;
                entered.leave().map_err(|error| failed(&error))?;
                Some(closed)
            }
            None => None,
        };
        live.remount().map_err(|error| failed(&error))?;
        Ok(closed)
    }

    fn prepare(&self, target: &Target, file_set: &FileSet) -> Result<Session, Failure> {
        match self.of.layer {
            Layer::FileSystem => workload::prepare(self.workload, file_set, self.seed)
                .map_err(|error| self.engine_failure(&error)),
            Layer::Device => prepare_below(target, self.workload, file_set, self.seed)
                .map_err(|error| failed(&error)),
        }
    }

    /// Does what changes directories once, and undoes it: only then is in memory what the file
    /// system needs for it (bitmaps, tables of inodes, free space), which no count of pages shows.
    fn rehearse(&self, file_set: &FileSet) -> Result<(), Failure> {
        let changes = self.workload.operation.changes_directories();
        if !changes || self.cache_state != CacheState::Warm {
            return Ok(());
        }
        let mut session = workload::prepare(self.workload, file_set, !self.seed)
            .map_err(|error| self.engine_failure(&error))?;
        session
            .run(&MonotonicClock, self.stop)
            .and_then(|_| session.restore())
            .map_err(|error| self.engine_failure(&error))
    }

    /// Runs the session with the clock's own type, so that its readings are compiled in.
    fn run(
        &self,
        session: &mut Session,
        counters: &Counters,
    ) -> Result<(Outcome, Happened, Reading), Failure> {
        let before = counters.read().map_err(|error| failed(&error))?;
        let outcome = match self.clock {
            SystemClock::Tsc(clock) => session.run(clock, self.stop),
            SystemClock::Monotonic(clock) => session.run(clock, self.stop),
        };
        let outcome = outcome.map_err(|error| self.engine_failure(&error))?;
        let after = counters.read().map_err(|error| failed(&error))?;
        Ok((outcome, after.since(&before), before))
    }

    /// Syncs, and tells what was written since `before` until that had returned.
    fn written(
        &self,
        live: &LiveTarget,
        counters: &Counters,
        before: &Reading,
        outcome: &Outcome,
    ) -> Result<Written, Failure> {
        let began = Instant::now();
        live.target.sync().map_err(|error| failed(&error))?;
        let sync_ns = began.elapsed().as_nanos() as f64;
        let happened = counters.read().map_err(|error| failed(&error))?.since(before);
        let (Some(bytes), Some(writes)) = (happened.device_written_bytes, happened.device_writes)
        else {
            return Err(Failure::Cell { why: "what its device writes is not counted".to_owned() });
        };
        let operations = outcome.recorder.operations().max(1) as f64;
        Ok(Written {
            synced_time_ns: (outcome.recorder.busy_ns() as f64 + sync_ns) / operations,
            bytes: bytes as f64 / operations,
            writes: writes as f64 / operations,
        })
    }

    fn resident_after(
        &self,
        before: Option<Residency>,
        files: &[PathBuf],
    ) -> Result<Option<Residency>, Failure> {
        let count = |_| cache_state::residency_of(files).map_err(|error| failed(&error));
        before.map(count).transpose()
    }

    fn engine_failure(&self, error: &EngineError) -> Failure {
        if self.stop.load(Ordering::Relaxed) {
            return Failure::Interrupted;
        }
        failed(error)
    }
}

/// Whether the target's memory has a limit.
fn is_limited(target: &Target) -> bool {
    target.facts().conditions.limits.memory_bytes.is_some()
}

/// A cell that cannot be measured, for this reason.
pub(crate) fn failed(error: &dyn Display) -> Failure {
    Failure::Cell { why: error.to_string() }
}
