//! Searches for cliffs on live targets: one probe per position, and one data file per target, or
//! one per probe when searching along volume sizes.
//!
//! [`plan`] decides what to search on a target; the [`CliffLaboratory`] measures the positions that
//! the `runner` asks for. A probe does not depend on those before it: each begins by evicting what
//! they left in memory.

mod error;
mod probe;
mod range;
mod request;
mod subject;
mod watch;

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use measure::{Reference, SystemClock};
use record::{Busy, Cell, Compared};
use runner::{Failure, Measured, Prober};
use targets::{DeviceFailure, Target};
use workload::{DataFiles, FileSet, FileSetSpec};

use crate::counters::Counters;
use crate::file_set_kind::FileSetKind;
use crate::live_target::LiveTarget;
use crate::neighbours;
use crate::stops::unstopped;

pub use error::CliffError;
pub use range::{PlannedSearch, check_volume, plan};
pub use request::{CliffParameters, CliffRequest, RangeEnd};

use probe::Probe;
use subject::Subject;

/// The name of the suite that a search's cells belong to.
pub const CLIFF_SUITE: &str = "cliff";

/// Large enough that reading takes few calls.
const BUFFER_BYTES: usize = 1 << 20;

/// One search and its target.
#[derive(Debug)]
struct SearchSetup {
    live: LiveTarget,
    /// `None` until the first probe, if each probe makes its volume anew.
    files: Option<ProbedFiles>,
    subject: Subject,
    target: String,
    compared: Compared,
    seed: u64,
}

/// What the operations of a search work on.
#[derive(Debug)]
struct ProbedFiles {
    file_set: FileSet,
    counters: Counters,
}

impl SearchSetup {
    fn counters(&self) -> Option<&Counters> {
        self.files.as_ref().map(|files| &files.counters)
    }

    /// Makes a new volume of `size_bytes`, with its file.
    fn renew(&mut self, size_bytes: u64, stop: &AtomicBool) -> Result<(), CliffError> {
        self.files = None;
        let remade = self.live.target.remake_with_size(size_bytes);
        remade.map_err(|error| failure(&self.live, stop, &error))?;
        self.files = Some(prepare(&mut self.live, &self.subject, self.seed, stop)?);
        Ok(())
    }
}

/// Live targets with the files that searches work on.
#[derive(Debug)]
pub struct CliffLaboratory {
    setups: Vec<SearchSetup>,
    /// What working sets are read into. Filled, so that its pages exist before any target's
    /// conditions are entered.
    buffer: Vec<u8>,
    stop: Arc<AtomicBool>,
    clock: SystemClock,
    calibrated: Reference,
}

impl CliffLaboratory {
    /// Makes the file of each search on its target; targets and plans are in the same order.
    ///
    /// # Errors
    /// What failed, or that it was told to stop, along with the targets, which are to be closed.
    pub fn new(
        targets: Vec<LiveTarget>,
        plans: &[PlannedSearch],
        stop: &Arc<AtomicBool>,
        clock: SystemClock,
    ) -> Result<Self, (CliffError, Vec<LiveTarget>)> {
        let mut setups: Vec<SearchSetup> = Vec::new();
        let mut targets = targets.into_iter();
        let mut plans = plans.iter();
        while let (Some(mut live), Some(plan)) = (targets.next(), plans.next()) {
            let subject = Subject::new(plan);
            let (target, compared) = (plan.search.target.clone(), plan.search.compared);
            let seed = plan.search.seed;
            let files = match subject.is_of_volumes() {
                true => Ok(None),
                false => prepare(&mut live, &subject, seed, stop).map(Some),
            };
            match files {
                Ok(files) => {
                    setups.push(SearchSetup { live, files, subject, target, compared, seed });
                }
                Err(error) => {
                    let made = setups.into_iter().map(|setup| setup.live);
                    return Err((error, made.chain([live]).chain(targets).collect()));
                }
            }
        }
        let calibrated = clock.reference();
        let buffer = vec![1; BUFFER_BYTES];
        Ok(Self { setups, buffer, stop: Arc::clone(stop), clock, calibrated })
    }

