//! Findings of a sequence's phases that have not had their turn yet.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use record::Neighbours;

use crate::findings::Findings;

/// Findings of phases, until their turn comes.
#[derive(Debug, Default)]
pub(crate) struct PendingFindings(Mutex<BlockFindings>);

#[derive(Debug, Default)]
struct BlockFindings {
    /// The block that they belong to.
    block: Option<u32>,
    /// How many times each sequence was executed in this block.
    executions: BTreeMap<String, u32>,
    /// By sequence name and the phase's place in the sequence.
    findings: BTreeMap<String, BTreeMap<usize, Findings>>,
    /// What the machine did beside the latest execution of each sequence.
    neighbours: BTreeMap<String, Neighbours>,
    /// Whether this turn executed a sequence.
    is_executed: bool,
    /// The sequence that this turn's findings come from.
    last: Option<String>,
}

impl PendingFindings {
    /// Drops what is left from another block, since every block measures for itself.
    pub(crate) fn begin_block(&self, block: u32) {
        let mut pending = self.lock();
        if pending.block != Some(block) {
            *pending = BlockFindings { block: Some(block), ..BlockFindings::default() };
        }
    }

    /// Drops everything.
    pub(crate) fn clear(&self) {
        let mut pending = self.lock();
        pending.findings.clear();
        pending.is_executed = false;
        pending.last = None;
    }

    /// The seed for another execution: it makes other choices, in the same order on each target.
    pub(crate) fn next_seed(&self, sequence: &str, block_seed: u64) -> u64 {
        let mut pending = self.lock();
        let before = pending.executions.entry(sequence.to_owned()).or_default();
        let seed = block_seed.rotate_left(*before);
        *before += 1;
        seed
    }

    pub(crate) fn store(&self, sequence: &str, all: Vec<Findings>) {
        let all = all.into_iter().enumerate().collect();
        let mut pending = self.lock();
        pending.findings.insert(sequence.to_owned(), all);
        pending.is_executed = true;
        pending.last = Some(sequence.to_owned());
    }

    /// What the machine did beside the execution that this turn's findings come from: `beside`, if
    /// this turn executed the sequence, otherwise what it did when that was executed.
    pub(crate) fn neighbours_of_last(&self, beside: Neighbours) -> Neighbours {
        let mut pending = self.lock();
        let is_executed = std::mem::take(&mut pending.is_executed);
        let Some(sequence) = pending.last.take() else { return beside };
        if is_executed {
            pending.neighbours.insert(sequence, beside.clone());
            return beside;
        }
        pending.neighbours.get(&sequence).cloned().unwrap_or(beside)
    }

    pub(crate) fn take(&self, sequence: &str, index: usize) -> Option<Findings> {
        let mut pending = self.lock();
        let findings = pending.findings.get_mut(sequence)?.remove(&index)?;
        pending.last = Some(sequence.to_owned());
        Some(findings)
    }

    fn lock(&self) -> MutexGuard<'_, BlockFindings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(bytes: u64) -> Findings {
        Findings { bytes, ..Findings::default() }
    }

    #[test]
    fn each_phase_takes_its_own_once() {
        let pending = PendingFindings::default();
        pending.begin_block(3);
        assert!(pending.take("a", 0).is_none());
        pending.store("a", vec![findings(10), findings(11)]);
        pending.store("b", vec![findings(20)]);
        let taken = |name, index| pending.take(name, index).map(|one| one.bytes);
        assert_eq!((taken("a", 1), taken("a", 1)), (Some(11), None));
        assert_eq!((taken("b", 0), taken("b", 1)), (Some(20), None));
        pending.begin_block(3);
        assert_eq!(taken("a", 0), Some(10));
    }

    #[test]
    fn nothing_is_left_of_another_block_or_of_what_was_disturbed() {
        let pending = PendingFindings::default();
        pending.begin_block(u32::MAX);
        pending.store("a", vec![findings(1)]);
        pending.begin_block(0);
        assert!(pending.take("a", 0).is_none());
        pending.store("a", vec![findings(1)]);
        pending.clear();
        assert!(pending.take("a", 0).is_none());
    }

    #[test]
    fn a_phase_taken_later_has_the_neighbours_of_its_execution() {
        let pending = PendingFindings::default();
        pending.begin_block(0);
        let beside = |ns| Neighbours { programs_ns: Some(ns), ..Neighbours::default() };
        let of_turn = |ns| pending.neighbours_of_last(beside(ns)).programs_ns;
        assert_eq!(of_turn(1), Some(1), "no sequence");
        pending.store("a", vec![findings(1), findings(2)]);
        assert!(pending.take("a", 0).is_some());
        assert_eq!(of_turn(2), Some(2));
        assert_eq!(of_turn(3), Some(3), "no sequence either");
        assert!(pending.take("a", 1).is_some());
        assert_eq!(of_turn(4), Some(2));
    }

    #[test]
    fn another_execution_in_a_block_makes_other_choices() {
        let pending = PendingFindings::default();
        pending.begin_block(0);
        assert_eq!(
            (pending.next_seed("a", 5), pending.next_seed("b", 5), pending.next_seed("a", 5)),
            (5, 5, 10)
        );
        pending.begin_block(1);
        assert_eq!(pending.next_seed("a", 5), 5);
    }
}
