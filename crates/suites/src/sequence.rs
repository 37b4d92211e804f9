//! Sequences: phases that only mean something one after another, as in the classic benchmarks.
//!
//! Each phase is a benchmark of its own, so that it is compared between targets and has its own
//! interval, but one execution of the sequence measures all of them. Whichever phase comes first in
//! a block executes the sequence and leaves the findings of the others on the target; each of those
//! takes its own when its turn comes. What is left is dropped at the end of a block, or if an
//! execution was disturbed. A phase that finds nothing, such as on a second attempt, executes the
//! sequence again.
//!
//! What a phase measures depends on the one before it, so its parameters say so: `phase` is its
//! place in the sequence, from 1; `after_operation` and `after_access` are the `operation` and
//! `access` of the one before.
//!
//! Counters read around a turn therefore say nothing about a phase: its findings contain all of its
//! evidence. The time around the phases counts for the one that executes them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use record::{CacheState, Dimension, MetricDefinition};
use runner::Failure;
use serde_json::Value;

use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;

/// Phases that are executed one after another and measured together.
pub trait Sequence: fmt::Debug + Send + Sync {
    /// Its name, unique within a suite.
    fn name(&self) -> &str;

    /// Its phases, in the order in which they are executed.
    fn phases(&self) -> Vec<SequencePhase>;

    /// Roughly how long one execution of all phases takes, including everything that it makes.
    fn estimate(&self) -> Duration;

    /// Whether it can run on this target.
    ///
    /// # Errors
    /// Why not, and what would change that, in words that fit after a colon.
    fn check(&self, live: &LiveTarget) -> Result<(), String>;

    /// One replicate of every phase, in order. Each has all of its evidence: what the device did,
    /// and what was stolen.
    ///
    /// It is executed by a thread of its own, whose table of file descriptors no other thread
    /// shares; it takes all files that it opens with it when it ends.
    ///
    /// `seed` is the same on all targets of a block, whichever phase comes first.
    ///
    /// # Errors
    /// If something failed, or the run was told to stop.
    fn execute(&self, site: &Site<'_>, seed: u64) -> Result<Vec<Findings>, Failure>;
}

/// A phase of a sequence, as declared.
#[derive(Clone, Debug)]
pub struct SequencePhase {
    /// Its name as a benchmark, unique within a suite.
    pub name: String,
    /// Name for people, in words.
    pub title: String,
    /// The dimension that it isolates.
    pub dimension: Dimension,
    /// Dimensions that it exercises without isolating them.
    pub exercises: Vec<Dimension>,
    /// Its metrics, the primary one first.
    pub metrics: Vec<MetricDefinition>,
    /// Its parameters, by standard name with the unit in the name.
    pub parameters: BTreeMap<String, Value>,
    /// Bytes that it covers, where that is meaningful.
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
        ..Benchmark::from_experiment(
            &phase.name.clone(),
            &phase.title.clone(),
            OnePhase { sequence: Arc::clone(&sequence), phase, index, count },
        )
    };
    phases.into_iter().enumerate().map(benchmark).collect()
}

/// The phases, with their place in the sequence among their parameters.
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
        let seed = site.live.phases.next_seed(name, site.block_seed);
        // Its calls cost what they cost a program with one thread.
        let alone = || self.sequence.execute(site, seed);
        let all = system_calls::with_own_descriptors(alone).map_err(|error| failed(&error))??;
        site.live.phases.store(name, all);
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
