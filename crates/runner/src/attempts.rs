//! Attempts at a replicate: as many as it takes until one counts, up to [`ATTEMPTS`].

use std::time::Duration;

use record::{Busy, CacheEvidence};

use crate::busy::{Next, Patience, in_the_way};
use crate::error::RunError;
use crate::executor::{Failure, Measured};
use crate::journal::Place;
use crate::plan::ATTEMPTS;

/// A cell's turn, as its conductor takes it.
pub(crate) trait Turn {
    /// Whether the run was told to stop.
    fn is_stopped(&self) -> bool;

    /// Where this attempt stands, which begins now.
    fn place(&self, attempt: u32) -> Place;

    /// How much longer the run can wait for others.
    fn patience(&self) -> Patience;

    /// Measures once. Each attempt must choose differently, since the previous one has warmed what
    /// it touched.
    fn execute(&mut self, attempt: u32) -> Result<Measured, Failure>;

    /// Records an attempt that does not count.
    fn discard(
        &mut self,
        place: &Place,
        why: &str,
        evidence: CacheEvidence,
    ) -> Result<(), RunError>;

    /// Waits until others leave the machine alone, for `most` at most.
    fn wait(&mut self, busy: Busy, most: Duration) -> Result<(), RunError>;
}

/// What came of a turn.
pub(crate) enum Outcome {
    /// An attempt counts.
    Measured(Place, Box<Measured>),
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

/// Takes a turn.
pub(crate) fn take(turn: &mut impl Turn) -> Result<Outcome, RunError> {
    let (mut last_why, mut is_disturbed) = (String::new(), false);
    for attempt in 1..=ATTEMPTS {
        if turn.is_stopped() {
            return Ok(Outcome::Stopped);
        }
        let place = turn.place(attempt);
        let (why, evidence) = match turn.execute(attempt) {
            Ok(measured) => match in_the_way(&measured, &turn.patience(), attempt) {
                (Next::Keep, _) => return Ok(Outcome::Measured(place, Box::new(measured))),
                (Next::Refuse, _) => return Ok(Outcome::Refused),
                (next @ (Next::Again | Next::Wait(_)), busy) => {
                    let why = format!("the machine was busy: {busy}");
                    if let Next::Wait(most) = next {
                        turn.wait(busy, most)?;
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
        turn.discard(&place, &why, evidence)?;
        last_why = why;
    }
    Ok(Outcome::Lost { why: last_why, is_disturbed })
}
