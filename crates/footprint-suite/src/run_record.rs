//! Traced targets as an ordinary run: its manifest and its journal.

use std::time::Instant;

use caches::Hierarchy;
use footprint_guest::TracedCall;
use record::{
    EndReason, Manifest, RecordError, ReservedDirectory, RunDirectory, Skipped, TargetRecord,
};
use runner::Journal;
use targets::TargetFacts;

use crate::{
    GuestTarget, MeasuredExecution, TraceOutcome, TracingPlan, cells, definitions, lines, measure,
};

/// A target with what was measured of it, or why there is nothing.
#[derive(Debug)]
pub struct TargetFootprints {
    target: GuestTarget,
    /// What to trace on it.
    plan: TracingPlan,
    /// Operations that do not apply to it, with the reason.
    left_out: Vec<(TracedCall, String)>,
    facts: Option<TargetFacts>,
    measured: Vec<MeasuredExecution>,
    /// Why something is missing: an operation, or everything.
    why: Vec<(Option<TracedCall>, String)>,
}

impl TargetFootprints {
    /// Measures what was traced of a target. Messages name `directory`, the directory of the run,
    /// as the user knows it.
    #[must_use]
    pub fn new(
        outcome: TraceOutcome,
        caches: Option<&Hierarchy>,
        directory: &ReservedDirectory,
    ) -> Self {
        let TraceOutcome { target, plan, left_out, trace, traced } = outcome;
        let measured = traced.map_err(|error| error.to_string()).and_then(|traced| {
            let measured = measure(&trace, traced.description, caches);
            Ok((traced.outcome, measured.map_err(|error| error.to_string())?))
        });
        let (facts, measured, why) = match measured {
            Ok((outcome, measured)) => {
                let failed = outcome.failed.into_iter();
                let why = failed.map(|failed| (failed.operation, failed.why)).collect();
                (outcome.target, measured, why)
            }
            Err(why) => (None, Vec::new(), vec![(None, directory.shown(&why))]),
        };
        Self { target, plan, left_out, facts, measured, why }
    }

    /// If nothing was traced of the target, its label and the reason.
    #[must_use]
    pub fn failure(&self) -> Option<(&str, &str)> {
        let why = self.why.first().map_or("", |(_, why)| why);
        self.facts.is_none().then_some((&self.target.spec.label, why))
    }

    /// What was not traced of the target: everything, or operations that do not apply to it.
    fn skipped(&self) -> Vec<Skipped> {
        if let Some((label, why)) = self.failure() {
            return vec![Skipped { target: label.to_owned(), why: why.to_owned() }];
        }
        let label = &self.target.spec.label;
        let of = |(operation, why): &(TracedCall, String)| Skipped {
            target: format!("{label}: {operation}"),
            why: why.clone(),
        };
        self.left_out.iter().map(of).collect()
    }

    /// The record of the target, if a guest made it.
    fn record(&self) -> Option<TargetRecord> {
        let facts = self.facts.as_ref()?;
        let spec = &self.target.spec;
        Some(TargetRecord {
            mkfs: facts.mkfs.clone(),
            mkfs_version: facts.mkfs_version.clone(),
            mount_options: facts.mount_options.clone(),
            size_bytes: facts.size_bytes,
            read_ahead_bytes: facts.read_ahead_bytes,
            ..TargetRecord::plain(&spec.label, self.target.specification(), &facts.file_system)
        })
    }
}

/// The manifest of a run of these targets; everything else is taken from `base`.
#[must_use]
pub fn manifest(
    base: Manifest,
    targets: &[TargetFootprints],
    caches: Option<&Hierarchy>,
) -> Manifest {
    let metrics = definitions(caches);
    let made = targets.iter().filter(|one| one.facts.is_some());
    let of = |one: &TargetFootprints| cells(&one.target.spec.label, &one.plan, &metrics);
    Manifest {
        skipped: targets.iter().flat_map(TargetFootprints::skipped).collect(),
        targets: targets.iter().filter_map(TargetFootprints::record).collect(),
        cells: made.flat_map(of).collect(),
        ..base
    }
}

/// Writes the run, whose tracing began at `begun`, into the directory that was reserved for it.
///
/// # Errors
/// If the directory cannot be written.
pub fn write(
    directory: ReservedDirectory,
    manifest: &Manifest,
    targets: &[TargetFootprints],
    begun: Instant,
) -> Result<RunDirectory, RecordError> {
    let mut directory = directory.begin(manifest)?;
    let mut journal = Journal::begin(&mut directory, manifest.cells.len(), begun)?;
    let mut first_cell = 0;
    for one in targets.iter().filter(|one| one.facts.is_some()) {
        for line in lines(first_cell, &one.plan, &one.measured, &one.why) {
            journal.write(&line)?;
        }
        first_cell += u32::try_from(one.plan.operations.len()).unwrap_or(u32::MAX);
    }
    journal.end(EndReason::Blocks)?;
    Ok(directory)
}
