//! The reproduction as text: each table and figure, then the paper's statements and what was found
//! here.

use textual::{Columns, paragraph, size};

use super::{ItemFigures, ModelRow, PhaseFigure, PhaseRow, Reproduction, Traffic};
use crate::statement;

pub(super) fn render(of: &Reproduction, width: usize) -> String {
    let how = format!(
        "MB/s (MB of 2^20 bytes), or files/s: means over all runs but the first, with their \
         intervals at {:.0} %",
        of.level * 100.0
    );
    let mut text = paragraph("", "", of.paper, width) + &paragraph("", "", &how, width);
    text += &of.items.iter().map(item).collect::<String>();
    text += "\n";
    text += &model(&of.model);
    text += &of.traffic.as_ref().map(|one| traffic(one, width)).unwrap_or_default();
    text += &statement::text(&of.statements, "measured here", width);
    text += &paragraph(
        "- ",
        "  ",
        "what is measured of a statement is a ratio of rates, paired by run, or a count of bytes",
        width,
    );
    for what in &of.missing {
        text += &paragraph("- not measured: ", "  ", what, width);
    }
    text
}

/// Turns `table-2` into `Table 2`.
fn heading(item: &str) -> String {
    match item.split_once('-') {
        Some(("table", number)) => format!("Table {number}"),
        Some((_, number)) => format!("Figure {number}"),
        None => item.to_owned(),
    }
}

fn item(of: &ItemFigures) -> String {
    let printed: Vec<&str> =
        of.rows.first().map(|row| row.published.keys().copied().collect()).unwrap_or_default();
    let targets: Vec<&str> = of
        .rows
        .first()
        .map(|row| row.measured.iter().map(|one| one.target.as_str()).collect())
        .unwrap_or_default();
    let heads = std::iter::once("phase".to_owned())
        .chain(printed.iter().map(|name| format!("{name}, paper")))
        .chain(targets.iter().map(|name| format!("{name}, here")));
    let mut columns = Columns::headed(heads);
    for row in &of.rows {
        let published = printed.iter().map(|name| (*row.published.get(name).unwrap_or(&"")).into());
        let measured = targets.iter().map(|target| cell(row, target));
        columns.row(std::iter::once(row.phase.clone()).chain(published).chain(measured));
    }
    format!("\n{}: {}, {}\n{}", heading(of.item), of.title, of.unit, columns.render())
}

fn cell(row: &PhaseRow, target: &str) -> String {
    let found = row.measured.iter().find(|one| one.target == target);
    let Some(PhaseFigure { mean, half_width, .. }) = found else { return String::new() };
    match half_width {
        Some(half_width) => format!("{} (+-{})", short(*mean), short(*half_width)),
        None => short(*mean),
    }
}

/// With as many digits as in the paper.
fn short(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// The paper's model of a cache as text.
#[must_use]
pub fn model(rows: &[ModelRow]) -> String {
    let heading = ["phase", "footprint", "flushes, paper", "flushes, here"];
    let mut columns = Columns::headed(heading);
    for row in rows {
        columns.row([
            row.phase.to_owned(),
            format!("{} of 4 lines", row.footprint_lines),
            row.published_flushes.to_string(),
            row.computed_flushes.to_string(),
        ]);
    }
    format!(
        "Table 7, Figures 2 and 3: the paper's model of a cache, file of 16 lines\n{}",
        columns.render()
    )
}

fn traffic(of: &Traffic, width: usize) -> String {
    let what = format!(
        "Section 4.6.1: what each phase moves into and out of an L2 cache like the paper's ({}), \
         simulated, from a trace of a guest with Linux {}",
        size(of.cache_bytes as f64, 3),
        of.kernel
    );
    let heading = ["phase", "target", "out, paper", "out, here", "in", "left dirty"];
    let mut columns = Columns::headed(heading);
    let mut phases: Vec<&str> = Vec::new();
    for row in &of.rows {
        if !phases.contains(&row.phase.as_str()) {
            phases.push(&row.phase);
        }
    }
    for phase in phases {
        for (at, row) in of.rows.iter().filter(|row| row.phase == phase).enumerate() {
            columns.row([
                if at == 0 { phase } else { "" }.to_owned(),
                row.target.clone(),
                row.published_out.unwrap_or("").to_owned(),
                size(row.bytes_out, 3),
                size(row.bytes_in, 3),
                size(row.dirty_bytes, 3),
            ]);
        }
    }
    format!("\n{}{}", paragraph("", "", &what, width), columns.render())
}
