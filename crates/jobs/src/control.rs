//! What jobs and those who watch over them tell each other.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use job_offsets::Direction;
use job_results::JobResult;

use crate::pages::PageCounts;

/// How far a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Stage {
    /// It has not been started.
    Pending,
    /// It has a thread.
    Started,
    /// It waits for the others that start with it.
    Ready,
    /// It makes its files.
    SettingUp,
    /// It reads its files before it starts.
    PreReading,
    /// What it does is not counted yet.
    Ramp,
    /// It runs.
    Running,
    /// It verifies.
    Verifying,
    /// It makes its files durable.
    Syncing,
    /// It has done all.
    Finishing,
    /// It has ended.
    Ended,
}

const STAGES: [Stage; 11] = [
    Stage::Pending,
    Stage::Started,
    Stage::Ready,
    Stage::SettingUp,
    Stage::PreReading,
    Stage::Ramp,
    Stage::Running,
    Stage::Verifying,
    Stage::Syncing,
    Stage::Finishing,
    Stage::Ended,
];

/// What one job shows and is told.
#[derive(Debug, Default)]
pub struct JobControl {
    stage: AtomicU8,
    stop: AtomicBool,
    bytes: [AtomicU64; 3],
    operations: [AtomicU64; 3],
    open_files: AtomicU32,
    planned: AtomicU64,
    wants_snapshot: AtomicBool,
    snapshot: Mutex<Option<JobResult>>,
    pages: Mutex<PageCounts>,
    complaints: Mutex<Vec<String>>,
}

impl JobControl {
    /// How far it has come.
    pub fn stage(&self) -> Stage {
        STAGES[usize::from(self.stage.load(Ordering::Acquire))]
    }

    pub(crate) fn set_stage(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Release);
    }

    /// Whether it has been told to end.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Tells it to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Bytes that were moved so far.
    pub fn bytes(&self, direction: Direction) -> u64 {
        self.bytes[direction as usize].load(Ordering::Relaxed)
    }

    /// Operations that were done so far.
    pub fn operations(&self, direction: Direction) -> u64 {
        self.operations[direction as usize].load(Ordering::Relaxed)
    }

    /// Counts an operation; the job alone does.
    #[inline]
    pub(crate) fn count(&self, direction: Direction, bytes: u64) {
        let way = direction as usize;
        let add = |counter: &AtomicU64, more| {
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        };
        add(&self.bytes[way], bytes);
        add(&self.operations[way], 1);
    }

    pub(crate) fn forget_counts(&self) {
        for counter in self.bytes.iter().chain(&self.operations) {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// Pages of its files in memory, before and after it.
    pub fn pages(&self) -> PageCounts {
        *self.pages.lock().expect("nobody panics while holding it")
    }

    pub(crate) fn set_pages(&self, pages: PageCounts) {
        *self.pages.lock().expect("nobody panics while holding it") = pages;
    }

    /// Says that something went wrong that results do not say.
    pub(crate) fn complain(&self, text: String) {
        self.complaints.lock().expect("nobody panics while holding it").push(text);
    }

    /// What it has said so since somebody asked.
    pub(crate) fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.complaints.lock().expect("nobody panics while holding it"))
    }

    /// Whether somebody waits to know what it has done so far.
    #[inline]
    pub(crate) fn wants_snapshot(&self) -> bool {
        self.wants_snapshot.load(Ordering::Relaxed)
    }

    /// Asks what it has done so far.
    pub(crate) fn ask_for_snapshot(&self) {
        self.wants_snapshot.store(true, Ordering::Relaxed);
    }

    pub(crate) fn tell(&self, result: JobResult) {
        *self.snapshot.lock().expect("nobody panics while holding it") = Some(result);
        self.wants_snapshot.store(false, Ordering::Release);
    }

    /// What it has done so far, if it has been asked and has answered since.
    pub(crate) fn snapshot(&self) -> Option<JobResult> {
        let has_answered = !self.wants_snapshot.load(Ordering::Acquire);
        let kept = self.snapshot.lock().expect("nobody panics while holding it");
        if has_answered { kept.clone() } else { None }
    }

    /// Bytes that it will move, unless time ends it.
    pub fn planned_bytes(&self) -> u64 {
        self.planned.load(Ordering::Relaxed)
    }

    pub(crate) fn set_planned_bytes(&self, bytes: u64) {
        self.planned.store(bytes, Ordering::Relaxed);
    }

    /// How many files it has open.
    pub fn open_files(&self) -> u32 {
        self.open_files.load(Ordering::Relaxed)
    }

    pub(crate) fn set_open_files(&self, count: u32) {
        self.open_files.store(count, Ordering::Relaxed);
    }
}

/// Where jobs wait for each other, and where those wait who watch over them.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rings: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// Wakes all that wait.
    pub(crate) fn ring(&self) {
        *self.rings.lock().expect("nobody panics while holding it") += 1;
        self.rung.notify_all();
    }

    /// Waits until it rings after `seen`, at most so long; answers how often it has rung.
    pub(crate) fn wait(&self, seen: u64, limit: Duration) -> u64 {
        let rings = self.rings.lock().expect("nobody panics while holding it");
        let waited = self.rung.wait_timeout_while(rings, limit, |rings| *rings == seen);
        *waited.expect("nobody panics while holding it").0
    }

    /// Waits until something is so; looks whenever the bell rings.
    pub(crate) fn wait_until(&self, is_so: impl Fn() -> bool) {
        let mut seen = 0;
        while !is_so() {
            seen = self.wait(seen, Duration::from_millis(100));
        }
    }
}
