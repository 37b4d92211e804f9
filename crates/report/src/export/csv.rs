//! The raw figures as a tidy table: one row per replicate and metric, for anybody's own analysis.
//!
//! Quoting is that of RFC 4180: a field with a comma, a quote or a line end stands in quotes, with
//! its quotes doubled. Lines end with a single line feed, which every reader takes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use record::Run;
use serde_json::Value;

use super::names::word;
use crate::analysis::gather;

/// Names of the columns.
const HEADER: [&str; 13] = [
    "run",
    "target",
    "suite",
    "benchmark",
    "dimension",
    "cache_state",
    "parameters",
    "block",
    "order",
    "attempt",
    "metric",
    "unit",
    "value",
];

/// One row per replicate and metric; cells in the order of the manifest, replicates by block.
///
/// `run` is the moment when the run began, the same in all its rows. `parameters` holds all of
/// them as `name=value`, by name, with `;` between.
#[must_use]
pub fn render_csv(run: &Run) -> String {
    let mut text = HEADER.join(",");
    text.push('\n');
    for gathered in gather(run) {
        let cell = gathered.cell;
        let head = row(&[
            &run.manifest.run.started,
            cell.target.as_str(),
            &cell.suite,
            &cell.benchmark,
            &word(&cell.dimension),
            &word(&cell.cache_state),
            &parameters(&cell.parameters),
        ]);
        for replicate in gathered.replicates.values() {
            for (metric, value) in cell.metrics.iter().zip(&replicate.metrics) {
                let (block, order, attempt) = (replicate.block, replicate.order, replicate.attempt);
                let (name, unit) = (field(&metric.name), field(&metric.unit));
                writeln!(text, "{head},{block},{order},{attempt},{name},{unit},{value}")
                    .expect("writing to a string cannot fail");
            }
        }
    }
    text
}

pub(super) fn row<S: AsRef<str>>(fields: &[S]) -> String {
    fields.iter().map(|text| field(text.as_ref())).collect::<Vec<_>>().join(",")
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
pub(super) fn parameters(parameters: &BTreeMap<String, Value>) -> String {
    let pair = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    };
    parameters.iter().map(pair).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use record::{Axis, Line};

    use super::*;
    use crate::sample::Sample;
    use crate::sample_search::{MIB, of_cache, plan, searched};

    /// A reader of RFC 4180, independent of the writer above.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
        let (mut quoted, mut characters) = (false, text.chars().peekable());
        while let Some(character) = characters.next() {
            match character {
                '"' if quoted && characters.peek() == Some(&'"') => {
                    characters.next();
                    field.push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(std::mem::take(&mut field)),
                '\n' if !quoted => {
                    row.push(std::mem::take(&mut field));
                    rows.push(std::mem::take(&mut row));
                }
                other => field.push(other),
            }
        }
        assert!(!quoted && row.is_empty() && field.is_empty(), "the table ends within a row");
        rows
    }

    #[test]
    fn each_replicate_and_metric_has_a_row_and_parses_back() {
        let sample = Sample::new(&["tmpfs", "ext4"])
            .benchmark("create", &[&[6100.0, 6050.5, 0.1 + 0.2], &[26_000.0, 26_100.0]]);
        let rows = parse(&render_csv(&sample.run));
        assert_eq!(rows[0], HEADER);
        assert!(rows.iter().all(|row| row.len() == HEADER.len()));
        let times: Vec<_> = rows.iter().filter(|row| row[10] == "time_per_operation").collect();
        let read: Vec<f64> = times.iter().map(|row| row[12].parse().unwrap()).collect();
        assert_eq!(read, [6100.0, 6050.5, 0.1 + 0.2, 26_000.0, 26_100.0]);
        assert_eq!(
            times[4][1..10],
            [
                "ext4",
                "survey",
                "create",
                "metadata",
                "warm",
                "directory_entries=100;operation=create;threads=1",
                "1",
                "1",
                "1"
            ]
        );
        assert_eq!(rows.len(), 1 + 2 * read.len());
    }

    #[test]
    fn commas_quotes_and_line_ends_are_quoted() {
        let odd = "a,\"b\"\nc";
        let sample = Sample::new(&[odd]).benchmark("create", &[&[1.0]]);
        let text = render_csv(&sample.run);
        assert!(text.contains("\"a,\"\"b\"\"\nc\""), "{text}");
        assert_eq!(parse(&text)[1][1], odd);
    }

    #[test]
    fn cells_that_a_search_added_have_their_rows() {
        let sample = searched(&plan(Axis::WorkingSet, "throughput"), 40, of_cache(64.0 * MIB));
        let rows = parse(&render_csv(&sample.run));
        let probes = sample.run.lines.iter().filter(|line| matches!(line, Line::Replicate(_)));
        assert_eq!(rows.len(), 1 + probes.count());
        assert!(rows[1..].iter().all(|row| row[3].starts_with("read-")), "{:?}", rows[1]);
    }
}
