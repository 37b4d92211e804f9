//! Searches over a table of values: a cache of 64 MiB in front of a device.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use measure::Histogram;
use record::machine::Machine;
use record::{
    Axis, CacheState, ClockRecord, Compared, Dimension, LatencySummary, Manifest, Run, RunKind,
    RunRecord, SCHEMA_VERSION, Spent, StandardMetric, Tool,
};

use stats::cliff::Cliff;

use super::course::ZONE_REPLICATES;
use super::*;
use crate::context::OnBusy;
use crate::observer::Observer;
use crate::plan::Stopwatch;

const MIB: f64 = 1024.0 * 1024.0;
const CACHE_BYTES: f64 = 62.5 * MIB;

/// A stopwatch that advances by a second each time it is read.
struct Seconds(std::cell::Cell<u64>);

impl Stopwatch for Seconds {
    fn elapsed(&self) -> Duration {
        self.0.set(self.0.get() + 1);
        Duration::from_secs(self.0.get())
    }
}

struct Nobody;

impl Observer for Nobody {
    fn observe(&mut self, _event: &Event<'_>) {}
}

/// Hits take 1 us, and misses between 50 us and 20 ms: the device's speed varies a lot.
#[derive(Default)]
struct Table {
    probes: u64,
    /// The probe at which the target fails.
    breaks_at: Option<u64>,
    /// The probes whose state is refuted.
    refuted: Vec<u64>,
    /// The probes that something disturbs.
    disturbed: Vec<u64>,
}

impl Prober for Table {
    fn cell(&self, search: usize, position: f64) -> Cell {
        Cell {
            target: format!("target-{search}"),
            suite: "cliff/working-set".to_owned(),
            benchmark: format!("read-{position}"),
            title: String::new(),
            dimension: Dimension::Caching,
            exercises: Vec::new(),
            parameters: [("working_set_bytes".to_owned(), position.into())].into(),
            cache_state: CacheState::Steady,
            metrics: vec![StandardMetric::THROUGHPUT.definition()],
            baseline: None,
            working_set_bytes: None,
            curve: None,
            floor: None,
            rank: 0,
            least: None,
            sequence: None,
        }
    }

    fn probe(&mut self, _search: usize, position: f64, seed: u64) -> Result<Measured, Failure> {
        self.probes += 1;
        if self.breaks_at == Some(self.probes) {
            return Err(Failure::Cell { why: "the device is gone".to_owned() });
        }
        if self.refuted.contains(&self.probes) {
            let evidence = CacheEvidence::default();
            return Err(Failure::State {
                why: "it was read meanwhile".to_owned(),
                evidence: Box::new(evidence),
            });
        }
        if self.disturbed.contains(&self.probes) {
            let why = "the machine was suspended".to_owned();
            return Err(Failure::Disturbed { why, evidence: Box::default() });
        }
        let misses = (1.0 - CACHE_BYTES / position).max(0.0);
        let mood = [50.0, 400.0, 20_000.0, 100.0, 3000.0][(seed % 5) as usize];
        let hit = [1.0, 0.95, 1.1, 1.04][(seed / 7 % 4) as usize];
        let evidence = CacheEvidence {
            pages: Some(whole(position / 4096.0)),
            resident_after: Some(whole(position.min(CACHE_BYTES) / 4096.0)),
            device_read_bytes: Some(whole(misses * 1e6)),
            ..CacheEvidence::default()
        };
        Ok(measured(1e6 / (hit + misses * mood), evidence))
    }

    fn busy(&mut self, _watched: Duration) -> Option<Busy> {
        None
    }

