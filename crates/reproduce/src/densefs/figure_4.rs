//! Figure 4: how much longer user code takes if a system call is made between its rounds, from a
//! run of the suite `pollution`.
//!
//! The paper prints no numbers but those of its introduction ("in some cases reducing a 150%
//! overhead to merely 20%") and says that DenseFS consistently has the smallest penalty. Its
//! DenseFS is called by system calls of its own; here, by calls of its library.

use std::collections::BTreeMap;

use record::{Cell, Replicate, Run};
use serde::Serialize;
use textual::{Columns, paragraph, size};

use super::figures;
use crate::gathered::{Estimate, Gathered, estimate, values};
use crate::statement::{Outcome, Statement};

/// The file systems that are compared.
pub const FIGURE_4_TARGETS: [&str; 6] = ["btrfs", "ext4", "f2fs", "tmpfs", "xfs", "densefs"];

/// The metric whose excess over 1 is the paper's relative increase.
const METRIC: &str = "code_slowdown";
/// The overhead without DenseFS that the paper's introduction names, as a slowdown.
const LARGE: f64 = 2.5;
/// With DenseFS.
const SMALL: f64 = 1.2;

/// One point of Figure 4.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PollutionPoint {
    /// The operation.
    pub operation: String,
    /// Bytes of instructions of the code between operations.
    pub code_bytes: u64,
    /// Bytes of its data.
    pub data_bytes: u64,
    /// The target.
    pub target: String,
    /// Whether its file system is DenseFS.
    pub is_densefs: bool,
    /// How many times as long the code takes.
    pub slowdown: Estimate,
    /// This slowdown over that of DenseFS, block by block; `None` for DenseFS itself.
    pub over_densefs: Option<Estimate>,
}

/// The figure as text, with a table for each operation.
pub(super) fn text(points: &[PollutionPoint], width: usize) -> String {
    if points.is_empty() {
        return String::new();
    }
    let how = "Figure 4: how much longer user code takes with a call between its rounds, by bytes \
               of instructions and of data. DenseFS is called by its library here, and by system \
               calls of its own in the paper.";
    let mut text = format!("\n{}", paragraph("", "", how, width));
    let mut operations: Vec<&str> = Vec::new();
    for point in points {
        if !operations.contains(&point.operation.as_str()) {
            operations.push(&point.operation);
        }
    }
    operations.iter().for_each(|operation| text += &table(points, operation, width));
    text
}

/// A row for each target, and a column for each footprint: below each other as many as fit.
fn table(points: &[PollutionPoint], operation: &str, width: usize) -> String {
    let all = || points.iter().filter(|point| point.operation == operation);
    let mut footprints: Vec<(u64, u64)> =
        all().map(|point| (point.code_bytes, point.data_bytes)).collect();
    footprints.sort_unstable();
    footprints.dedup();
    let mut text = format!("\n{operation}\n");
    let mut rest = &footprints[..];
    while !rest.is_empty() {
        let fits = |count: &usize| {
            let part = columns(points, operation, &rest[..*count]);
            part.lines().all(|line| line.chars().count() <= width)
        };
        let count = (1..=rest.len()).rev().find(fits).unwrap_or(1);
        text += &columns(points, operation, &rest[..count]);
        rest = &rest[count..];
    }
    text
}

/// The columns of these footprints.
fn columns(points: &[PollutionPoint], operation: &str, footprints: &[(u64, u64)]) -> String {
    let all = || points.iter().filter(|point| point.operation == operation);
    let of = |bytes: u64| size(bytes as f64, 3);
    let head = footprints.iter().map(|&(code, data)| match code == data {
        true => of(code),
        false => format!("{}, {}", of(code), of(data)),
    });
    let mut columns = Columns::headed(std::iter::once(String::new()).chain(head));
    let mut targets: Vec<&str> = Vec::new();
    for point in all() {
        if !targets.contains(&point.target.as_str()) {
            targets.push(&point.target);
        }
    }
    for target in targets {
        let cell = |footprint: &(u64, u64)| {
            let is_it = |point: &&PollutionPoint| {
                point.target == target && (point.code_bytes, point.data_bytes) == *footprint
            };
            all().find(is_it).map_or(String::new(), |point| increase(&point.slowdown))
        };
        let cells = footprints.iter().map(cell);
        columns.row(std::iter::once(target.to_owned()).chain(cells));
    }
    columns.render()
}

