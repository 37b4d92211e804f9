//! Hand-made runs of sprite-lfs, for tests.

use std::{array, iter};

use record::machine::{Cache, CacheKind};
use record::{
    Better, CachesOrigin, End, EndReason, Line, MetricDefinition, ProcessorCount, RandomAlignment,
    Replacement, Replicate, RunDirectory, SimulatedCache, SimulatedCaches, SpriteLfsOptions,
    StandardMetric, SuiteOptions, traffic,
};
use serde_json::{Value, json};

use super::{Check, CheckDocument, Mistake, check};
use crate::AnalysedRun;
use crate::sample::{Sample, around, noisy};

/// Name, operation and access of each phase.
const PHASES: [(&str, &str, &str); 5] = [
    ("sequential-write", "write", "sequential"),
    ("sequential-read", "read", "sequential"),
    ("random-write", "write", "random"),
    ("random-read", "read", "random"),
    ("sequential-read-again", "read", "sequential"),
];

/// A run of sprite-lfs on tmpfs.
#[derive(Clone, Debug)]
pub(crate) struct Phases {
    pub(super) options: SpriteLfsOptions,
    /// Nanoseconds that an operation of each phase takes.
    pub(super) times: [f64; 5],
    /// Percentage of pages in memory before each phase.
    pub(super) resident: [u64; 5],
    pub(super) blocks: usize,
    /// What the processor counts in each phase.
    pub(crate) counts: Vec<(ProcessorCount, [f64; 5])>,
    /// A phase that is executed twice, and how many times as long the first time takes.
    repeated: Option<(usize, f64)>,
    /// Nanoseconds per operation that padding takes, if all phases are also there padded.
    pub(super) padding_ns: Option<f64>,
    /// The relative noise of times; `None` for a small drift.
    pub(super) noise: Option<f64>,
}

impl Phases {
    /// As published, on a file of 128 KiB: only its options are wrong.
    pub(crate) fn published() -> Self {
        let file_bytes = 128 << 10;
        let options = SpriteLfsOptions { file_bytes, ..SpriteLfsOptions::published() };
        let resident = [0, 100, 100, 100, 100];
        Self {
            options,
            times: [1000.0; 5],
            resident,
            blocks: 8,
            counts: Vec::new(),
            repeated: None,
            padding_ns: None,
            noise: None,
        }
    }

    /// As corrected.
    pub(super) fn corrected() -> Self {
        let file_bytes = 16 << 10;
        let options = SpriteLfsOptions { file_bytes, ..SpriteLfsOptions::corrected() };
        Self { options, resident: [100; 5], ..Self::published() }
    }

    /// Executes the phase at this place twice.
    pub(super) fn repeat(&mut self, place: usize, first_over_second: f64) {
        self.repeated = Some((place, first_over_second));
    }

    pub(crate) fn sample(&self) -> Sample {
        let mut sample = Sample::new(&["tmpfs"]);
        sample.run.manifest.run.suite = "sprite-lfs".to_owned();
        sample.run.manifest.run.classic =
            Some(SuiteOptions::SpriteLfs(self.options.clone().into()));
        sample = self.execute(sample, "");
        if let Some(padding_ns) = self.padding_ns {
            let options = SpriteLfsOptions { pad_calls: true, ..self.options.clone() };
            let is_sequential = |place: usize| PHASES[place].2 == "sequential";
            let padding_ns = |place| if is_sequential(place) { padding_ns } else { 0.0 };
            let times = array::from_fn(|place| self.times[place] + padding_ns(place));
            sample = Self { options, times, ..self.clone() }.execute(sample, "padded-");
        }
        with_caches(&mut sample);
        sample
    }

    /// Adds the phases, in the order of a sequence.
    fn execute(&self, mut sample: Sample, prefix: &str) -> Sample {
        let (mut phase, mut before) = (1, None);
        for (place, (name, operation, access)) in PHASES.into_iter().enumerate() {
            let first_over_second = self.repeated.filter(|one| one.0 == place).map(|one| one.1);
            let time_ns = self.times[place];
            let mut executions =
                vec![(name.to_owned(), time_ns * first_over_second.unwrap_or(1.0))];
            executions.extend(first_over_second.map(|_| (format!("{name}-2"), time_ns)));
            for (name, time_ns) in executions {
                let name = format!("{prefix}{name}");
                let cell = sample.run.manifest.cells.len();
                let times = match self.noise {
                    Some(noise) => noisy(time_ns, noise, cell as u64 + 1, self.blocks),
                    None => around(time_ns, self.blocks),
                };
                sample = sample.benchmark(&name, &[&times]);
                let parameters = self.parameters(phase, before, operation, access);
                sample.change(&name, |cell| {
                    cell.title = format!("the {name}");
                    cell.parameters = parameters.clone().into_iter().collect();
                    let counted = self.counts.iter().map(|(count, _)| count.definition());
                    let timed = StandardMetric::TIME_PER_OPERATION.definition();
                    cell.metrics = iter::once(timed).chain(counted).collect();
                    let files = u64::from(self.options.files);
                    cell.working_set_bytes = Some(self.options.file_bytes * files);
                });
                self.see(&mut sample, cell, place);
                (phase, before) = (phase + 1, Some((operation, access)));
            }
        }
        sample
    }

