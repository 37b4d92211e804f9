//! What is measured as an ordinary run: its manifest and its journal.

use std::time::Instant;

use network_guest::Measured;
use record::{
    CacheEvidence, CellFailed, Discarded, End, EndReason, LatencySummary, Line, Manifest,
    RecordError, RunDirectory, Skipped, Start, TargetRecord,
};

use crate::cells;
use crate::conduct::Performed;
use crate::metrics;
use crate::observed::Observed;
use crate::plan::{NetworkBenchmark, Plan, Target};

/// The manifest of a run of this plan, and otherwise as `base` is.
#[must_use]
pub fn manifest(base: Manifest, plan: &Plan) -> Manifest {
    Manifest {
        skipped: skipped(plan),
        targets: plan.targets().iter().map(|target| record_of(plan, target)).collect(),
        cells: cells::cells(plan).into_iter().map(|(_, _, cell)| cell).collect(),
        ..base
    }
}

/// What a plan leaves out, and why.
#[must_use]
pub fn skipped(plan: &Plan) -> Vec<Skipped> {
    let mut skipped = Vec::new();
    for target in plan.targets() {
        for benchmark in &plan.benchmarks {
            if let Some(why) = benchmark.lacks(target.state) {
                let target = format!("{target}: {}", benchmark.name());
                skipped.push(Skipped { target, why: why.to_owned() });
            }
        }
    }
    for (state, why) in plan.mount.iter().flat_map(|mount| &mount.lacks) {
        let target = format!("{state}: all benchmarks");
        skipped.push(Skipped { target, why: (*why).to_owned() });
    }
    skipped
}

fn record_of(plan: &Plan, target: &Target) -> TargetRecord {
    let version = target.version.map(|version| format!("version={version}"));
    let is_own = plan.mount.is_some();
    let link = target.version.filter(|_| !is_own).map(|_| format!("link={}", plan.link));
    let cache = target.cache.as_ref().map(|cache| format!("cache={cache}"));
    let state = Some(format!("state={}", target.state));
    let words: Vec<String> = [version, link, cache, state].into_iter().flatten().collect();
    let file_system = match &plan.mount {
        Some(mount) => &mount.file_system,
        None if target.version.is_some() => "nfs",
        None => "ext4",
    };
    TargetRecord {
        label: target.label.clone(),
        specification: format!("{file_system}:{}", words.join(",")),
        file_system: file_system.to_owned(),
        scratch: !is_own,
        mkfs: None,
        mkfs_version: None,
        mount_options: plan.mount.as_ref().map_or_else(String::new, |mount| mount.options.clone()),
        size_bytes: plan.content.bytes(),
        device: None,
        loop_direct_io: None,
        image_allocated: false,
        read_ahead_bytes: None,
        aged: None,
        conditions: record::Conditions::default(),
        condition_caveats: Vec::new(),
    }
}

/// A run directory that replicates are written to as they come.
#[derive(Debug)]
pub struct Recorded<'a> {
    directory: &'a mut RunDirectory,
    plan: Plan,
    begun: Instant,
    /// Lines of replicates so far, of this block.
    order: (u32, u32),
}

impl<'a> Recorded<'a> {
    /// Begins the journal of a run whose manifest is that of this plan.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn begin(directory: &'a mut RunDirectory, plan: Plan) -> Result<Self, RecordError> {
        directory.append(&Line::Start(Start { used_s: 0.0, budget_s: None }))?;
        Ok(Self { directory, plan, begun: Instant::now(), order: (0, 0) })
    }

    /// What is measured.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Ends the journal.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn end(self, reason: EndReason) -> Result<(), RecordError> {
        let used_s = self.begun.elapsed().as_secs_f64();
        self.directory.append(&Line::End(End { reason, used_s, clock_drift_ppm: 0.0 }))
    }

    /// The index of a cell in the manifest.
    fn cell(&self, benchmark: NetworkBenchmark, target: &Target) -> u32 {
        let cells = cells::cells(&self.plan);
        let mut places = (0..).zip(&cells);
        let found = places.find(|(_, (of, one, _))| of == target && *one == benchmark);
        found.map_or(0, |(place, _)| place)
    }

    pub(crate) fn keep(
        &mut self,
        (block, attempt): (u32, u32),
        benchmark: NetworkBenchmark,
        target: &Target,
        replicate: &Performed,
    ) -> Result<(), RecordError> {
        let Performed { readers, server } = replicate;
        let observed = Observed { benchmark, readers, server, link: self.plan.link };
        let sum = |of: fn(&Measured) -> u64| readers.iter().map(|one| of(&one.measured)).sum();
        let elapsed_ns = replicate.elapsed_ns();
        let resident = readers.first().and_then(|one| one.measured.resident);
        if self.order.0 != block {
            self.order = (block, 0);
        }
        let line = record::Replicate {
            cell: self.cell(benchmark, target),
            block,
            order: self.order.1,
            attempt,
            at_s: self.begun.elapsed().as_secs_f64(),
            metrics: metrics::values(&observed, self.plan.mount.is_some()),
            operations: sum(|one| one.did.files + one.did.directories),
            bytes: sum(|one| one.did.bytes),
            elapsed_ns,
            busy_ns: sum(|one| one.elapsed_ns),
            latency: LatencySummary::default(),
            histogram: None,
            timeline: None,
            course: None,
            spent: None,
            evidence: CacheEvidence {
                pages: resident.map(|(pages, _)| pages),
                resident_before: resident.map(|(_, resident)| resident),
                ..CacheEvidence::default()
            },
            steal_ns: 0,
            warnings: Vec::new(),
            observations: Vec::new(),
        };
        self.order.1 += 1;
        self.directory.append(&Line::Replicate(Box::new(line)))
    }

    pub(crate) fn discard(
        &mut self,
        (block, attempt): (u32, u32),
        benchmark: NetworkBenchmark,
        target: &Target,
        why: &str,
    ) -> Result<(), RecordError> {
        self.directory.append(&Line::Discarded(Discarded {
            cell: self.cell(benchmark, target),
            block,
            attempt,
            turn_ns: None,
            why: why.to_owned(),
            evidence: CacheEvidence::default(),
        }))
    }

    pub(crate) fn give_up(
        &mut self,
        block: u32,
        benchmark: NetworkBenchmark,
        targets: &[&Target],
        why: &str,
    ) -> Result<(), RecordError> {
        for target in targets {
            let cell = self.cell(benchmark, target);
            let failed = CellFailed { cell, block, why: why.to_owned() };
            self.directory.append(&Line::CellFailed(failed))?;
        }
        Ok(())
    }
}