/// A slowdown as the paper's relative increase.
fn increase(slowdown: &Estimate) -> String {
    // Adding 0 makes a negative one positive.
    let percent = |slowdown: f64| format!("{:.0}", ((slowdown - 1.0) * 100.0).round() + 0.0);
    match (slowdown.low, slowdown.high) {
        (Some(low), Some(high)) => {
            format!("{} % [{}, {}]", percent(slowdown.median), percent(low), percent(high))
        }
        _ => format!("{} %", percent(slowdown.median)),
    }
}

/// The points of a run of the suite `pollution`.
pub(super) fn points(run: &Run) -> Vec<PollutionPoint> {
    let ours = figures::targets_of(run, "densefs");
    let gathered = Gathered::new(run);
    let all: Vec<_> = gathered.cells.iter().filter(|(cell, _)| has_slowdown(cell)).collect();
    let is_densefs = |cell: &Cell| ours.contains(&cell.target);
    let of_densefs = |benchmark: &str| {
        all.iter().find(|(cell, _)| cell.benchmark == benchmark && is_densefs(cell))
    };
    let point = |&&(cell, ref replicates): &&(&Cell, Vec<&Replicate>)| {
        let parameter = |name: &str| cell.parameters.get(name);
        let bytes = |name| {
            let lines = parameter(name)?.as_u64()?;
            lines.checked_mul(parameter("line_bytes")?.as_u64()?)
        };
        let over_densefs = of_densefs(&cell.benchmark)
            .filter(|_| !is_densefs(cell))
            .and_then(|(densefs, theirs)| ratio(cell, replicates, densefs, theirs));
        Some(PollutionPoint {
            operation: parameter("operation")?.as_str()?.to_owned(),
            code_bytes: bytes("code_lines")?,
            data_bytes: bytes("data_lines")?,
            target: cell.target.clone(),
            is_densefs: is_densefs(cell),
            slowdown: estimate(&values(cell, replicates, METRIC))?,
            over_densefs,
        })
    };
    all.iter().filter_map(point).collect()
}

fn has_slowdown(cell: &Cell) -> bool {
    cell.metrics.iter().any(|metric| metric.name == METRIC)
}

/// The ratio of two cells' slowdowns, block by block.
fn ratio(
    cell: &Cell,
    replicates: &[&Replicate],
    densefs: &Cell,
    theirs: &[&Replicate],
) -> Option<Estimate> {
    let by_block = |cell: &Cell, replicates: &[&Replicate]| -> BTreeMap<u32, f64> {
        let blocks = replicates.iter().map(|one| one.block);
        blocks.zip(values(cell, replicates, METRIC)).collect()
    };
    let (one, other) = (by_block(cell, replicates), by_block(densefs, theirs));
    let both = one.iter().filter_map(|(block, value)| Some(value / other.get(block)?));
    estimate(&both.collect::<Vec<f64>>())
}

/// What the paper says of them.
pub(super) fn statements(points: &[PollutionPoint]) -> Vec<Statement> {
    vec![smallest(points), largest_reduction(points)]
}

/// Whether DenseFS has the smallest penalty everywhere.
fn smallest(points: &[PollutionPoint]) -> Statement {
    let compared: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|point| point.over_densefs)
        .filter_map(|over| over.low.zip(over.high))
        .collect();
    let (larger, smaller) = (
        compared.iter().filter(|(low, _)| *low > 1.0).count(),
        compared.iter().filter(|(_, high)| *high < 1.0).count(),
    );
    let all = compared.len();
    let measured = format!(
        "of {all} comparisons with another file system, DenseFS has the smaller penalty in \
         {larger} and the larger in {smaller}; {} are not told apart",
        all - larger - smaller
    );
    // One in twenty of the intervals misses its value, half of them on either side.
    let by_chance = all.div_ceil(40);
    let outcome = Outcome::of_interval(
        2 * larger > all && smaller <= by_chance,
        all > 0 && smaller > by_chance,
    );
    let statement = Statement {
        source: "section 4",
        claim: "DenseFS consistently incurs the smallest penalty",
        published: "consistently the smallest",
        measured: if all == 0 { "not measured".to_owned() } else { measured },
        outcome,
        tolerance: Some(
            "in most comparisons by an interval, and larger in no more than chance explains"
                .to_owned(),
        ),
        why: None,
    };
    if all == 0 || outcome != Outcome::Unknown {
        return statement;
    }
    statement.because("most are not told apart: more --blocks narrow the intervals")
}

