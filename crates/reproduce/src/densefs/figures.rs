//! Computes the figures' numbers from cells and traces.

use std::collections::BTreeMap;

use footprint_study::OperationStacks;
use record::{Cell, Replicate, Run};

use super::{
    CachemapSize, CategoryShare, CgstackShare, CodeShares, Estimate, FIGURE_OPERATIONS, OPERATIONS,
    OperationFootprint, TargetStacks,
};
use crate::gathered::{Gathered, estimate, values};

/// Size of a cache line.
const LINE_BYTES: f64 = 64.0;
/// A data line with at most this many bytes used is called sparse: one word.
const SPARSE_BYTES: usize = 8;

/// The paper's name for each operation, its rows of instructions, and its rows of data: from the
/// text, or as far as the axis labels are legible in our copy.
const PUBLISHED: [[&str; 3]; 3] = [
    ["creat", "over 1,000", "about 450"],
    ["unlink of 4 KiB", "about 1,000", ""],
    ["rename", "about 300", ""],
];

/// The run's targets with this file system.
pub(super) fn targets_of(run: &Run, file_system: &str) -> Vec<String> {
    let targets = run.manifest.targets.iter().filter(|one| one.file_system == file_system);
    targets.map(|one| one.label.clone()).collect()
}

/// The footprints of all operations against which the paper's statements are checked.
pub(super) fn footprints(
    gathered: &Gathered<'_>,
    traced: &[TargetStacks],
) -> Vec<OperationFootprint> {
    let is_wanted =
        |cell: &Cell| cell.suite == "footprint" && OPERATIONS.contains(&cell.benchmark.as_str());
    let cells = gathered.cells.iter().filter(|(cell, _)| is_wanted(cell));
    cells.filter_map(|(cell, replicates)| footprint(cell, replicates, traced)).collect()
}

fn footprint(
    cell: &Cell,
    replicates: &[&Replicate],
    traced: &[TargetStacks],
) -> Option<OperationFootprint> {
    let of = |name: &str| estimate(&values(cell, replicates, name));
    let (instruction_lines, data_lines) = (of("instruction_lines")?, of("data_lines")?);
    let (instructions, data) = (instruction_lines.median, data_lines.median);
    let percent = |name: &str, whole: f64| Some(100.0 * of(name)?.median / whole);
    let of_target = traced.iter().find(|one| one.target == cell.target);
    let operation = of_target.and_then(|one| one.operation(&cell.benchmark));
    Some(OperationFootprint {
        target: cell.target.clone(),
        operation: cell.benchmark.clone(),
        instruction_lines,
        data_lines,
        ratio: instructions / data,
        instruction_bytes_unused_percent: percent(
            "instruction_bytes_unused",
            instructions * LINE_BYTES,
        )?,
        data_bytes_unused_percent: percent("data_bytes_unused", data * LINE_BYTES)?,
        instruction_lines_used_once_percent: percent("instruction_lines_used_once", instructions)?,
        data_lines_used_once_percent: percent("data_lines_used_once", data)?,
        sparse_data_lines_percent: operation.and_then(sparse_percent),
    })
}

impl TargetStacks {
    fn operation(&self, name: &str) -> Option<&OperationStacks> {
        self.operations.iter().find(|one| one.operation == name)
    }
}

/// Percentage of data lines in which at most a word was accessed.
fn sparse_percent(of: &OperationStacks) -> Option<f64> {
    let lines: f64 = of.data_lines_by_bytes.iter().sum();
    let sparse: f64 = of.data_lines_by_bytes.iter().take(SPARSE_BYTES).sum();
    (lines > 0.0).then(|| 100.0 * sparse / lines)
}

/// Figure 1, for the first of these targets that was traced.
pub(super) fn cachemaps(all: &[OperationFootprint], targets: &[String]) -> Vec<CachemapSize> {
    let Some(target) = targets.iter().find(|target| all.iter().any(|one| one.target == **target))
    else {
        return Vec::new();
    };
    let of = |name: &str| all.iter().find(|one| one.target == *target && one.operation == name);
    let cachemap = |(name, [operation, instructions, data]): (&str, [&'static str; 3])| {
        let found = of(name)?;
        Some(CachemapSize {
            operation,
            published_instruction_lines: instructions,
            published_data_lines: data,
            instruction_lines: found.instruction_lines,
            data_lines: found.data_lines,
        })
    };
    FIGURE_OPERATIONS.into_iter().zip(PUBLISHED).filter_map(cachemap).collect()
}

/// Figure 2, for all targets with traces of all its operations.
pub(super) fn flame_graphs(traced: &[TargetStacks]) -> Vec<CodeShares> {
    traced.iter().filter_map(flame_graph).collect()
}

fn flame_graph(traced: &TargetStacks) -> Option<CodeShares> {
    let mut stacks: BTreeMap<&str, f64> = BTreeMap::new();
    for name in FIGURE_OPERATIONS {
        for (stack, bytes) in &traced.operation(name)?.code_bytes {
            *stacks.entry(stack).or_default() += bytes;
        }
    }
    let code_bytes: f64 = stacks.values().sum();
    let mut shares: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (stack, bytes) in &stacks {
        let percent = 100.0 * bytes / code_bytes;
        for category in stack.split(';') {
            shares.entry(category).or_default().1 += percent;
        }
        let top = stack.rsplit(';').next().unwrap_or(stack);
        shares.entry(top).or_default().0 += percent;
    }
    let category = |(name, (own_percent, with_callees_percent)): (&str, (f64, f64))| {
        CategoryShare { category: name.to_owned(), own_percent, with_callees_percent }
    };
    let mut categories: Vec<CategoryShare> = shares.into_iter().map(category).collect();
    categories.sort_by(|left, right| right.own_percent.total_cmp(&left.own_percent));
    let cgstack = |(stack, bytes): (&str, f64)| CgstackShare {
        cgstack: stack.to_owned(),
        percent: 100.0 * bytes / code_bytes,
    };
    let mut cgstacks: Vec<CgstackShare> = stacks.into_iter().map(cgstack).collect();
    cgstacks.sort_by(|left, right| right.percent.total_cmp(&left.percent));
    Some(CodeShares { target: traced.target.clone(), code_bytes, categories, cgstacks })
}

impl CodeShares {
    /// The code in these categories themselves, without their callees, in percent.
    pub(super) fn own_percent(&self, categories: &[&str]) -> f64 {
        let is_named = |one: &&CategoryShare| categories.contains(&one.category.as_str());
        // Not `sum()`, which returns -0 if there are no values.
        self.categories.iter().filter(is_named).fold(0.0, |sum, one| sum + one.own_percent)
    }
}

/// The median of some values; `None` if there are none.
pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    estimate(&values).map(|one: Estimate| one.median)
}
