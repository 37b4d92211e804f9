//! The course of a run.

mod costs;
mod piloting;
mod returning;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use record::{
    Block, Busy, CacheEvidence, End, EndReason, LeftOut, Line, Pilot, Planned, RunDirectory, Start,
};

use crate::attempts::{self, Outcome, Turn};
use crate::busy::Patience;
use crate::context::RunContext;
use crate::economy::{self, Costs, Group};
use crate::error::RunError;
use crate::executor::{Executor, Failure, Measured, PilotMeasure, Request};
use crate::journal::{self, Attempt};
use crate::ledger::Ledger;
use crate::observer::Event;
use crate::plan::{ATTEMPTS, Plan};
use crate::sizing::Size;

/// Number of successive blocks after which every interval must be narrow enough. One would do for a
/// single look; but a run that looks after each block and stops at the first narrow interval
/// favours samples that are narrow by luck, so its intervals would cover the true value less often
/// than they claim.
const NARROW_LOOKS: u32 = 2;
/// Margin on the suggested minimum budget, since times vary.
const ROOM: f64 = 1.25;
/// How far a block may exceed the budget if there would be no interval without it.
const OVERTIME: f64 = 1.1;

/// Measures what `plan` says, continuing after what `ledger` records as done, until the run ends.
///
/// Each replicate is on disk before the next one begins.
///
/// # Errors
/// If the run directory cannot be written. What was written before is kept.
pub fn conduct<E: Executor>(
    plan: &Plan,
    ledger: Ledger,
    executor: &mut E,
    directory: &mut RunDirectory,
    context: &mut RunContext<'_>,
) -> Result<EndReason, RunError> {
    let used_before = ledger.used();
    let patience = Patience::new(context.on_busy, plan.budget);
    let mut run = Conductor {
        plan,
        ledger,
        executor,
        directory,
        context,
        used_before,
        pilots: BTreeMap::new(),
        lost: BTreeMap::new(),
        patience,
        is_told_of_room: false,
    };
    let budget_s = plan.granted.map(|budget| budget.as_secs_f64());
    run.write(&Line::Start(Start { used_s: used_before.as_secs_f64(), budget_s }))?;
    let reason = run.measure()?;
    let used_s = run.used().as_secs_f64();
    let clock_drift_ppm = run.executor.clock_drift_ppm();
    run.write(&Line::End(End { reason, used_s, clock_drift_ppm }))?;
    Ok(reason)
}

struct Conductor<'a, 'b, E> {
    plan: &'a Plan,
    ledger: Ledger,
    executor: &'a mut E,
    directory: &'a mut RunDirectory,
    context: &'a mut RunContext<'b>,
    used_before: Duration,
    /// Results of this process's pilots; a resumed run may have none.
    pilots: BTreeMap<u32, PilotMeasure>,
    /// Per cell, the last block in which no attempt reached the requested state.
    lost: BTreeMap<u32, u32>,
    patience: Patience,
    /// Whether the observer has been told that the journal will be full before the end.
    is_told_of_room: bool,
}

impl<E: Executor> Conductor<'_, '_, E> {
    fn measure(&mut self) -> Result<EndReason, RunError> {
        let mut is_made = false;
        if self.ledger.sizes.is_empty() {
            if let Some(end) = self.pilot_all()? {
                return Ok(end);
            }
            if self.plan.is_dry {
                return Ok(EndReason::NothingLeft);
            }
            // The first block reuses the targets that the pilot ran on.
            is_made = true;
        }
        let mut block = self.ledger.next_block(self.plan);
        if self.plan.brings_back {
            match self.bring_back(block)? {
                Step::Done(has_made) => is_made = has_made,
                Step::Failed => {}
                Step::Stop | Step::Refused => return Ok(EndReason::Interrupted),
            }
        }
        let mut narrow_looks = 0;
        loop {
            if self.plan.blocks.is_some_and(|blocks| block >= blocks) {
                return Ok(EndReason::Blocks);
            }
            if self.directory.is_full() || block >= record::BLOCKS_MAX {
                return Ok(EndReason::Full);
            }
            if self.used() >= self.limit(block) && self.plan.blocks.is_none() {
                return Ok(EndReason::Budget);
            }
            let Some(cells) = self.cells_of_block(block) else { return Ok(EndReason::Budget) };
            if !is_made {
                if !self.has_time_to_make(block, &cells) {
                    return Ok(EndReason::Budget);
                }
                self.begin_block(block, &cells)?;
            }
            is_made = false;
            if let Some(end) = self.block(block, &cells)? {
                return Ok(end);
            }
            self.ledger.note_pace();
            self.plan_again(block)?;
            let width = self.ledger.width(self.plan);
            let blocks = self.forecast(block + 1);
            self.tell_of_room(block + 1);
            self.tell(&Event::BlockDone { block, cells: cells.len(), blocks, width });
            let narrow = width.widest.is_some_and(|widest| widest <= self.plan.precision);
            narrow_looks = if narrow { narrow_looks + 1 } else { 0 };
            if narrow_looks >= NARROW_LOOKS && self.plan.blocks.is_none() {
                return Ok(EndReason::Precision);
            }
            block += 1;
        }
    }