    /// Why a target's device fails, if that is not the file system's doing.
    #[must_use]
    pub fn device_failure(&self) -> Option<DeviceFailure> {
        let mut targets = self.setups.iter().map(|setup| setup.live.target());
        targets.find_map(Target::device_failure)
    }

    /// Gives the targets back, to be closed.
    #[must_use]
    pub fn into_targets(self) -> Vec<LiveTarget> {
        self.setups.into_iter().map(|setup| setup.live).collect()
    }
}

/// Fills and ages the target as specified, then makes the file within the target's conditions, so
/// that its pages are charged to them.
fn prepare(
    live: &mut LiveTarget,
    subject: &Subject,
    seed: u64,
    stop: &AtomicBool,
) -> Result<ProbedFiles, CliffError> {
    let filled = live.target.fill_and_age(seed, stop);
    filled.map_err(|error| failure(live, stop, &error))?;
    let live = &*live;
    let failed = |error: &dyn Display| failure(live, stop, error);
    let entered = live.target().enter().map_err(|error| failed(&error))?;
    let root = live.target().root().join(FileSetKind::Data.name());
    std::fs::create_dir(&root).map_err(|error| failed(&error))?;
    let files = DataFiles { count: 1, size_bytes: subject.file_bytes() };
    let spec = if subject.has_writes() {
        FileSetSpec { write_files: files, ..FileSetSpec::default() }
    } else {
        FileSetSpec { read_files: files, ..FileSetSpec::default() }
    };
    let file_set = FileSet::create(&root, &spec, seed, stop).map_err(|error| failed(&error))?;
    live.target().sync().map_err(|error| failed(&error))?;
    entered.leave().map_err(|error| failed(&error))?;
    let counters = live.open_counters();
    Ok(ProbedFiles { file_set, counters: counters.map_err(|error| failed(&error))? })
}

/// Why a target cannot be searched, unless it was told to stop.
fn failure(live: &LiveTarget, stop: &AtomicBool, error: &dyn Display) -> CliffError {
    if stop.load(Ordering::Relaxed) {
        return CliffError::Stopped;
    }
    let why = match live.target().device_failure() {
        None => error.to_string(),
        Some(failure) => format!("{failure} ({error})"),
    };
    CliffError::Target { target: live.target().spec().label.clone(), why }
}

impl Prober for CliffLaboratory {
    fn cell(&self, search: usize, position: f64) -> Cell {
        let SearchSetup { subject, target, .. } = &self.setups[search];
        subject.cell(target, position)
    }

    fn probe(&mut self, search: usize, position: f64, seed: u64) -> Result<Measured, Failure> {
        let setup = &mut self.setups[search];
        if !setup.live.target().is_guarded() {
            // Nobody would clean up if we died, so nothing more is started.
            self.stop.store(true, Ordering::Relaxed);
            return Err(Failure::Interrupted);
        }
        if setup.subject.is_of_volumes() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole")]
            setup.renew(position as u64, &self.stop).map_err(|error| {
                if error == CliffError::Stopped {
                    return Failure::Interrupted;
                }
                Failure::Cell { why: error.to_string() }
            })?;
        }
        let Some(files) = &setup.files else {
            unreachable!("files are made with the setup, or just now");
        };
        let benchmark = setup.subject.benchmark(position);
        let probe = Probe {
            of: benchmark.operations().expect("a search is of operations"),
            file_set: &files.file_set,
            target: setup.live.target(),
            counters: &files.counters,
            is_on_new_volume: setup.subject.is_of_volumes(),
            seed,
            clock: &self.clock,
            stop: &self.stop,
            compared: setup.compared,
        };
        unstopped(|| probe.measure(&mut self.buffer))
    }

    fn busy(&mut self, watched: Duration) -> Option<Busy> {
        neighbours::watch(watched, self.setups.first().and_then(SearchSetup::counters))
    }

    fn clock_drift_ppm(&self) -> f64 {
        self.clock.drift_ppm(&self.calibrated)
    }
}
