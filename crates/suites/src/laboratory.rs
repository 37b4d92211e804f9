//! The laboratory: executes cells on live targets, in a cache state that it makes and proves.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use measure::{ClockReport, Reference, SystemClock};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{Busy, CacheState, Cell, Spent};
use runner::{Executor, Failure, Measured, PilotMeasure, Request};
use targets::DeviceFailure;
use workload::{Verification, Workload, WriteMemory};

use crate::benchmark::{Benchmark, Work};
use crate::experiment::{Experiment, Site, Turn};
use crate::failure::failed;
use crate::file_set_kind::FileSetKind;
use crate::live_target::{Fill, LiveTarget};
use crate::most::{keeps_writes, operations_max};
use crate::nanoseconds::nanos;
use crate::neighbours::{self, Snapshot};
use crate::observed::Observed;
use crate::operations::{Layer, Operations};
use crate::pilot;
use crate::replicate::Execution;
use crate::stops::unstopped;
use crate::throttle::Throttle;

/// Operations shorter than this many clock readings are timed in batches.
const CLOCK_READINGS_MIN: f64 = 20.0;
const BATCH_MAX: f64 = 64.0;

/// What applies to all cells of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Size of the data files, in bytes.
    pub data_file_bytes: u64,
    /// Seed for the contents of files.
    pub seed: u64,
    /// Whether data read is compared with what was written.
    pub verification: Verification,
    /// Set to stop the run.
    pub stop: Arc<AtomicBool>,
}

/// Live targets and the benchmarks executed on them.
#[derive(Debug)]
pub struct Laboratory {
    targets: Vec<LiveTarget>,
    benchmarks: Vec<Benchmark>,
    /// The indices of each cell's target and benchmark.
    cells: Vec<(usize, usize)>,
    settings: Settings,
    clock: SystemClock,
    clock_cost_ns: f64,
    calibrated: Reference,
    /// Why a target's device fails, if one was found to.
    device_failure: Option<DeviceFailure>,
}

impl Laboratory {
    /// A laboratory for `cells`, each of which names one of `targets` and one of `benchmarks`.
    ///
    /// # Panics
    /// If a cell names a target or benchmark that is not among them; cells are made from both.
    #[must_use]
    pub fn new(
        targets: Vec<LiveTarget>,
        benchmarks: Vec<Benchmark>,
        cells: &[Cell],
        settings: Settings,
        clock: SystemClock,
        clock_report: &ClockReport,
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
        let clock_cost_ns = clock_report.cost_ns;
        Self {
            targets,
            benchmarks,
            cells,
            settings,
            clock,
            clock_cost_ns,
            calibrated,
            device_failure: None,
        }
    }

    /// Stops the run if a guardian is gone: nobody would clean up after us, so nothing more is
    /// started.
    fn stop_unguarded(&self) -> Result<(), Failure> {
        if self.targets.iter().all(|live| live.target.is_guarded()) {
            return Ok(());
        }
        self.settings.stop.store(true, Ordering::Relaxed);
        Err(Failure::Interrupted)
    }

    /// Stops the run if a device fails for a reason that is not the file system's: there is no
    /// space left for images to grow, for instance. Asked after a failure; the run can be resumed
    /// once that has been put right.
    fn stop_without_device(&mut self) -> Result<(), Failure> {
        let failure = self.targets.iter().find_map(|live| live.target.device_failure());
        let Some(failure) = failure else { return Ok(()) };
        self.device_failure = Some(failure);
        self.settings.stop.store(true, Ordering::Relaxed);
        Err(Failure::Interrupted)
    }

    /// Passes a cell's failure on, unless a device fails, which stops the run.
    fn unless_without_device<T>(&mut self, measured: Result<T, Failure>) -> Result<T, Failure> {
        if matches!(measured, Err(Failure::Cell { .. })) {
            self.stop_without_device()?;
        }
        measured
    }

    /// Why a target's device fails, if the run stopped because of that.
    #[must_use]
    pub fn device_failure(&self) -> Option<&DeviceFailure> {
        self.device_failure.as_ref()
    }

    /// Gives the targets back, to be closed.
    #[must_use]
    pub fn into_targets(self) -> Vec<LiveTarget> {
        self.targets
    }

