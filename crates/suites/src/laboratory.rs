//! The laboratory: executes cells on live targets, in a cache state that is made and proved.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use machine::target::Target;
use measure::{Clock, ClockReport, Histogram, Reference, SystemClock};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{CacheState, Cell, LatencySummary, TimelineRecord, Warning};
use runner::{Executor, Failure, Measured, PilotMeasure, Request};
use workload::{EngineError, Operation, Outcome, Session, Sharing, Verification, Workload};

use crate::benchmark::{Benchmark, Place};
use crate::counters::Happened;
use crate::live_target::{Fill, LiveTarget};
use crate::state;

/// Operations of a pilot: few enough to be quick on a slow device.
const PILOT_OPERATIONS: u64 = 32;
/// An interval shorter than this many readings of the clock is timed in batches.
const CLOCK_READINGS_MIN: f64 = 20.0;
const BATCH_MAX: f64 = 64.0;
/// A directory may grow by this part of its entries during a replicate.
const GROWTH: u64 = 10;
/// Slices of a replicate's timeline that the journal keeps.
const SLICES_MAX: usize = 32;
/// Appends of one replicate; the files they grow are removed after it.
const APPENDS_MAX: u64 = 16_384;

/// What holds for all cells of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Size of the data files, in bytes.
    pub data_file_bytes: u64,
    /// Seed of contents.
    pub seed: u64,
    /// Whether what is read is compared with what was written.
    pub verification: Verification,
    /// Set when the run is to stop.
    pub stop: Arc<AtomicBool>,
}

/// Live targets, and the benchmarks that are executed on them.
#[derive(Debug)]
pub struct Laboratory {
    targets: Vec<LiveTarget>,
    benchmarks: Vec<Benchmark>,
    /// Per cell, the indices of its target and its benchmark.
    cells: Vec<(usize, usize)>,
    settings: Settings,
    clock: SystemClock,
    clock_cost_ns: f64,
    calibrated: Reference,
}

impl Laboratory {
    /// A laboratory for `cells`, each of which names one of `targets` and one of `benchmarks`.
    ///
    /// # Panics
    /// When a cell names a target or benchmark that is not there: cells are made from them.
    #[must_use]
    pub fn new(
        targets: Vec<LiveTarget>,
        benchmarks: Vec<Benchmark>,
        cells: &[Cell],
        settings: Settings,
        (clock, report): (SystemClock, &ClockReport),
    ) -> Self {
        let target_of = |cell: &Cell| {
            let label = |live: &LiveTarget| live.target.spec().label == cell.target;
            targets.iter().position(label).expect("a cell's target is among the targets")
        };
        let benchmark_of = |cell: &Cell| {
            let named = |benchmark: &Benchmark| benchmark.name == cell.benchmark;
            benchmarks.iter().position(named).expect("a cell's benchmark is among the benchmarks")
        };
        let cells = cells.iter().map(|cell| (target_of(cell), benchmark_of(cell))).collect();
        let calibrated = clock.reference();
        let clock_cost_ns = report.cost_ns;
        Self { targets, benchmarks, cells, settings, clock, clock_cost_ns, calibrated }
    }

    /// Takes the targets out again, to close them.
    #[must_use]
    pub fn into_targets(self) -> Vec<LiveTarget> {
        self.targets
    }

    /// Most operations per thread that the file set allows in one replicate.
    fn operations_max(&self, target: &Target, benchmark: &Benchmark) -> u64 {
        let workload = &benchmark.workload;
        if workload.operation.changes_directories() {
            let (count, entries) = benchmark.place.directories().unwrap_or((1, 1));
            let shared = matches!(workload.sharing, Sharing::Same);
            // Threads in one directory share its growth; else each grows its own part.
            let directories = if shared { 1 } else { count };
            return (directories as u64 * entries / GROWTH / workload.threads as u64).max(1);
        }
        let blocks = self.settings.data_file_bytes / workload.request_bytes as u64;
        match (workload.operation, benchmark.cache_state) {
            // The second time around, nothing would be cold.
            (Operation::Read | Operation::Write, CacheState::Cold) => blocks.max(1),
            (Operation::AppendFsync, _) => appends_max(target, workload),
            _ => u64::from(u32::MAX),
        }
    }

