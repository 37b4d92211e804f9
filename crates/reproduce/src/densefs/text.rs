//! The reproduction as text: each figure, then the paper's statements and what was found here.

use textual::{Columns, paragraph};

use super::{CodeShares, Estimate, Reproduction, code, figure_3, figure_4, functions, grep, inode};
use crate::statement;

/// Categories are shown if they reach this percentage of some file system's code.
const SHOWN_PERCENT: f64 = 1.0;
/// How many stacks of each file system are shown.
const STACKS: usize = 5;
const BAR: usize = 20;

pub(super) fn render(of: &Reproduction, width: usize) -> String {
    let mut text = paragraph("", "", of.paper, width);
    if of.run.is_some() {
        let kernels = match &of.kernels[..] {
            [] => String::new(),
            kernels => format!("Linux {} here, ", kernels.join(" and Linux ")),
        };
        let conditions = format!(
            "Traced: {kernels}about 4.13 in the paper; 64-byte lines, kernel side of a system call"
        );
        text += &paragraph("", "", &conditions, width);
    }
    text += &cachemaps(of);
    text += &categories(&of.figure_2);
    of.figure_2.iter().for_each(|graph| text += &cgstacks(graph, width));
    text += &footprints(of);
    text += &inode::text(&of.inode);
    text += &figure_3::text(&of.figure_3);
    text += &code::text(&of.code);
    text += &functions::text(&of.functions);
    text += &figure_4::text(&of.figure_4, width);
    text += &grep::text(&of.grep);
    text += &statement::text(&of.statements, "found here", width);
    for what in &of.missing {
        text += &paragraph("- not measured: ", "  ", what, width);
    }
    text
}

pub(super) fn with_interval(estimate: &Estimate) -> String {
    let median = format!("{:.0}", estimate.median);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{median} [{low:.0}, {high:.0}]"),
        _ => median,
    }
}

fn cachemaps(of: &Reproduction) -> String {
    if of.figure_1.is_empty() {
        return String::new();
    }
    let heading = ["on xfs", "instr., paper", "instr., here", "data, paper", "data, here"];
    let mut columns = Columns::headed(heading);
    for one in &of.figure_1 {
        columns.row([
            one.operation.to_owned(),
            one.published_instruction_lines.to_owned(),
            with_interval(&one.instruction_lines),
            one.published_data_lines.to_owned(),
            with_interval(&one.data_lines),
        ]);
    }
    format!("\nFigure 1: lines of each cachemap\n{}", columns.render())
}

/// A column for each target, and a row for each category.
fn categories(graphs: &[CodeShares]) -> String {
    let all = graphs.iter().flat_map(|graph| &graph.categories);
    let mut names: Vec<(&str, f64)> = Vec::new();
    for one in all {
        match names.iter_mut().find(|(name, _)| *name == one.category) {
            Some((_, most)) => *most = most.max(one.own_percent),
            None => names.push((&one.category, one.own_percent)),
        }
    }
    names.retain(|(_, most)| *most >= SHOWN_PERCENT);
    names.sort_by(|left, right| right.1.total_cmp(&left.1));
    if names.is_empty() {
        return String::new();
    }
    let targets = graphs.iter().map(|graph| graph.target.as_str());
    let mut columns = Columns::headed(std::iter::once("category").chain(targets));
    for (name, _) in &names {
        let shares = graphs.iter().map(|graph| format!("{:.1} %", graph.own_percent(&[name])));
        columns.row(std::iter::once((*name).to_owned()).chain(shares));
    }
    let bytes = graphs.iter().map(|graph| format!("{:.0} KiB", graph.code_bytes / 1024.0));
    columns.row(std::iter::once("all".to_owned()).chain(bytes));
    format!(
        "\nFigure 2: bytes of code of create, unlink and rename, by category\n{}",
        columns.render()
    )
}

/// A target's largest stacks, callers first.
fn cgstacks(graph: &CodeShares, width: usize) -> String {
    let mut text = format!("\n{}: the largest cgstacks\n", graph.target);
    let largest = graph.cgstacks.first().map_or(1.0, |one| one.percent);
    for one in graph.cgstacks.iter().take(STACKS) {
        let bar = "#".repeat(columns(one.percent / largest).max(1));
        let stack = one.cgstack.replace(';', " > ");
        let head = format!("  {:>4.1} % {bar:<BAR$}  ", one.percent);
        text += &paragraph(&head, &" ".repeat(head.len()), &stack, width);
    }
    text
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the width")]
fn columns(share: f64) -> usize {
    (share.clamp(0.0, 1.0) * BAR as f64).round() as usize
}

fn footprints(of: &Reproduction) -> String {
    if of.footprints.is_empty() {
        return String::new();
    }
    let percent = |value: f64| format!("{value:.0} %");
    let heading = ["", "", "instr.", "data", "ratio", "unused", "unused", "once", "once", "<= 8 B"];
    let mut columns = Columns::headed(heading);
    columns.row(["", "", "lines", "lines", "", "instr.", "data", "instr.", "data", "data"]);
    let mut target = "";
    for one in &of.footprints {
        let name = if one.target == target { "" } else { one.target.as_str() };
        target = &one.target;
        columns.row([
            name.to_owned(),
            one.operation.clone(),
            format!("{:.0}", one.instruction_lines.median),
            format!("{:.0}", one.data_lines.median),
            format!("{:.2}", one.ratio),
            percent(one.instruction_bytes_unused_percent),
            percent(one.data_bytes_unused_percent),
            percent(one.instruction_lines_used_once_percent),
            percent(one.data_lines_used_once_percent),
            one.sparse_data_lines_percent.map_or(String::new(), percent),
        ]);
    }
    format!("\nSection 2: footprints of single operations\n{}", columns.render())
}
