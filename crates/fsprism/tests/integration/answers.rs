//! The closing screen and what leads to it: loads, dry runs, runs that are given more time.

use std::fs;

use crate::place::Place;
use crate::process::Outcome;

const SMALL: &str = "run survey/in-memory . --size 1m";

fn blocks_of(outcome: &Outcome) -> u64 {
    let document = outcome.document();
    let cells = document["cells"].as_array().expect("a list");
    cells.iter().filter_map(|cell| cell["replicates"].as_u64()).max().expect("it was measured")
}

#[test]
fn a_budget_without_room_for_an_interval_is_refused_and_leaves_nothing() {
    let name = "a_budget_without_room_for_an_interval_is_refused_and_leaves_nothing";
    let Some(place) = Place::as_root(name) else { return };
    let refused = place.run("survey ext4:size=128m --budget 50ms --size 1m --out run");
    refused.assert_refused(&["0.05 s is too short", "use --budget"]);
    assert!(!place.path("run").exists());
}

#[test]
fn a_run_is_tried_out_and_keeps_nothing() {
    let place = Place::new();
    let tried = place.run(&format!("{SMALL} --blocks 3 --dry-run"));
    let text = &tried.assert_code(0).stdout;
    assert!(text.contains("10 benchmarks on") && text.contains("in about 3 blocks"), "{text}");
    assert!(text.contains("sequential read 4 KiB, warm"), "{text}");
    assert!(!place.path("fsprism-runs").exists());
}

#[test]
fn a_finished_run_goes_on_when_it_is_given_more_time() {
    let place = Place::new();
    let first = place.run(&format!("{SMALL} --blocks 2 --format json --out run"));
    assert_eq!(blocks_of(first.assert_code(0)), 2);
    let shown = place.run("run --resume run --format json");
    assert_eq!(blocks_of(shown.assert_code(0)), 2, "without a budget nothing is left to do");
    let more = place.run("run --resume run --budget 2s --format json");
    assert!(blocks_of(more.assert_code(0)) > 2, "{more:?}");
    let budget = more.document()["run"]["budget_s"].as_f64().expect("a number");
    let used = more.document()["end"]["used_s"].as_f64().expect("a number");
    assert!(budget > 2.0 && budget < used + 2.0, "{budget} of {used}");
}

#[test]
fn loads_are_chosen_by_name_or_by_file() {
    let place = Place::new();
    place.run(&format!("{SMALL} --blocks 1")).assert_code(0);
    for (loads, words) in [
        ("mial", &["no load mial", "did you mean `mail`?"][..]),
        ("mail", &["the load mail needs unlink-100"]),
        ("none.toml", &["cannot read none.toml"]),
        ("empty.toml", &["empty.toml: it has no operations"]),
        ("typo.toml", &["needs random-raed-4k-warm", "did you mean `random-read-4k-warm`?"]),
    ] {
        fs::write(place.path("empty.toml"), "title = \"nothing\"\n").expect("the place is ours");
        let typo = "title = \"x\"\n[[operation]]\nbenchmark = \"random-raed-4k-warm\"\n";
        fs::write(place.path("typo.toml"), typo).expect("the place is ours");
        place.run(&format!("{SMALL} --blocks 1 --for {loads}")).assert_refused(words);
    }
    let mine = "title = \"my importer\"\n[[operation]]\nbenchmark = \"random-read-4k-warm\"\n\
                [[operation]]\ntransfer = \"sequential-write-warm\"\nbytes = 65536\ncount = 2\n";
    fs::write(place.path("mine.toml"), mine).expect("the place is ours");
    let outcome = place.run(&format!("{SMALL} --blocks 6 --for mine.toml --out run"));
    let text = &outcome.assert_code(0).stdout;
    assert!(text.contains("For my importer: "), "{text}");
    assert!(text.lines().count() <= 25, "{text}");
    let page = fs::read_to_string(place.path("run/report.html")).expect("it was written");
    assert!(page.contains("my importer"));
    // Only what the load needs is measured.
    let document = place.finish(place.fsprism("report run --format json")).document();
    let cells = document["cells"].as_array().expect("a list").iter();
    let measured: Vec<&str> = cells.filter_map(|cell| cell["benchmark"].as_str()).collect();
    let taken = ["sequential-write-4k-warm", "sequential-write-1m-warm", "random-read-4k-warm"];
    assert_eq!(measured.len(), taken.len(), "{measured:?}");
    assert!(taken.iter().all(|name| measured.contains(name)), "{measured:?}");
}

#[test]
fn what_got_worse_fails_a_comparison_if_that_is_asked_for() {
    let place = Place::new();
    for name in ["before", "after", "again", "last"] {
        place.run(&format!("{SMALL} --blocks 6 --out {name}")).assert_code(0);
    }
    let compare = |arguments: &str| place.finish(place.fsprism(&format!("compare {arguments}")));
    // On a busy machine, too little may be known to pass the gate.
    let assert_green = |limits: &str| {
        let found = compare(&format!("--a before after --b again last --fail-above {limits}"));
        let is_busy = found.stdout.contains("the machine was busy");
        assert!(found.code == Some(0) || is_busy && found.code == Some(3), "{found:?}");
    };
    assert_green("100000%");
    // Differences between single runs are inconclusive, and so are intervals wider than the limit.
    let of_single_runs = compare("before after --fail-above 100000%");
    let said = &of_single_runs.assert_code(3).stderr;
    assert!(said.contains("10 of 10 comparisons have one run a side"), "{said}");
    assert!(said.contains("--runs 4"), "{said}");
    let blind = compare("--a before after --b again last --fail-above 0.001%");
    assert!(matches!(blind.code, Some(1 | 3)), "{blind:?}");
    compare("before before --fail-above 5%").assert_refused(&["before is named twice"]);
    compare("before after --fail-above 0.05").assert_refused(&["give 5% or 0.05%"]);
    compare("before after --fail-above=-1%").assert_refused(&["above 0%"]);
    compare("before --fail-above 5%").assert_refused(&["--fail-above", "name two"]);
    assert_green("1e5%,time_per_operation:1e5%");
    let of_metric = compare("before after --metric time_per_operation --format json");
    assert_eq!(of_metric.assert_code(0).document()["metric"], "time_per_operation");
    for unknown in ["--metric p75", "--fail-above 5%,p75:5%"] {
        let refused = compare(&format!("before after {unknown}"));
        refused.assert_refused(&["no benchmark of before has p75: it has mean", "time_per"]);
    }
    compare("before after --fail-above p99").assert_refused(&["a percentage, or a metric and"]);
    let summary = compare("before after");
    let said = &summary.assert_code(0).stdout;
    assert!(said.contains("10 comparisons at 95 % confidence: "), "{said}");
    let all = compare("before after --full");
    assert!(all.assert_code(0).stdout.lines().count() > said.lines().count(), "{all:?}");
}
