//! Watches timed operations that write: what is dirty, and what threads wait for.

use std::path::Path;
use std::time::Duration;

use machine::describe::{self, WaitingThreads, WritebackReader};
use record::{ProbeEvidence, Waits};
use targets::Target;
use targets::cache::cache_state;

/// Time between two looks at what threads wait for.
pub(super) const PAUSE: Duration = Duration::from_millis(5);
/// Dirty pages are counted at one in this many looks, since the time for that grows with their
/// number.
const LOOKS_PER_COUNT: u64 = 10;

/// Looks repeatedly while operations run.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    /// The file being written.
    path: &'a Path,
    span_bytes: u64,
    /// Number of threads that execute operations.
    threads: u64,
    looks: u64,
    /// The sum over all looks; `None` once one has failed.
    waiting: Option<WaitingThreads>,
    dirty_pages_max: Option<u64>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(path: &'a Path, span_bytes: u64, threads: u64) -> Self {
        let waiting = Some(WaitingThreads::default());
        Self { path, span_bytes, threads, looks: 0, waiting, dirty_pages_max: None }
    }

    /// Looks once.
    pub(super) fn look(&mut self) {
        let now = describe::waiting_threads().ok();
        self.waiting = self.waiting.zip(now).map(|(sum, now)| WaitingThreads {
            dirty_limit: sum.dirty_limit + now.dirty_limit,
            journal: sum.journal + now.journal,
            reclaim: sum.reclaim + now.reclaim,
        });
        if self.looks.is_multiple_of(LOOKS_PER_COUNT) {
            self.count_dirty();
        }
        self.looks += 1;
    }

    /// Counts pages that are dirty or under writeback. A page changed again during its writeback is
    /// both, so the sum is capped at all pages.
    fn count_dirty(&mut self) {
        let Ok(seen) = cache_state::residency_of_span(self.path, self.span_bytes) else { return };
        let pages = seen.dirty_pages.zip(seen.writeback_pages);
        let pages = pages.map(|(dirty, on_its_way)| (dirty + on_its_way).min(seen.total_pages));
        self.dirty_pages_max = self.dirty_pages_max.max(pages);
    }

    /// What was seen, with the limits in force.
    pub(super) fn into_evidence(mut self, target: &Target) -> ProbeEvidence {
        self.count_dirty();
        let page_bytes = rustix::param::page_size() as u64;
        let limits = WritebackReader::open().and_then(|reader| reader.read()).ok();
        let of_device = |numbers: targets::DeviceNumbers| {
            describe::device_dirty_limit(numbers.major, numbers.minor)
        };
        ProbeEvidence {
            dirty_bytes_max: self.dirty_pages_max.map(|pages| pages * page_bytes),
            machine_dirty_limit_bytes: limits.map(|limits| limits.threshold_bytes),
            device_dirty_limit_bytes: target.device_numbers().and_then(of_device),
            waits: self.waiting.filter(|_| self.looks > 0).map(|waiting| Waits {
                looks: self.looks * self.threads,
                dirty_limit: waiting.dirty_limit,
                journal: waiting.journal,
                reclaim: waiting.reclaim,
            }),
            ..ProbeEvidence::default()
        }
    }
}