    /// One execution of the engine's operations.
    fn observe_cell(
        &mut self,
        cell: u32,
        execution: &EngineExecution<'_>,
        seed: u64,
    ) -> Result<Observed, Failure> {
        let (target, _) = self.cells[cell as usize];
        let replicate = Execution {
            of: execution.of,
            cache_state: execution.cache_state,
            workload: &execution.workload,
            counts: execution.counts,
            seed,
            clock: &self.clock,
            stop: &self.settings.stop,
        };
        replicate.observe(&mut self.targets[target])
    }

    /// Executes an experiment once, in its own directory.
    fn experiment(
        &mut self,
        cell: u32,
        experiment: &dyn Experiment,
        turn: Turn,
    ) -> Result<Measured, Failure> {
        let began = Instant::now();
        let (target, _) = self.cells[cell as usize];
        self.targets[target].phases.begin_block(turn.block);
        let site = self.site(target, turn);
        let directory = site.directory.clone();
        let mut made = site.entered(|site| {
            if !experiment.uses_its_file_set_alone() {
                fs::create_dir(&directory).map_err(|error| failed(&error))?;
            }
            experiment.make(site)
        });
        if made.is_ok() && experiment.begins_mounted_again() {
            made = self.targets[target].remount().map_err(|error| failed(&error));
        }
        let state = began.elapsed();
        let measured = made.and_then(|()| self.execute_experiment(target, experiment, turn));
        let undoing = Instant::now();
        // Whatever it did to the files of its file set, they are no longer as they were read in.
        self.targets[target].read_in.clear();
        let site = self.site(target, turn);
        site.entered(|_| {
            if !experiment.uses_its_file_set_alone() {
                fs::remove_dir_all(&directory).map_err(|error| failed(&error))?;
            }
            // Its dirty pages must not be written back while another target is measured.
            site.live.target.sync().map_err(|error| failed(&error))
        })?;
        measured.map(|measured| Measured {
            spent: Spent {
                state_ns: measured.spent.state_ns + nanos(state),
                undo_ns: nanos(undoing.elapsed()),
                ..measured.spent
            },
            ..measured
        })
    }

    /// Like [`Self::experiment`], but if this process was stopped meanwhile, the result is refused
    /// and no other phase may use what it left.
    fn unstopped_experiment(
        &mut self,
        cell: u32,
        experiment: &dyn Experiment,
        turn: Turn,
    ) -> Result<Measured, Failure> {
        unstopped(|| self.experiment(cell, experiment, turn))
            .inspect_err(|_| self.targets[self.cells[cell as usize].0].phases.clear())
    }

    fn execute_experiment(
        &self,
        target: usize,
        experiment: &dyn Experiment,
        turn: Turn,
    ) -> Result<Measured, Failure> {
        let site = self.site(target, turn);
        let counters = site.counters()?;
        site.entered(|site| {
            let look = Snapshot::take(Some(counters));
            let before = counters.read().map_err(|error| failed(&error))?;
            let began = Instant::now();
            let found = experiment.execute(site)?;
            let whole_ns = nanos(began.elapsed());
            let after = counters.read().map_err(|error| failed(&error))?;
            let activity =
                Snapshot::take(Some(counters)).since(&look).with_children(found.children);
            let measured = found.into_measured(&after.since(&before), whole_ns, &self.clock);
            let neighbours =
                site.live.phases.neighbours_of_last(activity.neighbours_of_caller(whole_ns));
            Ok(Measured { neighbours: Some(neighbours), ..measured })
        })
    }

