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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use record::{CacheState, Dimension, MetricDefinition, Neighbours};
use runner::Failure;
use serde_json::Value;

use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Findings, Site};
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

/// What was found of phases that have not had their turn.
#[derive(Debug, Default)]
pub(crate) struct Untaken(Mutex<Left>);

#[derive(Debug, Default)]
struct Left {
    /// The block in which it was found.
    block: Option<u32>,
    /// How many executions of each sequence there were in this block.
    executions: BTreeMap<String, u32>,
    /// By the name of the sequence, and the place of the phase in it.
    findings: BTreeMap<String, BTreeMap<usize, Findings>>,
    /// What the machine did beside the last execution of each sequence.
    neighbours: BTreeMap<String, Neighbours>,
    /// Whether this turn executed a sequence,
    is_executed: bool,
    /// and which one its findings are of.
    last: Option<String>,
}

impl Untaken {
    /// Drops what is left of another block: every block measures for itself.
    pub(crate) fn enter(&self, block: u32) {
        let mut left = self.left();
        if left.block != Some(block) {
            *left = Left { block: Some(block), ..Left::default() };
        }
    }

    /// Drops what is left.
    pub(crate) fn forget(&self) {
        let mut left = self.left();
        left.findings.clear();
        left.is_executed = false;
        left.last = None;
    }

    /// Another execution makes other choices, in the same order on each target.
    fn seed(&self, sequence: &str, block_seed: u64) -> u64 {
        let mut left = self.left();
        let before = left.executions.entry(sequence.to_owned()).or_default();
        let seed = block_seed.rotate_left(*before);
        *before += 1;
        seed
    }

    fn leave(&self, sequence: &str, all: Vec<Findings>) {
        let all = all.into_iter().enumerate().collect();
        let mut left = self.left();
        left.findings.insert(sequence.to_owned(), all);
        left.is_executed = true;
        left.last = Some(sequence.to_owned());
    }

    /// What the machine did beside the execution that a turn's findings are from: `beside` this
    /// turn, or beside the one before that executed the sequence.
    pub(crate) fn neighbours_of_last(&self, beside: Neighbours) -> Neighbours {
        let mut left = self.left();
        let is_executed = std::mem::take(&mut left.is_executed);
        let Some(sequence) = left.last.take() else { return beside };
        if is_executed {
            left.neighbours.insert(sequence, beside.clone());
            return beside;
        }
        left.neighbours.get(&sequence).cloned().unwrap_or(beside)
    }

    fn take(&self, sequence: &str, index: usize) -> Option<Findings> {
        let mut left = self.left();
        let found = left.findings.get_mut(sequence)?.remove(&index)?;
        left.last = Some(sequence.to_owned());
        Some(found)
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: u64) -> Findings {
        Findings { bytes, ..Findings::default() }
    }

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

    #[test]
    fn each_phase_takes_its_own_once() {
        let untaken = Untaken::default();
        untaken.enter(3);
        assert!(untaken.take("a", 0).is_none());
        untaken.leave("a", vec![found(10), found(11)]);
        untaken.leave("b", vec![found(20)]);
        let taken = |name, index| untaken.take(name, index).map(|one| one.bytes);
        assert_eq!((taken("a", 1), taken("a", 1)), (Some(11), None));
        assert_eq!((taken("b", 0), taken("b", 1)), (Some(20), None));
        untaken.enter(3);
        assert_eq!(taken("a", 0), Some(10));
    }

    #[test]
    fn nothing_is_left_of_another_block_or_of_what_was_disturbed() {
        let untaken = Untaken::default();
        untaken.enter(u32::MAX);
        untaken.leave("a", vec![found(1)]);
        untaken.enter(0);
        assert!(untaken.take("a", 0).is_none());
        untaken.leave("a", vec![found(1)]);
        untaken.forget();
        assert!(untaken.take("a", 0).is_none());
    }

    #[test]
    fn a_phase_taken_later_has_the_neighbours_of_its_execution() {
        let untaken = Untaken::default();
        untaken.enter(0);
        let beside = |ns| Neighbours { programs_ns: Some(ns), ..Neighbours::default() };
        let of_turn = |ns| untaken.neighbours_of_last(beside(ns)).programs_ns;
        assert_eq!(of_turn(1), Some(1), "no sequence");
        untaken.leave("a", vec![found(1), found(2)]);
        assert!(untaken.take("a", 0).is_some());
        assert_eq!(of_turn(2), Some(2));
        assert_eq!(of_turn(3), Some(3), "no sequence either");
        assert!(untaken.take("a", 1).is_some());
        assert_eq!(of_turn(4), Some(2));
    }

    #[test]
    fn another_execution_in_a_block_makes_other_choices() {
        let untaken = Untaken::default();
        untaken.enter(0);
        assert_eq!((untaken.seed("a", 5), untaken.seed("b", 5), untaken.seed("a", 5)), (5, 5, 10));
        untaken.enter(1);
        assert_eq!(untaken.seed("a", 5), 5);
    }
}
