//! Searches for cliffs on live targets: one data file per target, and a probe for each position.
//!
//! [`plan`] decides what is searched on a target; the [`CliffLaboratory`] measures the positions
//! that the `runner` asks for. Where a probe lies does not depend on those before it: each begins
//! by throwing out what they left in memory.

mod error;
mod probe;
mod range;
mod subject;
mod wanted;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use measure::{Reference, SystemClock};
use record::{Busy, Cell, Compared};
use runner::{Failure, Measured, Prober};
use workload::{DataFiles, FileSet, FileSetSpec};

use crate::counters::Counters;
use crate::live_target::LiveTarget;
use crate::neighbours;
use crate::place::Place;
use crate::stops::unstopped;

pub use error::CliffError;
pub use range::{Planned, plan};
pub use wanted::{Parameters, RangeEnd, Wanted};

use probe::Probing;
use subject::Subject;

/// The name of the suite that a search's cells belong to.
pub const CLIFF_SUITE: &str = "cliff";

/// A read of this size costs few calls.
const BUFFER_BYTES: usize = 1 << 20;

/// What a search is about, and where.
#[derive(Debug)]
struct Setup {
    live: LiveTarget,
    file_set: FileSet,
    counters: Counters,
    subject: Subject,
    target: String,
    compared: Compared,
}

/// Live targets with the files that searches work on.
#[derive(Debug)]
pub struct CliffLaboratory {
    setups: Vec<Setup>,
    /// What working sets are read into. Filled, so that its pages are there before any target's
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
    /// What failed, or that it was told to stop, with the targets to be closed.
    pub fn new(
        targets: Vec<LiveTarget>,
        plans: &[Planned],
        stop: &Arc<AtomicBool>,
        clock: SystemClock,
    ) -> Result<Self, (CliffError, Vec<LiveTarget>)> {
        let mut setups: Vec<Setup> = Vec::new();
        let mut targets = targets.into_iter();
        let mut plans = plans.iter();
        while let (Some(live), Some(plan)) = (targets.next(), plans.next()) {
            let subject = Subject::new(plan);
            match prepare(&live, &subject, plan.search.seed, stop) {
                Ok((file_set, counters)) => {
                    let target = plan.search.target.clone();
                    let compared = plan.search.compared;
                    setups.push(Setup { live, file_set, counters, subject, target, compared });
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

    /// The scratch directory, if it has no room left for what images have not taken yet.
    #[must_use]
    pub fn full_scratch(&self) -> Option<PathBuf> {
        let mut targets = self.setups.iter().map(|setup| setup.live.target());
        targets.find_map(|target| target.scratch_without_room().map(Path::to_owned))
    }

    /// Takes the targets out again, to close them.
    #[must_use]
    pub fn into_targets(self) -> Vec<LiveTarget> {
        self.setups.into_iter().map(|setup| setup.live).collect()
    }
}

/// Makes the file within the target's conditions, so that its pages belong to them.
fn prepare(
    live: &LiveTarget,
    subject: &Subject,
    seed: u64,
    stop: &AtomicBool,
) -> Result<(FileSet, Counters), CliffError> {
    let failed = |error: &dyn std::fmt::Display| match stop.load(Ordering::Relaxed) {
        true => CliffError::Stopped,
        false => CliffError::Target {
            target: live.target().spec().label.clone(),
            why: match live.target().scratch_without_room() {
                None => error.to_string(),
                Some(full) => {
                    let holds = "holds its image, is full: free some space there";
                    format!("{}, which {holds} ({error})", full.display())
                }
            },
        },
    };
    let entered = live.target().enter().map_err(|error| failed(&error))?;
    let root = live.target().root().join(Place::Data.name());
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
    let counters = Counters::of(live.target(), live.is_scratch());
    Ok((file_set, counters.map_err(|error| failed(&error))?))
}

impl Prober for CliffLaboratory {
    fn cell(&self, search: usize, position: f64) -> Cell {
        let Setup { subject, target, .. } = &self.setups[search];
        subject.cell(target, position)
    }

    fn probe(&mut self, search: usize, position: f64, seed: u64) -> Result<Measured, Failure> {
        let setup = &self.setups[search];
        if !setup.live.target().is_guarded() {
            // Nobody would clean up after a death: no more is begun.
            self.stop.store(true, Ordering::Relaxed);
            return Err(Failure::Interrupted);
        }
        let benchmark = setup.subject.benchmark(position);
        let probe = Probing {
            of: benchmark.operations().expect("a search is of operations"),
            file_set: &setup.file_set,
            target: setup.live.target(),
            counters: &setup.counters,
            seed,
            clock: &self.clock,
            stop: &self.stop,
            compared: setup.compared,
        };
        unstopped(|| probe.measure(&mut self.buffer))
    }

    fn busy(&mut self, watched: Duration) -> Option<Busy> {
        neighbours::watch(watched, self.setups.first().map(|setup| &setup.counters))
    }

    fn clock_drift_ppm(&self) -> f64 {
        self.clock.drift_ppm(&self.calibrated)
    }
}