    fn site(&self, target: usize, turn: Turn) -> Site<'_> {
        let live = &self.targets[target];
        Site {
            live,
            directory: live.target.root().join("experiment"),
            clock: &self.clock,
            seed: turn.seed,
            block_seed: self.settings.seed.rotate_left(16) ^ u64::from(turn.block),
            data_file_bytes: self.settings.data_file_bytes,
            stop: &self.settings.stop,
        }
    }

    /// The workload of these operations on this target; how many there are is still to be chosen.
    fn workload(&self, live: &LiveTarget, of: &Operations, cache_state: CacheState) -> Workload {
        let verification = match of.layer {
            Layer::FileSystem => self.settings.verification,
            // Part of the content is always compared beforehand.
            Layer::Device => Verification::Off,
        };
        let write_memory =
            if keeps_writes(of, live) { WriteMemory::Own } else { WriteMemory::Reused };
        Workload {
            write_memory,
            operations_per_round: of.operations_per_round(),
            verification,
            pinning: of.pinning(cache_state),
            ..of.workload.clone()
        }
    }

    fn benchmark(&self, cell: u32) -> Benchmark {
        let (_, benchmark) = self.cells[cell as usize];
        self.benchmarks[benchmark].clone()
    }

    /// Targets are made in a different order in each block: the first gets other places in memory
    /// and on the device than the last, and no target should always have the same.
    fn order_of_making(&self, block: u32) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.targets.len()).collect();
        let seed = self.settings.seed.rotate_left(32) ^ u64::from(block);
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        order
    }

    /// The file sets that this target's cells among `cells` need, in the order in which they are
    /// made;
    /// `None` if it has no such cell.
    fn file_sets(&self, target: usize, cells: &[u32]) -> Option<BTreeSet<FileSetKind>> {
        let all = cells.iter().map(|&cell| self.cells[cell as usize]);
        let own: Vec<usize> = all.filter(|cell| cell.0 == target).map(|cell| cell.1).collect();
        let file_sets = || own.iter().filter_map(|&one| self.benchmarks[one].file_set()).collect();
        (!own.is_empty()).then(file_sets)
    }

    /// The pilot of engine operations.
    fn pilot_operations(
        &mut self,
        cell: u32,
        of: &Operations,
        cache_state: CacheState,
        seed: u64,
    ) -> Result<PilotMeasure, Failure> {
        let (target, _) = self.cells[cell as usize];
        let live = &self.targets[target];
        let operations_max = operations_max(live, of, cache_state, self.settings.data_file_bytes);
        let need = of.need(cache_state, self.settings.data_file_bytes);
        let is_scratch = live.is_scratch();
        let pilot_max = operations_max.min(of.pilot_operations_max());
        let operations = pilot::operations(of, cache_state, need, is_scratch).min(pilot_max);
        let start = need.start.min(operations).min(operations_max.saturating_sub(operations));
        let workload = Workload { batch: 1, ..self.workload(live, of, cache_state) };
        let pilot_of = |start_operations: u64, operations_per_thread: u64| EngineExecution {
            of,
            cache_state,
            workload: Workload { start_operations, operations_per_thread, ..workload.clone() },
            counts: false,
        };
        let observed = self.observe_cell(cell, &pilot_of(start, operations), seed)?;
        let recorder = &observed.outcome.recorder;
        // The median, since the first operations of a pilot find the processor's caches cold.
        let typical_ns = recorder.histogram().quantile(0.5).max(1.0);
        let wanted_ns = CLOCK_READINGS_MIN * self.clock_cost_ns;
        let batch = (wanted_ns / typical_ns).ceil().clamp(1.0, BATCH_MAX);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 64")]
        let batch = if of.can_batch(cache_state) { batch as u32 } else { 1 };
        let throttle = Throttle::for_target(&self.targets[target].target, of, cache_state);
        let seen_ns = match observed.outcome.asynchronous {
            // Latencies overlap, so the rate is used.
            Some(_) => 1e9 / observed.outcome.rate_per_s.max(1.0),
            None => typical_ns.max(recorder.mean_ns().min(4.0 * typical_ns)),
        };
        let looked = pilot::LongerLook { of, operations, operations_max, seen_ns };
        let longer = looked.operations().map(|operations| {
            let start = need.start.min(operations_max - operations);
            self.observe_cell(cell, &pilot_of(start, operations), !seed)
        });
        let seen_ns = match longer.transpose()? {
            Some(longer) => pilot::time_that_passed_ns(&longer.outcome),
            None => seen_ns,
        };
        let around = pilot::around(of, cache_state, &observed.spent, observed.overhead_ns);
        Ok(PilotMeasure {
            time_per_operation_ns: seen_ns.max(throttle.time_per_operation_ns),
            overhead_ns: around.once_ns,
            turn_per_timed: around.per_timed,
            start_operations: need.start,
            operations_min: throttle.operations_min.max(need.operations),
            operations_max,
            time_min_ns: nanos(need.time),
            time_wanted_ns: nanos(need.time_wanted.unwrap_or_default()),
            batch,
        })
    }
}

