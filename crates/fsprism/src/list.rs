//! `fsprism run --list`: the suites, and what their benchmarks isolate.

use serde_json::{Value, json};
use suites::{Benchmark, Suite};

use crate::arguments::Format;
use crate::exit::{Blame, Done};
use crate::output;

/// Prints the suites by name.
pub(crate) fn list(format: Format) -> anyhow::Result<Done> {
    let suites = suites::suites();
    let text = match format {
        Format::Terminal => suites.iter().map(line).collect(),
        Format::Json => {
            let document = json!({ "suites": suites.iter().map(object).collect::<Vec<_>>() });
            format!("{document:#}\n")
        }
        Format::Csv => {
            let refusal = anyhow::anyhow!("the list of suites is no table: use --format json");
            return Err(refusal).blame_input();
        }
    };
    output::print(&text)?;
    Ok(Done::Well)
}

fn line(suite: &Suite) -> String {
    format!("{:<18} {}\n", suite.name, suite.summary)
}

fn object(suite: &Suite) -> Value {
    let benchmark = |one: &Benchmark| {
        let (name, title, dimension) = (&one.name, &one.title, one.dimension);
        json!({ "name": name, "title": title, "dimension": dimension })
    };
    let benchmarks: Vec<Value> = suite.benchmarks.iter().map(benchmark).collect();
    json!({ "name": suite.name, "summary": suite.summary, "benchmarks": benchmarks })
}
