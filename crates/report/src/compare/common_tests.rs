//! Tests of what runs have in common, and of what is reported if they have nothing.

use super::tests::{named, options};
use super::*;
use crate::sample::{Sample, around};

#[test]
fn runs_of_the_same_targets_are_not_told_to_name_them_alike() {
    let of = |benchmark: &str| Sample::new(&["a"]).benchmark(benchmark, &[&around(1.0, 8)]);
    let runs = [named("one", of("create")), named("two", of("stat"))];
    let refused = compare(&runs, &options()).unwrap_err().to_string();
    assert!(refused.contains("share no benchmark on a: measure the same"), "{refused}");
}

#[test]
fn a_part_of_a_suite_is_compared_with_the_whole() {
    let run = |suite: &str| {
        let mut sample = Sample::new(&["a"]).benchmark("create", &[&around(1.0, 8)]);
        sample.change("create", |cell| cell.suite = suite.to_owned());
        sample
    };
    let runs = [named("one", run("survey")), named("two", run("survey/metadata"))];
    assert_eq!(compare(&runs, &options()).unwrap().comparisons.len(), 1);
}

#[test]
fn what_only_some_runs_measured_is_counted() {
    let with = |names: &[&str]| {
        let sample = Sample::new(&["a"]);
        names.iter().fold(sample, |sample, name| sample.benchmark(name, &[&around(1.0, 8)]))
    };
    let all = ["create", "stat", "rename", "unlink", "mkdir"];
    let runs = [named("one", with(&all)), named("two", with(&all[..1]))];
    let document = compare(&runs, &options()).unwrap();
    let said = "4 benchmarks not measured in every run, so not compared: mkdir; rename; stat; and \
                1 other";
    assert!(document.warnings.iter().any(|warning| warning == said), "{:?}", document.warnings);
}
