//! Sequences: phases that mean something only one after another, as in the classic benchmarks.
//!
//! Each phase is a benchmark of its own, so that it is compared between targets and has its own
//! interval, but one execution of the sequence measures all of them. Whichever phase comes first
//! in a block executes it and leaves what it found of the others on the target; each of those takes
//! its own when its turn comes. What was left is dropped at the end of a block and where an
//! execution was disturbed; a phase that finds nothing, such as a second attempt, executes the
//! sequence again.
//!
//! What a phase measures depends on the one before it, so that stands in its parameters: `phase` is
//! its place in the sequence, from 1; `after_operation` and `after_access` are what the one before
//! has as `operation` and `access`.
//!
//! So what is counted around a turn says nothing of a phase: its findings hold all of its evidence.
//! The time around the phases is that of the one that executes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use record::{CacheState, Dimension, MetricDefinition};
use runner::Failure;
use serde_json::Value;

use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::findings::Findings;
use crate::live_target::LiveTarget;

/// Phases that are executed one after another, and measured together.
pub trait Sequence: fmt::Debug + Send + Sync {
    /// Its name, unique within a suite.
    fn name(&self) -> &str;

    /// Its phases, in the order in which they are executed.
    fn phases(&self) -> Vec<SequencePhase>;

    /// Roughly what one execution of all phases takes, all that it makes included.
    fn estimate(&self) -> Duration;

    /// Whether it can be done on this target.
    ///
    /// # Errors
    /// Why not, and what would change it, in words that follow a colon.
    fn check(&self, live: &LiveTarget) -> Result<(), String>;

    /// One replicate of every phase, in their order. Each has its whole evidence: what the device
    /// did, and what was stolen.
    ///
    /// `seed` is the same on all targets of a block, whichever of the phases comes first.
    ///
    /// # Errors
    /// When something failed, or the run is to stop.
    fn execute(&self, site: &Site<'_>, seed: u64) -> Result<Vec<Findings>, Failure>;
}

/// A phase of a sequence: what is declared of it.
#[derive(Clone, Debug)]
pub struct SequencePhase {
    /// Its name as a benchmark, unique within a suite.
    pub name: String,
    /// The same in words, for people.
    pub title: String,
    /// The dimension that it isolates.
    pub dimension: Dimension,
    /// Dimensions that it merely exercises.
    pub exercises: Vec<Dimension>,
    /// Its metrics, the primary one first.
    pub metrics: Vec<MetricDefinition>,
    /// Its parameters, by standard name with the unit in the name.
    pub parameters: BTreeMap<String, Value>,
    /// Bytes that it ranges over, where that is meaningful.
    pub working_set_bytes: Option<u64>,
}

/// The phases as benchmarks.
pub(crate) fn benchmarks(sequence: impl Sequence + 'static) -> Vec<Benchmark> {
    let sequence: Arc<dyn Sequence> = Arc::new(sequence);
    let phases = placed(sequence.phases());
    let count = u32::try_from(phases.len()).unwrap_or(u32::MAX);
    let benchmark = |(index, phase): (usize, SequencePhase)| Benchmark {
        dimension: phase.dimension,
        exercises: phase.exercises.clone(),
        cache_state: CacheState::Any,
        ..Benchmark::of_experiment(
            &phase.name.clone(),
            &phase.title.clone(),
            OnePhase { sequence: Arc::clone(&sequence), phase, index, count },
        )
    };
    phases.into_iter().enumerate().map(benchmark).collect()
}

/// The phases with their place in their parameters.
fn placed(phases: Vec<SequencePhase>) -> Vec<SequencePhase> {
    let mut before: BTreeMap<String, Value> = BTreeMap::new();
    let place = |(number, mut phase): (usize, SequencePhase)| {
        let own = phase.parameters.clone();
        phase.parameters.insert("phase".to_owned(), number.into());
        for (name, after) in [("operation", "after_operation"), ("access", "after_access")] {
            if let Some(value) = before.get(name) {
                phase.parameters.insert(after.to_owned(), value.clone());
            }
        }
        before = own;
        phase
    };
    (1..).zip(phases).map(place).collect()
}

/// One phase as a benchmark of its own.
#[derive(Debug)]
struct OnePhase {
    sequence: Arc<dyn Sequence>,
    phase: SequencePhase,
    /// Its place in the sequence, from 0.
    index: usize,
    /// Number of phases.
    count: u32,
}

impl Experiment for OnePhase {
    fn metrics(&self) -> Vec<MetricDefinition> {
        self.phase.metrics.clone()
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        self.phase.parameters.clone()
    }

    fn working_set_bytes(&self) -> Option<u64> {
        self.phase.working_set_bytes
    }

    fn sequence(&self) -> Option<&str> {
        Some(self.sequence.name())
    }

    fn estimate(&self) -> Duration {
        self.sequence.estimate() / self.count.max(1)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        self.sequence.check(live)
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let name = self.sequence.name();
        if let Some(found) = site.live.phases.take(name, self.index) {
            return Ok(found);
        }
        let seed = site.live.phases.seed(name, site.block_seed);
        let all = self.sequence.execute(site, seed)?;
        site.live.phases.leave(name, all);
        let found = site.live.phases.take(name, self.index);
        Ok(found.expect("a sequence finds something of each phase"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_says_what_it_comes_after() {
        let phase = |name: &str, access: &str| SequencePhase {
            name: name.to_owned(),
            title: name.to_owned(),
            dimension: Dimension::Io,
            exercises: Vec::new(),
            metrics: Vec::new(),
            parameters: BTreeMap::from([
                ("operation".to_owned(), name.into()),
                ("access".to_owned(), access.into()),
            ]),
            working_set_bytes: None,
        };
        let all = placed(vec![phase("write", "random"), phase("read", "sequential")]);
        assert_eq!(all[0].parameters.get("after_operation"), None);
        assert_eq!(all[0].parameters["phase"], 1);
        assert_eq!(all[1].parameters["phase"], 2);
        assert_eq!(all[1].parameters["after_operation"], "write");
        assert_eq!(all[1].parameters["after_access"], "random");
        assert_eq!(all[1].parameters["access"], "sequential");
    }
}
