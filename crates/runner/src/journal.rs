//! The journal of a run that measures cells: what is written of each attempt.

use std::time::{Duration, Instant};

use record::{
    CacheEvidence, Cell, CellAdded, CellFailed, Discarded, End, EndReason, Line, RecordError,
    Replicate, RunDirectory, Spent, Start,
};

use crate::executor::Measured;

/// An attempt at a replicate: where it stands in its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// Index of its cell.
    pub cell: u32,
    /// Its block, from 0.
    pub block: u32,
    /// Its position within the block, from 0.
    pub order: u32,
    /// Which attempt it is, from 1.
    pub number: u32,
    /// Budget used when it began, in seconds.
    pub at_s: f64,
}

impl Attempt {
    /// The line of a replicate that counts.
    #[must_use]
    pub fn replicate(&self, replicate: Replicate) -> Line {
        let Self { cell, block, order, number: attempt, at_s } = *self;
        Line::Replicate(Box::new(Replicate { cell, block, order, attempt, at_s, ..replicate }))
    }

    /// The line of one that does not count. `turn` is how long the cell's turn has taken so far, if
    /// that is known.
    #[must_use]
    pub fn discarded(&self, why: String, evidence: CacheEvidence, turn: Option<Duration>) -> Line {
        let Self { cell, block, number: attempt, .. } = *self;
        Line::Discarded(Discarded { cell, block, attempt, turn_ns: turn.map(ns), why, evidence })
    }

    /// Appends the histogram of a timed replicate, and returns the line that makes it count. `turn`
    /// is how long the cell's turn took, including discarded attempts.
    pub(crate) fn timed(
        &self,
        directory: &mut RunDirectory,
        measured: Measured,
        turn: Duration,
    ) -> Result<Line, RecordError> {
        let (histogram, elapsed_ns) = (&measured.histogram, measured.elapsed_ns);
        let histogram = directory.append_histogram(self.cell, histogram, self.at_s, elapsed_ns)?;
        Ok(self.replicate(Replicate {
            operations: measured.operations,
            bytes: measured.bytes,
            elapsed_ns: measured.elapsed_ns,
            busy_ns: measured.busy_ns,
            latency: measured.latency,
            histogram: Some(histogram),
            timeline: measured.timeline,
            course: measured.course,
            spent: Some(Spent { turn_ns: ns(turn), ..measured.spent }),
            evidence: measured.evidence,
            steal_ns: measured.steal_ns,
            neighbours: measured.neighbours,
            warnings: measured.warnings,
            observations: measured.observations,
            ..Replicate::from_metrics(self.cell, self.block, measured.metrics)
        }))
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The line of a cell that is given up.
pub(crate) fn given_up(cell: u32, block: u32, why: String) -> Line {
    Line::CellFailed(CellFailed { cell, block, why })
}

/// The journal of a run that is counted rather than timed, from its first line to its last: written
/// to as replicates come, or all at once.
#[derive(Debug)]
pub struct Journal<'a> {
    directory: &'a mut RunDirectory,
    begun: Instant,
    /// The block written to last, and the position of its next replicate.
    next: (u32, u32),
    /// Number of cells that the run has.
    cells: u32,
}

impl<'a> Journal<'a> {
    /// Begins the journal of a run that has `cells` cells in its manifest and began at `begun`.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn begin(
        directory: &'a mut RunDirectory,
        cells: usize,
        begun: Instant,
    ) -> Result<Self, RecordError> {
        directory.append(&Line::Start(Start { used_s: 0.0, budget_s: None }))?;
        let cells = u32::try_from(cells).unwrap_or(u32::MAX);
        Ok(Self { directory, begun, next: (0, 0), cells })
    }

    /// Writes a line of what was counted before the journal began.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn write(&mut self, line: &Line) -> Result<(), RecordError> {
        self.directory.append(line)
    }

    /// Adds a cell that the manifest does not have, and returns its index.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn add_cell(&mut self, definition: Cell) -> Result<u32, RecordError> {
        let cell = self.cells;
        self.directory.append(&Line::CellAdded(Box::new(CellAdded { cell, definition })))?;
        self.cells += 1;
        Ok(cell)
    }

    /// An attempt at the next replicate of a block.
    fn attempt(&mut self, cell: u32, block: u32, number: u32) -> Attempt {
        if self.next.0 != block {
            self.next = (block, 0);
        }
        let order = self.next.1;
        Attempt { cell, block, order, number, at_s: self.begun.elapsed().as_secs_f64() }
    }

    /// Keeps a replicate of a cell that it names, after so many attempts.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn keep(&mut self, replicate: Replicate, attempt: u32) -> Result<(), RecordError> {
        let attempt = self.attempt(replicate.cell, replicate.block, attempt);
        self.next.1 += 1;
        self.directory.append(&attempt.replicate(replicate))
    }

    /// Records that an attempt did not count, and why.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn discard(
        &mut self,
        cell: u32,
        block: u32,
        attempt: u32,
        why: &str,
    ) -> Result<(), RecordError> {
        let attempt = self.attempt(cell, block, attempt);
        let line = attempt.discarded(why.to_owned(), CacheEvidence::default(), None);
        self.directory.append(&line)
    }

    /// Records that a cell is given up in a block, and why.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn give_up(&mut self, cell: u32, block: u32, why: &str) -> Result<(), RecordError> {
        self.directory.append(&given_up(cell, block, why.to_owned()))
    }

    /// Ends the journal.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn end(self, reason: EndReason) -> Result<(), RecordError> {
        let used_s = self.begun.elapsed().as_secs_f64();
        self.directory.append(&Line::End(End { reason, used_s, clock_drift_ppm: 0.0 }))
    }
}
