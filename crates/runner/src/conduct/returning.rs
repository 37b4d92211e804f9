//! Restores what an earlier budget left out when a run is given more time.

use std::collections::BTreeSet;

use super::{Conductor, Step};
use crate::economy::{self, Costs};
use crate::error::RunError;
use crate::executor::Executor;
use crate::sizing;

impl<E: Executor> Conductor<'_, '_, E> {
    /// Pilots what an earlier budget left out, and restores whatever now fits with all the blocks
    /// it needs. Returns whether targets were made for `block`, the next one.
    pub(super) fn bring_back(&mut self, block: u32) -> Result<Step<bool>, RunError> {
        let cells: BTreeSet<u32> = self.ledger.bring_back().into_iter().collect();
        if cells.is_empty() {
            return Ok(Step::Done(false));
        }
        let live: BTreeSet<u32> = self.ledger.live(self.plan).into_iter().collect();
        self.begin_block(block, &live)?;
        let began = self.used();
        if let Step::Stop = self.pilot_each(&cells)? {
            return Ok(Step::Stop);
        }
        let pilot_s = self.used().saturating_sub(began).as_secs_f64();
        let sizing = sizing::size(&self.plan.cells, &self.pilots);
        let sized: Vec<u32> = sizing.sizes.keys().copied().collect();
        self.ledger.sizes.extend(sizing.sizes);
        // Cells measured before take precedence: they first need the blocks that they still lack.
        let missing = economy::BLOCKS_MIN.saturating_sub(block);
        let before: Vec<u32> = live.difference(&cells).copied().collect();
        let others_s =
            f64::from(missing) * before.iter().map(|&cell| self.turn_s(cell)).sum::<f64>();
        let left_s = self.left().as_secs_f64() * economy::BLOCKS_MIN_SHARE - others_s;
        let mut gone = economy::left_out(&self.plan.cells, &sized, self, 0, left_s);
        let is_kept = |cell: &u32| !gone.iter().any(|group| group.own.contains(cell));
        let kept: Vec<u32> = sized.iter().copied().filter(is_kept).collect();
        if !economy::min_blocks_fit(&kept, self, 0, left_s) {
            gone = economy::groups(&self.plan.cells, &sized);
        }
        let why = self.too_long();
        let mut left_out = sizing.left_out;
        let cells = &self.plan.cells;
        left_out.extend(gone.into_iter().flat_map(|group| group.left_out(cells, &why)));
        self.enter_plan(block, left_out, pilot_s)?;
        Ok(Step::Done(true))
    }
}
