//! Findings of a sequence's phases that have not had their turn yet.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use record::Neighbours;

use crate::findings::Findings;

/// Findings of phases, until their turn comes.
#[derive(Debug, Default)]
pub(crate) struct Untaken(Mutex<Left>);

#[derive(Debug, Default)]
struct Left {
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

impl Untaken {
    /// Drops what is left from another block, since every block measures for itself.
    pub(crate) fn enter(&self, block: u32) {
        let mut left = self.left();
        if left.block != Some(block) {
            *left = Left { block: Some(block), ..Left::default() };
        }
    }

    /// Drops everything.
    pub(crate) fn forget(&self) {
        let mut left = self.left();
        left.findings.clear();
        left.is_executed = false;
        left.last = None;
    }

    /// The seed for another execution: it makes other choices, in the same order on each target.
    pub(crate) fn seed(&self, sequence: &str, block_seed: u64) -> u64 {
        let mut left = self.left();
        let before = left.executions.entry(sequence.to_owned()).or_default();
        let seed = block_seed.rotate_left(*before);
        *before += 1;
        seed
    }

    pub(crate) fn leave(&self, sequence: &str, all: Vec<Findings>) {
        let all = all.into_iter().enumerate().collect();
        let mut left = self.left();
        left.findings.insert(sequence.to_owned(), all);
        left.is_executed = true;
        left.last = Some(sequence.to_owned());
    }

    /// What the machine did beside the execution that this turn's findings come from: `beside`, if
    /// this turn executed the sequence, otherwise what it did when that was executed.
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

    pub(crate) fn take(&self, sequence: &str, index: usize) -> Option<Findings> {
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
