//! The lines of a run's journal.

use std::time::Instant;

use network_guest::Measured;
use record::{
    CacheEvidence, Cell, CellAdded, CellFailed, Discarded, End, EndReason, Line, RecordError,
    RunDirectory, Start,
};

use crate::metrics;
use crate::observed::Observed;

/// Where a replicate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Index of its cell.
    pub(crate) cell: u32,
    pub(crate) block: u32,
    /// Which attempt it was, from 1.
    pub(crate) attempt: u32,
}

/// A journal that is written to as replicates come.
#[derive(Debug)]
pub(crate) struct Journal<'a> {
    directory: &'a mut RunDirectory,
    begun: Instant,
    /// The block written to last, and its replicates so far.
    order: (u32, u32),
    /// Cells that the run has.
    cells: usize,
}

impl<'a> Journal<'a> {
    /// Begins the journal of a run whose manifest has so many cells.
    pub(crate) fn begin(
        directory: &'a mut RunDirectory,
        cells: usize,
    ) -> Result<Self, RecordError> {
        directory.append(&Line::Start(Start { used_s: 0.0, budget_s: None }))?;
        Ok(Self { directory, begun: Instant::now(), order: (0, 0), cells })
    }

    pub(crate) fn end(self, reason: EndReason) -> Result<(), RecordError> {
        let used_s = self.begun.elapsed().as_secs_f64();
        self.directory.append(&Line::End(End { reason, used_s, clock_drift_ppm: 0.0 }))
    }

    /// Adds a cell that the manifest does not have; its index.
    pub(crate) fn add_cell(&mut self, definition: Cell) -> Result<u32, RecordError> {
        let cell = u32::try_from(self.cells).unwrap_or(u32::MAX);
        self.directory.append(&Line::CellAdded(Box::new(CellAdded { cell, definition })))?;
        self.cells += 1;
        Ok(cell)
    }

    pub(crate) fn keep(
        &mut self,
        place: Place,
        observed: &Observed<'_>,
    ) -> Result<(), RecordError> {
        let readers = observed.readers;
        let sum = |of: fn(&Measured) -> u64| readers.iter().map(|one| of(&one.measured)).sum();
        let elapsed_ns = readers.iter().map(|one| one.measured.elapsed_ns).max().unwrap_or(0);
        let resident = readers.first().and_then(|one| one.measured.resident);
        let line = record::Replicate {
            operations: sum(|one| one.did.files + one.did.directories),
            bytes: sum(|one| one.did.bytes),
            elapsed_ns,
            busy_ns: sum(|one| one.elapsed_ns),
            evidence: CacheEvidence {
                pages: resident.map(|(pages, _)| pages),
                resident_before: resident.map(|(_, resident)| resident),
                ..CacheEvidence::default()
            },
            ..self.replicate(place, metrics::values(observed))
        };
        self.directory.append(&Line::Replicate(Box::new(line)))
    }

    /// Keeps what follows from other replicates, of a cell of its own.
    pub(crate) fn conclude(&mut self, place: Place, metrics: Vec<f64>) -> Result<(), RecordError> {
        let line = self.replicate(place, metrics);
        self.directory.append(&Line::Replicate(Box::new(line)))
    }

    fn replicate(
        &mut self,
        Place { cell, block, attempt }: Place,
        metrics: Vec<f64>,
    ) -> record::Replicate {
        if self.order.0 != block {
            self.order = (block, 0);
        }
        let order = self.order.1;
        self.order.1 += 1;
        let at_s = self.begun.elapsed().as_secs_f64();
        record::Replicate {
            order,
            attempt,
            at_s,
            ..record::Replicate::of_metrics(cell, block, metrics)
        }
    }

    pub(crate) fn discard(
        &mut self,
        Place { cell, block, attempt }: Place,
        why: &str,
    ) -> Result<(), RecordError> {
        self.directory.append(&Line::Discarded(Discarded {
            cell,
            block,
            attempt,
            turn_ns: None,
            why: why.to_owned(),
            evidence: CacheEvidence::default(),
        }))
    }

    pub(crate) fn give_up(
        &mut self,
        Place { cell, block, .. }: Place,
        why: &str,
    ) -> Result<(), RecordError> {
        let why = why.to_owned();
        self.directory.append(&Line::CellFailed(CellFailed { cell, block, why }))
    }
}
