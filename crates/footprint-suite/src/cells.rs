//! The cells of a run, and the lines of its journal.

use std::collections::BTreeMap;

use footprint::trace::Completeness;
use footprint_guest::{KernelCacheState, TracedCall};
use record::{CacheState, Cell, CellFailed, Dimension, Line, MetricDefinition, Replicate};
use serde_json::{Value, json};

use crate::execution::MeasuredExecution;

/// The suite's name.
pub const SUITE: &str = "footprint";

/// What to trace on each target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracingPlan {
    /// The operations, each once.
    pub operations: Vec<TracedCall>,
    /// How often each operation is executed before it is traced.
    pub warm_up: u32,
    /// How often each operation is traced; each time is a block of the run.
    pub repetitions: u32,
    /// Whether the kernel's caches are warm or cold before each execution.
    pub state: KernelCacheState,
}

/// The cells of a target: one for each operation of its plan, in order.
pub(crate) fn cells(label: &str, plan: &TracingPlan, metrics: &[MetricDefinition]) -> Vec<Cell> {
    plan.operations.iter().map(|&operation| cell(label, operation, plan, metrics)).collect()
}

fn cell(
    label: &str,
    operation: TracedCall,
    plan: &TracingPlan,
    metrics: &[MetricDefinition],
) -> Cell {
    let parameters: BTreeMap<String, Value> = [("warm_up".to_owned(), json!(plan.warm_up))].into();
    Cell {
        target: label.to_owned(),
        suite: SUITE.to_owned(),
        benchmark: operation.name().to_owned(),
        title: operation.title().to_owned(),
        dimension: Dimension::CpuFootprint,
        exercises: Vec::new(),
        parameters,
        cache_state: match plan.state {
            KernelCacheState::Warm => CacheState::Warm,
            KernelCacheState::Cold => CacheState::Cold,
        },
        metrics: metrics.to_vec(),
        baseline: None,
        working_set_bytes: None,
        curve: None,
        floor: None,
        rank: 0,
        least: None,
        sequence: None,
    }
}

/// The journal's lines for one target, whose first cell has the index `first_cell`, including
/// failures. A repetition that is not completely in the trace does not count; an operation without
/// any is given up.
pub(crate) fn lines(
    first_cell: u32,
    plan: &TracingPlan,
    measured: &[MeasuredExecution],
    failed: &[(Option<TracedCall>, String)],
) -> Vec<Line> {
    let mut lines = Vec::new();
    for (cell, operation) in (first_cell..).zip(&plan.operations) {
        let of_cell = measured
            .iter()
            .filter(|one| one.operation == *operation && one.completeness == Completeness::Whole);
        let replicates: Vec<Line> = of_cell.map(|one| replicate(cell, one)).collect();
        if replicates.is_empty() {
            let of_cell = failed.iter().find(|(of, _)| of.is_none_or(|of| of == *operation));
            let why = of_cell.map_or("the trace does not contain it", |(_, why)| why).to_owned();
            lines.push(Line::CellFailed(CellFailed { cell, block: 0, why }));
        }
        lines.extend(replicates);
    }
    lines
}

fn replicate(cell: u32, measured: &MeasuredExecution) -> Line {
    let replicate = Replicate::from_metrics(cell, measured.repetition, measured.values.clone());
    Line::Replicate(Box::new(Replicate { order: cell, ..replicate }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str) -> TracedCall {
        name.parse().unwrap()
    }
    use crate::definitions;

    fn plan() -> TracingPlan {
        let operations = vec![call("create"), call("stat")];
        TracingPlan { operations, warm_up: 3, repetitions: 2, state: KernelCacheState::Warm }
    }

    fn measured(
        operation: TracedCall,
        repetition: u32,
        completeness: Completeness,
    ) -> MeasuredExecution {
        let values = vec![1.0; definitions(None).len()];
        MeasuredExecution { operation, repetition, completeness, values }
    }

    #[test]
    fn a_target_has_a_cell_for_each_operation() {
        let cells = cells("a", &plan(), &definitions(None));
        let names: Vec<_> =
            cells.iter().map(|cell| format!("{} {}", cell.target, cell.benchmark)).collect();
        assert_eq!(names, ["a create", "a stat"]);
    }

    #[test]
    fn what_was_cut_is_no_replicate() {
        let measured = [
            measured(call("create"), 0, Completeness::Whole),
            measured(call("create"), 1, Completeness::Cut),
            measured(call("unlink"), 0, Completeness::Whole),
        ];
        let failed = [(Some(call("stat")), "the disk is full".to_owned())];
        let lines = lines(4, &plan(), &measured, &failed);
        let [Line::Replicate(replicate), Line::CellFailed(failed)] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert_eq!((replicate.cell, replicate.block), (4, 0));
        assert_eq!((failed.cell, failed.why.as_str()), (5, "the disk is full"));
    }
}