    /// Whether there is time to make targets for a block and measure something on them.
    fn has_time_to_make(&self, block: u32, cells: &BTreeSet<u32>) -> bool {
        let cells: Vec<u32> = cells.iter().copied().collect();
        let left_s = self.limit(block).saturating_sub(self.used()).as_secs_f64();
        self.plan.blocks.is_some() || block == 0 || self.making_s(&cells) < left_s
    }

    /// The cells to measure in a block; none if there is no time for any that still need it.
    fn cells_of_block(&self, block: u32) -> Option<BTreeSet<u32>> {
        let live = self.ledger.live(self.plan);
        if let Some(cells) = self.ledger.cells_of_partial_block(block) {
            return Some(cells);
        }
        if self.plan.blocks.is_some() {
            return Some(live.into_iter().collect());
        }
        let mut groups = economy::groups(&self.plan.cells, &live);
        if block >= economy::BLOCKS_FULL {
            for group in &mut groups {
                group.own.retain(|&cell| !self.ledger.is_mostly_lost(cell));
            }
            groups.retain(|group| !group.own.is_empty());
        }
        let widths = self.ledger.widths(self.plan);
        // If all are narrow, one more block of all cells confirms it.
        let is_narrow = |width: &Option<f64>| width.is_some_and(|it| it <= self.plan.precision);
        if widths.values().all(is_narrow) {
            return Some(live.into_iter().collect());
        }
        let left_s = self.left().as_secs_f64();
        economy::next_block(&groups, &widths, self.plan.precision, self, block, left_s)
    }

    /// Plans again after the first block, which has shown how long a block takes, and after later
    /// ones while the remaining blocks that an interval needs no longer fit.
    fn plan_again(&mut self, block: u32) -> Result<(), RunError> {
        let done = block + 1;
        if self.plan.blocks.is_some() || (self.ledger.plans >= 2 && done >= economy::BLOCKS_MIN) {
            return Ok(());
        }
        self.write_plan(done, Vec::new(), 0.0)
    }

    /// When a block must stop. A block that an interval needs may overrun the budget slightly, so
    /// that it is not lost for want of a few cells.
    fn limit(&self, block: u32) -> Duration {
        let is_needed = (1..economy::BLOCKS_MIN).contains(&block);
        self.plan.budget.mul_f64(if is_needed { OVERTIME } else { 1.0 })
    }

    /// Leaves out what does not fit after `done` blocks, and records what will be measured.
    fn write_plan(
        &mut self,
        done: u32,
        mut left_out: Vec<LeftOut>,
        pilot_s: f64,
    ) -> Result<(), RunError> {
        let live = self.ledger.live(self.plan);
        let is_again = self.ledger.plans >= 2;
        let left_s = match is_again {
            // Cells that have been measured are dropped only as a last resort.
            true => self.limit(done).saturating_sub(self.used()).as_secs_f64(),
            false => self.left().as_secs_f64() * economy::BLOCKS_MIN_SHARE,
        };
        if self.ledger.plans > 0 && live.is_empty() {
            return Ok(());
        }
        if self.plan.blocks.is_none() {
            let gone = economy::left_out(&self.plan.cells, &live, self, done, left_s);
            if self.ledger.plans == 0 && self.used_before.is_zero() {
                self.check_budget(&live, &gone, left_s)?;
            }
            let why = self.too_long();
            let cells = &self.plan.cells;
            left_out.extend(gone.into_iter().flat_map(|group| group.left_out(cells, &why)));
        }
        let before = live.len();
        let is_kept = |cell: &u32| left_out.iter().all(|one| !one.cells.contains(cell));
        let live: Vec<u32> = live.into_iter().filter(is_kept).collect();
        // Once half of the needed blocks are done, most cells are not sacrificed for the rest: the
        // next block runs as far as it gets, and cells that it does not reach keep the values they
        // have.
        let keeps_most = 2 * done < economy::BLOCKS_MIN || 2 * live.len() >= before;
        let helps = !left_out.is_empty() && economy::min_blocks_fit(&live, self, done, left_s);
        if is_again && !(helps && keeps_most) {
            return Ok(());
        }
        self.enter_plan(done, left_out, pilot_s)
    }

