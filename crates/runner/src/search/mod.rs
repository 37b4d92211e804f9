//! Conducting searches for cliffs: each position follows from the values before it, and cells are
//! added to the journal as they are needed.
//!
//! All searches of a run take turns, one probe each, so that drift of the machine affects all
//! targets alike. How a probe is measured is hidden behind [`Prober`].

mod course;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use record::{
    Busy, CacheEvidence, Cell, CellAdded, End, EndReason, Line, RunDirectory, SearchPlan, Start,
};

use crate::attempts::{self, Outcome, Turn};
use crate::busy::{self, Patience};
use crate::context::RunContext;
use crate::error::RunError;
use crate::executor::{Failure, Measured};
use crate::journal::{self, Attempt};
use crate::observer::Event;

pub use course::{SearchCourse, Served};

/// Measures single positions. The suites implement it with real targets, tests with a table.
pub trait Prober {
    /// The cell for a position.
    fn cell(&self, search: usize, position: f64) -> Cell;

    /// Measures a position once.
    ///
    /// # Errors
    /// If the state was not as requested, an operation failed, or the run was told to stop.
    fn probe(&mut self, search: usize, position: f64, seed: u64) -> Result<Measured, Failure>;

    /// Watches the machine for this long without doing anything. Returns who keeps it busy, if
    /// anyone does.
    fn busy(&mut self, watched: Duration) -> Option<Busy>;

    /// How far the clock has drifted since its calibration, in parts per million.
    fn clock_drift_ppm(&self) -> f64;
}

/// Carries out the searches in `plans` within `budget`.
///
/// Each probe is on disk before the next one begins.
///
/// # Errors
/// If the run directory cannot be written, or a plan cannot be searched.
pub fn conduct_searches<P: Prober>(
    plans: &[SearchPlan],
    budget: Duration,
    prober: &mut P,
    directory: &mut RunDirectory,
    context: &mut RunContext<'_>,
) -> Result<EndReason, RunError> {
    let courses = plans.iter().map(SearchCourse::new).collect::<Result<Vec<_>, _>>()?;
    directory.append(&Line::Start(Start { used_s: 0.0, budget_s: None }))?;
    for plan in plans {
        directory.append(&Line::Search(Box::new(plan.clone())))?;
    }
    let searches = courses.into_iter().map(Some).collect();
    let cells = HashMap::new();
    let patience = Patience::new(context.on_busy, budget);
    let mut conductor = Conductor {
        searches,
        cells,
        budget,
        prober,
        directory,
        context,
        patience,
        lost: HashMap::new(),
    };
    let reason = conductor.take_turns()?;
    let used_s = conductor.used().as_secs_f64();
    let clock_drift_ppm = conductor.prober.clock_drift_ppm();
    directory.append(&Line::End(End { reason, used_s, clock_drift_ppm }))?;
    Ok(reason)
}

/// A cell that is in the journal.
#[derive(Clone, Copy)]
struct JournalledCell {
    index: u32,
    replicates: u32,
}

struct Conductor<'a, 'b, P> {
    /// The searches; none for one that ended because its target failed.
    searches: Vec<Option<SearchCourse>>,
    /// By search and the bits of the position.
    cells: HashMap<(usize, u64), JournalledCell>,
    budget: Duration,
    prober: &'a mut P,
    directory: &'a mut RunDirectory,
    context: &'a mut RunContext<'b>,
    patience: Patience,
    /// By search, the position of its last turn in which no attempt reached the requested state.
    lost: HashMap<usize, f64>,
}

impl<P: Prober> Conductor<'_, '_, P> {
    fn take_turns(&mut self) -> Result<EndReason, RunError> {
        loop {
            let mut is_over = true;
            for search in 0..self.searches.len() {
                let course = self.searches[search].as_mut();
                let Some(position) = course.and_then(SearchCourse::next_position) else { continue };
                is_over = false;
                if self.told_to_stop() {
                    return Ok(EndReason::Interrupted);
                }
                if self.directory.is_full() {
                    return Ok(EndReason::Full);
                }
                if self.used() >= self.budget {
                    return Ok(EndReason::Budget);
                }
                match self.turn(search, position)? {
                    Step::Stop => return Ok(EndReason::Interrupted),
                    Step::Refused => return Ok(EndReason::Busy),
                    Step::Done => {}
                }
            }
            if is_over {
                let failed = self.searches.iter().all(Option::is_none);
                return Ok(if failed { EndReason::NothingLeft } else { EndReason::Searched });
            }
        }
    }

    /// One probe of one search.
    fn turn(&mut self, search: usize, position: f64) -> Result<Step, RunError> {
        let cell = self.journalled(search, position)?;
        self.announce(search, position);
        let began = self.used();
        let mut turn = ProbeTurn { conductor: self, search, position, cell, began };
        match attempts::take(&mut turn)? {
            Outcome::Measured(attempt, measured) => {
                let took = self.used().saturating_sub(began);
                self.keep(search, position, &attempt, *measured, took)
            }
            Outcome::Stopped => Ok(Step::Stop),
            Outcome::Refused => Ok(Step::Refused),
            Outcome::Failed { why } => self.give_up(search, cell, why),
            // A disturbance may be over at the search's next turn, which is at the same position.
            Outcome::Lost { is_disturbed: true, .. } => Ok(Step::Done),
            // A position whose state is not reached in two successive turns is the end of a search.
            Outcome::Lost { why, is_disturbed: false } => {
                let before = self.lost.insert(search, position);
                if before == Some(position) {
                    return self.give_up(search, cell, why);
                }
                Ok(Step::Done)
            }
        }
    }

