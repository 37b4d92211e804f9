//! Whole programs on a tree of files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::cells::{cells, median};
use crate::place::Place;

const METRICS: [&str; 7] = [
    "wall_time",
    "wall_time_without_start",
    "start_time",
    "processor_time",
    "user_time",
    "system_time",
    "others_time",
];

#[test]
fn programs_run_on_the_same_tree_in_memory_and_in_an_arena() {
    let Some(place) = Place::as_root("programs_run_on_the_same_tree_in_memory_and_in_an_arena")
    else {
        return;
    };
    let run = "run applications tmpfs densefs --files 150 --blocks 1 --on-busy measure \
               --format json --out run";
    let document = place.run(run).assert_code(0).document();
    assert_eq!(document["run"]["classic"]["benchmark"], "applications");
    let (all, labels) = (cells(&document), ["tmpfs", "densefs (by densefs exec)"]);
    assert_eq!(all.len(), 8);
    for cell in all {
        assert!(labels.iter().any(|&label| cell["target"] == label), "{cell}");
        assert_eq!(cell["parameters"]["directories"], 10, "{cell}");
        assert_eq!(cell["cache_state"], "warm");
        for name in METRICS {
            assert!(median(cell, name) >= 0.0, "{name}: {cell}");
        }
        assert!(median(cell, "wall_time") > 0.0 && median(cell, "start_time") > 0.0, "{cell}");
    }
    let skipped = document["skipped"].as_array().expect("it is a list");
    let is_cold = |one: &&Value| one["why"].as_str().is_some_and(|why| why.contains("never cold"));
    assert_eq!(skipped.iter().filter(is_cold).count(), 8);
}

#[test]
fn a_tree_on_a_device_is_also_cold() {
    let Some(place) = Place::as_root("a_tree_on_a_device_is_also_cold") else { return };
    let run = "run applications ext4:size=64m --program find,grep --files 150 --blocks 1 \
               --on-busy measure --format json --out run";
    let document = place.run(run).assert_code(0).document();
    let states = cells(&document).iter().map(|cell| cell["cache_state"].as_str());
    assert_eq!(states.filter(|&state| state == Some("cold")).count(), 2);
    for cell in cells(&document) {
        assert!(median(cell, "wall_time") > 0.0, "{cell}");
    }
}

#[test]
fn a_program_that_answers_wrongly_has_no_time() {
    let place = Place::new();
    let programs = place.make("programs");
    let find = programs.join("find");
    fs::write(&find, "#!/bin/sh\necho one.h\n").expect("the place is ours");
    fs::set_permissions(&find, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut run = place.measure("run applications . --program find --files 100 --blocks 1");
    let path = std::env::var("PATH").expect("there is one");
    run.env("PATH", format!("{}:{path}", programs.display()));
    let outcome = place.finish(run);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(said.contains("find -name printed 1 names, but 25 are right"), "{said}");
}

#[test]
fn what_cannot_run_is_refused_before_anything_is_made() {
    let place = Place::new();
    let refused = |options: &str, words: &[&str]| {
        place.run(&format!("run applications . {options}")).assert_refused(words);
    };
    refused("--program greb", &["no program 'greb'", "did you mean `grep`?"]);
    refused("--program tar,tar", &["names tar twice"]);
    refused("--files 99", &["--files is 99", "give 100"]);
    let mut poor = place.measure("run applications . --program git-status");
    poor.env("PATH", place.make("nothing"));
    place.finish(poor).assert_refused(&["git is not installed", "apt install git"]);
}

#[test]
fn a_tree_without_room_is_refused() {
    let Some(place) = Place::as_root("a_tree_without_room_is_refused") else { return };
    let refused = |target: &str, words: &[&str]| {
        place.run(&format!("run applications {target} --files 3000")).assert_refused(words);
    };
    refused("tmpfs:size=16m", &["a tree of 3000 files takes", "tmpfs:size=16m has", "--files"]);
    refused("densefs:size=16m", &["a tree of 3000 files takes", "or a larger size="]);
}
