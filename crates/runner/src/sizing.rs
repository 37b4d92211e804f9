//! How many operations a replicate holds.
//!
//! All targets of a benchmark get the same number: the same work on the same working set, so a
//! difference between them is one of speed only. The number is chosen so that the planned blocks
//! fit into the budget. Blocks come before length: the variation between blocks (placement, drift)
//! is what limits an interval, and longer replicates do not average it away (Kalibera & Jones,
//! "Rigorous Benchmarking in Reasonable Time", section 5).

use std::collections::BTreeMap;
use std::time::Duration;

use record::Cell;

use crate::executor::PilotMeasure;

/// Blocks that a run aims at: enough for a 95 % interval of the median with outliers cut off on
/// both sides (order statistics 6 and 15 of 20).
const BLOCKS_AIM: u32 = 20;
/// Least number of blocks for a 95 % interval of the median.
const BLOCKS_MIN: u32 = 6;
/// A replicate shorter than this is mostly its own start.
const SLICE_WANTED_NS: f64 = 10e6;
const SLICE_MIN_NS: f64 = 1e6;
/// Beyond this length, more blocks are worth more than longer replicates.
const SLICE_MAX_NS: f64 = 100e6;
const OPERATIONS_MIN: u64 = 4;
/// The part of the budget that is planned for. The rest is for blocks that take longer than the
/// pilot promised; if none does, it buys more blocks.
const PLANNED_SHARE: f64 = 0.85;
/// Time that a replicate takes for each unit of time measured, beyond the overhead that the pilot
/// saw: what is rehearsed, written back and undone grows with the operations.
const TIME_PER_MEASURED: f64 = 2.0;

/// Operations and batch of a cell's replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) operations: u64,
    pub(crate) batch: u32,
}

/// The outcome of sizing: a size per piloted cell, and the blocks that fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sizing {
    pub(crate) sizes: BTreeMap<u32, Size>,
    pub(crate) blocks: u32,
}

/// What there is to share out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    /// Budget that is left.
    pub(crate) budget: Duration,
    /// Time that making the targets anew takes in each block.
    pub(crate) block_setup: Duration,
    /// Blocks, if the user asked for a number.
    pub(crate) blocks: Option<u32>,
}

/// Shares the budget out among the cells that the pilot reached.
pub(crate) fn size(cells: &[Cell], pilots: &BTreeMap<u32, PilotMeasure>, means: Means) -> Sizing {
    let (blocks, slice_ns) = blocks_and_slice(pilots, means);
    let mut groups: BTreeMap<&str, Vec<&PilotMeasure>> = BTreeMap::new();
    for (&cell, pilot) in pilots {
        groups.entry(cells[cell as usize].benchmark.as_str()).or_default().push(pilot);
    }
    let of_group: BTreeMap<&str, Size> =
        groups.iter().map(|(&name, group)| (name, size_of_group(group, slice_ns))).collect();
    let sizes = pilots
        .keys()
        .map(|&cell| (cell, of_group[cells[cell as usize].benchmark.as_str()]))
        .collect();
    Sizing { sizes, blocks }
}

fn blocks_and_slice(pilots: &BTreeMap<u32, PilotMeasure>, means: Means) -> (u32, f64) {
    let cells = pilots.len().max(1) as f64;
    let overhead_ns: f64 = pilots.values().map(|pilot| pilot.overhead_ns as f64).sum();
    let fixed_ns = overhead_ns + means.block_setup.as_nanos() as f64;
    let budget_ns = means.budget.as_nanos() as f64 * PLANNED_SHARE;
    let slice_for =
        |blocks: u32| (budget_ns / f64::from(blocks) - fixed_ns) / cells / TIME_PER_MEASURED;
    let blocks = means.blocks.unwrap_or_else(|| {
        let fits = (BLOCKS_MIN..=BLOCKS_AIM).rev().find(|&n| slice_for(n) >= SLICE_WANTED_NS);
        fits.unwrap_or(BLOCKS_MIN)
    });
    (blocks.max(1), slice_for(blocks.max(1)).clamp(SLICE_MIN_NS, SLICE_MAX_NS))
}

