//! The cells of a run as detectors see them: what was asked for, what was measured, and what was
//! observed during it.

use std::collections::BTreeMap;

use record::machine::CacheKind;
use record::{
    Cell, CellReport, FirstWrite, IntervalReport, Manifest, ProcessorCount, SecondWrite,
    SpriteLfsOptions, StandardMetric,
};
use serde_json::Value;

use super::{Evidence, Finding};
use crate::AnalysedRun;
use crate::analysis::{Gathered, gather, summary};
use crate::traffic::Traffic;

/// Operations that read and do not write, by their names in phases, and those that write.
const READS: [&str; 4] = ["read", "getc", "seek and read", "stat"];
const WRITES: [&str; 4] = ["write", "putc", "read and write", "create"];

/// A run that is being checked.
pub(super) struct CheckedRun<'a> {
    pub(super) manifest: &'a Manifest,
    /// The cells that were measured.
    pub(super) cells: Vec<CheckedCell<'a>>,
    /// Traffic counted in simulated caches like this machine's, if any was.
    pub(super) traffic: Option<Traffic>,
}

/// A cell that was measured.
pub(super) struct CheckedCell<'a> {
    pub(super) gathered: Gathered<'a>,
    pub(super) report: &'a CellReport,
}

impl<'a> CheckedRun<'a> {
    pub(super) fn new(analysed: &'a AnalysedRun<'_>) -> Self {
        // The document has a report of each, in this order.
        let all = gather(analysed.run).into_iter().zip(&analysed.document.cells);
        let all = all.map(|(gathered, report)| CheckedCell { gathered, report });
        let measured = all.filter(|one| one.gathered.count() > 0 && !one.gathered.is_searched);
        // Caches unlike this machine's say nothing about its times.
        let counted = analysed.run.traffic(analysed.path).ok().flatten();
        let traffic = counted.as_ref().and_then(Traffic::from_run).filter(|one| one.is_of_machine);
        Self { manifest: &analysed.run.manifest, cells: measured.collect(), traffic }
    }

    /// Confidence level of all intervals.
    pub(super) fn level(&self) -> f64 {
        self.manifest.run.confidence_level
    }

    /// The size of the processor's largest cache, in bytes; `None` if it is unknown.
    pub(super) fn largest_cache_bytes(&self) -> Option<u64> {
        let caches = self.manifest.machine.caches.iter();
        let caches = caches.filter(|cache| cache.kind != CacheKind::Instruction);
        caches.filter_map(|cache| cache.size_bytes).max()
    }

    /// The phases of sequences.
    pub(super) fn phases(&self) -> impl Iterator<Item = &CheckedCell<'a>> {
        self.cells.iter().filter(|one| one.is_phase())
    }

    /// Whether the run was made by an earlier version that did not record the order of phases.
    pub(super) fn lacks_order(&self) -> bool {
        self.cells.iter().any(|one| one.sprite_lfs().is_some() && !one.is_phase())
    }

    /// Options that only sprite-lfs has, as typed on the command line; in a run of another suite,
    /// with the command that accepts them.
    pub(super) fn sprite_lfs(&self, options: &str) -> String {
        match self.manifest.run.suite.as_str() {
            "sprite-lfs" => options.to_owned(),
            _ => format!("fsprism run sprite-lfs {options}"),
        }
    }
}

