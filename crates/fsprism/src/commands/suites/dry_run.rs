//! `--dry-run`: what a run would measure, found out with its pilot.

use std::collections::BTreeMap;

use record::{Dimension, Line, Pilot, Planned, Run, Skipped};
use serde::Serialize;
use textual::{Indent, list, plural, wrap};

use crate::arguments::analysis::AnswerFormat;
use crate::arguments::format::Format;
use crate::arguments::measuring::Measuring;
use crate::exit::{OrInputError, Outcome};
use crate::output;

const BENCHMARKS: Indent = Indent { first: 2, rest: 6 };

/// What would be measured, as one document.
#[derive(Debug, Serialize)]
struct DryRun<'a> {
    targets: Vec<&'a str>,
    /// Expected number of blocks within the budget.
    blocks: u32,
    /// `None` if a number of blocks was asked for, however long they take.
    budget_s: Option<u64>,
    cells: Vec<DryCell<'a>>,
    left_out: Vec<Skipped>,
}

#[derive(Debug, Serialize)]
struct DryCell<'a> {
    target: &'a str,
    benchmark: &'a str,
    title: &'a str,
    dimension: Dimension,
    operations_per_replicate: u64,
}

/// Refuses formats that only results can have.
pub(super) fn check(format: Format) -> anyhow::Result<()> {
    if format.for_answers().is_some() {
        return Ok(());
    }
    let why = "--dry-run prints what would be measured, and only as terminal or json";
    Err(anyhow::anyhow!("{why}: choose one of these with --format")).or_input_error()
}

/// Prints the plan of a run that ended after its pilot.
pub(super) fn print(run: &Run, measuring: &Measuring) -> anyhow::Result<Outcome> {
    let planned = run.lines.iter().rev().find_map(|line| match line {
        Line::Planned(planned) => Some(planned),
        Line::Start(_)
        | Line::Search(_)
        | Line::CellAdded(_)
        | Line::Block(_)
        | Line::Replicate(_)
        | Line::Discarded(_)
        | Line::Waited(_)
        | Line::CellFailed(_)
        | Line::End(_) => None,
    });
    let Some(planned) = planned else { return Ok(Outcome::Interrupted) };
    let format = measuring.output.format.for_answers().unwrap_or(AnswerFormat::Terminal);
    output::print_answer(format, &document(run, planned, measuring), |width| {
        text(run, planned, measuring, width)
    })
}

fn document<'a>(run: &'a Run, planned: &'a Planned, measuring: &Measuring) -> DryRun<'a> {
    let manifest = &run.manifest;
    let cell = |pilot: &Pilot| {
        let cell = manifest.cells.get(pilot.cell as usize)?;
        Some(DryCell {
            target: &cell.target,
            benchmark: &cell.benchmark,
            title: &cell.title,
            dimension: cell.dimension,
            operations_per_replicate: pilot.operations,
        })
    };
    DryRun {
        targets: manifest.targets.iter().map(|target| target.label.as_str()).collect(),
        blocks: planned.blocks,
        budget_s: measuring.blocks.is_none().then_some(measuring.budget().as_secs()),
        cells: planned.pilots.iter().filter_map(cell).collect(),
        left_out: skipped(run, planned),
    }
}

/// What is not measured, and why.
fn skipped(run: &Run, planned: &Planned) -> Vec<Skipped> {
    let left_out = planned.left_out.iter();
    let left_out =
        left_out.map(|one| Skipped { target: one.benchmark.clone(), why: one.why.clone() });
    run.manifest.skipped.iter().cloned().chain(left_out).collect()
}

fn text(run: &Run, planned: &Planned, measuring: &Measuring, width: usize) -> String {
    let manifest = &run.manifest;
    let labels: Vec<String> = manifest.targets.iter().map(|target| target.label.clone()).collect();
    let cells: Vec<_> =
        planned.pilots.iter().filter_map(|pilot| manifest.cells.get(pilot.cell as usize)).collect();
    let mut by_dimension: BTreeMap<Dimension, Vec<String>> = BTreeMap::new();
    for cell in &cells {
        let titles = by_dimension.entry(cell.dimension).or_default();
        if !titles.contains(&cell.title) {
            titles.push(cell.title.clone());
        }
    }
    let benchmarks: usize = by_dimension.values().map(Vec::len).sum();
    let blocks = plural(planned.blocks as usize, "block");
    let time = match measuring.blocks {
        Some(_) => String::new(),
        None => format!(" in {} s", measuring.budget().as_secs()),
    };
    let mut text = format!(
        "{} on {}: {} in about {blocks}{time}.\n",
        plural(benchmarks, "benchmark"),
        list(&labels, "and"),
        plural(cells.len(), "cell"),
    );
    let mut paragraph = |said: &str| {
        for line in wrap(said, BENCHMARKS, width) {
            text += &line;
            text.push('\n');
        }
    };
    for (dimension, titles) in &by_dimension {
        paragraph(&format!("{}: {}", dimension.heading(), titles.join("; ")));
    }
    for reason in ::report::reasons(&skipped(run, planned)) {
        paragraph(&format!("Left out: {reason}"));
    }
    text
}
