//! A fake executor and stopwatch: numbers come from a seed, and time advances by the microsecond as
//! work is pretended.

use std::cell::Cell as Counter;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use measure::Histogram;
use record::machine::Machine;
use record::{
    Busy, CacheEvidence, CacheState, Cell, ClockRecord, CourseRecord, Dimension, LatencySummary,
    Manifest, Neighbours, Order, RunKind, RunRecord, SCHEMA_VERSION, Spent, StandardMetric,
    TimelineRecord, Tool,
};
use runner::{
    Event, Executor, Failure, Measured, Observer, OnBusy, PilotMeasure, Plan, Request, Stopwatch,
};

/// Executes nothing: every cell's value is a base plus seeded noise.
pub(crate) struct Fake {
    /// Relative amplitude of the noise.
    pub(crate) noise: f64,
    /// Cells whose first executions are in the wrong state, and how many of them.
    pub(crate) wrong_state_first: Vec<(u32, u32)>,
    /// Cells of which every nth execution is disturbed, and n.
    pub(crate) disturbed: Vec<(u32, u32)>,
    pub(crate) on_busy: OnBusy,
    /// Other programs keep the machine busy from the first to the second of these times.
    pub(crate) busy: Option<(Duration, Duration)>,
    /// From this block on, the target of these cells cannot be made.
    pub(crate) broken_from_block: Option<(u32, Vec<u32>)>,
    /// From this block on, everything takes this many times as long.
    pub(crate) slower_from_block: Option<(u32, u64)>,
    /// Sets the stop flag after this many replicates.
    pub(crate) stop_after: Option<usize>,
    /// The timeline of each replicate.
    pub(crate) timeline: Option<TimelineRecord>,
    pub(crate) course: Option<CourseRecord>,
    /// Cells whose pilots something always disturbs.
    pub(crate) disturbed_pilots: Vec<u32>,
    /// The seeds of those pilots.
    pub(crate) pilot_seeds: Vec<u64>,
    /// The requests so far, except those that failed.
    pub(crate) requests: Vec<Request>,
    pub(crate) state: u64,
    pub(crate) attempts: BTreeMap<u32, u32>,
    pub(crate) now_us: Rc<Counter<u64>>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Fake {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            noise: 0.05,
            wrong_state_first: Vec::new(),
            disturbed: Vec::new(),
            on_busy: OnBusy::Wait,
            busy: None,
            broken_from_block: None,
            slower_from_block: None,
            stop_after: None,
            timeline: None,
            course: None,
            disturbed_pilots: Vec::new(),
            pilot_seeds: Vec::new(),
            requests: Vec::new(),
            state: seed,
            attempts: BTreeMap::new(),
            now_us: Rc::new(Counter::new(0)),
            stop: Arc::new(AtomicBool::new(false)),
        }
    }

    pub(crate) fn stopwatch(&self) -> FakeStopwatch {
        FakeStopwatch(Rc::clone(&self.now_us))
    }

    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    fn advance_us(&self, by: u64) {
        self.now_us.set(self.now_us.get() + by);
    }

    /// A number in [-1, 1) from a linear congruential generator (Knuth, TAOCP volume 2, section
    /// 3.3.4).
    fn noise(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.state >> 40) as f64 / f64::from(1 << 23) - 1.0
    }

    fn neighbour(&self) -> Option<Busy> {
        let now = Duration::from_micros(self.now_us.get());
        let is_there = self.busy.is_some_and(|(from, to)| (from..to).contains(&now));
        let programs = vec!["cc1".to_owned()];
        is_there.then(|| Busy { programs, processors: 1.8, of: 2, ..Busy::default() })
    }

    fn next_attempt(&mut self, cell: u32) -> u32 {
        let attempts = self.attempts.entry(cell).or_default();
        *attempts += 1;
        *attempts
    }
}

impl Executor for Fake {
    fn begin_block(&mut self, block: u32, _cells: &[u32]) -> Vec<(u32, String)> {
        self.advance_us(50_000);
        match &self.broken_from_block {
            Some((from, cells)) if block >= *from => {
                cells.iter().map(|&cell| (cell, "the target is gone".to_owned())).collect()
            }
            _ => Vec::new(),
        }
    }

    fn making(&self, _cells: &[u32]) -> Option<Duration> {
        Some(Duration::from_millis(50))
    }

    fn pilot(&mut self, cell: u32, seed: u64) -> Result<PilotMeasure, Failure> {
        self.advance_us(2_000);
        if self.disturbed_pilots.contains(&cell) {
            self.pilot_seeds.push(seed);
            let (why, evidence) = ("others ran meanwhile".to_owned(), Box::default());
            return Err(Failure::Disturbed { why, evidence });
        }
        Ok(PilotMeasure {
            time_per_operation_ns: 1000.0 * f64::from(cell + 1),
            overhead_ns: 1_000_000,
            turn_per_timed: 1.0,
            start_operations: 10,
            operations_min: 1_000,
            operations_max: 1_000_000,
            time_min_ns: 0,
            time_wanted_ns: 0,
            batch: 1,
        })
    }

