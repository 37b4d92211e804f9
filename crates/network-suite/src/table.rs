//! The closing tables: states by benchmark, with what was counted in each.

use record::{Cell, Line, Replicate, Run};
use serde_json::Value;
use textual::{Layout, paragraph};

use crate::culling;
use crate::metrics::{
    CACHE_READS, CACHE_WRITES, EMULATED_TIME, RPCS, SERVER_BYTES, is_network_bound, rpc_metric,
};

/// What stands above the columns, and how wide each is.
const COLUMNS: [(&str, usize); 7] = [
    ("RPCs", 9),
    ("READs", 9),
    ("from server", 12),
    ("cache reads", 11),
    ("written", 9),
    ("time", 10),
    ("", 12),
];

/// The tables of a run, and what its times mean.
#[must_use]
pub fn text(run: &Run, width: usize) -> String {
    let mut text = String::new();
    let mut benchmarks: Vec<&str> = Vec::new();
    for cell in &run.manifest.cells {
        if !benchmarks.contains(&cell.benchmark.as_str()) {
            benchmarks.push(&cell.benchmark);
        }
    }
    let name_width = textual::widest(run.manifest.cells.iter().map(|cell| &cell.target)).max(6);
    for benchmark in benchmarks {
        text += &table(run, benchmark, name_width);
        for (number, cell) in run.manifest.cells.iter().enumerate() {
            if cell.benchmark == benchmark {
                let replicates: Vec<&Replicate> = replicates(run, number).collect();
                text += &culling::text(cell, &replicates, width);
            }
        }
        text.push('\n');
    }
    text += &paragraph(
        "",
        "",
        "Counts are medians over the runs; where runs differ, the smallest and the largest stand \
         behind them. Every count is of a replicate whose state was proved. Times are emulated: \
         they pass on the guests' clock, and depend on how fast this machine emulates. Only where \
         the link was busy all the time, or both guests waited for it for most of the time, it was \
         the link that took it; there, \"link\" stands behind it, and it may be compared with \
         other such times.",
        width,
    );
    for line in failures(run) {
        text += &paragraph("- ", "  ", &line, width);
    }
    text
}

fn table(run: &Run, benchmark: &str, name_width: usize) -> String {
    let mut text = String::new();
    let widths: Vec<usize> =
        [name_width].into_iter().chain(COLUMNS.iter().map(|(_, width)| *width)).collect();
    let layout = Layout { left: 1, widths };
    let of_benchmark = run.manifest.cells.iter().enumerate();
    let of_benchmark = of_benchmark.filter(|(_, cell)| cell.benchmark == benchmark);
    for (place, (number, cell)) in of_benchmark.enumerate() {
        if place == 0 {
            text += &format!("{}: {}\n", cell.title, subject(cell));
            let heads = std::iter::once("").chain(COLUMNS.iter().map(|(name, _)| *name));
            text += &(layout.line(heads) + "\n");
        }
        let replicates: Vec<&Replicate> = replicates(run, number).collect();
        let row = row(cell, &replicates);
        let words = std::iter::once(cell.target.as_str()).chain(row.iter().map(String::as_str));
        text += &(layout.line(words) + "\n");
    }
    text
}

/// What the benchmark reads.
fn subject(cell: &Cell) -> String {
    let number = |name: &str| cell.parameters.get(name).and_then(Value::as_u64);
    let megabytes = number("bytes").unwrap_or(0) as f64 / 1e6;
    match (number("directories"), number("files")) {
        (Some(directories), Some(files)) => {
            format!("{directories} directories, {files} files, {megabytes:.1} MB")
        }
        _ => format!("{megabytes:.1} MB"),
    }
}

fn replicates(run: &Run, number: usize) -> impl Iterator<Item = &Replicate> {
    run.lines.iter().filter_map(move |line| {
        let Line::Replicate(one) = line else { return None };
        (one.cell as usize == number).then_some(&**one)
    })
}

/// The values of a metric, smallest first.
pub(crate) fn values(cell: &Cell, replicates: &[&Replicate], name: &str) -> Vec<f64> {
    let place = cell.metrics.iter().position(|metric| metric.name == name);
    let value = |one: &&Replicate| one.metrics.get(place?).copied();
    let mut values: Vec<f64> = replicates.iter().filter_map(value).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn row(cell: &Cell, replicates: &[&Replicate]) -> Vec<String> {
    let count = |name: &str| counted(&values(cell, replicates, name));
    if replicates.is_empty() {
        return vec!["not measured".to_owned()];
    }
    let times = values(cell, replicates, EMULATED_TIME);
    let time = median(&times).map_or_else(String::new, |ns| format!("{:.2} s", ns / 1e9));
    let is_bound = |one: &&Replicate| {
        let value = |name: &str| values(cell, &[one], name).first().copied().unwrap_or(0.0);
        is_network_bound(value)
    };
    let bound = if replicates.iter().all(is_bound) { "link" } else { "" };
    vec![
        count(RPCS),
        count(&rpc_metric("READ")),
        count(SERVER_BYTES),
        count(CACHE_READS),
        count(CACHE_WRITES),
        time,
        bound.to_owned(),
    ]
}

/// The median, and where they differ the smallest and the largest.
pub(crate) fn counted(values: &[f64]) -> String {
    match (median(values), values.first(), values.last()) {
        (Some(median), Some(least), Some(most)) if least < most => {
            format!("{median} ({least}-{most})")
        }
        (Some(median), _, _) => format!("{median}"),
        _ => String::new(),
    }
}

fn median(values: &[f64]) -> Option<f64> {
    stats::Sample::new(values).ok().map(|sample| sample.median())
}

/// What was not measured, or thrown away.
pub(crate) fn failures(run: &Run) -> Vec<String> {
    let cells = run.cells();
    let name = |cell: u32| {
        let cell = cells.get(cell as usize);
        cell.map_or_else(String::new, |cell| format!("{} {}", cell.benchmark, cell.target))
    };
    let mut lines: Vec<(String, u32)> = Vec::new();
    for line in &run.lines {
        let text = if let Line::CellFailed(failed) = line {
            format!("{}: not measured: {}", name(failed.cell), failed.why)
        } else if let Line::Discarded(one) = line {
            format!("{}: discarded: {}", name(one.cell), one.why)
        } else {
            continue;
        };
        match lines.iter_mut().find(|(same, _)| *same == text) {
            Some((_, times)) => *times += 1,
            None => lines.push((text, 1)),
        }
    }
    let counted = |(text, times): (String, u32)| match times {
        1 => text,
        times => format!("{text} ({times} times)"),
    };
    let lines = lines.into_iter().map(counted);
    left_out(run).into_iter().chain(lines).collect()
}

/// What was left out, benchmark by benchmark.
fn left_out(run: &Run) -> Vec<String> {
    let mut groups: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for skipped in &run.manifest.skipped {
        let (target, benchmark) = skipped.target.rsplit_once(": ").unwrap_or((&skipped.target, ""));
        let why = skipped.why.as_str();
        match groups.iter_mut().find(|(of, reason, _)| (*of, *reason) == (benchmark, why)) {
            Some((_, _, targets)) => targets.push(target),
            None => groups.push((benchmark, why, vec![target])),
        }
    }
    let line = |(benchmark, why, targets): (&str, &str, Vec<&str>)| {
        format!("{benchmark} left out for {}: {why}", targets.join(", "))
    };
    groups.into_iter().map(line).collect()
}