    /// One execution of a cell: state, proof, operations, proof, restoration.
    fn measure(&self, cell: u32, workload: &Workload, seed: u64) -> Result<Observed, Failure> {
        let (target, benchmark) = self.cells[cell as usize];
        let (live, benchmark) = (&self.targets[target], &self.benchmarks[benchmark]);
        let began = Instant::now();
        let unmeasurable = |error: &dyn std::fmt::Display| Failure::Cell { why: error.to_string() };
        let (Some(file_set), Some(counters)) =
            (live.file_sets.get(&benchmark.place), live.counters.as_ref())
        else {
            return Err(Failure::Cell { why: "its file set could not be made".to_owned() });
        };
        let entered = live.target.enter().map_err(|error| unmeasurable(&error))?;
        let engine = |error: EngineError| self.engine_failure(&error);
        let mut session = workload::prepare(workload, file_set, seed).map_err(engine)?;
        let files =
            if benchmark.moves_data_in_place() { session.touched().to_vec() } else { Vec::new() };
        live.target.sync().map_err(|error| unmeasurable(&error))?;
        let before = state::make(benchmark.cache_state, live.target.root(), &files)
            .map_err(|error| unmeasurable(&error))?;
        let counted_before = counters.read().map_err(|error| unmeasurable(&error))?;
        let outcome = self.run(&mut session).map_err(engine)?;
        let happened =
            counters.read().map_err(|error| unmeasurable(&error))?.since(&counted_before);
        let after = before
            .map(|_| machine::target::cache_state::residency_of(&files))
            .transpose()
            .map_err(|error| unmeasurable(&error))?;
        session.restore().map_err(engine)?;
        entered.leave().map_err(|error| unmeasurable(&error))?;
        if outcome.interrupted {
            return Err(Failure::Interrupted);
        }
        let evidence = state::evidence(before, after, &happened);
        if let Err(why) = state::verify(benchmark.cache_state, &evidence) {
            return Err(Failure::State { why, evidence });
        }
        let overhead = began.elapsed().as_nanos();
        let overhead_ns =
            u64::try_from(overhead).unwrap_or(u64::MAX).saturating_sub(outcome.elapsed_ns);
        Ok(Observed { outcome, evidence, happened, overhead_ns })
    }

    /// Runs a session with the clock's own type, so that its readings are compiled in.
    fn run(&self, session: &mut Session) -> Result<Outcome, EngineError> {
        let stop = &self.settings.stop;
        match &self.clock {
            SystemClock::Tsc(clock) => session.run(clock, stop),
            SystemClock::Monotonic(clock) => session.run(clock, stop),
        }
    }

    fn engine_failure(&self, error: &EngineError) -> Failure {
        if self.settings.stop.load(Ordering::Relaxed) {
            return Failure::Interrupted;
        }
        Failure::Cell { why: error.to_string() }
    }

    fn workload(&self, cell: u32, operations: u64, batch: u32) -> Workload {
        let (_, benchmark) = self.cells[cell as usize];
        Workload {
            operations_per_thread: operations,
            batch: batch as usize,
            verification: self.settings.verification,
            ..self.benchmarks[benchmark].workload.clone()
        }
    }

    /// Targets are made in another order in each block: the first to be made gets other places in
    /// memory and on the device than the last, and no target is to have them always.
    fn order_of_making(&self, block: u32) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.targets.len()).collect();
        let seed = self.settings.seed.rotate_left(32) ^ u64::from(block);
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        order
    }

    fn places(&self) -> Vec<Place> {
        let used = |place: &Place| self.benchmarks.iter().any(|one| one.place == *place);
        Place::ALL.into_iter().filter(used).collect()
    }
}

impl Executor for Laboratory {
    fn begin_block(&mut self, block: u32) -> Vec<(u32, String)> {
        let places = self.places();
        let mut lost = Vec::new();
        for index in self.order_of_making(block) {
            let fill = Fill {
                data_file_bytes: self.settings.data_file_bytes,
                seed: self.settings.seed ^ u64::from(block),
                stop: &self.settings.stop,
            };
            let renewed = self.targets[index].renew(&places, &fill).map_err(|why| why.to_string());
            if let Err(why) = renewed
                && !self.settings.stop.load(Ordering::Relaxed)
            {
                let cells = (0u32..).zip(&self.cells).filter(|(_, cell)| cell.0 == index);
                lost.extend(cells.map(|(cell, _)| (cell, why.clone())));
            }
        }
        lost
    }

    fn pilot(&mut self, cell: u32, seed: u64) -> Result<PilotMeasure, Failure> {
        let (target, benchmark) = self.cells[cell as usize];
        let benchmark = &self.benchmarks[benchmark];
        let operations_max = self.operations_max(&self.targets[target].target, benchmark);
        let operations = PILOT_OPERATIONS.min(operations_max);
        let observed = self.measure(cell, &self.workload(cell, operations, 1), seed)?;
        let recorder = &observed.outcome.recorder;
        // Medians: the first operations of a pilot meet cold processor caches.
        let typical_ns = recorder.histogram().quantile(0.5).max(1) as f64;
        let wanted_ns = CLOCK_READINGS_MIN * self.clock_cost_ns;
        let batch = (wanted_ns / typical_ns).ceil().clamp(1.0, BATCH_MAX);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 64")]
        let batch = if benchmark.workload.operation.can_batch() { batch as u32 } else { 1 };
        Ok(PilotMeasure {
            time_per_operation_ns: typical_ns.max(recorder.mean_ns().min(4.0 * typical_ns)),
            overhead_ns: observed.overhead_ns,
            operations_max,
            batch,
        })
    }

