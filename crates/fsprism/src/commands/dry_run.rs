//! `--dry-run`: what a run would measure, tried out with a pilot of it.

use std::collections::BTreeMap;

use record::{Dimension, Line, Planned, Run, Skipped};
use textual::{Indent, list, plural, wrap};

use crate::arguments::Measuring;
use crate::exit::Done;
use crate::output;

const BENCHMARKS: Indent = Indent { first: 2, rest: 6 };

/// Prints the plan of a run that has ended after its pilot.
pub(crate) fn print(run: &Run, measuring: &Measuring) -> anyhow::Result<Done> {
    let planned = run.lines.iter().rev().find_map(|line| match line {
        Line::Planned(planned) => Some(planned),
        Line::Start(_)
        | Line::Search(_)
        | Line::CellAdded(_)
        | Line::Block(_)
        | Line::Replicate(_)
        | Line::Discarded(_)
        | Line::CellFailed(_)
        | Line::End(_) => None,
    });
    let Some(planned) = planned else { return Ok(Done::Interrupted) };
    output::print(&text(run, planned, measuring, output::terminal_options().width))?;
    Ok(Done::Well)
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
        paragraph(&format!("{}: {}", ::report::dimension_name(*dimension), titles.join("; ")));
    }
    let left_out = planned.left_out.iter();
    let left_out =
        left_out.map(|one| Skipped { target: one.benchmark.clone(), why: one.why.clone() });
    let skipped: Vec<Skipped> = manifest.skipped.iter().cloned().chain(left_out).collect();
    for reason in ::report::reasons(&skipped) {
        paragraph(&format!("Left out: {reason}"));
    }
    text
}
