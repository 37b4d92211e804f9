//! Writing what was measured to disk.

use std::time::Duration;

use record::{Line, RecordError, Replicate, RunDirectory, Spent};

use crate::executor::Measured;

/// The position of a replicate in its run.
pub(crate) struct Place {
    pub(crate) cell: u32,
    pub(crate) block: u32,
    pub(crate) order: u32,
    pub(crate) attempt: u32,
    pub(crate) at_s: f64,
    /// How long the cell's turn took, including discarded attempts.
    pub(crate) turn: Duration,
}

/// Appends a replicate's histogram and returns the journal line that makes it count.
pub(crate) fn line_of(
    directory: &mut RunDirectory,
    place: &Place,
    measured: Measured,
) -> Result<Line, RecordError> {
    let histogram = directory.append_histogram(
        place.cell,
        &measured.histogram,
        place.at_s,
        measured.elapsed_ns,
    )?;
    Ok(Line::Replicate(Box::new(Replicate {
        cell: place.cell,
        block: place.block,
        order: place.order,
        attempt: place.attempt,
        at_s: place.at_s,
        metrics: measured.metrics,
        operations: measured.operations,
        bytes: measured.bytes,
        elapsed_ns: measured.elapsed_ns,
        busy_ns: measured.busy_ns,
        latency: measured.latency,
        histogram: Some(histogram),
        timeline: measured.timeline,
        course: measured.course,
        spent: Some(Spent {
            turn_ns: u64::try_from(place.turn.as_nanos()).unwrap_or(u64::MAX),
            ..measured.spent
        }),
        evidence: measured.evidence,
        steal_ns: measured.steal_ns,
        neighbours: measured.neighbours,
        warnings: measured.warnings,
        observations: measured.observations,
    })))
}
