//! The answers and the tables as text.

use textual::{Columns, paragraph};

use super::{NetworkBenchmark, NetworkDocument, StateCounts};
use crate::layout::Options;

/// The heads of the columns.
const HEADS: [&str; 8] =
    ["", "RPCs", "READs", "from server", "cache reads", "cache writes", "time", ""];

/// The answers, the tables, and what their figures mean.
#[must_use]
pub fn render_network(document: &NetworkDocument, options: &Options) -> String {
    let width = options.width;
    let mut text = String::new();
    for answer in &document.answers {
        text += &paragraph("", "  ", answer, width);
    }
    if !document.answers.is_empty() {
        text.push('\n');
    }
    for benchmark in &document.benchmarks {
        text += &format!("{}: {}\n", benchmark.title, benchmark.subject);
        text += &table(benchmark).render();
        for state in &benchmark.states {
            let Some(culled) = &state.culled else { continue };
            text += &paragraph("  ", "  ", &format!("{}: {culled}", state.target), width);
        }
        text.push('\n');
    }
    text += &paragraph("", "", &document.notes, width);
    for line in &document.left_out {
        text += &paragraph("- ", "  ", line, width);
    }
    text
}

fn table(benchmark: &NetworkBenchmark) -> Columns {
    let mut columns = Columns::headed(HEADS);
    for state in &benchmark.states {
        columns.row(row(state));
    }
    columns
}

fn row(state: &StateCounts) -> Vec<String> {
    let Some(figures) = &state.figures else {
        return vec![state.target.clone(), "not measured".to_owned()];
    };
    let time = format!("{:.2} s", figures.time_ns.median / 1e9);
    vec![
        state.target.clone(),
        figures.rpcs.to_string(),
        figures.reads.to_string(),
        figures.server_bytes.to_string(),
        figures.cache_reads.to_string(),
        figures.cache_writes.to_string(),
        time,
        if figures.is_time_of_link { "link" } else { "" }.to_owned(),
    ]
}
