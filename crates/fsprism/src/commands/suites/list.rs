//! `fsprism run --list`: the suites, and the dimensions that their benchmarks isolate and exercise.

use serde_json::json;
use suites::{COLUMNS, Relation, Suite, TableOneRow};

use crate::arguments::analysis::AnswerFormat;
use crate::arguments::format::Format;
use crate::commands::suites::{self as registry, BenchmarkRow, SuiteRow};
use crate::exit::{OrInputError, Outcome};
use crate::output;

const LEGEND: &str = "
Benchmarks of nano (and of the survey, which takes its quick forms from there):
* isolates a dimension, o also exercises it (after Table 1 of \"It IS Rocket Science\")

";
const TITLE_WIDTH: usize = 39;

/// Prints all suites and the table of dimensions, or the benchmarks of one suite.
pub(super) fn list(format: Format, suite: Option<&str>) -> anyhow::Result<Outcome> {
    let rows = match suite {
        Some(name) => vec![registry::row(name).or_input_error()?],
        None => registry::rows(),
    };
    let text = match format.for_answers() {
        Some(AnswerFormat::Terminal) if suite.is_some() => rows.iter().map(benchmarks).collect(),
        Some(AnswerFormat::Terminal) => {
            let width = textual::widest(rows.iter().map(|row| row.name));
            let line = |row: &SuiteRow| format!("{:<width$} {}\n", row.name, row.summary);
            let lines: String = rows.iter().map(line).collect();
            format!("{lines}{LEGEND}{}", table(&suites::suites()))
        }
        Some(AnswerFormat::Json) => format!("{:#}\n", json!({ "suites": rows })),
        None => {
            let refusal =
                anyhow::anyhow!("the list of suites has no such format: use --format json");
            return Err(refusal).or_input_error();
        }
    };
    output::print(&text)?;
    Ok(Outcome::Success)
}

/// The names of a suite's benchmarks, as `--benchmark` takes them, and their titles.
fn benchmarks(row: &SuiteRow) -> String {
    let width = textual::widest(row.benchmarks.iter().map(|one| &one.name));
    let line = |one: &BenchmarkRow| format!("{:<width$}  {}\n", one.name, one.title);
    row.benchmarks.iter().map(line).collect()
}

fn table(suites: &[Suite]) -> String {
    let nano = suites.iter().find(|suite| suite.name == "nano");
    let rows = nano.map(|suite| suites::table_one(&suite.benchmarks)).unwrap_or_default();
    let heads: String = COLUMNS.iter().map(|one| format!(" {:>5}", one.column())).collect();
    let head = format!("{:TITLE_WIDTH$}{heads}\n", "");
    std::iter::once(head).chain(rows.iter().map(table_row)).collect()
}

/// A row, with its title wrapped if it is too long for its column.
fn table_row(row: &TableOneRow) -> String {
    let title = match row.points {
        1 => row.title.clone(),
        points => format!("{} ({points} points)", row.title),
    };
    let marks: String = row
        .marks
        .iter()
        .zip(COLUMNS)
        .map(|(mark, one)| format!(" {:>width$}", sign(*mark), width = one.column().len().max(5)))
        .collect();
    let lines = textual::paragraph("", " ", &title, TITLE_WIDTH);
    let mut text = String::new();
    for (index, line) in lines.lines().enumerate() {
        let marks = if index == 0 { marks.as_str() } else { "" };
        text.push_str(format!("{line:<TITLE_WIDTH$}{marks}").trim_end());
        text.push('\n');
    }
    text
}

fn sign(mark: Relation) -> char {
    match mark {
        Relation::Isolates => '*',
        Relation::Exercises => 'o',
        Relation::Nothing => ' ',
    }
}
