//! Traces the phases of a benchmark: what each moves into and out of every cache.
//!
//! In a guest, fsprism itself measures the benchmark on a target made there, and executes a mark
//! before and after each phase. Caches are simulated over all marked regions in order, so that each
//! phase finds in them what the one before has left. What happens between phases, such as checking
//! which pages are in memory, is not included.

use std::path::Path;
use std::time::Duration;

use caches::{Hierarchy, LevelReport, Report};
use footprint::simulated::{CachesToSimulate, Warmth};
use footprint::touched::Figures;
use footprint::trace::{Completeness, Region};
use footprint_guest::{DEVICE, inside};
use footprint_study::{RegionFigures, regions};
use footprint_trace::marked::PhasePosition;
use lab::command::{Command, HAND_BACK};
use record::traffic::{self, BYTES_IN, BYTES_OUT, DIRTY_BYTES};
use record::{Better, Cell, Dimension, Line, MetricDefinition, Replicate, Run, TargetRecord};
use targets::TargetSpec;

use crate::trace::file_error;
use crate::{GuestTarget, Tracer, TracingError};

/// Where the guest stores its run.
const RUN: &str = "run";
/// Time limit of a guest, long enough even on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(1800);
/// Seed of all random orders. It is fixed, so that two runs only differ in what the kernel does.
pub const SEED: u64 = 1;

/// What to trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasesPlan {
    /// The benchmark with its options, as words of `fsprism run`.
    pub words: Vec<String>,
    /// How often it is executed, not counting the first time, which is dropped.
    pub executions: u32,
}

/// The phases of a benchmark on one target.
#[derive(Clone, Debug)]
pub struct PhasesTraced {
    /// The target as the guest made it.
    pub target: TargetRecord,
    /// A cell for each phase, in order.
    pub cells: Vec<Cell>,
    /// The counts, by execution and phase.
    values: Vec<Vec<Vec<f64>>>,
}

impl Tracer {
    /// Lets a guest measure the benchmark on the target, and counts what its phases move. There
    /// must be no file at `trace`, and none is left there.
    ///
    /// # Errors
    /// If the guest or its fsprism fails, or the trace is incomplete.
    pub fn phases(
        &self,
        target: &GuestTarget,
        plan: &PhasesPlan,
        caches: &Hierarchy,
        trace: &Path,
    ) -> Result<PhasesTraced, TracingError> {
        let traced = self.trace_phases(target, plan, caches, trace);
        let _is_missing = std::fs::remove_file(trace);
        traced
    }

    fn trace_phases(
        &self,
        target: &GuestTarget,
        plan: &PhasesPlan,
        caches: &Hierarchy,
        trace: &Path,
    ) -> Result<PhasesTraced, TracingError> {
        let handed = tempfile::tempdir().map_err(file_error(&std::env::temp_dir()))?;
        let handed = handed.path();
        let mut boot = self.boot_for(target);
        boot.plugin = Some(self.plugin(trace));
        boot.time_limit = TIME_LIMIT;
        let ran = command(target, plan).run_into(boot, handed)?;
        if ran.status != 0 {
            let said = String::from_utf8_lossy(&ran.output).trim().to_owned();
            let last = said.lines().next_back().unwrap_or("it printed nothing");
            return Err(TracingError::Target(format!("the guest's fsprism failed: {last}")));
        }
        let run = Run::read(&handed.join(RUN))?;
        // The names of kernel functions are needed to tell interrupts and other tasks apart.
        let (names, cut) = self.named(trace, handed)?;
        if cut.is_some() {
            return Err(TracingError::Cut { path: trace.to_owned(), cut });
        }
        let simulated = CachesToSimulate { hierarchy: caches, warmth: Warmth::Warm };
        let regions = regions(trace, names, Some(simulated))?;
        let traced = PhasesTraced::from_run(target, &run, &regions, caches);
        let traced = traced.map_err(TracingError::Target)?;
        let (counted, wanted) = (traced.values.len(), plan.executions as usize);
        if counted < wanted {
            let why = format!("the trace has only {counted} of {wanted} executions");
            return Err(TracingError::Target(why));
        }
        Ok(traced)
    }
}

