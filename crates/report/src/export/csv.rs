//! The raw figures as a tidy table for further analysis: one row per replicate and metric.
//!
//! Quoting follows RFC 4180: a field with a comma, a quote or a line break is enclosed in quotes,
//! with its own quotes doubled. Lines end with a single line feed, which every reader accepts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use record::Run;
use serde_json::Value;

use super::names::word;
use crate::analysis::gather;

/// Names of the columns before those of the parameters, and after them.
const FIRST: [&str; 6] = ["run", "target", "suite", "benchmark", "dimension", "cache_state"];
const LAST: [&str; 6] = ["block", "order", "attempt", "metric", "unit", "value"];

/// One row per replicate and metric; cells in the order of the manifest, replicates by block.
///
/// `run` is the time at which the run began, the same in all rows. Each parameter that any cell has
/// is a column, which is empty for cells without it.
#[must_use]
pub fn render_csv(run: &Run) -> String {
    let all = gather(run);
    let parameters = Parameters::new(all.iter().map(|one| &one.cell.parameters));
    let mut header: Vec<&str> = FIRST.to_vec();
    header.extend(parameters.columns());
    header.extend(LAST);
    let mut text = row(&header) + "\n";
    for gathered in all {
        let cell = gathered.cell;
        let mut head = vec![
            run.manifest.run.started.clone(),
            cell.target.clone(),
            cell.suite.clone(),
            cell.benchmark.clone(),
            word(&cell.dimension),
            word(&cell.cache_state),
        ];
        head.extend(parameters.values(&cell.parameters));
        let head = row(&head);
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

/// The parameters that any cell has, by name: one column each.
pub(super) struct Parameters<'a> {
    names: BTreeSet<&'a str>,
}

impl<'a> Parameters<'a> {
    pub(super) fn new(cells: impl Iterator<Item = &'a BTreeMap<String, Value>>) -> Self {
        Self { names: cells.flat_map(|own| own.keys().map(String::as_str)).collect() }
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().copied()
    }

    /// A cell's values in these columns.
    pub(super) fn values(&self, own: &BTreeMap<String, Value>) -> Vec<String> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let value = |name: &&str| own.get(*name).map(text).unwrap_or_default();
        self.names.iter().map(value).collect()
    }
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
        let parameters = ["directory_entries", "operation", "threads"];
        assert_eq!(rows[0], [&FIRST[..], &parameters, &LAST].concat());
        assert!(rows.iter().all(|row| row.len() == rows[0].len()));
        let times: Vec<_> = rows.iter().filter(|row| row[12] == "time_per_operation").collect();
        let read: Vec<f64> = times.iter().map(|row| row[14].parse().unwrap()).collect();
        assert_eq!(read, [6100.0, 6050.5, 0.1 + 0.2, 26_000.0, 26_100.0]);
        assert_eq!(
            times[4][1..12],
            ["ext4", "survey", "create", "metadata", "warm", "100", "create", "1", "1", "1", "1"]
        );
        assert_eq!(rows.len(), 1 + 2 * read.len());
    }

    #[test]
    fn a_parameter_that_a_cell_lacks_is_empty_there() {
        let mut sample =
            Sample::new(&["ext4"]).benchmark("create", &[&[1.0]]).benchmark("read", &[&[1.0]]);
        sample.change("read", |cell| {
            cell.parameters = [("request_bytes".to_owned(), 4096.into())].into();
        });
        let rows = parse(&render_csv(&sample.run));
        let of =
            |benchmark: &str| rows.iter().find(|row| row[3] == benchmark).unwrap()[6..10].to_vec();
        assert_eq!(rows[0][6..10], ["directory_entries", "operation", "request_bytes", "threads"]);
        assert_eq!(of("create"), ["100", "create", "", "1"]);
        assert_eq!(of("read"), ["", "", "4096", ""]);
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