    /// Records the plan after `done` blocks: all live cells except those in `left_out`.
    fn enter_plan(
        &mut self,
        done: u32,
        left_out: Vec<LeftOut>,
        pilot_s: f64,
    ) -> Result<(), RunError> {
        let is_kept = |cell: &u32| left_out.iter().all(|one| !one.cells.contains(cell));
        let live: Vec<u32> = self.ledger.live(self.plan).into_iter().filter(is_kept).collect();
        let blocks = self.blocks_in_all(&live, done);
        let pilot_of = |&cell: &u32| {
            let Size { start_operations, operations, batch } = self.ledger.sizes[&cell];
            let known = self.pilots.get(&cell);
            Pilot {
                cell,
                operations,
                start_operations,
                batch,
                time_per_operation_ns: known.map_or(0.0, |pilot| pilot.time_per_operation_ns),
                overhead_ns: known.map_or(0, |pilot| pilot.overhead_ns),
            }
        };
        let at_s = self.used().as_secs_f64();
        let pilots = live.iter().map(pilot_of).collect();
        self.tell(&Event::Planned { blocks, left_out: left_out.len() });
        self.write(&Line::Planned(Planned { at_s, blocks, pilots, left_out, pilot_s }))
    }

    /// Expected total number of blocks, `done` of which are complete.
    fn forecast(&self, done: u32) -> u32 {
        let blocks = self.blocks_in_all(&self.ledger.live(self.plan), done);
        blocks.min(self.directory.blocks_with_room(done))
    }

    /// Warns once, well before it happens, that the journal will be full before the end.
    fn tell_of_room(&mut self, done: u32) {
        let of = self.blocks_in_all(&self.ledger.live(self.plan), done);
        let blocks = self.directory.blocks_with_room(done);
        if of > blocks && !self.is_told_of_room {
            self.is_told_of_room = true;
            self.tell(&Event::WillBeFull { blocks, of });
        }
    }

    /// Like [`Self::forecast`], for these cells, without regard to the room in the journal.
    fn blocks_in_all(&self, live: &[u32], done: u32) -> u32 {
        let left_s = self.left().as_secs_f64() / self.ledger.pace();
        let fit = || economy::blocks_that_fit(live, self, done, left_s);
        self.plan.blocks.unwrap_or_else(fit)
    }

    /// Refuses a budget that is too short for an interval even if everything in `gone` is left out.
    fn check_budget(&self, live: &[u32], gone: &[Group], left_s: f64) -> Result<(), RunError> {
        let is_kept = |cell: &u32| gone.iter().all(|group| !group.own.contains(cell));
        let kept: Vec<u32> = live.iter().copied().filter(is_kept).collect();
        if kept.is_empty() || economy::min_blocks_fit(&kept, self, 0, left_s) {
            return Ok(());
        }
        let blocks_s = self.block_s(&kept) * f64::from(economy::BLOCKS_MIN);
        let least_s = self.used().as_secs_f64() + blocks_s / economy::BLOCKS_MIN_SHARE;
        Err(RunError::Budget { budget: self.plan.budget, least_s: (least_s * ROOM).ceil() })
    }

    /// Why something does not fit into the budget.
    fn too_long(&self) -> String {
        format!(
            "it does not fit into {} s: an interval takes {} blocks; give a longer --budget",
            self.plan.budget.as_secs(),
            economy::BLOCKS_MIN
        )
    }

    /// Executes every live cell in `cells` once, in the block's order. Returns why the run ends, if
    /// it does.
    fn block(&mut self, block: u32, cells: &BTreeSet<u32>) -> Result<Option<EndReason>, RunError> {
        let order = self.plan.order_of_block(block);
        if !order.iter().any(|&cell| self.ledger.is_live(cell)) {
            return Ok(Some(EndReason::NothingLeft));
        }
        for (position, &cell) in (0u32..).zip(&order) {
            let is_wanted = cells.contains(&cell) && self.ledger.is_live(cell);
            if !is_wanted || self.ledger.is_done(block, cell) {
                continue;
            }
            if self.plan.blocks.is_none() && self.used() >= self.limit(block) {
                return Ok(Some(EndReason::Budget));
            }
            self.announce(cell, Some(block), position as usize);
            match self.replicate(cell, block, position)? {
                Step::Stop => return Ok(Some(EndReason::Interrupted)),
                Step::Refused => return Ok(Some(EndReason::Busy)),
                Step::Done(()) | Step::Failed => {}
            }
        }
        Ok(None)
    }

