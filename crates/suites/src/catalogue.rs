//! The suites by name.

use record::Dimension;
use thiserror::Error;

use crate::benchmark::Benchmark;
use crate::survey::survey;

/// A named set of benchmarks.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// The name by which `fsprism run` takes it.
    pub name: &'static str,
    /// What it measures, in one line.
    pub summary: &'static str,
    /// Its benchmarks; a baseline stands in every suite that refers to it.
    pub benchmarks: Vec<Benchmark>,
}

/// There is no suite of that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no suite '{name}'{suggestion}; `fsprism run --list` names them")]
pub struct UnknownSuite {
    name: String,
    suggestion: String,
}

/// All suites.
#[must_use]
pub fn suites() -> Vec<Suite> {
    let part = |name, summary, dimension| Suite { name, summary, benchmarks: of(dimension) };
    vec![
        Suite { name: "survey", summary: "every dimension in short", benchmarks: survey() },
        part("survey/io", "cold reads and fsync: the device and the way to it", Dimension::Io),
        part("survey/in-memory", "reads and writes served from memory", Dimension::InMemory),
        part("survey/caching", "writes to pages that are not resident", Dimension::Caching),
        part("survey/metadata", "names and attributes, by directory size", Dimension::Metadata),
        part("survey/scaling", "two threads against one", Dimension::Scaling),
    ]
}

/// The suite called `name`.
///
/// # Errors
/// When there is none; the error names the nearest.
pub fn suite(name: &str) -> Result<Suite, UnknownSuite> {
    let all = suites();
    let nearest = all
        .iter()
        .map(|suite| (strsim::levenshtein(name, suite.name), suite.name))
        .min()
        .filter(|(distance, nearest)| *distance <= nearest.len() / 2)
        .map(|(_, nearest)| format!(": did you mean '{nearest}'?"));
    all.into_iter().find(|suite| suite.name == name).ok_or_else(|| UnknownSuite {
        name: name.to_owned(),
        suggestion: nearest.unwrap_or_default(),
    })
}

fn of(dimension: Dimension) -> Vec<Benchmark> {
    let all = survey();
    let chosen = |benchmark: &&Benchmark| benchmark.dimension == dimension;
    let baselines: Vec<&String> =
        all.iter().filter(chosen).filter_map(|benchmark| benchmark.baseline.as_ref()).collect();
    all.iter()
        .filter(|benchmark| chosen(benchmark) || baselines.contains(&&benchmark.name))
        .cloned()
        .collect()
}
