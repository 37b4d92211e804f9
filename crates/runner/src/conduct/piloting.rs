//! The pilot: each cell executed once, briefly.

use std::collections::BTreeSet;

use record::EndReason;

use super::{Conductor, Step, state_not_reached};
use crate::attempts;
use crate::error::RunError;
use crate::executor::{Executor, Failure, PilotMeasure};
use crate::plan::ATTEMPTS;
use crate::sizing;

impl<E: Executor> Conductor<'_, '_, E> {
    /// Executes each cell briefly, works out the size of its replicates, and leaves out what does
    /// not fit.
    pub(super) fn pilot_all(&mut self) -> Result<Option<EndReason>, RunError> {
        let all: BTreeSet<u32> = (0u32..).take(self.plan.cells.len()).collect();
        self.begin_block(0, &all)?;
        let began = self.used();
        if let Step::Stop = self.pilot_each(&all)? {
            return Ok(Some(EndReason::Interrupted));
        }
        let sizing = sizing::size(&self.plan.cells, &self.pilots);
        self.ledger.sizes = sizing.sizes;
        let pilot_s = self.used().saturating_sub(began).as_secs_f64();
        self.write_plan(0, sizing.left_out, pilot_s)?;
        Ok(self.ledger.sizes.is_empty().then_some(EndReason::NothingLeft))
    }

    /// Executes each of these cells briefly.
    pub(super) fn pilot_each(&mut self, cells: &BTreeSet<u32>) -> Result<Step<()>, RunError> {
        let order = self.plan.order_of_block(u32::MAX);
        for (done, &cell) in order.iter().enumerate() {
            if !cells.contains(&cell) || !self.ledger.is_live(cell) {
                continue;
            }
            self.announce(cell, None, done);
            match self.pilot(cell)? {
                Step::Done(pilot) => _ = self.pilots.insert(cell, pilot),
                Step::Failed => {}
                Step::Stop | Step::Refused => return Ok(Step::Stop),
            }
        }
        Ok(Step::Done(()))
    }

    fn pilot(&mut self, cell: u32) -> Result<Step<PilotMeasure>, RunError> {
        let (mut why, mut is_disturbed) = (String::new(), false);
        for attempt in 1..=ATTEMPTS {
            if self.told_to_stop() {
                return Ok(Step::Stop);
            }
            let seed = attempts::seed_of(self.plan.replicate_seed(cell, u32::MAX), attempt);
            match self.executor.pilot(cell, seed) {
                Ok(pilot) => return Ok(Step::Done(pilot)),
                Err(Failure::Interrupted) => return Ok(Step::Stop),
                Err(Failure::State { why: found, .. }) => (why, is_disturbed) = (found, false),
                Err(Failure::Disturbed { why: found, .. }) => (why, is_disturbed) = (found, true),
                Err(Failure::Cell { why }) => {
                    self.fail(cell, 0, why)?;
                    return Ok(Step::Failed);
                }
            }
        }
        let why = match is_disturbed {
            true => format!("the last of {ATTEMPTS} attempts was disturbed: {why}"),
            false => state_not_reached(&why),
        };
        self.fail(cell, 0, why)?;
        Ok(Step::Failed)
    }
}
