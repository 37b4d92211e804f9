//! What a run has done so far, according to its journal. It is the same for the process that
//! measured it and for one that resumes it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use record::{EndReason, LeftOut, Line};
use stats::dependence::{Dependence, TAKEN_FOR_DEPENDENT};

use crate::economy::Widths;
use crate::observer::Width;
use crate::pace::Pace;
use crate::plan::{ATTEMPTS, Plan};
use crate::sizing::Size;

/// The state of a run, derived from its journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Per cell, the size of its replicates.
    pub(crate) sizes: BTreeMap<u32, Size>,
    /// Per cell, the value of the primary metric in each block.
    values: BTreeMap<u32, BTreeMap<u32, f64>>,
    /// Replicates that are done: block and cell.
    done: BTreeSet<(u32, u32)>,
    failed: BTreeSet<u32>,
    /// The cells of each block that does not contain all of them.
    partial_blocks: BTreeMap<u32, Vec<u32>>,
    /// The benchmarks that were left out and have not been restored.
    left_out: Vec<LeftOut>,
    /// Cells that were left out and are being tried again.
    returning: BTreeSet<u32>,
    /// Per cell, the sum of the logarithms of its turns' durations in seconds, and the number of
    /// turns.
    turns: BTreeMap<u32, (f64, u32)>,
    /// How much longer blocks take than their turns suggest.
    pace: Pace,
    /// Per cell, the number of turns that gave no value.
    lost: BTreeMap<u32, u32>,
    /// How long making the targets took each time, in seconds.
    pub(crate) makings_s: Vec<f64>,
    /// How often the run was planned.
    pub(crate) plans: u32,
    used: Duration,
    granted: Option<Duration>,
    ended: bool,
}

impl Ledger {
    /// The state after `lines`.
    #[must_use]
    pub fn replay(lines: &[Line]) -> Self {
        let mut ledger = Self::default();
        for line in lines {
            ledger.enter(line);
        }
        ledger.note_pace();
        ledger
    }

    /// Applies one line.
    pub(crate) fn enter(&mut self, line: &Line) {
        match line {
            Line::Start(start) => {
                self.ended = false;
                let granted = start.budget_s.map(|budget| Duration::from_secs_f64(budget.max(0.0)));
                self.granted = granted.or(self.granted);
                self.note_time(start.used_s);
            }
            Line::Block(block) => {
                self.makings_s.push(block.making_s);
                if let Some(cells) = &block.cells {
                    self.partial_blocks.insert(block.block, cells.clone());
                }
                self.note_time(block.at_s);
            }
            Line::Planned(planned) => {
                self.sizes.clear();
                for pilot in &planned.pilots {
                    let size = Size {
                        start_operations: pilot.start_operations,
                        operations: pilot.operations,
                        batch: pilot.batch,
                    };
                    self.sizes.insert(pilot.cell, size);
                }
                self.plans += 1;
                self.returning.clear();
                let is_kept = |one: &LeftOut| {
                    let has = |cell: &u32| self.sizes.contains_key(cell);
                    let again = |later: &LeftOut| later.benchmark == one.benchmark;
                    !one.cells.iter().any(has) && !planned.left_out.iter().any(again)
                };
                self.left_out.retain(is_kept);
                self.left_out.extend(planned.left_out.iter().cloned());
                self.note_time(planned.at_s);
            }
            Line::Replicate(replicate) => {
                self.done.insert((replicate.block, replicate.cell));
                if let Some(spent) = replicate.spent {
                    self.note_turn(replicate.cell, spent.turn_ns);
                    self.pace.note(replicate.block, replicate.cell, spent.turn_ns);
                }
                if let Some(&value) = replicate.metrics.first() {
                    self.values.entry(replicate.cell).or_default().insert(replicate.block, value);
                }
                self.note_time(replicate.at_s);
            }
            Line::Discarded(discarded) => {
                if discarded.attempt == ATTEMPTS {
                    *self.lost.entry(discarded.cell).or_default() += 1;
                    if let Some(turn_ns) = discarded.turn_ns {
                        self.note_turn(discarded.cell, turn_ns);
                    }
                }
            }
            Line::Waited(waited) => self.note_time(waited.at_s + waited.waited_s),
            Line::Search(_) | Line::CellAdded(_) => {}
            Line::CellFailed(failed) => {
                self.failed.insert(failed.cell);
            }
            Line::End(end) => {
                self.ended = is_final(end.reason);
                self.note_time(end.used_s);
            }
        }
    }

