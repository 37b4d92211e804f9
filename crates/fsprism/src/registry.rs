//! Every suite that `fsprism run` takes, whichever crate measures it: lists, completions and
//! suggestions go by this.

use anyhow::anyhow;
use footprint_guest::TracedCall;
use network_suite::NetworkBenchmark;
use record::{CurvePoint, Dimension};
use serde::Serialize;
use suites::{Benchmark, Suite};
use textual::did_you_mean;

/// A suite, as far as it can be known before it is measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SuiteRow {
    /// The name by which `fsprism run` takes it.
    pub(crate) name: &'static str,
    /// What it measures, in one line.
    pub(crate) summary: &'static str,
    pub(crate) benchmarks: Vec<BenchmarkRow>,
}

/// One benchmark of a suite.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BenchmarkRow {
    /// Its name, unique within the suite.
    pub(crate) name: String,
    /// The same in words.
    pub(crate) title: String,
    /// The dimension that it isolates.
    dimension: Dimension,
    /// Dimensions that it merely exercises.
    exercises: Vec<Dimension>,
    /// The curve that it is a point of, if it is one.
    curve: Option<CurvePoint>,
}

/// All suites: those that are timed here, then what is traced or measured in guests.
pub(crate) fn rows() -> Vec<SuiteRow> {
    suites::suites().into_iter().map(timed).chain([traced(), networked()]).collect()
}

/// The suite of this name.
///
/// # Errors
/// When there is none; the error names the nearest, or the suite of a benchmark that has the name.
pub(crate) fn row(name: &str) -> anyhow::Result<SuiteRow> {
    let rows = rows();
    let has_it = |row: &&SuiteRow| row.benchmarks.iter().any(|one| one.name == name);
    let suggestion = match rows.iter().find(has_it) {
        Some(row) => format!(": it is a benchmark, `run {} --benchmark {name}`", row.name),
        None => did_you_mean(name, rows.iter().map(|row| row.name)),
    };
    let found = rows.into_iter().find(|row| row.name == name);
    found.ok_or_else(|| anyhow!("no suite '{name}'{suggestion}; `fsprism run --list` lists them"))
}

/// The suite of this name, which is timed on targets here.
///
/// # Errors
/// As [`row`]'s.
pub(crate) fn timed_suite(name: &str) -> anyhow::Result<Suite> {
    let known = || anyhow!("{name} is not timed on targets");
    suites::suite(name).ok_or_else(|| row(name).err().unwrap_or_else(known))
}

fn timed(suite: Suite) -> SuiteRow {
    let benchmark = |one: Benchmark| BenchmarkRow {
        name: one.name,
        title: one.title,
        dimension: one.dimension,
        exercises: one.exercises,
        curve: one.curve,
    };
    let benchmarks = suite.benchmarks.into_iter().map(benchmark).collect();
    SuiteRow { name: suite.name, summary: suite.summary, benchmarks }
}

/// The suite that is traced in guests, whose benchmarks are operations.
fn traced() -> SuiteRow {
    let benchmark = |operation: TracedCall| BenchmarkRow {
        name: operation.name().to_owned(),
        title: operation.title().to_owned(),
        dimension: Dimension::CpuFootprint,
        exercises: Vec::new(),
        curve: None,
    };
    SuiteRow {
        name: footprint_suite::SUITE,
        summary: "cache lines that operations touch, traced in guests",
        benchmarks: TracedCall::by_default().map(benchmark).collect(),
    }
}

/// The suite that is measured over a network of guests.
fn networked() -> SuiteRow {
    let benchmark = |one: NetworkBenchmark| BenchmarkRow {
        name: one.name().to_owned(),
        title: one.title().to_owned(),
        dimension: Dimension::Caching,
        exercises: vec![Dimension::Io, Dimension::Metadata],
        curve: None,
    };
    SuiteRow {
        name: network_suite::SUITE,
        summary: "a network file system in every state of its caches, in a rig of guests",
        benchmarks: NetworkBenchmark::ALL.into_iter().map(benchmark).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_suite_has_a_name_of_its_own_and_so_has_each_of_its_benchmarks() {
        let rows = rows();
        let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len());
        for row in &rows {
            let names: BTreeSet<&str> = row.benchmarks.iter().map(|one| &*one.name).collect();
            assert!(names.len() == row.benchmarks.len() && !names.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn whatever_measures_a_suite_its_name_is_suggested() {
        for (given, meant) in [
            ("fscach", "did you mean `fscache`?"),
            ("footprnt", "did you mean `footprint`?"),
            ("survey/metdata", "did you mean `survey/metadata`?"),
            ("append-fsync-4k", "`run survey --benchmark append-fsync-4k`"),
        ] {
            let said = row(given).expect_err("there is none").to_string();
            assert!(said.contains(meant) && said.contains("run --list"), "{said}");
        }
        let said = row("xyz").expect_err("there is none").to_string();
        assert!(!said.contains("did you mean"), "{said}");
        assert!(["fscache", "footprint", "nano/io"].iter().all(|name| row(name).is_ok()));
    }
}