    fn wait_for_others(&mut self, busy: Busy, time_max: Duration) -> Result<(), RunError> {
        let used = self.used();
        let Self { prober, context, .. } = self;
        let waited = busy::wait(busy, used, time_max, context, |time| prober.busy(time));
        self.patience.note(&waited);
        Ok(self.directory.append(&Line::Waited(waited))?)
    }

    /// The cell of a position; added to the journal if it is new.
    fn journalled(&mut self, search: usize, position: f64) -> Result<JournalledCell, RunError> {
        let key = (search, position.to_bits());
        if let Some(cell) = self.cells.get(&key) {
            return Ok(*cell);
        }
        let index = u32::try_from(self.cells.len()).unwrap_or(u32::MAX);
        let definition = self.prober.cell(search, position);
        self.directory.append(&Line::CellAdded(Box::new(CellAdded { cell: index, definition })))?;
        let cell = JournalledCell { index, replicates: 0 };
        self.cells.insert(key, cell);
        Ok(cell)
    }

    fn keep(
        &mut self,
        search: usize,
        position: f64,
        attempt: &Attempt,
        measured: Measured,
        took: Duration,
    ) -> Result<Step, RunError> {
        let definition = self.prober.cell(search, position);
        let wanted = &self.course(search).plan().metric;
        let index = definition.metrics.iter().position(|metric| metric.name == *wanted);
        let value = index.and_then(|index| measured.metrics.get(index)).copied();
        let served = Served::from_evidence(&measured.evidence);
        let line = attempt.timed(self.directory, measured, took)?;
        self.directory.append(&line)?;
        if let Some(cell) = self.cells.get_mut(&(search, position.to_bits())) {
            cell.replicates += 1;
        }
        let course = self.searches[search].as_mut().expect("only those that go on have turns");
        course.tell(value.unwrap_or(f64::NAN), served)?;
        Ok(Step::Done)
    }

    /// Ends a search whose target cannot be measured.
    fn give_up(
        &mut self,
        search: usize,
        cell: JournalledCell,
        why: String,
    ) -> Result<Step, RunError> {
        self.tell(&Event::CellFailed { cell: cell.index, why: &why });
        let line = journal::given_up(cell.index, cell.replicates, why);
        self.directory.append(&line)?;
        self.searches[search] = None;
        Ok(Step::Done)
    }

    fn announce(&mut self, search: usize, position: f64) {
        let course = self.searches[search].as_ref().expect("only those that go on have turns");
        let used = self.context.stopwatch.elapsed();
        self.context.observer.observe(&Event::Probing {
            plan: course.plan(),
            position,
            done: course.measured().len(),
            used,
        });
    }

    fn course(&self, search: usize) -> &SearchCourse {
        self.searches[search].as_ref().expect("only those that go on have turns")
    }

    fn tell(&mut self, event: &Event<'_>) {
        self.context.observer.observe(event);
    }

    fn used(&self) -> Duration {
        self.context.stopwatch.elapsed()
    }

    fn told_to_stop(&self) -> bool {
        self.context.stop.load(Ordering::Relaxed)
    }
}

/// One probe's turn.
struct ProbeTurn<'a, 'b, 'c, P> {
    conductor: &'a mut Conductor<'b, 'c, P>,
    search: usize,
    position: f64,
    cell: JournalledCell,
    /// Budget used when it began.
    began: Duration,
}

impl<P: Prober> ProbeTurn<'_, '_, '_, P> {
    /// How many probes of the search count.
    fn probes_done(&self) -> usize {
        self.conductor.course(self.search).measured().len()
    }
}

impl<P: Prober> Turn for ProbeTurn<'_, '_, '_, P> {
    fn is_stopped(&self) -> bool {
        self.conductor.told_to_stop()
    }

    fn attempt(&self, number: u32) -> Attempt {
        let order = u32::try_from(self.probes_done()).unwrap_or(u32::MAX);
        let (cell, block) = (self.cell.index, self.cell.replicates);
        Attempt { cell, block, order, number, at_s: self.conductor.used().as_secs_f64() }
    }

    fn patience(&self) -> Patience {
        self.conductor.patience
    }

    fn seed(&self) -> u64 {
        let of_search = self.conductor.course(self.search).plan().seed;
        of_search ^ (self.probes_done() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn execute(&mut self, seed: u64) -> Result<Measured, Failure> {
        self.conductor.prober.probe(self.search, self.position, seed)
    }

    fn discard(
        &mut self,
        attempt: &Attempt,
        why: &str,
        evidence: CacheEvidence,
    ) -> Result<(), RunError> {
        self.conductor.tell(&Event::Discarded { cell: attempt.cell, why });
        let turn = self.conductor.used().saturating_sub(self.began);
        let line = attempt.discarded(why.to_owned(), evidence, Some(turn));
        Ok(self.conductor.directory.append(&line)?)
    }

    fn wait(&mut self, busy: Busy, time_max: Duration) -> Result<(), RunError> {
        self.conductor.wait_for_others(busy, time_max)
    }
}

/// The outcome of a turn.
enum Step {
    Done,
    Stop,
    /// Other programs keep the machine busy, and the user asked to end the run in that case.
    Refused,
}

#[cfg(test)]
mod tests;