    fn clock_drift_ppm(&self) -> f64 {
        0.5
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pages and bytes")]
fn whole(value: f64) -> u64 {
    value as u64
}

fn measured(throughput: f64, evidence: CacheEvidence) -> Measured {
    let mut histogram = Histogram::new();
    histogram.record(1000);
    Measured {
        metrics: vec![throughput],
        operations: 1,
        bytes: 4096,
        elapsed_ns: 1000,
        busy_ns: 1000,
        latency: LatencySummary::default(),
        histogram,
        timeline: None,
        course: None,
        spent: Spent::default(),
        evidence,
        steal_ns: 0,
        neighbours: None,
        warnings: Vec::new(),
        observations: Vec::new(),
    }
}

fn plan(search: usize, seed: u64) -> SearchPlan {
    SearchPlan {
        target: format!("target-{search}"),
        axis: Axis::WorkingSet,
        metric: "throughput".to_owned(),
        workload: "random reads".to_owned(),
        compared: Compared::DeviceApart,
        low: MIB,
        high: 256.0 * MIB,
        grain: 4096.0,
        width_percent: 2.0,
        ratio_least: 1.2,
        level: 0.95,
        probes_max: 40,
        probes_max_further: 20,
        seed,
    }
}

fn manifest() -> Manifest {
    Manifest {
        schema_version: SCHEMA_VERSION,
        tool: Tool { name: "fsprism".to_owned(), version: "0.0.0".to_owned() },
        run: RunRecord {
            command: "cliff".to_owned(),
            arguments: Vec::new(),
            started: "2026-01-01T00:00:00Z".to_owned(),
            suite: "cliff/working-set".to_owned(),
            kind: RunKind::Searched,
            seed: 7,
            budget_s: 60.0,
            precision_percent: 2.0,
            confidence_level: 0.95,
            blocks: None,
            verify: false,
            data_file_bytes: 1 << 28,
            guest_kernel: None,
            simulated_caches: None,
            offered_load: None,
            custom: None,
            replicate_length: None,
            classic: None,
            order: record::Order::default(),
        },
        machine: Machine::default(),
        clock: ClockRecord {
            source: "tsc".to_owned(),
            frequency_hz: 2.6e9,
            precision_ns: 1.0,
            cost_ns: 20.0,
            calibration_error_ppm: 1.0,
            system_call_ns: 200.0,
        },
        references: None,
        targets: Vec::new(),
        skipped: Vec::new(),
        cells: Vec::new(),
        scratch: None,
    }
}

fn conduct(
    path: &Path,
    plans: &[SearchPlan],
    budget_s: u64,
    table: &mut Table,
) -> (EndReason, Run) {
    let mut directory = RunDirectory::create(path, &manifest()).expect("a new run");
    let stop = AtomicBool::new(false);
    let stopwatch = Seconds(std::cell::Cell::new(0));
    let mut observer = Nobody;
    let mut context = RunContext {
        stopwatch: &stopwatch,
        observer: &mut observer,
        stop: &stop,
        on_busy: OnBusy::Wait,
    };
    let budget = Duration::from_secs(budget_s);
    let reason = conduct_searches(plans, budget, table, &mut directory, &mut context);
    (reason.expect("the directory can be written"), Run::read(path).expect("a run"))
}

/// Replays a journal through a new course.
fn replayed(run: &Run, plan: &SearchPlan) -> SearchCourse {
    let mut course = SearchCourse::new(plan).expect("a range");
    let cells = run.cells();
    for line in &run.lines {
        let Line::Replicate(replicate) = line else { continue };
        let cell = cells[replicate.cell as usize];
        if cell.target == plan.target {
            let position = cell.parameters["working_set_bytes"].as_f64();
            assert_eq!(course.next_position(), position, "another position than was measured");
            course
                .tell(replicate.metrics[0], Served::from_evidence(&replicate.evidence))
                .expect("a value");
        }
    }
    course
}

#[test]
fn a_search_can_be_gone_through_again_from_its_journal() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    for seed in 0..3 {
        let plans = [plan(0, seed), plan(1, seed + 1000)];
        let path = temporary.path().join(seed.to_string());
        let (reason, run) = conduct(&path, &plans, u64::MAX, &mut Table::default());
        assert_eq!(reason, EndReason::Searched);
        for plan in &plans {
            let mut course = replayed(&run, plan);
            assert_eq!(course.next_position(), None);
            assert!(course.is_finished() && course.searched().len() <= 40);
            let outcome = course.outcome().expect("a whole grid");
            let [cliff] = outcome.cliffs.as_slice() else { panic!("{outcome:?}") };
            assert!(cliff.size.contains(CACHE_BYTES), "{cliff:?}");
            assert!(cliff.size.high / cliff.size.low <= 1.02, "{cliff:?}");
            let zone = course.zone_of(cliff).expect("there is room within");
            let inside = course.measured().iter().filter(|one| one.0.total_cmp(&zone).is_eq());
            assert_eq!(inside.count(), ZONE_REPLICATES);
        }
    }
}

/// Without a disk: only the course, fed with what the table measures.
#[test]
fn the_limit_is_found_whatever_the_mood_of_the_device() {
    let (mut held, mut probes) = (0, 0);
    for seed in 0..300 {
        let mut table = Table::default();
        let mut course = SearchCourse::new(&plan(0, seed)).expect("a range");
        while let Some(position) = course.next_position() {
            let noise = (course.measured().len() as u64 + 1).wrapping_mul(seed * 2 + 7919);
            let measured = table.probe(0, position, noise ^ (noise >> 7)).expect("it works");
            course
                .tell(measured.metrics[0], Served::from_evidence(&measured.evidence))
                .expect("a value");
        }
        let cliffs = course.outcome().expect("a whole grid").cliffs;
        let is_it = |cliff: &Cliff| {
            cliff.size.contains(CACHE_BYTES) && cliff.size.high / cliff.size.low <= 1.02
        };
        held += u32::from(cliffs.iter().any(is_it));
        probes = probes.max(course.searched().len());
    }
    assert_eq!(held, 300);
    assert!(probes <= 60, "{probes}");
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn searches_take_turns_and_each_cell_is_added_once() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let plans = [plan(0, 1), plan(1, 2)];
    let (_, run) = conduct(&temporary.path().join("run"), &plans, u64::MAX, &mut Table::default());
    let cells = run.cells();
    let targets: Vec<&str> = run
        .lines
        .iter()
        .filter_map(|line| match line {
            Line::Replicate(replicate) => Some(cells[replicate.cell as usize].target.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(targets[..4], ["target-0", "target-1", "target-0", "target-1"]);
    let mut names: Vec<_> = cells.iter().map(|cell| (&cell.target, &cell.benchmark)).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn a_search_ends_when_its_budget_does() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let (reason, run) = conduct(&path, &[plan(0, 3)], 30, &mut Table::default());
    assert_eq!(reason, EndReason::Budget);
    let mut course = replayed(&run, &plan(0, 3));
    assert!(course.next_position().is_some() && !course.is_finished());
}

#[test]
fn a_target_that_fails_ends_its_own_search_only() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let mut table = Table { breaks_at: Some(3), ..Table::default() };
    let plans = [plan(0, 1), plan(1, 2)];
    let (reason, run) = conduct(&temporary.path().join("run"), &plans, u64::MAX, &mut table);
    assert_eq!(reason, EndReason::Searched);
    assert_eq!(replayed(&run, &plans[0]).measured().len(), 1);
    assert!(replayed(&run, &plans[1]).is_finished());
    let failed = run.lines.iter().filter(|line| matches!(line, Line::CellFailed(_)));
    assert_eq!(failed.count(), 1);
    let mut broken = Table { breaks_at: Some(1), ..Table::default() };
    let (reason, _) = conduct(&temporary.path().join("one"), &plans[..1], u64::MAX, &mut broken);
    assert_eq!(reason, EndReason::NothingLeft);
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn a_refuted_probe_is_made_again() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let mut table = Table { refuted: vec![2, 3], ..Table::default() };
    let (reason, run) = conduct(&temporary.path().join("run"), &[plan(0, 5)], u64::MAX, &mut table);
    assert_eq!(reason, EndReason::Searched);
    let discarded = run.lines.iter().filter(|line| matches!(line, Line::Discarded(_)));
    assert_eq!(discarded.count(), 2);
    let attempts = run.lines.iter().filter_map(|line| match line {
        Line::Replicate(replicate) => Some(replicate.attempt),
        _ => None,
    });
    assert_eq!(attempts.max(), Some(3));
}

/// A disturbance of three attempts once ended a search for good.
#[test]
fn what_is_disturbed_has_another_turn_and_what_is_refuted_two() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let ended = |name: &str, mut table: Table| {
        let path = temporary.path().join(name);
        let (reason, run) = conduct(&path, &[plan(0, 5)], u64::MAX, &mut table);
        let given_up = run.lines.iter().filter(|line| matches!(line, Line::CellFailed(_)));
        (reason, given_up.count())
    };
    let disturbed = Table { disturbed: (2..=10).collect(), ..Table::default() };
    assert_eq!(ended("disturbed", disturbed), (EndReason::Searched, 0));
    let once = Table { refuted: vec![2, 3, 4], ..Table::default() };
    assert_eq!(ended("once", once), (EndReason::Searched, 0));
    let twice = Table { refuted: (2..=7).collect(), ..Table::default() };
    assert_eq!(ended("twice", twice), (EndReason::NothingLeft, 1));
    // A disturbance between them does not excuse what was refuted twice.
    let with_pause =
        Table { refuted: vec![2, 3, 4, 8, 9, 10], disturbed: vec![5, 6, 7], ..Table::default() };
    assert_eq!(ended("pause", with_pause), (EndReason::NothingLeft, 1));
}

#[test]
fn a_probe_is_the_device_s_only_if_it_was_read_and_pages_are_missing() {
    let of = |resident_after, device_read_bytes| {
        let evidence = CacheEvidence {
            pages: Some(100),
            resident_after,
            device_read_bytes,
            ..CacheEvidence::default()
        };
        Served::from_evidence(&evidence)
    };
    assert_eq!(of(Some(99), Some(4096)), Served::Device);
    assert_eq!(of(Some(100), Some(4096)), Served::Memory);
    assert_eq!(of(Some(99), Some(0)), Served::Memory);
    assert_eq!(of(Some(99), None), Served::Memory);
}
