//! One execution of a cell: makes and proves the cache state, executes the operations, proves the
//! state again, and restores everything.

mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use measure::SystemClock;
use record::{CacheState, Neighbours, Spent, Warning};
use runner::Failure;
use targets::Target;
use targets::cache::cache_state::{self, Residency};
use targets::cache::folios::folio_orders;
use workload::{
    ClosedSession, EngineError, FileSet, Operation, Outcome, Session, Workers, Workload,
};

use crate::counters::{CounterDeltas, Counters, Reading};
use crate::device_work::WorkPerOperation;
use crate::device_writes;
use crate::failure::failed;
use crate::file_set_kind::FileSetKind;
use crate::fragmentation::FragmentCounts;
use crate::live_target::LiveTarget;
use crate::nanoseconds::nanos;
use crate::need::overlap_percent;
use crate::neighbours::{MeasuringThreads, Snapshot};
use crate::observed::Observed;
use crate::operations::{Layer, Operations, Question};
use crate::processors::processors;
use crate::state::{self, Claim, Moved, Warming};
use crate::trial::prepare_below;

/// One in this many operations that make inodes is rehearsed in addition.
const REHEARSED_SHARE: u64 = 8;

/// What to execute, and with what.
#[derive(Debug)]
pub(crate) struct Execution<'a> {
    pub(crate) of: &'a Operations,
    pub(crate) cache_state: CacheState,
    pub(crate) workload: &'a Workload,
    /// Whether it counts, or is only a pilot.
    pub(crate) counts: bool,
    pub(crate) seed: u64,
    pub(crate) clock: &'a SystemClock,
    pub(crate) stop: &'a AtomicBool,
}

/// What was seen around the operations.
struct Measurements {
    spent: Spent,
    outcome: Outcome,
    deltas: CounterDeltas,
    neighbours: Neighbours,
    before: Option<Residency>,
    after: Option<Residency>,
    /// Processor time per operation of everything but the operating threads.
    other_time_ns: Option<f64>,
    written: Option<WorkPerOperation>,
    restless: Option<Warning>,
    /// Pages by the order of their folio, if that was looked up.
    folio_pages: Option<BTreeMap<u32, u64>>,
}