    fn execute(&mut self, request: &Request) -> Result<Measured, Failure> {
        let workload = self.workload(request.cell, request.operations, request.batch);
        let observed = self.measure(request.cell, &workload, request.seed)?;
        let (_, benchmark) = self.cells[request.cell as usize];
        Ok(observed.into_measured(&self.benchmarks[benchmark], &self.clock))
    }

    fn clock_drift_ppm(&self) -> f64 {
        self.clock.drift_ppm(&self.calibrated)
    }
}

/// Appends per thread that a target has room for: they may take half of what is free.
fn appends_max(target: &Target, workload: &Workload) -> u64 {
    let appended_bytes = (workload.request_bytes * workload.threads) as u64;
    let room_bytes = target.space().map_or(u64::MAX, |space| space.free_bytes / 2);
    APPENDS_MAX.min(room_bytes / appended_bytes.max(1)).max(1)
}

/// One execution as it was observed.
struct Observed {
    outcome: Outcome,
    evidence: record::CacheEvidence,
    happened: Happened,
    overhead_ns: u64,
}

impl Observed {
    fn into_measured(self, benchmark: &Benchmark, clock: &impl Clock) -> Measured {
        let outcome = self.outcome;
        let operations = outcome.recorder.operations();
        let busy_ns = outcome.recorder.busy_ns();
        let time_ns = busy_ns as f64 / operations.max(1) as f64;
        let value = |metric: &record::MetricDefinition| match metric.name.as_str() {
            "bandwidth" => outcome.rate_per_s * benchmark.workload.request_bytes as f64,
            "throughput" => outcome.rate_per_s,
            _ => time_ns,
        };
        let mut warnings = Vec::new();
        let page_bytes = rustix::param::page_size() as u64;
        if let Some(dirty) = self.evidence.dirty_before.filter(|&dirty| dirty > 0) {
            warnings.push(Warning::DirtyCarried { dirty_bytes: dirty * page_bytes });
        }
        if self.happened.throttled_periods > 0 {
            warnings.push(Warning::CpuThrottled { periods: self.happened.throttled_periods });
        }
        let written = self.evidence.device_written_bytes.unwrap_or(0);
        if written > 0 && !benchmark.changes_anything() {
            let what = format!("{written} bytes were written while nothing was changed");
            warnings.push(Warning::BackgroundWork { what });
        }
        let timeline = timeline(outcome.recorder.timeline(), clock);
        let metrics = benchmark.metrics().iter().map(value).collect();
        let latency = summary(outcome.recorder.histogram());
        let (histogram, _) = outcome.recorder.into_parts();
        Measured {
            metrics,
            operations,
            bytes: outcome.bytes,
            elapsed_ns: outcome.elapsed_ns,
            busy_ns,
            latency,
            histogram,
            timeline: Some(timeline),
            evidence: self.evidence,
            steal_ns: self.happened.steal_ns,
            warnings,
        }
    }
}

fn summary(histogram: &Histogram) -> LatencySummary {
    LatencySummary {
        min_ns: histogram.min(),
        p50_ns: histogram.quantile(0.5),
        p90_ns: histogram.quantile(0.9),
        p99_ns: histogram.quantile(0.99),
        max_ns: histogram.max(),
    }
}

/// The timeline as the journal keeps it: neighbouring slices are added up until few enough are
/// left.
fn timeline(timeline: &measure::Timeline, clock: &impl Clock) -> TimelineRecord {
    let mut slices: Vec<[u64; 64]> = timeline.slices().map(|slice| *slice.counts).collect();
    let mut slice_ticks = timeline.slice_ticks();
    while slices.len() > SLICES_MAX {
        let sum = |pair: &[[u64; 64]]| {
            std::array::from_fn(|log2| pair.iter().map(|counts| counts[log2]).sum())
        };
        slices = slices.chunks(2).map(sum).collect();
        slice_ticks *= 2;
    }
    let pairs = |counts: &[u64; 64]| {
        let all = (0u8..).zip(counts.iter().copied());
        all.filter(|(_, count)| *count > 0).collect()
    };
    TimelineRecord {
        slice_ns: clock.nanos(slice_ticks),
        slices: slices.iter().map(pairs).collect(),
    }
}