    fn parameters(
        &self,
        phase: u64,
        before: Option<(&str, &str)>,
        operation: &str,
        access: &str,
    ) -> Vec<(String, Value)> {
        let is_unaligned = access == "random" && self.options.alignment == RandomAlignment::Byte;
        let own = [
            ("phase", json!(phase)),
            ("operation", json!(operation)),
            ("access", json!(access)),
            ("alignment_bytes", json!(if is_unaligned { 1 } else { 4096 })),
        ];
        let before = before.map(|(operation, access)| {
            [("after_operation", json!(operation)), ("after_access", json!(access))]
        });
        let own = own.into_iter().chain(before.into_iter().flatten());
        let options = serde_json::to_value(&self.options).unwrap();
        let options = options.as_object().cloned().unwrap();
        own.map(|(name, value)| (name.to_owned(), value)).chain(options).collect()
    }

    /// Adds what a replicate of a phase records: two readings of the clock, and pages.
    fn see(&self, sample: &mut Sample, cell: usize, place: usize) {
        let operations = self.options.file_bytes / 4096;
        for line in &mut sample.run.lines {
            let Line::Replicate(replicate) = line else { continue };
            if replicate.cell as usize != cell {
                continue;
            }
            let kept = u64::from(self.options.files) - u64::from(self.options.drop_first);
            replicate.elapsed_ns = replicate.latency.p50_ns * operations * kept;
            replicate.latency = record::LatencySummary::default();
            replicate.metrics.truncate(1);
            replicate.metrics.extend(self.counts.iter().map(|(_, of_phases)| of_phases[place]));
            replicate.evidence.pages = Some(100);
            replicate.evidence.resident_before = Some(self.resident[place]);
        }
    }
}

/// Gives the machine 1 MiB of cache, and far more memory.
pub(super) fn with_caches(sample: &mut Sample) {
    let machine = &mut sample.run.manifest.machine;
    machine.memory.total_bytes = Some(1 << 40);
    machine.caches = vec![Cache {
        level: 2,
        kind: CacheKind::Unified,
        size_bytes: Some(1 << 20),
        line_bytes: Some(64),
        ways: None,
        sets: None,
        shared_by: Vec::new(),
        instances: 1,
    }];
}

/// The check of a run.
pub(super) fn checked(sample: &Sample) -> CheckDocument {
    checked_beside(sample, None)
}

/// The check of a run with traffic that was counted in simulated caches.
fn checked_beside(sample: &Sample, counted: Option<&Sample>) -> CheckDocument {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let run = sample.write(&path);
    if let Some(Sample { run, .. }) = counted {
        let mut directory =
            RunDirectory::create(&path.join(traffic::SUITE), &run.manifest).unwrap();
        run.lines.iter().for_each(|line| directory.append(line).unwrap());
    }
    check(&AnalysedRun::new(&run, &path), "run").unwrap()
}

/// The check of a run for one mistake.
pub(super) fn outcome_of(sample: &Sample, mistake: Mistake) -> Check {
    of_mistake(checked(sample), mistake)
}

fn of_mistake(document: CheckDocument, mistake: Mistake) -> Check {
    document.checks.into_iter().find(|check| check.mistake == mistake).unwrap()
}

/// Like [`outcome`], if each read evicts `bytes_out` bytes from a simulated cache.
pub(super) fn outcome_with_traffic(phases: &Phases, bytes_out: f64, mistake: Mistake) -> Check {
    let mut counted = Sample::new(&["tmpfs"]);
    counted.run.manifest.run.suite = traffic::SUITE.to_owned();
    counted.run.manifest.run.kind = record::RunKind::Traffic;
    counted.run.manifest.run.simulated_caches = Some(SimulatedCaches {
        origin: CachesOrigin::Machine,
        caches: vec![SimulatedCache {
            name: "l2".to_owned(),
            size_bytes: 256 << 10,
            line_bytes: 32,
            ways: 8,
            replacement: Replacement::Lru,
            inclusive: false,
        }],
    });
    for (name, ..) in PHASES {
        counted = counted.benchmark(name, &[]);
        counted.change(name, |cell| {
            let names = ["l2_bytes_in", "l2_bytes_out", "l2_dirty_bytes"];
            cell.metrics =
                names.map(|name| MetricDefinition::new(name, "bytes", Better::Lower)).to_vec();
        });
    }
    let replicate = |(cell, (_, operation, _)): (u32, (&str, &str, &str))| {
        let out = if operation == "read" { bytes_out } else { 1e6 };
        Line::Replicate(Box::new(Replicate::from_metrics(cell, 0, vec![1e6, out, 2e5])))
    };
    counted.run.lines = (0..).zip(PHASES).map(replicate).collect();
    counted.run.lines.push(Line::End(End {
        reason: EndReason::Blocks,
        used_s: 1.0,
        clock_drift_ppm: 0.0,
    }));
    of_mistake(checked_beside(&phases.sample(), Some(&counted)), mistake)
}

/// The check of phases for one mistake.
pub(super) fn outcome(phases: &Phases, mistake: Mistake) -> Check {
    outcome_of(&phases.sample(), mistake)
}