impl CheckedCell<'_> {
    pub(super) fn cell(&self) -> &Cell {
        self.gathered.cell
    }

    /// Whether the two are the same cell of the run.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.gathered.index == other.gathered.index
    }

    /// A parameter that is a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.cell().parameters.get(name)?.as_u64()
    }

    /// Whether it has a parameter.
    pub(super) fn has(&self, name: &str) -> bool {
        self.cell().parameters.contains_key(name)
    }

    /// A parameter that is a word.
    pub(super) fn word(&self, name: &str) -> Option<&str> {
        self.cell().parameters.get(name)?.as_str()
    }

    /// The options of sprite-lfs, if it is a phase of that suite.
    pub(super) fn sprite_lfs(&self) -> Option<SpriteLfsOptions> {
        let parameters = self.cell().parameters.clone().into_iter().collect();
        serde_json::from_value(Value::Object(parameters)).ok()
    }

    /// Whether it is a phase of a sequence.
    pub(super) fn is_phase(&self) -> bool {
        self.number("phase").is_some()
    }

    /// Whether its operations are in random order.
    pub(super) fn is_random(&self) -> bool {
        self.word("access").is_some_and(|access| access != "sequential")
    }

    /// Whether it only reads, after a phase that wrote.
    pub(super) fn is_read_after_write(&self) -> bool {
        let is = |name: &str, all: &[&str]| self.word(name).is_some_and(|word| all.contains(&word));
        is("operation", &READS) && is("after_operation", &WRITES)
    }

    /// Whether it is the first to read pages that the phase before has made, rather than changed.
    pub(super) fn reads_new_pages(&self) -> bool {
        let Some(options) = self.sprite_lfs().filter(|_| self.is_read_after_write()) else {
            return false;
        };
        let first_write = match options.first_write {
            FirstWrite::Sequential => "sequential",
            FirstWrite::Random => "random",
        };
        if self.word("after_access") == Some(first_write) {
            !options.pre_read
        } else {
            options.second_write == SecondWrite::NewFiles
        }
    }

    /// Whether each phase discards the results of its first file.
    pub(super) fn drops_first(&self) -> bool {
        self.sprite_lfs().is_some_and(|options| options.drop_first)
    }

    /// Nanoseconds per operation, or per KiB, by block: measured, or else calculated from the rate.
    pub(super) fn times(&self) -> BTreeMap<u32, f64> {
        let of = |metric| self.gathered.standard_values(metric);
        let per = |work: f64, rates: BTreeMap<u32, f64>| {
            let known = rates.into_iter().filter(|&(_, rate)| rate > 0.0);
            known.map(|(block, rate)| (block, work * 1e9 / rate)).collect::<BTreeMap<_, _>>()
        };
        let all = [
            of(StandardMetric::TIME_PER_OPERATION),
            of(StandardMetric::TIME_PER_KIB),
            per(1.0, of(StandardMetric::THROUGHPUT)),
            per(1024.0, of(StandardMetric::BANDWIDTH)),
        ];
        all.into_iter().find(|times| !times.is_empty()).unwrap_or_default()
    }

    /// The share of the files' pages that were in memory beforehand: the median over blocks.
    pub(super) fn resident_share(&self, level: f64) -> Option<f64> {
        let share = |replicate: &&record::Replicate| {
            let (pages, before) = (replicate.evidence.pages?, replicate.evidence.resident_before?);
            (pages > 0).then(|| before as f64 / pages as f64)
        };
        let shares: Vec<f64> = self.gathered.replicates.values().filter_map(share).collect();
        Some(summary(&shares, level)?.median)
    }

    /// Whether the two have the same target and the same parameters, except for those in `but`.
    pub(super) fn is_alike(&self, other: &Self, but: &[&str]) -> bool {
        let parameters = |cell: &Cell| -> BTreeMap<String, Value> {
            let all = cell.parameters.clone().into_iter();
            all.filter(|(name, _)| !but.contains(&name.as_str())).collect()
        };
        let (one, other) = (self.cell(), other.cell());
        one.target == other.target
            && one.suite == other.suite
            && one.cache_state == other.cache_state
            && parameters(one) == parameters(other)
    }

    /// What the processor counted in it, with its unit; `None` if it was not asked to count.
    pub(super) fn processor_count(&self, count: ProcessorCount, level: f64) -> Option<Evidence> {
        let values: Vec<f64> = self.gathered.values_of(count.metric()).into_values().collect();
        let summary = summary(&values, level)?;
        let definition = count.definition();
        let evidence = self.evidence(&definition.name, &definition.unit, summary.median);
        Some(evidence.within(summary.interval))
    }

    /// A number about this cell.
    pub(super) fn evidence(&self, name: &str, unit: &str, value: f64) -> Evidence {
        Evidence {
            target: Some(self.cell().target.clone()),
            benchmark: Some(self.cell().benchmark.clone()),
            name: name.to_owned(),
            unit: unit.to_owned(),
            value,
            interval: None,
        }
    }

    /// Its title, or that of its curve if it is on one.
    pub(super) fn title(&self) -> &str {
        let cell = self.cell();
        cell.curve.as_ref().map_or(&cell.title, |point| &point.title)
    }

    /// Its title and target.
    pub(super) fn place(&self) -> String {
        format!("{} ({})", self.cell().title, self.cell().target)
    }
}

impl Evidence {
    /// Adds an interval.
    pub(super) fn within(self, interval: Option<IntervalReport>) -> Self {
        Self { interval, ..self }
    }
}

impl Finding {
    /// What was found in these cells.
    pub(super) fn in_cells(
        cells: &[&CheckedCell<'_>],
        message: String,
        evidence: Vec<Evidence>,
        avoid: String,
    ) -> Self {
        let (mut targets, mut benchmarks) = (Vec::new(), Vec::new());
        for cell in cells.iter().map(|one| one.cell()) {
            if !targets.contains(&cell.target) {
                targets.push(cell.target.clone());
            }
            if !benchmarks.contains(&cell.benchmark) {
                benchmarks.push(cell.benchmark.clone());
            }
        }
        Self { message, targets, benchmarks, evidence, avoid }
    }
}
