//! Comparisons of runs made by hand.

use std::path::Path;

use super::*;
use crate::sample::{Sample, around, swaying};

fn options() -> CompareOptions {
    CompareOptions { factors: Vec::new(), margin: 0.02, level: None, unlike: false }
}

fn named(name: &str, sample: Sample) -> NamedRun {
    NamedRun { name: name.to_owned(), run: sample.run }
}

fn verdicts(document: &CompareDocument) -> Vec<Verdict> {
    document.comparisons.iter().map(|comparison| comparison.verdict).collect()
}

#[test]
fn within_a_run_each_word_has_its_case() {
    let base = around(1000.0, 12);
    let times = |factor: f64| -> Vec<f64> { base.iter().map(|time| time * factor).collect() };
    // A ratio that sways by 0.2 %, and one that sways by 10 %.
    let with_noise = |factor: f64, size: f64| -> Vec<f64> {
        let noise = [1.0, -1.0, 0.5, -0.5, 0.8, -0.8, 0.3, -0.3, 0.6, -0.6, 0.1, -0.1];
        times(factor).iter().zip(noise).map(|(time, noise)| time * (1.0 + size * noise)).collect()
    };
    let sample = Sample::new(&["a", "b"])
        .benchmark("slower", &[&base, &with_noise(1.5, 0.01)])
        .benchmark("a-little-slower", &[&base, &with_noise(1.01, 0.002)])
        .benchmark("alike", &[&base, &with_noise(1.0, 0.002)])
        .benchmark("who-knows", &[&base, &with_noise(1.0, 0.1)])
        .benchmark("few", &[&base, &around(1000.0, 5)]);
    let document = compare(&[named("run", sample)], &options()).unwrap();
    let expected = [
        Verdict::Real,
        Verdict::RealButSmall,
        Verdict::Same,
        Verdict::NotToldApart,
        Verdict::NotEnoughData,
    ];
    assert_eq!(verdicts(&document), expected);
    let text = document.text(100);
    for words in [
        "b: time per operation 1.5",
        "different by less than 2 %",
        "are the same within 2 %",
        "cannot be told apart",
        "would have been seen",
        "b and a: not enough data",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let least = document.comparisons[3].least_detectable_ratio.unwrap();
    assert!(least > 1.03 && least < 1.15, "{least}");
}

#[test]
fn later_runs_are_compared_with_the_first_target_by_target() {
    let before = Sample::new(&["a", "b"])
        .benchmark("create", &[&around(1000.0, 8), &around(2000.0, 8)])
        .benchmark("gone", &[&around(1.0, 8), &around(1.0, 8)]);
    let after =
        Sample::new(&["b", "a"]).benchmark("create", &[&swaying(1000.0, 9), &swaying(1500.0, 9)]);
    let runs = [named("before", before), named("after", after)];
    let document = compare(&runs, &options()).unwrap();
    let ratios: Vec<(&str, f64)> =
        document.comparisons.iter().map(|one| (one.first.as_str(), one.ratio.unwrap())).collect();
    assert_eq!((ratios[0].0, ratios[1].0), ("a", "b"));
    assert!((ratios[0].1 - 1.5).abs() < 0.02 && (ratios[1].1 - 0.5).abs() < 0.01, "{ratios:?}");
    assert!(document.comparisons.iter().all(|one| !one.paired && one.second_run == "after"));
    assert_eq!(
        (document.comparisons[0].first_values, document.comparisons[0].second_values),
        (8, 9)
    );
    assert_eq!(document.left_out, ["gone"]);
    let sources: Vec<&str> = document
        .analysis
        .as_ref()
        .unwrap()
        .anova
        .iter()
        .map(|source| source.source.as_str())
        .collect();
    // One benchmark alone is no factor.
    assert_eq!(sources, ["run", "target", "run x target", "errors"]);
    assert!(document.warnings.iter().any(|warning| warning.contains("do not pair")));
}

#[test]
fn what_only_describes_is_no_cost_in_the_analysis() {
    let mut sample = Sample::new(&["a", "b"])
        .benchmark("create", &[&around(1000.0, 8), &around(2000.0, 8)])
        .benchmark("window", &[&around(1.0, 8), &around(100.0, 8)]);
    let describes = |cell: &mut record::Cell| cell.metrics[0].better = record::Better::Neither;
    sample.change("window", describes);
    let document = compare(&[named("run", sample.clone())], &options()).unwrap();
    assert_eq!(document.left_out, ["window"]);
    let ratio = document.analysis.unwrap().contrasts[0].ratio.as_ref().unwrap().estimate;
    assert!((ratio - 0.5).abs() < 0.01, "{ratio}");
    sample.change("create", describes);
    let document = compare(&[named("run", sample)], &options()).unwrap();
    assert!(document.analysis_refused.unwrap().contains("has a cost on every target"));
}

#[test]
fn what_has_nothing_in_common_is_refused() {
    let alone = Sample::new(&["a"]).benchmark("create", &[&around(1.0, 8)]);
    let refused = compare(&[named("run", alone.clone())], &options()).unwrap_err();
    assert!(refused.to_string().contains("name another run"), "{refused}");
    let other = Sample::new(&["b"]).benchmark("create", &[&around(1.0, 8)]);
    let refused = compare(&[named("one", alone), named("two", other)], &options()).unwrap_err();
    assert!(refused.to_string().contains("same labels"), "{refused}");
}

#[test]
fn factors_that_make_no_design_are_refused() {
    let run = || {
        let values = [around(1.0, 8), around(2.0, 8)];
        vec![named("run", Sample::new(&["a", "b"]).benchmark("create", &[&values[0], &values[1]]))]
    };
    let refusal = |factors: &[Factor]| {
        let options = CompareOptions { factors: factors.to_vec(), ..options() };
        compare(&run(), &options).unwrap_err().to_string()
    };
    assert!(refusal(&[Factor::Run, Factor::Target]).contains("at least two levels"));
    assert!(refusal(&[Factor::Target, Factor::Target]).contains("names target twice"));
    let nothing = vec![named("run", Sample::new(&["a", "b"]))];
    let refused = compare(&nothing, &options()).unwrap_err().to_string();
    assert!(refused.contains("run holds no replicate"), "{refused}");
}

#[test]
fn runs_are_named_as_shortly_as_can_be() {
    let run = || Sample::new(&["a"]).run;
    let names = |paths: &[&str]| -> Vec<String> {
        let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
        let runs = paths.iter().map(|_| run()).collect();
        name_runs(&paths, runs).into_iter().map(|named| named.name).collect()
    };
    assert_eq!(names(&["x/before", "x/after"]), ["before", "after"]);
    assert_eq!(names(&["x/run", "y/run"]), ["x/run", "y/run"]);
    assert_eq!(names(&["x/run", "x/run"]), ["x/run", "x/run (2)"]);
}

#[test]
fn what_runs_differ_in_is_said_and_what_they_measured_otherwise_is_not_compared() {
    let run = |kernel: &str, file_bytes: u64| {
        let mut sample = Sample::new(&["a"])
            .benchmark("create", &[&around(1000.0, 8)])
            .benchmark("read", &[&around(100.0, 8)]);
        sample.run.manifest.machine.kernel.release = Some(kernel.to_owned());
        sample.run.manifest.run.data_file_bytes = file_bytes;
        sample.change("read", |cell| {
            cell.parameters.insert("file_bytes".to_owned(), file_bytes.into());
        });
        sample
    };
    let runs = [named("before", run("6.1", 16 << 20)), named("after", run("6.2", 256 << 20))];
    let document = compare(&runs, &options()).unwrap();
    let compared: Vec<&str> = document.comparisons.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(compared.len(), 1, "{compared:?}");
    assert_eq!(document.comparisons[0].benchmark, "create");
    let text = document.text(100);
    for words in [
        "kernel: 6.1 in before, 6.2 in after",
        "data files: 16 MiB in before, 256 MiB in after",
        "file 16 MiB in before, 256 MiB in after",
        "--unlike",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    let differing: Vec<&str> = document.differences.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(differing, ["data files", "kernel"]);
    let (differs, compares) = (text.find("kernel: 6.1"), text.find("\ncreate"));
    assert!(differs < compares, "what differs comes first: {text}");
    // A third run that is like the first is compared with it all the same.
    let [before, after] = runs.clone();
    let three = [before, after, named("again", run("6.1", 16 << 20))];
    let document = compare(&three, &options()).unwrap();
    let is_read_again = |one: &&Comparison| one.benchmark == "read" && one.second_run == "again";
    assert_eq!(document.comparisons.iter().filter(is_read_again).count(), 1);
    let asked = compare(&runs, &CompareOptions { unlike: true, ..options() }).unwrap();
    assert!(asked.comparisons.len() == 2 && asked.unlike.is_empty());
    let only = |file_bytes| {
        let mut sample = run("6.1", file_bytes);
        sample.change("create", |cell| {
            cell.parameters.insert("files".to_owned(), file_bytes.into());
        });
        sample
    };
    let runs = [named("one", only(1)), named("two", only(2))];
    let refused = compare(&runs, &options()).unwrap_err().to_string();
    assert!(
        refused.contains("files 1 in one, 2 in two") && refused.contains("--unlike"),
        "{refused}"
    );
}
