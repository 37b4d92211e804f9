//! Experiments: benchmarks that are more than operations of the engine, each with a procedure of
//! its own.
//!
//! What the laboratory does for all of them: it enters the target's limits, gives an empty
//! directory on the target, takes it away afterwards, and reads the counters around. It mounts the
//! target again in between for those that begin with nothing in memory.

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
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::place::Place;

/// A benchmark with a procedure of its own.
pub trait Experiment: fmt::Debug + Send + Sync {
    /// Metrics of a replicate, the primary one first.
    fn metrics(&self) -> Vec<MetricDefinition>;

    /// Its parameters, by standard name with the unit in the name.
    fn parameters(&self) -> BTreeMap<String, Value>;

    /// Bytes that one execution ranges over, where that is meaningful.
    fn working_set_bytes(&self) -> Option<u64> {
        None
    }

    /// The sequence that it is a phase of, if it is one.
    fn sequence(&self) -> Option<&str> {
        None
    }

    /// The file set that it works on, if it is one that others may share; made for every block.
    fn place(&self) -> Option<Place> {
        None
    }

    /// Roughly what one execution takes, all that it makes included.
    fn estimate(&self) -> Duration;

    /// Whether it can be done on this target.
    ///
    /// # Errors
    /// Why not, and what would change it, in words that follow a colon.
    fn check(&self, live: &LiveTarget) -> Result<(), String>;

    /// Whether the target is mounted again after [`Experiment::make`], so that no name and no
    /// attribute is in memory any more when it is executed. Possible on scratch targets only.
    fn begins_mounted_again(&self) -> bool {
        false
    }

    /// Makes in the site's directory what it works on, where that has to be there before the
    /// target is mounted again.
    ///
    /// # Errors
    /// When something failed, or the run is to stop.
    fn make(&self, _site: &Site<'_>) -> Result<(), Failure> {
        Ok(())
    }

    /// One replicate.
    ///
    /// # Errors
    /// When the state was not as it has to be, something failed, or the run is to stop.
    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure>;
}

/// Where and with what an experiment is executed.
#[derive(Debug)]
pub struct Site<'a> {
    /// The target.
    pub live: &'a LiveTarget,
    /// An empty directory on it, removed afterwards with all that is in it.
    pub directory: PathBuf,
    /// The clock of the run.
    pub clock: &'a SystemClock,
    /// Seed of the replicate's own choices.
    pub seed: u64,
    /// Seed of choices that all targets and benchmarks of a block share.
    pub block_seed: u64,
    /// Size of the run's data files, in bytes: what an experiment that has no size of its own
    /// works on.
    pub data_file_bytes: u64,
    /// Set when the run is to stop.
    pub stop: &'a AtomicBool,
}

/// The block to which an execution belongs, and the seed of its own choices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occasion {
    /// Number of the block; `u32::MAX` for a pilot.
    pub(crate) block: u32,
    pub(crate) seed: u64,
}

impl Site<'_> {
    /// Ends the replicate if the run is to stop; long experiments ask now and then.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] then.
    pub fn go_on(&self) -> Result<(), Failure> {
        if self.stop.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// The file set of a place that the experiment has named.
    ///
    /// # Errors
    /// When it could not be made for this block.
    pub(crate) fn file_set(&self, place: Place) -> Result<&FileSet, Failure> {
        let lost = || Failure::Cell { why: "its file set could not be made".to_owned() };
        self.live.file_sets.get(&place).ok_or_else(lost)
    }

    /// Does something within the limits of the target.
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
    /// When the target could not be made anew for this block.
    pub(crate) fn counters(&self) -> Result<&Counters, Failure> {
        let lost = || Failure::Cell { why: "the target could not be made again".to_owned() };
        self.live.counters.as_deref().ok_or_else(lost)
    }
}