/// One slice of time for the slowest target; up to three where that leaves the fastest with less
/// than a tenth of a slice, which would be too short to be measured well.
fn size_of_group(group: &[&PilotMeasure], slice_ns: f64) -> Size {
    let times = || group.iter().map(|pilot| pilot.time_per_operation_ns.max(1.0));
    let slowest_ns = times().fold(1.0, f64::max);
    let fastest_ns = times().fold(f64::INFINITY, f64::min);
    let wanted = (slice_ns / slowest_ns)
        .max((slice_ns / 10.0 / fastest_ns).min(3.0 * slice_ns / slowest_ns));
    let most = group.iter().map(|pilot| pilot.operations_max).min().unwrap_or(1).max(1);
    let least = group.iter().map(|pilot| pilot.operations_min).max().unwrap_or(1);
    let least = least.max(OPERATIONS_MIN).min(most);
    let batch = group.iter().map(|pilot| pilot.batch).max().unwrap_or(1).max(1);
    // `as` saturates, and the bounds follow at once.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let operations = (wanted as u64).clamp(least, most);
    let whole_batches = (operations / u64::from(batch)).max(1) * u64::from(batch);
    Size { operations: whole_batches, batch }
}

#[cfg(test)]
mod tests {
    use record::{CacheState, Dimension, MetricDefinition};

    use super::*;

    fn cell(benchmark: &str) -> Cell {
        Cell {
            target: String::new(),
            suite: String::new(),
            benchmark: benchmark.to_owned(),
            title: String::new(),
            dimension: Dimension::Metadata,
            exercises: Vec::new(),
            parameters: BTreeMap::new(),
            cache_state: CacheState::Any,
            metrics: vec![MetricDefinition::time_per_operation()],
            baseline: None,
            working_set_bytes: None,
            curve: None,
            floor: None,
        }
    }

    fn pilot(time_per_operation_ns: f64) -> PilotMeasure {
        let (overhead_ns, operations_max, batch) = (1_000_000, u64::MAX, 1);
        let operations_min = 1;
        PilotMeasure { time_per_operation_ns, overhead_ns, operations_min, operations_max, batch }
    }

    fn sized(pilots: &[PilotMeasure], means: Means) -> Sizing {
        let cells: Vec<Cell> = pilots.iter().map(|_| cell("one")).collect();
        size(&cells, &(0..).zip(pilots.iter().copied()).collect(), means)
    }

    fn seconds(budget_s: u64) -> Means {
        let budget = Duration::from_secs(budget_s);
        Means { budget, block_setup: Duration::from_secs(1), blocks: None }
    }

    #[test]
    fn planned_blocks_fit_into_the_budget() {
        for budget_s in [20, 60, 120] {
            let pilots = vec![pilot(1000.0); 150];
            let sizing = sized(&pilots, seconds(budget_s));
            let operations = sizing.sizes[&0].operations as f64;
            let block_s = 1.0 + 150.0 * (1e6 + TIME_PER_MEASURED * operations * 1000.0) / 1e9;
            let total_s = block_s * f64::from(sizing.blocks);
            assert!(total_s <= budget_s as f64 * 1.01, "{total_s} s of {budget_s} s");
            assert!(sizing.blocks >= BLOCKS_MIN);
        }
    }

    #[test]
    fn longer_budgets_buy_blocks_first() {
        let blocks = |budget_s| sized(&vec![pilot(1000.0); 150], seconds(budget_s)).blocks;
        assert!(blocks(20) < blocks(60));
        assert_eq!(blocks(3600), BLOCKS_AIM);
    }

    #[test]
    fn targets_of_a_benchmark_do_the_same_work() {
        let sizing = sized(&[pilot(500.0), pilot(700_000.0)], seconds(60));
        assert_eq!(sizing.sizes[&0], sizing.sizes[&1]);
        let slowest_ns = sizing.sizes[&1].operations as f64 * 700_000.0;
        assert!(slowest_ns <= 3.0 * SLICE_MAX_NS, "{slowest_ns}");
    }

    #[test]
    fn the_file_set_bounds_the_operations() {
        let small = PilotMeasure { operations_max: 10, ..pilot(100.0) };
        assert_eq!(sized(&[small], seconds(60)).sizes[&0].operations, 10);
    }

    #[test]
    fn a_cell_that_needs_many_operations_gets_them_for_the_whole_group() {
        let needy = PilotMeasure { operations_min: 100_000, ..pilot(1000.0) };
        let sizing = sized(&[pilot(1000.0), needy], seconds(1));
        assert_eq!(sizing.sizes[&0].operations, 100_000);
        let small = PilotMeasure { operations_max: 10, ..needy };
        assert_eq!(sized(&[small], seconds(1)).sizes[&0].operations, 10);
    }

    #[test]
    fn operations_are_whole_batches() {
        let batched = PilotMeasure { batch: 7, ..pilot(30.0) };
        let size = sized(&[batched], seconds(60)).sizes[&0];
        assert_eq!((size.batch, size.operations % 7), (7, 0));
    }

    #[test]
    fn a_number_of_blocks_asked_for_is_kept() {
        let means = Means { blocks: Some(3), ..seconds(60) };
        assert_eq!(sized(&[pilot(1000.0)], means).blocks, 3);
    }
}
