//! A run's replicates, grouped by cell.

use record::{Cell, Line, Replicate, Run};
use serde::Serialize;
use stats::{Sample, order};

/// The level of all intervals.
const LEVEL: f64 = 0.95;

/// A median with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Median over the runs.
    pub median: f64,
    /// Lower end of its interval; `None` with fewer than six runs.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// The data from which figures are computed.
pub(crate) struct Gathered<'a> {
    /// A run's cells with their replicates.
    pub(crate) cells: Vec<(&'a Cell, Vec<&'a Replicate>)>,
    /// The memory limit, which is the same for all targets; 0 without one.
    pub(crate) memory_bytes: u64,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(run: &'a Run) -> Self {
        let mut cells: Vec<(&Cell, Vec<&Replicate>)> =
            run.manifest.cells.iter().map(|cell| (cell, Vec::new())).collect();
        for line in &run.lines {
            if let Line::Replicate(replicate) = line
                && let Some((_, replicates)) = cells.get_mut(replicate.cell as usize)
            {
                replicates.push(replicate);
            }
        }
        let limits = run.manifest.targets.iter().map(|one| one.conditions.memory_bytes);
        Self { cells, memory_bytes: limits.flatten().next().unwrap_or(0) }
    }

    /// Cells whose benchmark has this name.
    pub(crate) fn named(
        &self,
        name: &str,
    ) -> impl Iterator<Item = (&'a Cell, &[&'a Replicate])> + use<'_, 'a> {
        let name = name.to_owned();
        let cells = self.cells.iter().filter(move |(cell, _)| cell.benchmark == name);
        cells.map(|(cell, replicates)| (*cell, replicates.as_slice()))
    }
}

/// What the run says it did not measure, and the cells that failed.
pub(crate) fn missing(run: &Run) -> Vec<String> {
    // It is the paper's choice that some figures show only one file system, so that is not missing.
    let own = run.manifest.skipped.iter().filter(|one| !one.why.contains("the paper shows"));
    let skipped = own.map(|one| format!("{}: {}", one.target, one.why));
    let failed = run.lines.iter().filter_map(|line| {
        if let Line::CellFailed(failed) = line {
            let cell = run.manifest.cells.get(failed.cell as usize)?;
            Some(format!("{} on {}: {}", cell.title, cell.target, failed.why))
        } else {
            None
        }
    });
    skipped.chain(failed).collect()
}

/// Values of the metric with this name.
pub(crate) fn values(cell: &Cell, replicates: &[&Replicate], name: &str) -> Vec<f64> {
    let position = cell.metrics.iter().position(|metric| metric.name == name);
    let value = |one: &&Replicate| one.metrics.get(position?).copied();
    replicates.iter().filter_map(value).collect()
}

/// The median with its interval; `None` if there are no values.
pub(crate) fn estimate(values: &[f64]) -> Option<Estimate> {
    let sample = Sample::new(values).ok()?;
    let interval = order::median_interval(&sample, LEVEL).ok();
    Some(Estimate {
        median: sample.median(),
        low: interval.map(|one| one.low),
        high: interval.map(|one| one.high),
    })
}
