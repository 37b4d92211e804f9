//! The course of a run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use record::{
    CellFailed, Discarded, End, EndReason, Line, Pilot, Planned, RecordError, RunDirectory, Start,
};
use thiserror::Error;

use crate::executor::{Executor, Failure, Measured, PilotMeasure, Request};
use crate::keeping::{self, Place};
use crate::ledger::Ledger;
use crate::observer::{Event, Observer};
use crate::plan::{Plan, Stopwatch};
use crate::sizing::{self, Means, Size};

/// Successive blocks after which every interval must be narrow enough. One would do if nobody
/// looked before; but a run that looks after each block and stops at the first narrow look prefers
/// samples that are narrow by luck, whose intervals then cover less than they say.
const NARROW_LOOKS: u32 = 2;
/// Executions of a cell in one block before it is given up.
pub(crate) const ATTEMPTS: u32 = 3;

/// A run could not go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The run directory cannot be written any more.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A search for cliffs is impossible as planned, or was told a value that is none.
    #[error("the search for cliffs: {0}; choose another range with --low and --high")]
    Search(#[from] stats::Refusal),
}

/// Measures what `plan` says, on top of what `ledger` knows to be done, until an end is reached.
///
/// Each replicate is on the disk before the next one begins.
///
/// # Errors
/// When the run directory cannot be written; what it holds by then is kept.
pub fn conduct<E: Executor>(
    plan: &Plan,
    ledger: Ledger,
    executor: &mut E,
    directory: &mut RunDirectory,
    surroundings: &mut Surroundings<'_>,
) -> Result<EndReason, RunError> {
    let used_before = ledger.used();
    let mut run = Conductor { plan, ledger, executor, directory, surroundings, used_before };
    run.write(&Line::Start(Start { used_s: used_before.as_secs_f64() }))?;
    let reason = run.measure()?;
    let used_s = run.used().as_secs_f64();
    let clock_drift_ppm = run.executor.clock_drift_ppm();
    run.write(&Line::End(End { reason, used_s, clock_drift_ppm }))?;
    Ok(reason)
}

/// What a run is given from outside: time, somebody who watches, and a way to stop it.
pub struct Surroundings<'a> {
    /// Time since this part of the run began.
    pub stopwatch: &'a dyn Stopwatch,
    /// Somebody who watches.
    pub observer: &'a mut dyn Observer,
    /// Set when the run is to stop.
    pub stop: &'a AtomicBool,
}

struct Conductor<'a, 'b, E> {
    plan: &'a Plan,
    ledger: Ledger,
    executor: &'a mut E,
    directory: &'a mut RunDirectory,
    surroundings: &'a mut Surroundings<'b>,
    used_before: Duration,
}

impl<E: Executor> Conductor<'_, '_, E> {
    fn measure(&mut self) -> Result<EndReason, RunError> {
        if self.ledger.sizes.is_empty()
            && let Some(end) = self.pilot_all()?
        {
            return Ok(end);
        }
        let mut block = self.ledger.next_block(self.plan);
        let mut narrow_looks = 0;
        loop {
            if self.plan.blocks.is_some_and(|blocks| block >= blocks) {
                return Ok(EndReason::Blocks);
            }
            if self.used() >= self.plan.budget && self.plan.blocks.is_none() {
                return Ok(EndReason::Budget);
            }
            if let Some(end) = self.block(block)? {
                return Ok(end);
            }
            let width = self.ledger.width(self.plan);
            self.tell(&Event::BlockDone { block, width });
            let narrow = width.widest.is_some_and(|widest| widest <= self.plan.precision);
            narrow_looks = if narrow { narrow_looks + 1 } else { 0 };
            if narrow_looks >= NARROW_LOOKS && self.plan.blocks.is_none() {
                return Ok(EndReason::Precision);
            }
            block += 1;
        }
    }

    /// Executes each cell briefly and decides how many operations its replicates hold.
    fn pilot_all(&mut self) -> Result<Option<EndReason>, RunError> {
        let setup_began = self.used();
        self.begin_block(None)?;
        let block_setup = self.used().saturating_sub(setup_began);
        let mut pilots: BTreeMap<u32, PilotMeasure> = BTreeMap::new();
        let order = self.plan.order_of_block(u32::MAX);
        for (done, &cell) in order.iter().enumerate() {
            if !self.ledger.is_live(cell) {
                continue;
            }
            self.announce(cell, None, done);
            match self.pilot(cell)? {
                Step::Done(pilot) => _ = pilots.insert(cell, pilot),
                Step::Failed => {}
                Step::Stop => return Ok(Some(EndReason::Interrupted)),
            }
        }
        let budget = self.plan.budget.saturating_sub(self.used());
        let means = Means { budget, block_setup, blocks: self.plan.blocks };
        let sizing = sizing::size(&self.plan.cells, &pilots, means);
        let pilot_of = |(&cell, size): (&u32, &Size)| {
            let PilotMeasure { time_per_operation_ns, overhead_ns, .. } = pilots[&cell];
            let Size { operations, batch } = *size;
            Pilot { cell, operations, batch, time_per_operation_ns, overhead_ns }
        };
        self.write(&Line::Planned(Planned {
            at_s: self.used().as_secs_f64(),
            blocks: sizing.blocks,
            pilots: sizing.sizes.iter().map(pilot_of).collect(),
        }))?;
        self.tell(&Event::Planned { blocks: sizing.blocks });
        Ok(sizing.sizes.is_empty().then_some(EndReason::NothingLeft))
    }

