//! `fsprism run --list`: the suites, and which dimensions their benchmarks isolate and exercise.

use footprint_guest::TracedCall;
use network_suite::SUITE;
use serde_json::{Value, json};
use suites::{Benchmark, COLUMNS, Relation, Suite, TableOneRow};

use crate::arguments::Format;
use crate::arguments::analysis::AnswerFormat;
use crate::exit::{Blame, Done};
use crate::output;

const LEGEND: &str = "
Benchmarks of nano (and of the survey, which takes its quick forms from there):
* isolates a dimension, o also exercises it (after Table 1 of \"It IS Rocket Science\")

";
const TITLE_WIDTH: usize = 39;
const FOOTPRINT: &str = "cache lines that operations touch, traced in guests";
const FSCACHE: &str = "a network file system in every state of its caches, in a rig of guests";

/// Prints the suites by name, and the table of dimensions; or the benchmarks of one suite.
pub(crate) fn list(format: Format, suite: Option<&str>) -> anyhow::Result<Done> {
    let suites = suites::suites();
    let text = match format.of_answers() {
        Some(AnswerFormat::Terminal) if let Some(suite) = suite => benchmarks(&object_of(suite)?),
        Some(AnswerFormat::Json) if let Some(suite) = suite => {
            let document = json!({ "suites": [object_of(suite)?] });
            format!("{document:#}\n")
        }
        Some(AnswerFormat::Terminal) => {
            let rows = suites.iter().map(|suite| (suite.name, suite.summary));
            let rows: Vec<(&str, &str)> =
                rows.chain([(footprint_suite::SUITE, FOOTPRINT), (SUITE, FSCACHE)]).collect();
            let width = textual::widest(rows.iter().map(|(name, _)| name));
            let line = |(name, summary): &(&str, &str)| format!("{name:<width$} {summary}\n");
            let lines: String = rows.iter().map(line).collect();
            format!("{lines}{LEGEND}{}", table(&suites))
        }
        Some(AnswerFormat::Json) => {
            let all: Vec<Value> = suites.iter().map(object).chain([traced(), network()]).collect();
            let document = json!({ "suites": all });
            format!("{document:#}\n")
        }
        None => {
            let refusal =
                anyhow::anyhow!("the list of suites has no such format: use --format json");
            return Err(refusal).blame_input();
        }
    };
    output::print(&text)?;
    Ok(Done::Well)
}

/// A suite of this name.
fn object_of(name: &str) -> anyhow::Result<Value> {
    match name {
        footprint_suite::SUITE => Ok(traced()),
        SUITE => Ok(network()),
        _ => Ok(object(&suites::suite(name).blame_input()?)),
    }
}

/// The names of a suite's benchmarks, as `--benchmark` takes them, and their titles.
fn benchmarks(suite: &Value) -> String {
    let all = suite["benchmarks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |one: &Value, what: &str| one[what].as_str().unwrap_or_default().to_owned();
    let rows: Vec<[String; 2]> =
        all.iter().map(|one| [text(one, "name"), text(one, "title")]).collect();
    let width = textual::widest(rows.iter().map(|[name, _]| name));
    rows.iter().map(|[name, title]| format!("{name:<width$}  {title}\n")).collect()
}

/// The suite that is traced in guests, whose benchmarks are operations.
fn traced() -> Value {
    let benchmark = |operation: &TracedCall| {
        json!({
            "name": operation.name(), "title": operation.title(),
            "dimension": record::Dimension::CpuFootprint, "exercises": [], "curve": null,
        })
    };
    let benchmarks: Vec<Value> = TracedCall::by_default().map(|call| benchmark(&call)).collect();
    json!({ "name": footprint_suite::SUITE, "summary": FOOTPRINT, "benchmarks": benchmarks })
}

/// The suite that is measured over a network.
fn network() -> Value {
    let benchmark = |one: network_suite::NetworkBenchmark| {
        json!({
            "name": one.name(), "title": one.title(),
            "dimension": record::Dimension::Caching,
            "exercises": [record::Dimension::Io, record::Dimension::Metadata], "curve": null,
        })
    };
    let benchmarks = network_suite::NetworkBenchmark::ALL.map(benchmark);
    json!({ "name": SUITE, "summary": FSCACHE, "benchmarks": benchmarks })
}

fn table(suites: &[Suite]) -> String {
    let nano = suites.iter().find(|suite| suite.name == "nano");
    let rows = nano.map(|suite| suites::table_one(&suite.benchmarks)).unwrap_or_default();
    let heads: String = COLUMNS.iter().map(|(_, name)| format!(" {name:>5}")).collect();
    let head = format!("{:TITLE_WIDTH$}{heads}\n", "");
    std::iter::once(head).chain(rows.iter().map(table_row)).collect()
}

/// A row whose title is broken at words where it is too long for its column.
fn table_row(row: &TableOneRow) -> String {
    let title = match row.points {
        1 => row.title.clone(),
        points => format!("{} ({points} points)", row.title),
    };
    let marks: String = row
        .marks
        .iter()
        .zip(COLUMNS)
        .map(|(mark, (_, name))| format!(" {:>width$}", sign(*mark), width = name.len().max(5)))
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

fn object(suite: &Suite) -> Value {
    let benchmark = |one: &Benchmark| {
        let (name, title, dimension) = (&one.name, &one.title, one.dimension);
        let (exercises, curve) = (&one.exercises, &one.curve);
        json!({
            "name": name, "title": title, "dimension": dimension, "exercises": exercises,
            "curve": curve,
        })
    };
    let benchmarks: Vec<Value> = suite.benchmarks.iter().map(benchmark).collect();
    json!({ "name": suite.name, "summary": suite.summary, "benchmarks": benchmarks })
}