/// Whether there is a case as large as the paper's.
fn largest_reduction(points: &[PollutionPoint]) -> Statement {
    let matching = |point: &PollutionPoint| {
        points.iter().find(|other| {
            other.is_densefs
                && other.operation == point.operation
                && (other.code_bytes, other.data_bytes) == (point.code_bytes, point.data_bytes)
        })
    };
    let pairs = points.iter().filter(|point| !point.is_densefs);
    let pairs = pairs.filter_map(|point| Some((point, matching(point)?)));
    let all: Vec<(&PollutionPoint, &PollutionPoint)> = pairs.collect();
    let reduction = |pair: &&(&PollutionPoint, &PollutionPoint)| {
        pair.0.slowdown.median - pair.1.slowdown.median
    };
    let most = all.iter().max_by(|one, other| reduction(one).total_cmp(&reduction(other)));
    let measured = most.map(|(other, ours)| {
        format!(
            "{} of {} by {} ({} of instructions) becomes {}",
            increase(&other.slowdown),
            other.target,
            other.operation,
            size(other.code_bytes as f64, 3),
            increase(&ours.slowdown)
        )
    });
    // A case agrees if both of its intervals reach the paper's numbers, and the data exclude it if
    // no case does.
    let agrees = |(other, ours): &(&PollutionPoint, &PollutionPoint)| {
        let high = other.slowdown.high.unwrap_or(other.slowdown.median);
        let low = ours.slowdown.low.unwrap_or(ours.slowdown.median);
        high >= LARGE && low <= SMALL
    };
    let is_proved = |(other, ours): &(&PollutionPoint, &PollutionPoint)| {
        other.slowdown.low.is_some_and(|low| low >= LARGE)
            && ours.slowdown.high.is_some_and(|high| high <= SMALL)
    };
    let statement = Statement {
        source: "section 1",
        claim: "in some cases, DenseFS reduces an overhead of 150 % or more to 20 % or less",
        published: "150 % to 20 %",
        measured: measured.unwrap_or_else(|| "not measured".to_owned()),
        outcome: Outcome::of_interval(
            all.iter().any(is_proved),
            !all.is_empty() && !all.iter().any(agrees),
        ),
        tolerance: Some("none: both intervals beyond these".to_owned()),
        why: None,
    };
    match all.is_empty() {
        true => statement,
        false => statement.because("no case has both intervals beyond the paper's numbers"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(target: &str, slowdown: [f64; 3], over: Option<[f64; 3]>) -> PollutionPoint {
        let estimate =
            |[low, median, high]: [f64; 3]| Estimate { median, low: Some(low), high: Some(high) };
        PollutionPoint {
            operation: "create".to_owned(),
            code_bytes: 4096,
            data_bytes: 4096,
            target: target.to_owned(),
            is_densefs: over.is_none(),
            slowdown: estimate(slowdown),
            over_densefs: over.map(estimate),
        }
    }

    #[test]
    fn a_case_beyond_the_paper_s_numbers_holds() {
        let densefs = point("densefs", [1.1, 1.15, 1.19], None);
        let xfs = point("xfs", [2.6, 2.7, 2.8], Some([2.2, 2.3, 2.4]));
        let both = [densefs.clone(), xfs];
        assert_eq!(largest_reduction(&both).outcome, Outcome::Holds);
        assert_eq!(
            largest_reduction(&both).measured,
            "170 % [160, 180] of xfs by create (4 KiB of instructions) becomes 15 % [10, 19]"
        );
        assert_eq!(smallest(&both).outcome, Outcome::Holds);
        let near = [densefs.clone(), point("xfs", [2.4, 2.5, 2.6], Some([2.0, 2.1, 2.2]))];
        assert_eq!(largest_reduction(&near).outcome, Outcome::Unknown);
        let small = [densefs, point("xfs", [1.1, 1.2, 1.3], Some([0.9, 1.0, 1.1]))];
        assert_eq!(largest_reduction(&small).outcome, Outcome::DoesNotHold);
        assert_eq!(smallest(&small).outcome, Outcome::Unknown);
    }

    #[test]
    fn a_larger_penalty_more_often_than_by_chance_refutes() {
        let densefs = point("densefs", [1.1, 1.15, 1.2], None);
        let smaller = point("tmpfs", [1.0, 1.0, 1.01], Some([0.8, 0.9, 0.95]));
        let points = [densefs, smaller.clone(), smaller];
        assert_eq!(smallest(&points).outcome, Outcome::DoesNotHold);
        assert_eq!(smallest(&[]).outcome, Outcome::Unknown);
        assert_eq!(largest_reduction(&[]).outcome, Outcome::Unknown);
    }
}