/// One execution of engine operations.
struct EngineExecution<'a> {
    of: &'a Operations,
    cache_state: CacheState,
    workload: Workload,
    /// Whether it counts, or is only a pilot.
    counts: bool,
}

impl Executor for Laboratory {
    fn begin_block(&mut self, block: u32, cells: &[u32]) -> Vec<(u32, String)> {
        let mut lost = Vec::new();
        if self.stop_unguarded().is_err() {
            return lost;
        }
        for index in self.order_of_making(block) {
            let fill = Fill {
                data_file_bytes: self.settings.data_file_bytes,
                seed: self.settings.seed ^ u64::from(block),
                stop: &self.settings.stop,
            };
            let Some(file_sets) = self.file_sets(index, cells) else { continue };
            let renewed =
                self.targets[index].renew(&file_sets, &fill).map_err(|why| why.to_string());
            if let Err(why) = renewed
                && self.stop_unguarded().is_ok()
                && self.stop_without_device().is_ok()
                && !self.settings.stop.load(Ordering::Relaxed)
            {
                let cells = (0u32..).zip(&self.cells).filter(|(_, cell)| cell.0 == index);
                lost.extend(cells.map(|(cell, _)| (cell, why.clone())));
            }
        }
        lost
    }

    fn making(&self, cells: &[u32]) -> Option<Duration> {
        let of_target = |(index, live): (usize, &LiveTarget)| {
            self.file_sets(index, cells).map(|file_sets| live.making(&file_sets))
        };
        Some(self.targets.iter().enumerate().filter_map(of_target).sum())
    }

    fn pilot(&mut self, cell: u32, seed: u64) -> Result<PilotMeasure, Failure> {
        self.stop_unguarded()?;
        let benchmark = self.benchmark(cell);
        let measured = match &benchmark.work {
            Work::Operations(of) => {
                unstopped(|| self.pilot_operations(cell, of, benchmark.cache_state, seed))
            }
            Work::Experiment(experiment) => {
                let began = Instant::now();
                let turn = Turn { block: u32::MAX, seed };
                let whole = self.unstopped_experiment(cell, experiment.as_ref(), turn);
                let overhead_ns = nanos(began.elapsed());
                // An experiment is executed as a whole: there is no number of operations to work
                // out.
                whole.map(|_| PilotMeasure {
                    time_per_operation_ns: 1.0,
                    overhead_ns,
                    turn_per_timed: 1.0,
                    start_operations: 0,
                    operations_min: 1,
                    operations_max: 1,
                    time_min_ns: 0,
                    time_wanted_ns: 0,
                    batch: 1,
                })
            }
        };
        self.unless_without_device(measured)
    }

    fn execute(&mut self, request: &Request) -> Result<Measured, Failure> {
        self.stop_unguarded()?;
        let benchmark = self.benchmark(request.cell);
        let measured = match &benchmark.work {
            Work::Operations(of) => {
                let (target, _) = self.cells[request.cell as usize];
                let live = &self.targets[target];
                let cache_state = benchmark.cache_state;
                let workload = Workload {
                    start_operations: request.start_operations,
                    operations_per_thread: request.operations,
                    batch: request.batch as usize,
                    ..self.workload(live, of, cache_state)
                };
                let execution = EngineExecution { of, cache_state, workload, counts: true };
                unstopped(|| self.observe_cell(request.cell, &execution, request.seed))
                    .map(|observed| observed.into_measured(of, &self.clock))
            }
            Work::Experiment(experiment) => {
                let turn = Turn { block: request.block, seed: request.seed };
                self.unstopped_experiment(request.cell, experiment.as_ref(), turn)
            }
        };
        self.unless_without_device(measured)
    }

    fn busy(&mut self, watched: Duration) -> Option<Busy> {
        let counters = self.targets.iter().find_map(|live| live.counters.clone());
        neighbours::watch(watched, counters.as_deref())
    }

    fn clock_drift_ppm(&self) -> f64 {
        self.clock.drift_ppm(&self.calibrated)
    }
}