    fn replicate(&mut self, cell: u32, block: u32, order: u32) -> Result<Step<()>, RunError> {
        let Some(&size) = self.ledger.sizes.get(&cell) else { return Ok(Step::Failed) };
        let began = self.used();
        let mut turn = CellTurn { conductor: self, cell, block, order, size, began };
        match attempts::take(&mut turn)? {
            Outcome::Measured(attempt, measured) => {
                let took = self.used().saturating_sub(began);
                // On disk first its histogram, then the line that makes it count.
                let line = attempt.timed(self.directory, *measured, took)?;
                self.write(&line)?;
                Ok(Step::Done(()))
            }
            Outcome::Stopped => Ok(Step::Stop),
            Outcome::Refused => Ok(Step::Refused),
            Outcome::Failed { why } => {
                self.fail(cell, block, why)?;
                Ok(Step::Failed)
            }
            // A disturbance that spoils a whole block may be over in the next one.
            Outcome::Lost { is_disturbed: true, .. } => Ok(Step::Failed),
            // A cell whose state is not reached in two successive blocks is abandoned.
            Outcome::Lost { why, is_disturbed: false } => {
                let before = self.lost.insert(cell, block);
                if before.is_some_and(|lost| lost + 1 == block) {
                    self.fail(cell, block, state_not_reached(&why))?;
                }
                Ok(Step::Failed)
            }
        }
    }

    fn begin_block(&mut self, block: u32, cells: &BTreeSet<u32>) -> Result<(), RunError> {
        self.tell(&Event::PreparingTargets { block });
        let wanted: Vec<u32> =
            cells.iter().copied().filter(|&cell| self.ledger.is_live(cell)).collect();
        let began = self.used();
        let lost = self.executor.begin_block(block, &wanted);
        let making_s = self.used().saturating_sub(began).as_secs_f64();
        let holds_all = wanted.len() == self.ledger.live(self.plan).len();
        self.write(&Line::Block(Block {
            block,
            at_s: self.used().as_secs_f64(),
            making_s,
            cells: (!holds_all).then_some(wanted),
        }))?;
        for (cell, why) in lost {
            if self.ledger.is_live(cell) {
                self.fail(cell, block, why)?;
            }
        }
        Ok(())
    }

    fn fail(&mut self, cell: u32, block: u32, why: String) -> Result<(), RunError> {
        self.tell(&Event::CellFailed { cell, why: &why });
        self.write(&journal::given_up(cell, block, why))
    }

    fn write(&mut self, line: &Line) -> Result<(), RunError> {
        self.directory.append(line)?;
        self.ledger.enter(line);
        Ok(())
    }

    fn announce(&mut self, cell: u32, block: Option<u32>, done: usize) {
        let (of, used) = (self.plan.cells.len(), self.used());
        self.tell(&Event::Executing { cell, block, done, of, used });
    }

    fn tell(&mut self, event: &Event<'_>) {
        self.context.observer.observe(event);
    }

    fn used(&self) -> Duration {
        self.used_before + self.context.stopwatch.elapsed()
    }

    fn left(&self) -> Duration {
        self.plan.budget.saturating_sub(self.used())
    }

    fn told_to_stop(&self) -> bool {
        self.context.stop.load(Ordering::Relaxed)
    }
}

/// One cell's turn in a block.
struct CellTurn<'a, 'b, 'c, E> {
    conductor: &'a mut Conductor<'b, 'c, E>,
    cell: u32,
    block: u32,
    order: u32,
    size: Size,
    /// Budget used when it began.
    began: Duration,
}

impl<E: Executor> Turn for CellTurn<'_, '_, '_, E> {
    fn is_stopped(&self) -> bool {
        self.conductor.told_to_stop()
    }

    fn attempt(&self, number: u32) -> Attempt {
        let Self { cell, block, order, .. } = *self;
        Attempt { cell, block, order, number, at_s: self.conductor.used().as_secs_f64() }
    }

    fn patience(&self) -> Patience {
        self.conductor.patience
    }

    fn seed(&self) -> u64 {
        self.conductor.plan.replicate_seed(self.cell, self.block)
    }

    fn execute(&mut self, seed: u64) -> Result<Measured, Failure> {
        let Self { cell, block, size, .. } = *self;
        let Size { start_operations, operations, batch } = size;
        let request = Request { cell, block, operations, start_operations, batch, seed };
        self.conductor.executor.execute(&request)
    }

    fn discard(
        &mut self,
        attempt: &Attempt,
        why: &str,
        evidence: CacheEvidence,
    ) -> Result<(), RunError> {
        self.conductor.tell(&Event::Discarded { cell: self.cell, why });
        let turn = self.conductor.used().saturating_sub(self.began);
        self.conductor.write(&attempt.discarded(why.to_owned(), evidence, Some(turn)))
    }

    fn wait(&mut self, busy: Busy, time_max: Duration) -> Result<(), RunError> {
        self.conductor.wait_for_others(busy, time_max)
    }
}

/// The outcome of one cell's turn.
enum Step<T> {
    Done(T),
    Failed,
    Stop,
    /// Other programs keep the machine busy, and the user asked to end the run in that case.
    Refused,
}

fn state_not_reached(why: &str) -> String {
    format!("the cache state was not as requested in {ATTEMPTS} attempts: {why}")
}