impl Execution<'_> {
    /// Executes it on `live`, which is left as it was.
    pub(crate) fn observe(&self, live: &mut LiveTarget) -> Result<Observed, Failure> {
        let began = Instant::now();
        let seen = self.within_conditions(live)?;
        if seen.outcome.interrupted {
            return Err(Failure::Interrupted);
        }
        let mut evidence = state::evidence(seen.before, seen.after, &seen.deltas);
        evidence.folio_pages = seen.folio_pages.clone();
        // Anything else that the process reads, such as its own binary, was not read by an
        // operation.
        let own_bytes = seen.outcome.read_bytes.unwrap_or(u64::MAX);
        evidence.caller_read_bytes = evidence.caller_read_bytes.map(|bytes| bytes.min(own_bytes));
        evidence.start_read_bytes = seen.outcome.start_read_bytes.filter(|&bytes| bytes > 0);
        if let Err(why) = state::verify(self.claim(&seen.outcome), &evidence) {
            live.cooled.insert(self.of.file_set);
            // Pages that were dropped have come back in other ways than they were read in at first.
            live.read_in.clear();
            Self::empty_memory(live)?;
            return Err(Failure::State { why, evidence: Box::new(evidence) });
        }
        let overlap = seen.outcome.overlap;
        let least = overlap_percent(self.workload.threads, processors()).map_or(0.0, f64::from);
        if self.counts && overlap * 100.0 < least {
            let why = format!(
                "all {} ran at the same time for only {:.0} % of the time",
                self.workload.threads,
                overlap * 100.0
            );
            return Err(Failure::Disturbed { why, evidence: Box::new(evidence) });
        }
        let overhead_ns = nanos(began.elapsed()).saturating_sub(seen.outcome.elapsed_ns);
        let others_read_bytes = state::read_by_others_bytes(self.cache_state, &evidence);
        let Measurements { spent, outcome, deltas, neighbours, other_time_ns, .. } = seen;
        Ok(Observed {
            outcome,
            evidence,
            deltas,
            neighbours,
            others_read_bytes,
            other_time_ns,
            written: seen.written,
            restless: seen.restless,
            overhead_ns,
            spent,
        })
    }

    /// Remounts a target with a memory limit. Leftovers of others may take up its memory, and what
    /// is looked up without being brought in would stay cold: after remounting, the file system
    /// starts afresh.
    fn empty_memory(live: &mut LiveTarget) -> Result<(), Failure> {
        if is_limited(&live.target) && live.is_scratch() && live.target.supports_cold() {
            live.remount().map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// What the operations should have moved to and from the device.
    fn claim(&self, outcome: &Outcome) -> Claim {
        let moved = Moved {
            bytes: outcome.bytes,
            start: outcome.course.whole_start().operations,
            request_bytes: self.workload.request_bytes as u64,
        };
        let is = |operation| self.workload.operation == operation;
        let reads = is(Operation::Read);
        let writes_past_cache = is(Operation::Write) && self.of.is_direct();
        // Requests in flight may be merged.
        let one_by_one = reads && self.workload.advises_random && self.of.queue_depth().is_none();
        Claim {
            state: self.cache_state,
            read_bytes: if reads { moved.whole_bytes() } else { 0 },
            reads: if one_by_one { moved.requests() } else { 0 },
            written_bytes: if writes_past_cache { moved.whole_bytes() } else { 0 },
            is_of_names: self.of.file_set.directories().is_some(),
        }
    }

    /// Does everything that is charged to the target's limits.
    fn within_conditions(&self, live: &mut LiveTarget) -> Result<Measurements, Failure> {
        let began = Instant::now();
        let is_of_device = self.of.question == Question::DeviceWrites;
        let kind = self.of.file_set;
        let idle = is_of_device.then(|| device_writes::idle_unmount(live, kind)).transpose()?;
        let closed = self.mounted_again(live)?;
        let (Some(file_set), Some(counters)) =
            (live.file_sets.get(&kind).cloned(), live.counters.clone())
        else {
            return Err(Failure::Cell { why: "its file set could not be made".to_owned() });
        };
        let entered = live.target.enter().map_err(|error| failed(&error))?;
        self.rehearse(&file_set)?;
        let mut session = match closed {
            Some(closed) => closed.open().map_err(|error| self.engine_failure(&error))?,
            None => self.prepare(&live.target, &file_set)?,
        };
        let touched = session.touched().to_vec();
        self.warm_names(&live.target, &mut live.cooled, &file_set)?;
        self.defragment(&mut live.fragments, &mut live.read_in, &touched)?;
        // Nothing left over from an earlier phase or from preparation may be written while it runs.
        live.target.sync().map_err(|error| failed(&error))?;
        // What is in an arena has no pages of its own to count, and exists nowhere else.
        let has_pages = self.of.moves_data_in_place() && live.target.library().is_none();
        let files = if has_pages { touched } else { Vec::new() };
        let before = self.make_state(&live.target, &mut live.read_in, &files)?;
        let folio_pages = self.folio_pages(&live.target, &mut live.folios_known, &files);
        let restless = settle::until_steady(self, &file_set)?;
        let state_ns = nanos(began.elapsed());
        let running = Instant::now();
        let look = Snapshot::take(Some(&counters));
        let (outcome, deltas, before_run) = self.run(&mut session, &counters)?;
        let neighbours =
            Snapshot::take(Some(&counters)).since(&look).neighbours(measuring_threads(&outcome));
        let run_ns = nanos(running.elapsed());
        let proving = Instant::now();
        let (written, entered) = match idle {
            Some(idle) => {
                let sync_ns = Self::sync_ns(live)?;
                entered.leave().map_err(|error| failed(&error))?;
                let device = device_writes::until_unmounted(live, &before_run)?.without(idle);
                let entered = live.target.enter().map_err(|error| failed(&error))?;
                (Some(WorkPerOperation::new(&outcome, sync_ns, device)), entered)
            }
            None => (None, entered),
        };
        let after = self.resident_after(before, &files)?;
        let proof_ns = nanos(proving.elapsed());
        let undoing = Instant::now();
        let other_time_ns = self.other_time_ns(live, &look, &outcome)?;
        session.restore().map_err(|error| self.engine_failure(&error))?;
        // Its dirty pages must not be written back while another target is measured.
        live.target.sync().map_err(|error| failed(&error))?;
        entered.leave().map_err(|error| failed(&error))?;
        let timed_ns = outcome.recorder.busy_ns() + outcome.course.whole_start().busy_ns;
        let spent = Spent {
            // Operations in flight overlap.
            timed_ns: (timed_ns / self.workload.threads as u64).min(run_ns),
            state_ns,
            proof_ns,
            undo_ns: nanos(undoing.elapsed()),
            turn_ns: 0,
        };
        Ok(Measurements {
            spent,
            outcome,
            deltas,
            neighbours,
            before,
            after,
            other_time_ns,
            written,
            restless,
            folio_pages,
        })
    }

    /// Brings files whose clean pages will be written back into one piece, whatever was done to
    /// them.
    fn defragment(
        &self,
        fragments: &mut FragmentCounts,
        read_in: &mut BTreeSet<PathBuf>,
        files: &[PathBuf],
    ) -> Result<(), Failure> {
        for file in files.iter().filter(|_| self.of.writes_clean_pages()) {
            if fragments.defragment(file).map_err(|error| failed(&error))? {
                read_in.remove(file);
            }
        }
        Ok(())
    }

    /// Brings names into memory that should be there but may not be.
    fn warm_names(
        &self,
        target: &Target,
        cooled: &mut BTreeSet<FileSetKind>,
        file_set: &FileSet,
    ) -> Result<(), Failure> {
        let wants_names = self.of.file_set.directories().is_some() && !self.cache_state.is_cold();
        // With a memory limit, whatever happened since may have evicted them; and pages of small
        // files are evicted one by one when memory is short.
        let may_be_cold = is_limited(target) || self.of.workload.operation.moves_whole_files();
        if wants_names && (cooled.remove(&self.of.file_set) || may_be_cold) {
            state::warm_file_set(target, file_set).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// The folio sizes in which warm files came in. Looked up once per file, since it takes as long
    /// as reading them.
    fn folio_pages(
        &self,
        target: &Target,
        known: &mut BTreeSet<PathBuf>,
        files: &[PathBuf],
    ) -> Option<BTreeMap<u32, u64>> {
        // A pilot does not record it.
        if !self.counts || !self.cache_state.is_warm() || !target.supports_cold() {
            return None;
        }
        let new: Vec<&PathBuf> =
            files.iter().filter(|file| known.insert((*file).clone())).collect();
        if new.is_empty() {
            return None;
        }
        let mut pages = BTreeMap::new();
        for file in new {
            // Without permission, nothing is recorded.
            for (order, count) in folio_orders(file).ok()?.pages_by_order {
                *pages.entry(order).or_default() += count;
            }
        }
        Some(pages)
    }

    /// Makes the cache state, and keeps track of which files are still as they were read in.
    fn make_state(
        &self,
        target: &Target,
        read_in: &mut BTreeSet<PathBuf>,
        files: &[PathBuf],
    ) -> Result<Option<Residency>, Failure> {
        let is_read_in = files.iter().all(|file| read_in.contains(file));
        let how = match (target.supports_cold(), is_read_in) {
            (false, _) => Warming::OnlyCopy,
            (true, true) => Warming::ReadIn,
            (true, false) => Warming::Unknown,
        };
        let made = state::make(self.cache_state, how, target.root(), files, self.workload.threads);
        let made = made.map_err(|error| failed(&error))?;
        let stays = self.cache_state.is_warm() && !self.of.changes_anything();
        for file in files {
            if stays {
                read_in.insert(file.clone())
            } else {
                read_in.remove(file)
            };
        }
        Ok(made)
    }

    /// Remounts the file system if names are to be cold or its device must have nothing left to
    /// write. What operations will remove is made before that, so that it is as cold, or as fully
    /// written, as the rest.
    fn mounted_again(&self, live: &mut LiveTarget) -> Result<Option<ClosedSession>, Failure> {
        let is_to_be_quiet = self.of.question == Question::DeviceWrites;
        if !self.of.is_of_names_cold(self.cache_state) && !is_to_be_quiet {
            return Ok(None);
        }
        let file_set = live.file_sets.get(&self.of.file_set);
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

    /// Does changes of directories once and undoes them: only then does memory hold what the file
    /// system needs for them (bitmaps, inode tables, free space), which no page count shows. One
    /// thread does what all of them will do: with several, the first to finish ends the others,
    /// which on a busy machine have rehearsed little by then. Operations that make inodes are
    /// rehearsed a few more times than needed: when two threads race, ext4 gets a little further
    /// through its inodes than before, and reads a block of its table in which another thread has
    /// just taken one.
    fn rehearse(&self, file_set: &FileSet) -> Result<(), Failure> {
        // What will be removed has just been made, which brings in the same.
        let operation = self.workload.operation;
        let changes = operation.changes_directories() && !operation.removes_names();
        if !changes || !self.cache_state.is_warm() {
            return Ok(());
        }
        let all = self.workload.all_operations() * self.workload.threads as u64;
        let rehearsed = Workload {
            start_operations: 0,
            operations_per_thread: if operation.makes_inodes() {
                all + all / REHEARSED_SHARE
            } else {
                all
            },
            threads: 1,
            workers: Workers::Threads,
            operations_per_round: 1,
            ..self.workload.clone()
        };
        let mut session = workload::prepare(&rehearsed, file_set, !self.seed)
            .map_err(|error| self.engine_failure(&error))?;
        session
            .run(self.clock, self.stop)
            .and_then(|_| session.restore())
            .map_err(|error| self.engine_failure(&error))
    }

    /// Runs the session and reads the counters immediately before and after.
    fn run(
        &self,
        session: &mut Session,
        counters: &Counters,
    ) -> Result<(Outcome, CounterDeltas, Reading), Failure> {
        let before = counters.read().map_err(|error| failed(&error))?;
        let outcome = self.timed(session)?;
        let after = counters.read().map_err(|error| failed(&error))?;
        Ok((outcome, after.since(&before), before))
    }

    /// Runs a session with the run's clock.
    pub(crate) fn timed(&self, session: &mut Session) -> Result<Outcome, Failure> {
        session.run(self.clock, self.stop).map_err(|error| self.engine_failure(&error))
    }

    /// How long a sync of the target takes at this point.
    fn sync_ns(live: &LiveTarget) -> Result<f64, Failure> {
        let began = Instant::now();
        live.target.sync().map_err(|error| failed(&error))?;
        Ok(began.elapsed().as_nanos() as f64)
    }

    /// Processor time per operation that kernel workers and file system servers used until all
    /// changes of the operating threads were written back: file systems move work away from the
    /// caller. Does not include what other programs use meanwhile.
    fn other_time_ns(
        &self,
        live: &LiveTarget,
        before: &Snapshot,
        outcome: &Outcome,
    ) -> Result<Option<f64>, Failure> {
        if self.of.changes_anything() {
            live.target.sync().map_err(|error| failed(&error))?;
        }
        let activity = Snapshot::take(None).since(before);
        let operations = outcome.recorder.operations() + outcome.course.whole_start().operations;
        let servants_ns = activity.servants_ns(outcome.threads_ns);
        Ok(servants_ns.map(|servants_ns| servants_ns as f64 / operations.max(1) as f64))
    }

    fn resident_after(
        &self,
        before: Option<Residency>,
        files: &[PathBuf],
    ) -> Result<Option<Residency>, Failure> {
        let count = |_| cache_state::residency_of(files).map_err(|error| failed(&error));
        before.map(count).transpose()
    }

    pub(crate) fn engine_failure(&self, error: &EngineError) -> Failure {
        if self.stop.load(Ordering::Relaxed) {
            return Failure::Interrupted;
        }
        failed(error)
    }
}

/// The threads that executed the operations.
pub(crate) fn measuring_threads(outcome: &Outcome) -> MeasuringThreads {
    MeasuringThreads {
        threads: outcome.threads.len(),
        elapsed_ns: outcome.threads.iter().map(|thread| thread.elapsed_ns).sum(),
        waited_ns: outcome.waited_ns,
        used_ns: outcome.threads_ns,
    }
}

/// Whether the target has a memory limit.
fn is_limited(target: &Target) -> bool {
    target.facts().conditions.limits.memory_bytes.is_some()
}
