//! Attempts at a replicate: as many as it takes until one counts, up to [`ATTEMPTS`].

use std::time::Duration;

use record::{Busy, CacheEvidence};

use crate::busy::{BusyAction, Patience, action_after};
use crate::error::RunError;
use crate::executor::{Failure, Measured};
use crate::journal::Attempt;
use crate::plan::ATTEMPTS;

/// A cell's turn, as its conductor takes it.
pub(crate) trait Turn {
    /// Whether the run was told to stop.
    fn is_stopped(&self) -> bool;

    /// The attempt with this number, which begins now.
    fn attempt(&self, number: u32) -> Attempt;

    /// How much longer the run can wait for others.
    fn patience(&self) -> Patience;

    /// The seed of its choices.
    fn seed(&self) -> u64;

    /// Measures once, with the seed of this attempt.
    fn execute(&mut self, seed: u64) -> Result<Measured, Failure>;

    /// Records an attempt that does not count.
    fn discard(
        &mut self,
        attempt: &Attempt,
        why: &str,
        evidence: CacheEvidence,
    ) -> Result<(), RunError>;

    /// Waits until others leave the machine alone, for `time_max` at most.
    fn wait(&mut self, busy: Busy, time_max: Duration) -> Result<(), RunError>;
}

/// What came of a turn.
pub(crate) enum Outcome {
    /// An attempt counts.
    Measured(Attempt, Box<Measured>),
    /// None did, for the reason that the last one had. Something that disturbed one of them may be
    /// over by the next turn.
    Lost { why: String, is_disturbed: bool },
    /// The cell cannot be measured.
    Failed { why: String },
    /// The run was told to stop.
    Stopped,
    /// Other programs keep the machine busy, and the user asked to end the run in that case.
    Refused,
}

/// The seed of an attempt: each chooses differently, since the previous one has warmed what it
/// touched.
pub(crate) fn seed_of(turn: u64, attempt: u32) -> u64 {
    turn.rotate_left(attempt - 1)
}

/// Takes a turn.
pub(crate) fn take(turn: &mut impl Turn) -> Result<Outcome, RunError> {
    let (mut last_why, mut is_disturbed) = (String::new(), false);
    for number in 1..=ATTEMPTS {
        if turn.is_stopped() {
            return Ok(Outcome::Stopped);
        }
        let attempt = turn.attempt(number);
        let (why, evidence) = match turn.execute(seed_of(turn.seed(), number)) {
            Ok(measured) => match action_after(&measured, &turn.patience(), number) {
                (BusyAction::Keep, _) => return Ok(Outcome::Measured(attempt, Box::new(measured))),
                (BusyAction::Refuse, _) => return Ok(Outcome::Refused),
                (next @ (BusyAction::Retry | BusyAction::Wait(_)), busy) => {
                    let why = format!("the machine was busy: {busy}");
                    if let BusyAction::Wait(time_max) = next {
                        turn.wait(busy, time_max)?;
                    }
                    is_disturbed = true;
                    (why, measured.evidence)
                }
            },
            Err(Failure::Interrupted) => return Ok(Outcome::Stopped),
            Err(Failure::Cell { why }) => return Ok(Outcome::Failed { why }),
            Err(Failure::State { why, evidence }) => (why, *evidence),
            Err(Failure::Disturbed { why, evidence }) => {
                is_disturbed = true;
                (why, *evidence)
            }
        };
        turn.discard(&attempt, &why, evidence)?;
        last_why = why;
    }
    Ok(Outcome::Lost { why: last_why, is_disturbed })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use measure::Histogram;
    use record::{LatencySummary, Neighbours, Spent};

    use super::*;
    use crate::context::OnBusy;

    /// What each attempt comes to.
    #[derive(Clone, Copy)]
    enum ScriptedAttempt {
        Counts,
        Busy,
        StateNotReached,
        Disturbed,
    }

    struct Scripted {
        script: Vec<ScriptedAttempt>,
        seeds: Vec<u64>,
        discarded: u32,
    }

    impl Turn for Scripted {
        fn is_stopped(&self) -> bool {
            false
        }

        fn attempt(&self, number: u32) -> Attempt {
            Attempt { cell: 0, block: 0, order: 0, number, at_s: 0.0 }
        }

        fn patience(&self) -> Patience {
            Patience::new(OnBusy::Wait, Duration::from_secs(1))
        }

        fn seed(&self) -> u64 {
            12_345
        }

        fn execute(&mut self, seed: u64) -> Result<Measured, Failure> {
            let scripted = self.script[self.seeds.len()];
            self.seeds.push(seed);
            let (why, evidence) = (format!("attempt {}", self.seeds.len()), Box::default());
            match scripted {
                ScriptedAttempt::Counts => Ok(measured(None)),
                ScriptedAttempt::Busy => Ok(measured(Some(Busy::default()))),
                ScriptedAttempt::StateNotReached => Err(Failure::State { why, evidence }),
                ScriptedAttempt::Disturbed => Err(Failure::Disturbed { why, evidence }),
            }
        }

        fn discard(&mut self, _: &Attempt, _: &str, _: CacheEvidence) -> Result<(), RunError> {
            self.discarded += 1;
            Ok(())
        }

        fn wait(&mut self, _: Busy, _: Duration) -> Result<(), RunError> {
            Ok(())
        }
    }

    fn measured(busy: Option<Busy>) -> Measured {
        Measured {
            metrics: Vec::new(),
            operations: 1,
            bytes: 0,
            elapsed_ns: 1,
            busy_ns: 1,
            latency: LatencySummary::default(),
            histogram: Histogram::new(),
            timeline: None,
            course: None,
            spent: Spent::default(),
            evidence: CacheEvidence::default(),
            steal_ns: 0,
            neighbours: Some(Neighbours { busy, ..Neighbours::default() }),
            warnings: Vec::new(),
            observations: Vec::new(),
        }
    }

    /// The attempt that counts, or whether those that did not were disturbed; how many did not.
    fn outcome_of(script: &[ScriptedAttempt]) -> (Result<u32, bool>, u32) {
        let mut turn = Scripted { script: script.to_vec(), seeds: Vec::new(), discarded: 0 };
        let outcome = match take(&mut turn).expect("nothing is written") {
            Outcome::Measured(attempt, _) => Ok(attempt.number),
            Outcome::Lost { why, is_disturbed } => {
                assert_eq!(why, "attempt 3");
                Err(is_disturbed)
            }
            Outcome::Failed { .. } | Outcome::Stopped | Outcome::Refused => panic!("not scripted"),
        };
        let different: BTreeSet<u64> = turn.seeds.iter().copied().collect();
        assert_eq!(different.len(), turn.seeds.len(), "each attempt chooses differently");
        (outcome, turn.discarded)
    }

    #[test]
    fn a_turn_is_lost_to_its_state_only_if_nothing_else_was_in_the_way() {
        use ScriptedAttempt::{Busy, Counts, Disturbed, StateNotReached};
        assert_eq!(outcome_of(&[Counts]), (Ok(1), 0));
        assert_eq!(outcome_of(&[StateNotReached, Disturbed, Counts]), (Ok(3), 2));
        assert_eq!(outcome_of(&[StateNotReached; 3]), (Err(false), 3));
        assert_eq!(outcome_of(&[StateNotReached, Disturbed, StateNotReached]), (Err(true), 3));
        assert_eq!(outcome_of(&[Busy, StateNotReached, StateNotReached]), (Err(true), 3));
        // On a machine that stays busy, the last attempt is kept.
        assert_eq!(outcome_of(&[Busy; 3]), (Ok(3), 2));
    }
}
