//! Records the replicates of a plan, each in its cell, in the journal of the run.

use std::time::Instant;

use network_guest::TaskMeasurement;
use record::{CacheEvidence, EndReason, RecordError, Replicate, RunDirectory};
use runner::Journal;

use crate::cells;
use crate::metrics;
use crate::observation::{MeasuredReplicate, Observation};
use crate::plan::{NetworkBenchmark, Plan, Target};

/// A run directory to which the replicates of a plan are written as they come.
#[derive(Debug)]
pub struct RunRecorder<'a> {
    journal: Journal<'a>,
    plan: Plan,
}

impl<'a> RunRecorder<'a> {
    /// Begins the journal of a run whose manifest was made from this plan.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn begin(directory: &'a mut RunDirectory, plan: Plan) -> Result<Self, RecordError> {
        let cells = cells::cells(&plan).len();
        Ok(Self { journal: Journal::begin(directory, cells, Instant::now())?, plan })
    }

    /// The plan that is measured.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Ends the journal.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn end(self, reason: EndReason) -> Result<(), RecordError> {
        self.journal.end(reason)
    }

    /// Index of the cell of a benchmark on a target.
    fn cell(&self, benchmark: NetworkBenchmark, target: &Target) -> u32 {
        let cells = cells::cells(&self.plan);
        let mut places = (0..).zip(&cells);
        let found = places.find(|(_, (of, one, _))| of == target && *one == benchmark);
        found.map_or(0, |(place, _)| place)
    }

    pub(crate) fn keep(
        &mut self,
        block: u32,
        attempt: u32,
        benchmark: NetworkBenchmark,
        target: &Target,
        MeasuredReplicate { readers, server }: &MeasuredReplicate,
    ) -> Result<(), RecordError> {
        let (link, counts, is_own) = (self.plan.link, self.plan.counts, self.plan.mount.is_some());
        let observed = Observation { benchmark, readers, server, link, counts, is_own };
        let cell = self.cell(benchmark, target);
        self.journal.keep(replicate(cell, block, &observed), attempt)
    }

    pub(crate) fn discard(
        &mut self,
        block: u32,
        attempt: u32,
        benchmark: NetworkBenchmark,
        target: &Target,
        why: &str,
    ) -> Result<(), RecordError> {
        self.journal.discard(self.cell(benchmark, target), block, attempt, why)
    }

    pub(crate) fn give_up(
        &mut self,
        block: u32,
        benchmark: NetworkBenchmark,
        targets: &[&Target],
        why: &str,
    ) -> Result<(), RecordError> {
        let mut give_up =
            |target: &&Target| self.journal.give_up(self.cell(benchmark, target), block, why);
        targets.iter().try_for_each(&mut give_up)
    }
}

/// What was observed, as a replicate of a cell in a block.
pub(crate) fn replicate(cell: u32, block: u32, observed: &Observation<'_>) -> Replicate {
    let readers = observed.readers;
    let sum = |of: fn(&TaskMeasurement) -> u64| readers.iter().map(|one| of(&one.measured)).sum();
    let resident = readers.first().and_then(|one| one.measured.resident);
    Replicate {
        operations: sum(|one| one.did.files + one.did.directories),
        bytes: sum(|one| one.did.bytes),
        elapsed_ns: readers.iter().map(|one| one.measured.elapsed_ns).max().unwrap_or(0),
        busy_ns: sum(|one| one.elapsed_ns),
        evidence: CacheEvidence {
            pages: resident.map(|(pages, _)| pages),
            resident_before: resident.map(|(_, resident)| resident),
            ..CacheEvidence::default()
        },
        ..Replicate::from_metrics(cell, block, metrics::values(observed))
    }
}
