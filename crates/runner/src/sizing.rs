//! How many operations a replicate has.
//!
//! As many as the benchmark declares, because a figure must not depend on the budget. All targets
//! of a benchmark get the same number, hence the same work on the same working set, so they differ
//! in speed only. There are more only if the operations can be repeated and the fastest target
//! would finish too soon to be timed well. The number is then doubled as often as needed, so that a
//! slightly inaccurate pilot leads to the same number. A benchmark that cannot get what it needs is
//! left out.

use std::collections::BTreeMap;

use record::{Cell, LeftOut};

use crate::executor::PilotMeasure;

/// From this wanted time on, in nanoseconds, the number of operations is computed instead of
/// doubled: it is so large that an inaccurate pilot makes little difference, and the last doubling
/// would take long.
const COUNTED_FROM_NS: f64 = 1e9;

/// Number of operations and batch size of a cell's replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) start_operations: u64,
    pub(crate) operations: u64,
    pub(crate) batch: u32,
}

/// The outcome of sizing: the sizes of cells, and the benchmarks that get none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sizing {
    pub(crate) sizes: BTreeMap<u32, Size>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Works out the size of the replicates of all cells that have a pilot.
pub(crate) fn size(cells: &[Cell], pilots: &BTreeMap<u32, PilotMeasure>) -> Sizing {
    let mut groups: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for &cell in pilots.keys() {
        groups.entry(cells[cell as usize].benchmark.as_str()).or_default().push(cell);
    }
    let mut sizing = Sizing::default();
    for (benchmark, cells) in groups {
        let group: Vec<&PilotMeasure> = cells.iter().map(|cell| &pilots[cell]).collect();
        match size_of_group(&group) {
            Ok(size) => sizing.sizes.extend(cells.iter().map(|&cell| (cell, size))),
            Err(why) => {
                sizing.left_out.push(LeftOut { benchmark: benchmark.to_owned(), cells, why });
            }
        }
    }
    sizing
}

/// The number of operations that all targets need, or why there is none.
fn size_of_group(group: &[&PilotMeasure]) -> Result<Size, String> {
    let most = group.iter().map(|pilot| pilot.operations_max).min().unwrap_or(1);
    let greatest =
        |of: fn(&PilotMeasure) -> u64| group.iter().map(|pilot| of(pilot)).max().unwrap_or(0);
    let start = greatest(|pilot| pilot.start_operations);
    let least = greatest(|pilot| pilot.operations_min).max(1);
    if start + least > most {
        return Err(format!(
            "a replicate needs {} operations to mean what its name says, but the files allow only \
             {most}: give a larger --size, or targets with more space",
            start + least
        ));
    }
    let times = group.iter().map(|pilot| pilot.time_per_operation_ns.max(1.0));
    let fastest_ns = times.fold(f64::INFINITY, f64::min);
    let takes_ns = |operations: u64| operations as f64 * fastest_ns;
    let wanted_ns = greatest(|pilot| pilot.time_wanted_ns) as f64;
    let operations = match wanted_ns >= COUNTED_FROM_NS {
        true => ceil_to_u64(wanted_ns / fastest_ns).clamp(least, most.saturating_sub(start)),
        false => {
            let mut operations = least;
            while takes_ns(operations) < wanted_ns && start + 2 * operations <= most {
                operations *= 2;
            }
            operations
        }
    };
    let time_min_ns = greatest(|pilot| pilot.time_min_ns) as f64;
    if takes_ns(operations) < time_min_ns {
        return Err(format!(
            "its {operations} operations take {:.2} ms on the fastest target, less than the {:.2} \
             ms that a replicate needs, and the files allow no more operations: give a larger \
             --size",
            takes_ns(operations) / 1e6,
            time_min_ns / 1e6
        ));
    }
    let batch = group.iter().map(|pilot| pilot.batch).max().unwrap_or(1).max(1);
    let whole = |operations: u64| (operations / u64::from(batch)) * u64::from(batch);
    Ok(Size {
        start_operations: whole(start),
        operations: whole(operations).max(u64::from(batch)),
        batch,
    })
}

/// A number of operations, rounded up.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn ceil_to_u64(operations: f64) -> u64 {
    operations.ceil() as u64
}

#[cfg(test)]
pub(crate) mod tests {
    use record::{CacheState, Dimension, StandardMetric};

    use super::*;

    pub(crate) fn cell(benchmark: &str) -> Cell {
        Cell {
            target: String::new(),
            suite: String::new(),
            benchmark: benchmark.to_owned(),
            title: benchmark.to_owned(),
            dimension: Dimension::Metadata,
            exercises: Vec::new(),
            parameters: BTreeMap::new(),
            cache_state: CacheState::Any,
            metrics: vec![StandardMetric::TIME_PER_OPERATION.definition()],
            baseline: None,
            working_set_bytes: None,
            curve: None,
            floor: None,
            rank: 0,
            least: None,
            sequence: None,
        }
    }

    fn pilot(time_per_operation_ns: f64) -> PilotMeasure {
        PilotMeasure {
            time_per_operation_ns,
            overhead_ns: 1_000_000,
            turn_per_timed: 1.0,
            start_operations: 100,
            operations_min: 1_000,
            operations_max: u64::MAX,
            time_min_ns: 1_000_000,
            time_wanted_ns: 8_000_000,
            batch: 1,
        }
    }

    fn sized(pilots: &[PilotMeasure]) -> Sizing {
        let cells: Vec<Cell> = pilots.iter().map(|_| cell("one")).collect();
        size(&cells, &(0..).zip(pilots.iter().copied()).collect())
    }

    #[test]
    fn a_replicate_is_what_the_benchmark_declares() {
        let size = sized(&[pilot(10_000.0)]).sizes[&0];
        assert_eq!((size.start_operations, size.operations, size.batch), (100, 1_000, 1));
    }

    #[test]
    fn targets_of_a_benchmark_do_the_same_work() {
        let sizing = sized(&[pilot(10_000.0), pilot(700_000.0)]);
        assert_eq!(sizing.sizes[&0], sizing.sizes[&1]);
    }

    #[test]
    fn what_would_be_over_too_soon_is_doubled_where_it_can_go_on() {
        // 1 ms, 2 ms, 4 ms, 8 ms.
        let fast = pilot(1_000.0);
        assert_eq!(sized(&[fast, pilot(50_000.0)]).sizes[&0].operations, 8_000);
        let bounded = PilotMeasure { operations_max: 2_500, ..fast };
        assert_eq!(sized(&[fast, bounded]).sizes[&0].operations, 2_000);
    }

    #[test]
    fn what_cannot_have_what_it_needs_is_left_out_with_the_reason() {
        let small = PilotMeasure { operations_max: 10, ..pilot(10_000.0) };
        let sizing = sized(&[pilot(10_000.0), small]);
        assert!(sizing.sizes.is_empty());
        let [left_out] = sizing.left_out.as_slice() else { panic!("one benchmark") };
        assert_eq!((left_out.benchmark.as_str(), left_out.cells.as_slice()), ("one", &[0, 1][..]));
        assert!(left_out.why.contains("needs 1100 operations"), "{}", left_out.why);
        let brief = PilotMeasure { operations_max: 1_100, ..pilot(10.0) };
        let why = &sized(&[brief]).left_out[0].why;
        assert!(why.contains("take 0.01 ms"), "{why}");
    }

    #[test]
    fn operations_are_whole_batches() {
        let batched = PilotMeasure { batch: 7, ..pilot(30_000.0) };
        let size = sized(&[batched]).sizes[&0];
        assert_eq!((size.batch, size.start_operations, size.operations), (7, 98, 994));
    }
}