    /// Budget used.
    #[must_use]
    pub fn used(&self) -> Duration {
        self.used
    }

    /// The budget of the whole run, if it was given more than its manifest says.
    #[must_use]
    pub fn granted(&self) -> Option<Duration> {
        self.granted
    }

    /// Whether the run has ended, with nothing left to resume.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The first block that is not complete.
    pub(crate) fn next_block(&self, plan: &Plan) -> u32 {
        let Some(&(last, _)) = self.done.last() else { return 0 };
        let held = self.partial_blocks.get(&last);
        let is_held = |cell: &u32| held.is_none_or(|cells| cells.contains(cell));
        let mut held = self.live(plan).into_iter().filter(is_held);
        if held.all(|cell| self.done.contains(&(last, cell))) { last + 1 } else { last }
    }

    /// The cells of a block that was begun, if it does not contain all of them.
    pub(crate) fn cells_of_partial_block(&self, block: u32) -> Option<BTreeSet<u32>> {
        self.partial_blocks.get(&block).map(|cells| cells.iter().copied().collect())
    }

    /// The cells that are still measured.
    pub(crate) fn live(&self, plan: &Plan) -> Vec<u32> {
        (0u32..).take(plan.cells.len()).filter(|&cell| self.is_live(cell)).collect()
    }

    /// How long a turn of this cell takes, in seconds; none before its first. This is the geometric
    /// mean, since one turn that took ten times as long says little about the next.
    pub(crate) fn turn_s(&self, cell: u32) -> Option<f64> {
        self.turns.get(&cell).map(|(sum, count)| (sum / f64::from(*count)).exp())
    }

    /// Updates the pace from the last blocks.
    pub(crate) fn note_pace(&mut self) {
        let mut pace = std::mem::take(&mut self.pace);
        pace.update(|cell| self.turn_s(cell));
        self.pace = pace;
    }

    /// How many times longer than usual the last blocks took.
    pub(crate) fn pace(&self) -> f64 {
        self.pace.factor()
    }

    /// Whether most turns of this cell gave no value, so that more time for it would mostly be
    /// wasted.
    pub(crate) fn is_mostly_lost(&self, cell: u32) -> bool {
        let lost = self.lost.get(&cell).map_or(0, |&lost| lost as usize);
        lost > self.values.get(&cell).map_or(0, BTreeMap::len)
    }

    /// Relative half-width of each live cell's interval, roughly as a report will state it: wider
    /// if successive blocks depend on each other.
    pub(crate) fn widths(&self, plan: &Plan) -> Widths {
        let dependence = self.dependence(plan.cells.len());
        let width = |cell: u32| self.width_of(cell, plan.confidence_level, &dependence);
        self.live(plan).into_iter().map(|cell| (cell, width(cell))).collect()
    }

    fn width_of(&self, cell: u32, level: f64, dependence: &Dependence) -> Option<f64> {
        let values: Vec<f64> = self.values.get(&cell)?.values().copied().collect();
        let width = relative_half_width(&values, level)?;
        Some(width * dependence.widening(values.len() as u64))
    }

    /// The values of the first `count` cells, which the manifest declares; searches add others.
    fn declared(&self, count: usize) -> impl Iterator<Item = &BTreeMap<u32, f64>> {
        let is_declared = move |cell: u32| usize::try_from(cell).is_ok_and(|cell| cell < count);
        self.values.iter().filter(move |(cell, _)| is_declared(**cell)).map(|(_, values)| values)
    }

    /// How successive blocks depend on each other, over the first `declared` cells.
    fn dependence(&self, declared: usize) -> Dependence {
        let log = |(&block, &value): (&u32, &f64)| (value > 0.0).then(|| (block, value.ln()));
        let logs: Vec<BTreeMap<u32, f64>> =
            self.declared(declared).map(|of| of.iter().filter_map(log).collect()).collect();
        Dependence::from_series(&logs, TAKEN_FOR_DEPENDENT)
    }

    /// Marks what was left out to be tried again, and returns its cells.
    pub(crate) fn bring_back(&mut self) -> Vec<u32> {
        let cells = self.left_out.iter().flat_map(|one| &one.cells).copied();
        self.returning = cells.filter(|cell| !self.failed.contains(cell)).collect();
        self.returning.iter().copied().collect()
    }

    pub(crate) fn is_done(&self, block: u32, cell: u32) -> bool {
        self.done.contains(&(block, cell))
    }