/// What the guest runs: it hands back its kernel's symbols, then measures the benchmark.
fn command(target: &GuestTarget, plan: &PhasesPlan) -> Command {
    let (to, seed) = (format!("{HAND_BACK}/{RUN}"), SEED.to_string());
    // The label used here does not matter in the guest.
    let target_text = TargetSpec { label: "target".to_owned(), ..target.in_guest() }.to_string();
    let blocks = plan.executions.to_string();
    let further = [&target_text, "--destroy-data", DEVICE, "--seed", &seed].into_iter();
    let further = further.chain(["--blocks", &blocks, "--out", &to]).map(str::to_owned);
    let words = ["/init", "run"].into_iter().map(str::to_owned);
    let words: Vec<String> = words.chain(plan.words.iter().cloned()).chain(further).collect();
    let measure = Command::from_words(&words).text;
    let text = format!("cat /proc/kallsyms > {HAND_BACK}/{} && {measure}", inside::SYMBOLS);
    Command { text, load: vec!["brd".to_owned(), target.file_system.name.to_owned()] }
}

impl PhasesTraced {
    /// Attributes the regions of a trace to the phases of the guest's run.
    fn from_run(
        target: &GuestTarget,
        run: &Run,
        regions: &[RegionFigures],
        caches: &Hierarchy,
    ) -> Result<Self, String> {
        let metrics = definitions(caches);
        let label = &target.spec.label;
        let cell = |cell: &Cell| Cell {
            target: label.clone(),
            suite: traffic::SUITE.to_owned(),
            dimension: Dimension::CpuFootprint,
            exercises: Vec::new(),
            metrics: metrics.clone(),
            baseline: None,
            least: None,
            ..cell.clone()
        };
        let cells: Vec<Cell> = run.manifest.cells.iter().map(cell).collect();
        let [record] = run.manifest.targets.as_slice() else {
            return Err("the guest measured no target".to_owned());
        };
        let whole = executions(regions, cells.len());
        // The first execution starts with empty caches.
        let values = whole.skip(1).collect();
        let specification = target.spec.specification();
        let target = TargetRecord { label: label.clone(), specification, ..record.clone() };
        Ok(Self { target, cells, values })
    }

    /// The lines of the journal if its first cell has this index.
    #[must_use]
    pub fn lines(&self, first_cell: u32) -> Vec<Line> {
        let mut lines = Vec::new();
        for (block, execution) in (0..).zip(&self.values) {
            for (cell, values) in (first_cell..).zip(execution) {
                let replicate = Replicate::from_metrics(cell, block, values.clone());
                lines.push(Line::Replicate(Box::new(Replicate { order: cell, ..replicate })));
            }
        }
        lines
    }
}

/// The values of each phase, by execution, for those executions that are completely in the trace.
fn executions(regions: &[RegionFigures], phases: usize) -> impl Iterator<Item = Vec<Vec<f64>>> {
    let mut all: Vec<Vec<&RegionFigures>> = Vec::new();
    for region in regions {
        let Region::Marked { operation, .. } = region.region else { continue };
        match all.last_mut() {
            Some(execution) if operation == PhasePosition::Later.operation() => {
                execution.push(region);
            }
            _ => all.push(vec![region]),
        }
    }
    let is_whole = move |execution: &Vec<&RegionFigures>| {
        let is_whole = |one: &&RegionFigures| one.completeness == Completeness::Whole;
        execution.len() == phases && execution.iter().all(is_whole)
    };
    let values = |execution: Vec<&RegionFigures>| {
        execution
            .iter()
            .filter_map(|one| Some(values(&one.figures, one.report.as_ref()?)))
            .collect()
    };
    all.into_iter().filter(is_whole).map(values)
}

