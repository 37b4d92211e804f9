//! The laboratory: executes cells on live targets, in a cache state that is made and proved.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use machine::target::Target;
use measure::{ClockReport, Reference, SystemClock};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{CacheState, Cell};
use runner::{Executor, Failure, Measured, PilotMeasure, Request};
use workload::{Operation, Verification, Workload};

use crate::benchmark::{Benchmark, Place};
use crate::live_target::{Fill, LiveTarget};
use crate::observed::Observed;
use crate::replicate::Replicate;
use crate::throttle::Throttle;

/// Operations of a pilot, and bytes that they move: few enough to be quick on a slow device.
const PILOT_OPERATIONS: u64 = 32;
const PILOT_BYTES: u64 = 4 << 20;
/// An interval shorter than this many readings of the clock is timed in batches.
const CLOCK_READINGS_MIN: f64 = 20.0;
const BATCH_MAX: f64 = 64.0;
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
            return benchmark.place.additions_max().max(1);
        }
        let blocks = self.settings.data_file_bytes / workload.request_bytes as u64;
        match (workload.operation, benchmark.cache_state) {
            // The second time around, nothing would be cold, and no page clean.
            (Operation::Read, CacheState::Cold) | (Operation::Write, _) => blocks.max(1),
            // The second time around, the name would be known to be missing.
            (Operation::StatMissing, _) => benchmark.place.entries().max(1),
            (Operation::AppendFsync, _) => appends_max(target, workload),
            _ => u64::from(u32::MAX),
        }
    }

    /// One execution of a cell.
    fn measure(&mut self, cell: u32, workload: &Workload, seed: u64) -> Result<Observed, Failure> {
        let (target, benchmark) = self.cells[cell as usize];
        let replicate = Replicate {
            benchmark: &self.benchmarks[benchmark],
            workload,
            seed,
            clock: &self.clock,
            stop: &self.settings.stop,
        };
        replicate.observe(&mut self.targets[target])
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
        let benchmark = self.benchmarks[benchmark].clone();
        let operations_max = self.operations_max(&self.targets[target].target, &benchmark);
        let of_bytes = PILOT_BYTES / benchmark.workload.request_bytes as u64;
        let operations = PILOT_OPERATIONS.min(of_bytes.max(1)).min(operations_max);
        let observed = self.measure(cell, &self.workload(cell, operations, 1), seed)?;
        let recorder = &observed.outcome.recorder;
        // Medians: the first operations of a pilot meet cold processor caches.
        let typical_ns = recorder.histogram().quantile(0.5).max(1) as f64;
        let wanted_ns = CLOCK_READINGS_MIN * self.clock_cost_ns;
        let batch = (wanted_ns / typical_ns).ceil().clamp(1.0, BATCH_MAX);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 64")]
        let batch = if benchmark.workload.operation.can_batch() { batch as u32 } else { 1 };
        let throttle = Throttle::of(&self.targets[target].target, &benchmark);
        let seen_ns = typical_ns.max(recorder.mean_ns().min(4.0 * typical_ns));
        Ok(PilotMeasure {
            time_per_operation_ns: seen_ns.max(throttle.time_per_operation_ns),
            overhead_ns: observed.overhead_ns,
            operations_min: throttle.operations_min,
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