    /// Whether a cell is still measured.
    pub(crate) fn is_live(&self, cell: u32) -> bool {
        let is_planned = self.plans > 0 || !self.sizes.is_empty();
        !self.failed.contains(&cell)
            && (!is_planned || self.sizes.contains_key(&cell) || self.returning.contains(&cell))
    }

    /// How wide the intervals of the live cells are.
    pub(crate) fn width(&self, plan: &Plan) -> Width {
        let all = self.widths(plan);
        let mut widths: Vec<(f64, u32)> =
            all.iter().filter_map(|(&cell, width)| Some(((*width)?, cell))).collect();
        widths.sort_by(|left, right| left.0.total_cmp(&right.0));
        let narrow = widths.iter().filter(|(width, _)| *width <= plan.precision).count();
        Width {
            median: widths.get(widths.len() / 2).map(|&(width, _)| width),
            widest: widths.last().filter(|_| all.len() == widths.len()).map(|&(width, _)| width),
            narrow,
            of: all.len(),
        }
    }

    fn note_turn(&mut self, cell: u32, turn_ns: u64) {
        let (sum, count) = self.turns.entry(cell).or_default();
        *sum += (turn_ns.max(1) as f64 / 1e9).ln();
        *count += 1;
    }

    fn note_time(&mut self, used_s: f64) {
        self.used = self.used.max(Duration::from_secs_f64(used_s.max(0.0)));
    }
}

/// Half-width of the interval of the median, relative to the median; 0 if it has no width.
fn relative_half_width(values: &[f64], level: f64) -> Option<f64> {
    let sample = stats::Sample::new(values).ok()?;
    let interval = stats::order::median_interval(&sample, level).ok()?;
    let median = sample.median();
    // If all values are equal, even if they are 0, there is nothing more to learn.
    if interval.low >= interval.high {
        return Some(0.0);
    }
    (median > 0.0).then(|| interval.relative_half_width(median))
}

/// Whether a run that ended for this reason has nothing left to resume.
fn is_final(reason: EndReason) -> bool {
    match reason {
        EndReason::Interrupted | EndReason::Busy => false,
        EndReason::Precision
        | EndReason::Blocks
        | EndReason::Budget
        | EndReason::NothingLeft
        | EndReason::Searched
        | EndReason::Full => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The width for one of five cells that all have these values, in this order.
    fn width(values: &[f64]) -> f64 {
        let by_block: BTreeMap<u32, f64> = (0..).zip(values.iter().copied()).collect();
        let values = (0..5).map(|cell| (cell, by_block.clone())).collect();
        let ledger = Ledger { values, ..Ledger::default() };
        ledger.width_of(0, 0.95, &ledger.dependence(5)).unwrap()
    }

    #[test]
    fn blocks_that_resemble_the_ones_before_take_more_of_them() {
        let rising = [9.0, 9.2, 9.4, 9.6, 9.8, 10.0, 10.2, 10.4, 10.6, 10.8, 11.0, 11.2];
        let mixed = [9.0, 10.2, 9.2, 11.2, 9.6, 10.8, 9.4, 10.6, 9.8, 11.0, 10.0, 10.4];
        assert!(width(&rising) > 1.5 * width(&mixed), "{} {}", width(&rising), width(&mixed));
        // Cells that a search added have their own order, so they are excluded.
        let series = |values: [f64; 12]| (0..).zip(values).collect::<BTreeMap<u32, f64>>();
        let values = (0..20).map(|cell| (cell, series(if cell < 5 { mixed } else { rising })));
        let ledger = Ledger { values: values.collect(), ..Ledger::default() };
        assert_eq!(ledger.width_of(0, 0.95, &ledger.dependence(5)), Some(width(&mixed)));
        assert!(ledger.width_of(0, 0.95, &ledger.dependence(20)) > Some(width(&mixed)));
        let alone = relative_half_width(&mixed, 0.95).unwrap();
        assert!((width(&mixed) / alone - 1.0).abs() < 1e-12);
    }

    #[test]
    fn values_that_are_all_alike_have_no_width_even_at_0() {
        assert_eq!(relative_half_width(&[0.0; 6], 0.95), Some(0.0));
        assert_eq!(relative_half_width(&[131_072.0; 6], 0.95), Some(0.0));
        assert_eq!(relative_half_width(&[-1.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0.95), None);
        assert_eq!(relative_half_width(&[0.0; 3], 0.95), None);
    }
}
