//! The reproduction as text: tables, a picture of the intervals, and what was found.

use super::{PaperTable, Reproduction, raw};
use crate::item::{Agreement, Item};
use crate::picture::{self, Bar};
use textual::{Columns, paragraph};

pub(super) fn render(reproduction: &Reproduction, width: usize) -> String {
    let mut text = format!("{}\n", reproduction.paper);
    text += &raw::text(&reproduction.raw);
    for table in &reproduction.tables {
        text += &format!("\n{}\n", table.title);
        let mut columns = Columns::headed(["", "", "published", "recomputed", "difference", ""]);
        let mut row = "";
        for item in &table.items {
            let name = if item.row == row { "" } else { item.row.as_str() };
            row = &item.row;
            columns.row(cells(name, item));
        }
        text += &columns.render();
    }
    text += "\nEffects with their 95 % intervals, recomputed (kB/s)\n";
    text += &picture_of(&reproduction.tables, "3.2 Confidence intervals of effects", "95 %");
    text += "\nDifferences between file systems with their 80 % intervals, recomputed (kB/s)\n";
    text += &picture_of(&reproduction.tables, "3.3 Differences of file systems", "80 %");
    text += &format!(
        "\n{} numbers are the same, {} off by rounding, {} different\n",
        reproduction.count(Agreement::Same),
        reproduction.count(Agreement::Rounding),
        reproduction.count(Agreement::Different)
    );
    for finding in &reproduction.findings {
        text += &paragraph("- ", "  ", &format!("{}. {}", finding.what, finding.why), width);
    }
    let measured = reproduction.measured.iter().chain(&reproduction.counted);
    text += &measured.map(|one| one.text(width)).collect::<String>();
    text
}

fn cells(name: &str, item: &Item) -> [String; 6] {
    let decimals = item.decimals as usize;
    let remark = match item.agreement {
        Agreement::Same => "",
        Agreement::Rounding => "rounding",
        Agreement::Different => "different",
    };
    // One digit more than in the paper, so that rounding is visible.
    let more = decimals + 1;
    [
        name.to_owned(),
        item.column.clone(),
        format!("{:.decimals$}", item.published),
        format!("{:.more$}", item.recomputed),
        format!("{:+.more$}", item.difference),
        remark.to_owned(),
    ]
}

/// The intervals in a table at one level, drawn around their midpoints.
fn picture_of(tables: &[PaperTable], title: &str, level: &str) -> String {
    let items = tables.iter().filter(|table| table.title == title).flat_map(|table| &table.items);
    let of_level: Vec<&Item> = items.filter(|item| item.column.starts_with(level)).collect();
    let bars: Vec<Bar> = of_level
        .chunks_exact(2)
        .filter(|pair| pair[0].row != "grand mean")
        .map(|pair| Bar {
            name: pair[0].row.clone(),
            low: pair[0].recomputed,
            estimate: f64::midpoint(pair[0].recomputed, pair[1].recomputed),
            high: pair[1].recomputed,
        })
        .collect();
    picture::render(&bars)
}