    fn pilot(&mut self, cell: u32) -> Result<Step<PilotMeasure>, RunError> {
        let mut why = String::new();
        for _ in 0..ATTEMPTS {
            if self.told_to_stop() {
                return Ok(Step::Stop);
            }
            let seed = self.plan.replicate_seed(cell, u32::MAX);
            match self.executor.pilot(cell, seed) {
                Ok(pilot) => return Ok(Step::Done(pilot)),
                Err(Failure::Interrupted) => return Ok(Step::Stop),
                Err(Failure::State { why: found, .. }) => why = found,
                Err(Failure::Cell { why }) => {
                    self.fail(cell, 0, why)?;
                    return Ok(Step::Failed);
                }
            }
        }
        self.fail(cell, 0, state_not_reached(&why))?;
        Ok(Step::Failed)
    }

    /// Executes every live cell once, in random order. Returns the end, if it was reached.
    fn block(&mut self, block: u32) -> Result<Option<EndReason>, RunError> {
        self.begin_block(Some(block))?;
        let order = self.plan.order_of_block(block);
        if !order.iter().any(|&cell| self.ledger.is_live(cell)) {
            return Ok(Some(EndReason::NothingLeft));
        }
        for (position, &cell) in (0u32..).zip(&order) {
            if !self.ledger.is_live(cell) || self.ledger.is_done(block, cell) {
                continue;
            }
            if self.plan.blocks.is_none() && self.used() >= self.plan.budget {
                return Ok(Some(EndReason::Budget));
            }
            self.announce(cell, Some(block), position as usize);
            if let Step::Stop = self.replicate(cell, block, position)? {
                return Ok(Some(EndReason::Interrupted));
            }
        }
        Ok(None)
    }

    fn replicate(&mut self, cell: u32, block: u32, order: u32) -> Result<Step<()>, RunError> {
        let Some(&size) = self.ledger.sizes.get(&cell) else { return Ok(Step::Failed) };
        let seed = self.plan.replicate_seed(cell, block);
        let (operations, batch) = (size.operations, size.batch);
        let mut last_why = String::new();
        for attempt in 1..=ATTEMPTS {
            if self.told_to_stop() {
                return Ok(Step::Stop);
            }
            let at_s = self.used().as_secs_f64();
            // Another attempt makes other choices: the first has warmed what it touched.
            let seed = seed.rotate_left(attempt - 1);
            match self.executor.execute(&Request { cell, block, operations, batch, seed }) {
                Ok(measured) => {
                    let place = Place { cell, block, order, attempt, at_s };
                    self.keep(&place, measured)?;
                    return Ok(Step::Done(()));
                }
                Err(Failure::Interrupted) => return Ok(Step::Stop),
                Err(Failure::Cell { why }) => {
                    self.fail(cell, block, why)?;
                    return Ok(Step::Failed);
                }
                Err(Failure::State { why, evidence }) => {
                    self.tell(&Event::Discarded { cell, why: &why });
                    last_why.clone_from(&why);
                    self.write(&Line::Discarded(Discarded {
                        cell,
                        block,
                        attempt,
                        why,
                        evidence: *evidence,
                    }))?;
                }
            }
        }
        self.fail(cell, block, state_not_reached(&last_why))?;
        Ok(Step::Failed)
    }

    /// Puts a replicate on the disk: first its histogram, then the line that makes it count.
    fn keep(&mut self, place: &Place, measured: Measured) -> Result<(), RunError> {
        let line = keeping::line_of(self.directory, place, measured)?;
        self.write(&line)
    }

    fn begin_block(&mut self, block: Option<u32>) -> Result<(), RunError> {
        self.tell(&Event::PreparingTargets { block });
        let number = block.unwrap_or(u32::MAX);
        for (cell, why) in self.executor.begin_block(number) {
            if self.ledger.is_live(cell) {
                self.fail(cell, block.unwrap_or(0), why)?;
            }
        }
        Ok(())
    }

    fn fail(&mut self, cell: u32, block: u32, why: String) -> Result<(), RunError> {
        self.tell(&Event::CellFailed { cell, why: &why });
        self.write(&Line::CellFailed(CellFailed { cell, block, why }))
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
        self.surroundings.observer.observe(event);
    }

    fn used(&self) -> Duration {
        self.used_before + self.surroundings.stopwatch.elapsed()
    }

    fn told_to_stop(&self) -> bool {
        self.surroundings.stop.load(Ordering::Relaxed)
    }
}

/// What became of one cell's turn.
enum Step<T> {
    Done(T),
    Failed,
    Stop,
}

fn state_not_reached(why: &str) -> String {
    format!("the cache state was not as asked in {ATTEMPTS} attempts: {why}")
}
