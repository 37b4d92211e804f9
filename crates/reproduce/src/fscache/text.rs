//! The reproduction as text: the paper's tables beside those measured here.

use textual::{Columns, paragraph};

use super::Reproduction;
use crate::item::Agreement;
use crate::statement;

pub(super) fn render(of: &Reproduction, width: usize) -> String {
    let mut text = format!("{}\n\nThe paper's own figures, computed again\n", of.paper);
    let mut columns = Columns::headed(["", "", "published", "recomputed", ""]);
    for item in &of.recomputed {
        let decimals = item.decimals as usize;
        let remark = match item.agreement {
            Agreement::Same => "same",
            Agreement::Rounding => "rounding",
            Agreement::Different => "different",
        };
        columns.row([
            item.row.clone(),
            item.column.clone(),
            format!("{:.decimals$}", item.published),
            format!("{:.more$}", item.recomputed, more = decimals + 1),
            remark.to_owned(),
        ]);
    }
    text += &columns.render();
    text += &times(of);
    text += &paragraph(
        "",
        "",
        "Times here are emulated. They are set in relation to NONE only where the link took both, \
         which the idle time of both guests shows.",
        width,
    );
    text += &calls(of);
    text += &statement::text(&of.statements, "measured here", width);
    for what in &of.missing {
        text += &paragraph("- not measured: ", "  ", what, width);
    }
    text
}

fn times(of: &Reproduction) -> String {
    let heading = ["", "", "published", "to NONE", "here", "to NONE"];
    let mut columns = Columns::headed(heading);
    let seconds = |value: f64| format!("{value:.3} s");
    for row in &of.times {
        columns.row([
            row.benchmark.to_owned(),
            row.state.to_owned(),
            seconds(row.published_s),
            format!("{:.3}", row.published_to_none),
            row.emulated_s.map_or_else(|| "-".to_owned(), seconds),
            row.to_none.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}")),
        ]);
    }
    format!("\nTime to read the file (100 MB in the paper) and the tree\n{}", columns.render())
}

fn calls(of: &Reproduction) -> String {
    let heading = ["", "", "published", "per file", "here", "per file"];
    let mut columns = Columns::headed(heading);
    for row in &of.calls {
        let share = |share: f64| format!("{share:.3}");
        columns.row([
            row.state.to_owned(),
            row.counted.to_owned(),
            format!("{}", row.published),
            share(row.published_share),
            row.measured.map_or_else(|| "-".to_owned(), |value| format!("{value}")),
            row.share.map_or_else(|| "-".to_owned(), share),
        ]);
    }
    let heads = "\nCalls to the server while the tree is read, and bytes read (per byte of it)\n";
    format!("{heads}{}", columns.render())
}
