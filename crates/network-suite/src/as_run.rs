//! What is measured as an ordinary run: its manifest, and where its replicates go.

use record::{EndReason, Manifest, RecordError, RunDirectory, Skipped, TargetRecord};

use crate::cells;
use crate::conduct::Performed;
use crate::journal::{Journal, Place};
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

pub(crate) fn record_of(plan: &Plan, target: &Target) -> TargetRecord {
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
        filled_percent: None,
        aged: None,
        conditions: record::Conditions::default(),
        condition_caveats: Vec::new(),
    }
}

/// A run directory that replicates of a plan are written to as they come.
#[derive(Debug)]
pub struct Recorded<'a> {
    journal: Journal<'a>,
    plan: Plan,
}

impl<'a> Recorded<'a> {
    /// Begins the journal of a run whose manifest is that of this plan.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn begin(directory: &'a mut RunDirectory, plan: Plan) -> Result<Self, RecordError> {
        let cells = cells::cells(&plan).len();
        Ok(Self { journal: Journal::begin(directory, cells)?, plan })
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
        self.journal.end(reason)
    }

    /// Where a replicate stands.
    fn place(
        &self,
        (block, attempt): (u32, u32),
        benchmark: NetworkBenchmark,
        target: &Target,
    ) -> Place {
        let cells = cells::cells(&self.plan);
        let mut places = (0..).zip(&cells);
        let found = places.find(|(_, (of, one, _))| of == target && *one == benchmark);
        Place { cell: found.map_or(0, |(place, _)| place), block, attempt }
    }

    pub(crate) fn keep(
        &mut self,
        attempt: (u32, u32),
        benchmark: NetworkBenchmark,
        target: &Target,
        Performed { readers, server }: &Performed,
    ) -> Result<(), RecordError> {
        let (link, is_own) = (self.plan.link, self.plan.mount.is_some());
        let observed = Observed { benchmark, readers, server, link, is_own };
        self.journal.keep(self.place(attempt, benchmark, target), &observed)
    }

    pub(crate) fn discard(
        &mut self,
        attempt: (u32, u32),
        benchmark: NetworkBenchmark,
        target: &Target,
        why: &str,
    ) -> Result<(), RecordError> {
        self.journal.discard(self.place(attempt, benchmark, target), why)
    }

    pub(crate) fn give_up(
        &mut self,
        block: u32,
        benchmark: NetworkBenchmark,
        targets: &[&Target],
        why: &str,
    ) -> Result<(), RecordError> {
        targets.iter().try_for_each(|target| {
            self.journal.give_up(self.place((block, 0), benchmark, target), why)
        })
    }
}