    fn execute(&mut self, request: &Request) -> Result<Measured, Failure> {
        let base_ns = 1000 * (u64::from(request.cell) + 1);
        let slower = self.slower_from_block.filter(|(from, _)| request.block >= *from);
        let times = slower.map_or(1, |(_, times)| times);
        self.advance_us(times * (1_000 + request.operations * (u64::from(request.cell) + 1)));
        let attempt = self.next_attempt(request.cell);
        let is_it = |&&(cell, _): &&(u32, u32)| cell == request.cell;
        if self
            .disturbed
            .iter()
            .find(is_it)
            .is_some_and(|(_, every)| attempt.is_multiple_of(*every))
        {
            let (why, evidence) = ("others ran meanwhile".to_owned(), Box::default());
            return Err(Failure::Disturbed { why, evidence });
        }
        if self.wrong_state_first.iter().find(is_it).is_some_and(|(_, first)| attempt <= *first) {
            let why = "3 of 4 pages resident".to_owned();
            return Err(Failure::State { why, evidence: Box::default() });
        }
        self.requests.push(*request);
        if self.stop_after.is_some_and(|after| self.requests.len() >= after) {
            self.stop.store(true, Ordering::Relaxed);
        }
        let value = base_ns as f64 * (1.0 + self.noise * self.noise());
        let mut histogram = Histogram::new();
        histogram.record(base_ns);
        Ok(Measured {
            metrics: vec![value],
            operations: request.operations,
            bytes: 0,
            elapsed_ns: request.operations * base_ns,
            busy_ns: request.operations * base_ns,
            latency: LatencySummary::default(),
            histogram,
            timeline: self.timeline.clone(),
            course: self.course.clone(),
            spent: Spent::default(),
            evidence: CacheEvidence::default(),
            steal_ns: 0,
            neighbours: Some(Neighbours { busy: self.neighbour(), ..Neighbours::default() }),
            warnings: Vec::new(),
            observations: Vec::new(),
        })
    }

    fn busy(&mut self, watched: Duration) -> Option<Busy> {
        self.advance_us(u64::try_from(watched.as_micros()).unwrap_or(u64::MAX));
        self.neighbour()
    }

    fn clock_drift_ppm(&self) -> f64 {
        0.0
    }
}

pub(crate) struct FakeStopwatch(Rc<Counter<u64>>);

impl Stopwatch for FakeStopwatch {
    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.0.get())
    }
}

/// Ignores all events.
pub(crate) struct Watcher;

impl Observer for Watcher {
    fn observe(&mut self, _event: &Event<'_>) {}
}

/// A plan of `count` cells: benchmarks on two targets each.
pub(crate) fn plan(count: u32) -> Plan {
    let cell = |index: u32| Cell {
        target: format!("target-{}", index % 2),
        suite: "survey".to_owned(),
        benchmark: format!("benchmark-{}", index / 2),
        title: "a benchmark".to_owned(),
        dimension: Dimension::Metadata,
        exercises: Vec::new(),
        parameters: BTreeMap::new(),
        cache_state: CacheState::Warm,
        metrics: vec![StandardMetric::TIME_PER_OPERATION.definition()],
        baseline: None,
        working_set_bytes: None,
        curve: None,
        floor: None,
        rank: 0,
        least: None,
        sequence: None,
    };
    Plan {
        cells: (0..count).map(cell).collect(),
        seed: 42,
        budget: Duration::from_secs(10),
        granted: None,
        is_dry: false,
        brings_back: false,
        precision: 0.02,
        confidence_level: 0.95,
        blocks: None,
        order: Order::Random,
    }
}

/// A manifest for a plan.
pub(crate) fn manifest(plan: &Plan) -> Manifest {
    Manifest {
        schema_version: SCHEMA_VERSION,
        tool: Tool { name: "fsprism".to_owned(), version: "0.0.0".to_owned() },
        run: RunRecord {
            command: "survey".to_owned(),
            arguments: Vec::new(),
            started: "2026-01-01T00:00:00Z".to_owned(),
            suite: "survey".to_owned(),
            kind: RunKind::Timed,
            seed: plan.seed,
            budget_s: plan.budget.as_secs_f64(),
            precision_percent: plan.precision * 100.0,
            confidence_level: plan.confidence_level,
            blocks: plan.blocks,
            verify: false,
            data_file_bytes: 0,
            guest_kernel: None,
            simulated_caches: None,
            offered_load: None,
            custom: None,
            replicate_length: None,
            classic: None,
            order: plan.order,
        },
        machine: Machine::default(),
        clock: ClockRecord {
            source: "fake".to_owned(),
            frequency_hz: 1e9,
            precision_ns: 1.0,
            cost_ns: 1.0,
            calibration_error_ppm: 0.0,
            system_call_ns: 100.0,
        },
        references: None,
        targets: Vec::new(),
        skipped: Vec::new(),
        cells: plan.cells.clone(),
        scratch: None,
    }
}