/// A metric's name, whether lower or higher values are better, and how it is counted.
type CountedMetric<T> = (&'static str, Better, fn(&T) -> u64);

/// What is counted for each cache.
const OF_CACHE: [CountedMetric<LevelReport>; 3] = [
    (BYTES_IN, Better::Lower, |level| level.misses() * u64::from(level.line_bytes)),
    (BYTES_OUT, Better::Lower, |level| level.write_backs * u64::from(level.line_bytes)),
    (DIRTY_BYTES, Better::Neither, |level| level.dirty_bytes),
];

/// What else is counted. Interrupts and other tasks are kept separate, and are not simulated in the
/// caches.
const OF_PHASE: [CountedMetric<Figures>; 3] = [
    ("instructions", Better::Lower, |one| one.instructions),
    ("interrupt_instructions", Better::Neither, |one| one.interrupt_instructions),
    ("other_task_instructions", Better::Neither, |one| one.other_task_instructions),
];

/// The caches of a report, with lower levels before the first, as what passes those takes longest.
fn levels(report: &Report) -> impl Iterator<Item = &LevelReport> {
    let is_first = |level: &&LevelReport| level.name.starts_with("l1");
    let lower = report.levels.iter().filter(move |level| !is_first(level));
    lower.chain(report.levels.iter().filter(is_first))
}

/// The metrics of each cell.
fn definitions(caches: &Hierarchy) -> Vec<MetricDefinition> {
    let empty = caches::Simulation::new(caches).report();
    let of_level = |level: &LevelReport| {
        OF_CACHE.map(|(what, better, _)| {
            MetricDefinition::new(&traffic::metric(&level.name, what), "bytes", better)
        })
    };
    let of_phase =
        OF_PHASE.map(|(name, better, _)| MetricDefinition::new(name, "instructions", better));
    levels(&empty).flat_map(of_level).chain(of_phase).collect()
}

/// The values of [`definitions`], in the same order, for one execution of a phase.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
fn values(figures: &Figures, report: &Report) -> Vec<f64> {
    let of_caches = levels(report).flat_map(|level| OF_CACHE.map(|(_, _, count)| count(level)));
    let of_phase = OF_PHASE.map(|(_, _, count)| count(figures));
    of_caches.chain(of_phase).map(|count| count as f64).collect()
}

#[cfg(test)]
mod tests {
    use caches::{CachePolicy, FirstLevel, Geometry, Inclusion, LowerLevel, Shape, Simulation};

    use super::*;

    fn caches() -> Hierarchy {
        let geometry = |size_bytes| {
            let policy = CachePolicy::Lru;
            Geometry::new(Shape { size_bytes, line_bytes: 32, ways: 4, policy }).unwrap()
        };
        let first = FirstLevel::Split { instruction: geometry(1 << 14), data: geometry(1 << 14) };
        let inclusion = Inclusion::NonInclusive;
        let lower =
            [1 << 18, 1 << 20].map(|bytes| LowerLevel { geometry: geometry(bytes), inclusion });
        Hierarchy::new(first, lower.to_vec()).unwrap()
    }

    fn region(
        position: PhasePosition,
        repetition: u32,
        completeness: Completeness,
    ) -> RegionFigures {
        let mut report = Simulation::new(&caches()).report();
        for (level, number) in report.levels.iter_mut().zip(1..) {
            level.lookups.loads.misses = number * 100 + u64::from(repetition);
            level.write_backs = number * 10;
            level.dirty_bytes = number;
        }
        RegionFigures {
            region: Region::Marked { region: 0, operation: position.operation(), repetition },
            completeness,
            figures: Figures { instructions: 7, ..Figures::default() },
            report: Some(report),
        }
    }

    #[test]
    fn executions_begin_with_a_first_phase_and_are_whole() {
        use Completeness::{Cut, Whole};
        use PhasePosition::{First, Later};
        let all = [
            (Later, 7, Whole),
            (First, 0, Whole),
            (Later, 0, Whole),
            (Later, 1, Whole),
            (First, 1, Whole),
            (Later, 2, Whole),
            (First, 2, Whole),
            (Later, 3, Cut),
            (Later, 4, Whole),
            (First, 3, Whole),
            (Later, 5, Whole),
            (Later, 6, Whole),
        ];
        let mut regions: Vec<RegionFigures> =
            all.map(|(position, repetition, whole)| region(position, repetition, whole)).to_vec();
        let outside = RegionFigures { region: Region::Unmarked, ..regions[0].clone() };
        regions.push(outside);
        let firsts: Vec<f64> =
            executions(&regions, 3).map(|execution| execution[0][0] / 32.0).collect();
        // The second level is the third cache: 300 misses, plus the repetition.
        assert_eq!(firsts, [300.0, 303.0], "too short and cut ones are none");
    }

    #[test]
    fn every_metric_has_its_value_those_of_lower_caches_first() {
        let names: Vec<String> =
            definitions(&caches()).into_iter().map(|metric| metric.name).collect();
        let RegionFigures { figures, report, .. } =
            region(PhasePosition::First, 0, Completeness::Whole);
        let values = values(&figures, &report.unwrap());
        assert_eq!(names.len(), values.len());
        let of = |name: &str| values[names.iter().position(|one| one == name).unwrap()];
        assert_eq!(names[..4], ["l2_bytes_in", "l2_bytes_out", "l2_dirty_bytes", "l3_bytes_in"]);
        assert_eq!((of("l2_bytes_in"), of("l2_bytes_out")), (300.0 * 32.0, 30.0 * 32.0));
        assert_eq!((of("l2_dirty_bytes"), of("l1d_dirty_bytes")), (3.0, 2.0));
        assert_eq!(of("instructions"), 7.0);
    }
}
