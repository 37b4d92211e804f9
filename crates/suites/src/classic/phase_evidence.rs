//! What is observed around a phase, and how it becomes the phase's findings. Each phase has its own
//! evidence, since one execution measures all of them.

use std::fs::File;

use record::{CacheEvidence, Warning};
use targets::cache::residency::residency_in;

use crate::counters::CounterDeltas;
use crate::findings::Findings;

/// Pages of files, as far as the kernel counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageCounts {
    all: u64,
    resident: u64,
    dirty: Option<u64>,
}

impl PageCounts {
    /// The pages of all these files; `None` if the kernel does not report those of one.
    pub(super) fn of_files<'a>(files: impl IntoIterator<Item = &'a File>) -> Option<Self> {
        let mut all = Self { dirty: Some(0), ..Self::default() };
        for file in files {
            let seen = residency_in(file, 0..u64::MAX).ok()?;
            all.all += seen.total_pages;
            all.resident += seen.resident_pages;
            all.dirty = all.dirty.zip(seen.dirty_pages).map(|(sum, dirty)| sum + dirty);
        }
        Some(all)
    }
}

/// What was observed around a phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PhaseEvidence {
    pub(super) before: Option<PageCounts>,
    pub(super) after: Option<PageCounts>,
    pub(super) deltas: CounterDeltas,
}

impl PhaseEvidence {
    /// The findings of a phase that moved `bytes` bytes in `operations` operations.
    pub(super) fn findings(
        self,
        elapsed_ns: u64,
        metrics: Vec<f64>,
        bytes: u64,
        operations: u64,
    ) -> Findings {
        let Self { before, after, deltas } = self;
        let page_bytes = rustix::param::page_size() as u64;
        let dirty_bytes = before.and_then(|pages| pages.dirty).unwrap_or(0) * page_bytes;
        let carried = (dirty_bytes > 0).then_some(Warning::DirtyCarried { dirty_bytes });
        Findings {
            metrics,
            bytes,
            elapsed_ns,
            operations: Some(operations),
            steal_ns: Some(deltas.steal_ns),
            evidence: CacheEvidence {
                pages: after.map(|pages| pages.all),
                resident_before: before.map(|pages| pages.resident),
                resident_after: after.map(|pages| pages.resident),
                dirty_before: before.and_then(|pages| pages.dirty),
                device_read_bytes: deltas.device_read_bytes,
                device_reads: deltas.device_reads,
                caller_read_bytes: deltas.caller_read_bytes,
                device_written_bytes: deltas.device_written_bytes,
                ..CacheEvidence::default()
            },
            warnings: carried.into_iter().collect(),
            ..Findings::default()
        }
    }
}
