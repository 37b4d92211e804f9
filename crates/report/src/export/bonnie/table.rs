//! The table as `Bonnie.c` prints it, with a line for each target and size. Columns have the same
//! widths as there, or more if a figure or a label needs it.

use std::fmt::Write as _;

use textual::plain_text;

use super::figures::{Figures, PhaseFigure, ProgramOptions, TargetFigures};

const MIB: u64 = 1 << 20;
/// Minimum widths of the columns for a machine's name, the size, a rate and a share.
const NAME_WIDTH: usize = 8;
const SIZE_WIDTH: usize = 4;
const RATE_WIDTH: usize = 5;
const SHARE_WIDTH: usize = 4;

/// The groups of the second line, and how many of them the first line combines under which heading.
/// If dashes cannot be divided evenly, the last number is how many more of them come first.
const GROUPS: [&str; 6] = ["Per Char", "Block", "Rewrite", "Per Char", "Block", "Seeks"];
const HEADINGS: [(&str, usize, usize); 3] =
    [("Sequential Output", 3, 0), ("Sequential Input", 2, 1), ("Random", 1, 0)];

pub(super) fn render(figures: &Figures<'_>) -> String {
    let mib = |row: &TargetFigures<'_>| match &row.options {
        ProgramOptions::Bonnie(options) if options.size_bytes < MIB => {
            format!("{:.3}", options.size_bytes as f64 / MIB as f64)
        }
        ProgramOptions::Bonnie(options) => (options.size_bytes / MIB).to_string(),
        ProgramOptions::Metadata(_) => String::new(),
    };
    let sizes: Vec<String> = figures.rows.iter().map(mib).collect();
    let labels: Vec<String> =
        figures.rows.iter().map(|one| plain_text(one.label).into_owned()).collect();
    let rows: Vec<[(String, String); 6]> = figures.rows.iter().map(texts).collect();
    let name_width = labels.iter().map(|one| one.chars().count()).max().unwrap_or(0);
    let name_width = name_width.max(NAME_WIDTH);
    let size_width = sizes.iter().map(String::len).max().unwrap_or(0).max(SIZE_WIDTH);
    let widest = |column: usize| {
        let of = |text: &String| text.len();
        let rate = rows.iter().map(|row| of(&row[column].0)).max().unwrap_or(0).max(RATE_WIDTH);
        let share = rows.iter().map(|row| of(&row[column].1)).max().unwrap_or(0).max(SHARE_WIDTH);
        (rate, share)
    };
    let widths: [(usize, usize); 6] = std::array::from_fn(widest);
    let wide = |&(rate, share): &(usize, usize)| rate + 1 + share;

    let mut lines: [String; 3] = std::array::from_fn(|_| String::new());
    let margin = " ".repeat(name_width + 1 + size_width);
    lines[0].push_str(&margin);
    lines[1].push_str(&margin);
    let mut column = 0;
    for (heading, count, odd) in HEADINGS {
        let joined: usize = widths[column..column + count].iter().map(wide).sum();
        write!(lines[0], " {}", dashed(heading, joined + count - 1, odd)).expect("it is a string");
        column += count;
    }
    write!(lines[2], "{:<name_width$} {:>size_width$}", "Machine", "MB").expect("it is a string");
    for ((group, width), number) in GROUPS.iter().zip(&widths).zip(1..) {
        write!(lines[1], " {}", dashed(group, wide(width), 0)).expect("it is a string");
        let unit = if number == GROUPS.len() { "/sec" } else { "K/sec" };
        let (rate, share) = *width;
        write!(lines[2], " {unit:>rate$} {:>share$}", "%CPU").expect("it is a string");
    }
    let mut text = lines.map(|line| line + "\n").concat();
    for ((label, mib), row) in labels.iter().zip(&sizes).zip(&rows) {
        write!(text, "{label:<name_width$} {mib:>size_width$}").expect("it is a string");
        for ((figure, percent), (rate, share)) in row.iter().zip(&widths) {
            write!(text, " {figure:>rate$} {percent:>share$}").expect("it is a string");
        }
        text.push('\n');
    }
    text
}

/// The figures of a line: K/sec are integers, seeks have one decimal.
fn texts(row: &TargetFigures<'_>) -> [(String, String); 6] {
    let [sequential @ .., seeks] = row.phases;
    let decimals = sequential.map(|figure| (figure, 0)).into_iter().chain([(seeks, 1)]);
    let mut texts = decimals.map(|(figure, decimals)| match figure {
        PhaseFigure::Measured { per_s, processor_percent } => {
            let per_s = if decimals == 0 { per_s.trunc() } else { per_s };
            (format!("{per_s:.decimals$}"), format!("{processor_percent:.1}"))
        }
        PhaseFigure::TooShort { .. } => ("+++++".to_owned(), "+++".to_owned()),
        PhaseFigure::Absent => ("-".to_owned(), "-".to_owned()),
    });
    std::array::from_fn(|_| texts.next().expect("there are six phases"))
}

/// A heading between dashes, `odd` more of which come first if they cannot be divided evenly.
fn dashed(heading: &str, width: usize, odd: usize) -> String {
    let dashes = width.saturating_sub(heading.len());
    let before = (dashes + odd) / 2;
    format!("{}{heading}{}", "-".repeat(before), "-".repeat(dashes - before))
}
