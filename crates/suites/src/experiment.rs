//! Experiments: benchmarks with their own procedure, beyond operations of the engine.
//!
//! For all of them, the laboratory enters the target's limits, provides an empty directory on the
//! target, removes it afterwards, and reads the counters before and after. For those that begin
//! with nothing in memory, it remounts the target in between.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use measure::SystemClock;
use record::MetricDefinition;
use runner::Failure;
use serde_json::Value;
use workload::FileSet;

use crate::counters::Counters;
use crate::failure::failed;
use crate::file_set_kind::FileSetKind;
use crate::findings::Findings;
use crate::live_target::LiveTarget;

/// A benchmark with its own procedure.
pub trait Experiment: fmt::Debug + Send + Sync {
    /// Metrics of a replicate, the primary one first.
    fn metrics(&self) -> Vec<MetricDefinition>;

    /// Those of a replicate on this target: further ones may need what not every target has.
    fn metrics_on(&self, _live: &LiveTarget) -> Vec<MetricDefinition> {
        self.metrics()
    }

    /// Its parameters, by standard name with the unit in the name.
    fn parameters(&self) -> BTreeMap<String, Value>;

    /// Bytes that one execution covers, where that is meaningful.
    fn working_set_bytes(&self) -> Option<u64> {
        None
    }

    /// The sequence that it is a phase of, if any.
    fn sequence(&self) -> Option<&str> {
        None
    }

    /// The file set that it works on, if others can share it; made anew for every block.
    fn file_set(&self) -> Option<FileSetKind> {
        None
    }

    /// Whether it reaches the files of its file set only by the engine's operations, so that it
    /// works however a target is reached, and needs no directory of its own.
    fn uses_its_file_set_alone(&self) -> bool {
        false
    }

    /// Roughly how long one execution takes, including everything that it makes.
    fn estimate(&self) -> Duration;

    /// Whether it can run on this target.
    ///
    /// # Errors
    /// Why not, and what would change that, in words that fit after a colon.
    fn check(&self, live: &LiveTarget) -> Result<(), String>;

    /// Whether the target is remounted after [`Experiment::make`], so that no names or attributes
    /// are in memory when it is executed. Only possible on scratch targets.
    fn begins_mounted_again(&self) -> bool {
        false
    }

    /// Makes what it works on in the site's directory, if that has to exist before the target is
    /// remounted.
    ///
    /// # Errors
    /// If something failed, or the run was told to stop.
    fn make(&self, _site: &Site<'_>) -> Result<(), Failure> {
        Ok(())
    }

    /// Executes one replicate.
    ///
    /// # Errors
    /// If the cache state was not as required, something failed, or the run was told to stop.
    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure>;
}

/// What an experiment is executed on and with.
#[derive(Debug)]
pub struct Site<'a> {
    /// The target.
    pub live: &'a LiveTarget,
    /// An empty directory on the target, removed afterwards with all its contents; there is none
    /// for an experiment that uses its file set alone.
    pub directory: PathBuf,
    /// The clock of the run.
    pub clock: &'a SystemClock,
    /// Seed for this replicate's own choices.
    pub seed: u64,
    /// Seed for choices shared by all targets and benchmarks of a block.
    pub block_seed: u64,
    /// Size of the run's data files in bytes, used by experiments without a size of their own.
    pub data_file_bytes: u64,
    /// Set to stop the run.
    pub stop: &'a AtomicBool,
}

/// The block that an execution belongs to, and the seed for its own choices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Number of the block; `u32::MAX` for a pilot.
    pub(crate) block: u32,
    pub(crate) seed: u64,
}

impl Site<'_> {
    /// Ends the replicate if the run was told to stop; long experiments call it now and then.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] in that case.
    pub fn go_on(&self) -> Result<(), Failure> {
        if self.stop.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// A file set that the experiment declared.
    ///
    /// # Errors
    /// If it could not be made for this block.
    pub(crate) fn file_set(&self, kind: FileSetKind) -> Result<&FileSet, Failure> {
        let lost = || Failure::Cell { why: "its file set could not be made".to_owned() };
        self.live.file_sets.get(&kind).ok_or_else(lost)
    }

    /// Runs `act` within the target's limits.
    pub(crate) fn entered<T>(
        &self,
        act: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let entered = self.live.target.enter().map_err(|error| failed(&error))?;
        let done = act(self);
        entered.leave().map_err(|error| failed(&error))?;
        done
    }

    /// Counters of the target's device and of the processors.
    ///
    /// # Errors
    /// If the target could not be remade for this block.
    pub(crate) fn counters(&self) -> Result<&Counters, Failure> {
        let lost = || Failure::Cell { why: "the target could not be made again".to_owned() };
        self.live.counters.as_deref().ok_or_else(lost)
    }
}
