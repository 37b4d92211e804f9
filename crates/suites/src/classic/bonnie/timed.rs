//! What Bonnie takes the time of, and how that becomes a phase's findings.

use std::io;

use measure::{Clock, SystemClock, thread_processor_ns};
use record::{CacheEvidence, Warning};
use targets::cache::residency::residency_in;

use crate::counters::Happened;
use crate::experiment::Findings;

/// What something took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Timed {
    pub(super) elapsed_ns: u64,
    /// Processor time of the threads that did it.
    pub(super) processor_ns: u64,
}

/// Times what the calling thread does.
pub(super) fn timed<T>(
    clock: &SystemClock,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Timed)> {
    let processor_before_ns = thread_processor_ns();
    let start_ticks = clock.start();
    let done = act()?;
    let end_ticks = clock.end();
    let processor_ns = thread_processor_ns().saturating_sub(processor_before_ns);
    let elapsed_ns = clock.nanos(end_ticks.saturating_sub(start_ticks));
    Ok((done, Timed { elapsed_ns, processor_ns }))
}

impl Timed {
    /// So many units per second, and the processors' share in percent, which exceeds 100 where
    /// several threads are busy.
    pub(super) fn metrics(self, units: u64) -> Vec<f64> {
        let elapsed_ns = self.elapsed_ns.max(1) as f64;
        vec![units as f64 / (elapsed_ns / 1e9), self.processor_ns as f64 / elapsed_ns * 100.0]
    }
}

/// Pages of a file, where the kernel counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pages {
    all: u64,
    resident: u64,
    dirty: Option<u64>,
}

impl Pages {
    /// Those of a file; none without it.
    pub(super) fn of(path: &std::path::Path) -> Option<Self> {
        let file = std::fs::File::open(path).ok()?;
        let seen = residency_in(&file, 0..u64::MAX).ok()?;
        Some(Self { all: seen.total_pages, resident: seen.resident_pages, dirty: seen.dirty_pages })
    }
}

/// What was seen around a phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    pub(super) before: Option<Pages>,
    pub(super) after: Option<Pages>,
    pub(super) happened: Happened,
}

impl Around {
    /// A phase that moved so many bytes in so many operations.
    pub(super) fn findings(
        self,
        timed: Timed,
        metrics: Vec<f64>,
        (bytes, operations): (u64, u64),
    ) -> Findings {
        let Self { before, after, happened } = self;
        let page_bytes = rustix::param::page_size() as u64;
        let dirty_bytes = before.and_then(|pages| pages.dirty).unwrap_or(0) * page_bytes;
        let carried = (dirty_bytes > 0).then_some(Warning::DirtyCarried { dirty_bytes });
        Findings {
            metrics,
            bytes,
            elapsed_ns: timed.elapsed_ns,
            operations: Some(operations),
            steal_ns: Some(happened.steal_ns),
            evidence: CacheEvidence {
                pages: after.map(|pages| pages.all),
                resident_before: before.map(|pages| pages.resident),
                resident_after: after.map(|pages| pages.resident),
                dirty_before: before.and_then(|pages| pages.dirty),
                device_read_bytes: happened.device_read_bytes,
                device_reads: happened.device_reads,
                caller_read_bytes: happened.caller_read_bytes,
                device_written_bytes: happened.device_written_bytes,
                ..CacheEvidence::default()
            },
            warnings: carried.into_iter().collect(),
            ..Findings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_by_the_second_and_the_processors_share_is_in_percent() {
        let took = Timed { elapsed_ns: 500_000_000, processor_ns: 400_000_000 };
        assert_eq!(took.metrics(1000), [2000.0, 80.0]);
        let two = Timed { elapsed_ns: 100, processor_ns: 150 };
        assert!((two.metrics(1)[1] - 150.0).abs() < 1e-9);
    }
}
