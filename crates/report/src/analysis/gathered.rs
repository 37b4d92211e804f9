//! The lines of the journal, grouped by cell.

use std::collections::{BTreeMap, BTreeSet};

use record::{
    Cell, CellFailed, Discarded, Line, Observation, Pilot, Replicate, Run, StandardMetric,
};

use super::Quantile;

/// Everything that the journal says about one cell.
#[derive(Clone, Debug)]
pub(crate) struct Gathered<'a> {
    /// Index of the cell in the manifest, or past its cells if a search added it.
    pub(crate) index: u32,
    pub(crate) cell: &'a Cell,
    /// Whether a search for cliffs added it: it then has as many replicates as the search needed.
    pub(crate) is_searched: bool,
    pub(crate) pilot: Option<&'a Pilot>,
    /// By block.
    pub(crate) replicates: BTreeMap<u32, &'a Replicate>,
    pub(crate) discarded: Vec<&'a Discarded>,
    pub(crate) failed: Option<&'a CellFailed>,
    /// The run's confidence level.
    pub(crate) level: f64,
}

/// The lines of each cell, in the order of the manifest. Cells that the run left out are not
/// included, even if it had measured some of them.
pub(crate) fn gather(run: &Run) -> Vec<Gathered<'_>> {
    let empty = |(index, cell)| Gathered {
        index,
        cell,
        is_searched: false,
        pilot: None,
        replicates: BTreeMap::new(),
        discarded: Vec::new(),
        failed: None,
        level: run.manifest.run.confidence_level,
    };
    let declared = run.manifest.cells.len();
    let mut all: Vec<Gathered<'_>> = (0..).zip(run.cells()).map(empty).collect();
    all.iter_mut().skip(declared).for_each(|one| one.is_searched = true);
    let place = |cell: u32| cell as usize;
    for line in &run.lines {
        match line {
            Line::Planned(planned) => {
                for pilot in &planned.pilots {
                    enter(&mut all, place(pilot.cell), |one| one.pilot = Some(pilot));
                }
            }
            Line::Replicate(replicate) => enter(&mut all, place(replicate.cell), |one| {
                one.replicates.insert(replicate.block, replicate);
            }),
            Line::Discarded(discarded) => {
                enter(&mut all, place(discarded.cell), |one| one.discarded.push(discarded));
            }
            Line::CellFailed(failed) => {
                enter(&mut all, place(failed.cell), |one| one.failed = Some(failed));
            }
            Line::Start(_)
            | Line::Block(_)
            | Line::Search(_)
            | Line::CellAdded(_)
            | Line::Waited(_)
            | Line::End(_) => {}
        }
    }
    let left_out = record::left_out(&run.lines).into_iter().flat_map(|one| &one.cells);
    let left_out: BTreeSet<u32> = left_out.copied().collect();
    all.retain(|one| !left_out.contains(&one.index));
    all
}

/// Ignores lines that name a cell which is not in the manifest.
fn enter<'a>(all: &mut [Gathered<'a>], cell: usize, change: impl FnOnce(&mut Gathered<'a>)) {
    if let Some(one) = all.get_mut(cell) {
        change(one);
    }
}

impl Gathered<'_> {
    /// How many replicates count.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.replicates.len()).unwrap_or(u32::MAX)
    }

    /// Values of the metric at `position`, by block, without those that are not finite.
    pub(crate) fn values(&self, position: usize) -> BTreeMap<u32, f64> {
        let value = |(&block, replicate): (&u32, &&Replicate)| {
            let value = *replicate.metrics.get(position)?;
            value.is_finite().then_some((block, value))
        };
        self.replicates.iter().filter_map(value).collect()
    }

    /// Values of a standard metric, by block.
    pub(crate) fn standard_values(&self, metric: StandardMetric) -> BTreeMap<u32, f64> {
        self.values_of(metric.name)
    }

    /// Values of the metric called `name`, or of the quantile of operations with that name, by
    /// block.
    pub(crate) fn values_of(&self, name: &str) -> BTreeMap<u32, f64> {
        let position = self.cell.metrics.iter().position(|metric| metric.name == name);
        let declared = position.map(|position| self.values(position));
        let quantile = || Some(self.quantile_values(Quantile::named(name)?));
        declared.or_else(quantile).unwrap_or_default()
    }

    /// Operations per second by block, whether or not that is among the cell's metrics.
    pub(crate) fn throughput(&self) -> BTreeMap<u32, f64> {
        let declared = self.standard_values(StandardMetric::THROUGHPUT);
        if declared.is_empty() { self.pace() } else { declared }
    }

    /// Operations per second of elapsed time, by block, over all threads and including whatever a
    /// thread does between its operations. Based on the time spent in operations, threads would
    /// seem to scale even if they take turns at something and do other work meanwhile.
    fn pace(&self) -> BTreeMap<u32, f64> {
        let pace = |(&block, replicate): (&u32, &&Replicate)| {
            let seconds = replicate.elapsed_ns as f64 / 1e9;
            (seconds > 0.0).then(|| (block, replicate.operations as f64 / seconds))
        };
        self.replicates.iter().filter_map(pace).collect()
    }

    /// Whether the cell is about its speed-up over a baseline in this run.
    pub(crate) fn has_speed_up(&self, all: &[Self]) -> bool {
        let baseline = self.cell.baseline.as_ref();
        baseline.is_some_and(|name| all.iter().any(|other| other.cell.benchmark == *name))
    }

    /// What was observed besides the metrics, in the first block that counts.
    pub(crate) fn observations(&self) -> Vec<Observation> {
        let first = self.replicates.values().next();
        first.map(|replicate| replicate.observations.clone()).unwrap_or_default()
    }

    /// Time per operation minus that of the floor on the same target in the same block.
    pub(crate) fn own_cost(&self, all: &[Self]) -> BTreeMap<u32, f64> {
        let Some(floor) = self.cell_beside(all, self.cell.floor.as_ref()) else {
            return BTreeMap::new();
        };
        let floor = floor.standard_values(StandardMetric::TIME_PER_OPERATION);
        let own = self.standard_values(StandardMetric::TIME_PER_OPERATION).into_iter();
        own.filter_map(|(block, time)| Some((block, time - floor.get(&block)?))).collect()
    }

    /// The cell of that benchmark on the same target.
    fn cell_beside<'a>(&self, all: &'a [Self], benchmark: Option<&String>) -> Option<&'a Self> {
        let is_it = |other: &&Self| {
            other.cell.target == self.cell.target && Some(&other.cell.benchmark) == benchmark
        };
        all.iter().find(is_it)
    }

    /// Its pace over that of the baseline on the same target in the same block.
    pub(crate) fn speed_up(&self, all: &[Self]) -> BTreeMap<u32, f64> {
        let baseline = self.cell_beside(all, self.cell.baseline.as_ref());
        let Some(base) = baseline.map(Self::pace) else {
            return BTreeMap::new();
        };
        let ratio = |(block, rate): (u32, f64)| {
            let base = *base.get(&block)?;
            (base > 0.0).then(|| (block, rate / base))
        };
        self.pace().into_iter().filter_map(ratio).collect()
    }
}
