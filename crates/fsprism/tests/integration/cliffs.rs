//! Searches for cliffs on real targets: a memory limit that is found and proved, a search that is
//! killed halfway, and what cannot be searched.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::documents::assert_valid;
use crate::kill::ends_before_lines;
use crate::place::{Place, names_in};
use crate::process::kill;
use crate::refusals::PrivateMounts;

const MIB: f64 = 1024.0 * 1024.0;
const SEARCH: &str = "cliff ext4:size=160m,memory=16m --low 4m --high 64m --width 5% --seed 3";

/// Other processes disturb times, but not which pages can stay within a limit.
#[test]
fn a_memory_limit_is_found_and_proved() {
    let Some(place) = Place::as_root("a_memory_limit_is_found_and_proved") else { return };
    let (run, document) = searched(&place);
    assert_valid(&document);
    assert_eq!(document["end"]["reason"], "searched");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("a number: {value}"));
    let cliffs = document["cliffs"].as_array().expect("a list");
    let cliff = cliffs.iter().find(is_limit).unwrap_or_else(|| panic!("none: {cliffs:?}"));
    let (low, high) = (number(&cliff["low"]), number(&cliff["high"]));
    // The kernel and the program need less than half of the 16 MiB.
    assert!(8.0 * MIB < low && high < 16.5 * MIB && high / low <= 1.05, "{cliff}");
    assert_eq!((&cliff["axis"], &cliff["unit"]), (&"working-set".into(), &"bytes".into()));
    assert!(number(&cliff["plateau_before"]) > 1.2 * number(&cliff["plateau_after"]), "{cliff}");
    assert_eq!(cliff["cause"]["limit_bytes"], 16 << 20);
    let resident_to = number(&cliff["cause"]["resident_to_bytes"]);
    assert!(resident_to < number(&cliff["cause"]["read_from_bytes"]), "{cliff}");
    let search = &document["searches"][0];
    assert_eq!(search["finished"], true);
    assert!(number(&search["probes"]) <= 40.0 + 20.0 * cliffs.len() as f64, "{search}");
    assert_cells(&document);
    // The run directory alone gives the same document again.
    let report = place.finish(place.fsprism(&format!("report {run} --format json")));
    assert_eq!(report.assert_code(0).document(), document);
    let compared = place.finish(place.fsprism(&format!("compare {run}")));
    compared.assert_refused(&["search for cliffs", "fsprism report"]);
    let text = place.finish(place.fsprism(&format!("report {run} --terminal")));
    let words: Vec<&str> = text.assert_code(0).stdout.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains("Cause: the target's memory limit, 16 MiB. Up to 1"), "{words}");
    assert!(words.contains("--- between 1"), "{words}");
}

/// Searches, and returns the run. Searches again if noise ended the search before the interval was
/// narrow enough or left the cause unproved, which may happen on a busy machine and is reported.
fn searched(place: &Place) -> (String, Value) {
    let search = |number: u32| {
        let run = format!("run-{number}");
        let seed = format!("--seed {}", 2 + number);
        let words = format!("{} --format json --out {run}", SEARCH.replace("--seed 3", &seed));
        let document = place.run(&words).assert_code(0).document();
        (run, document)
    };
    let is_ended_by_noise = |document: &Value| {
        let cliffs = document["cliffs"].as_array().expect("a list");
        cliffs.iter().find(is_limit).is_none_or(|cliff| cliff["reached"] == "noise")
    };
    let mut found = search(1);
    for number in 2..=3 {
        if is_ended_by_noise(&found.1) {
            found = search(number);
        }
    }
    found
}

fn is_limit(cliff: &&Value) -> bool {
    cliff["cause"]["kind"] == "memory-limit"
}

/// Checks that each position is a cell, in the state that a limit of 16 MiB implies.
#[track_caller]
fn assert_cells(document: &Value) {
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.len() >= 6, "{cells:?}");
    for cell in cells {
        let bytes = cell["parameters"]["working_set_bytes"].as_f64().expect("a position");
        let metric = |name: &str| {
            let metrics = cell["metrics"].as_array().expect("a list");
            let named = metrics.iter().find(|metric| metric["name"] == name);
            named.and_then(|metric| metric["median"].as_f64()).expect("it is measured")
        };
        assert_eq!(cell["cache_state"], "steady");
        assert!(metric("throughput") > 0.0 && metric("resident") <= 16.0 * MIB, "{cell}");
        if bytes <= 8.0 * MIB {
            // Not 0: programs that look at every device also read from this one.
            assert!(metric("device_read_per_operation") < 40.0, "{cell}");
            assert_eq!(metric("resident").to_bits(), bytes.to_bits(), "{cell}");
        } else if bytes > 16.5 * MIB {
            assert!(metric("device_read_per_operation") > 0.0, "{cell}");
        }
    }
}

#[test]
fn what_a_search_had_measured_when_it_was_killed_can_be_read() {
    let name = "what_a_search_had_measured_when_it_was_killed_can_be_read";
    let Some(place) = Place::as_root(name) else { return };
    let mut command = place.measure(&format!("{SEARCH} --out run"));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("it can be started");
    // The first probe is announced after the journal is made.
    let mut stderr = std::io::BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    while line.is_empty() || line.contains("another run ") {
        line.clear();
        std::io::BufRead::read_line(&mut stderr, &mut line).expect("plain text");
    }
    assert!(!ends_before_lines(&child, &place.path("run"), 8), "it ended too early");
    kill(&mut child);
    place.assert_nothing_left(child.id());
    let report = place.finish(place.fsprism("report run --format json"));
    let document = report.assert_code(0).document();
    assert_valid(&document);
    assert_eq!(document["searches"][0]["finished"], false);
    assert_eq!(document["end"], Value::Null);
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.iter().filter(|cell| cell["replicates"] != 0).count() >= 2, "{cells:?}");
    let text = place.finish(place.fsprism("report run --terminal"));
    assert!(text.assert_code(0).stdout.contains("The search was cut off after"), "{text:?}");
    place.run("run --resume run").assert_refused(&["search for cliffs", "cannot be resumed"]);
}

#[test]
fn every_axis_can_be_searched_in_a_directory() {
    let Some(place) = Place::as_root("every_axis_can_be_searched_in_a_directory") else { return };
    let data = place.make("data");
    fs::write(data.join("precious"), "kept").expect("the place is ours");
    for (axis, range, unit) in [
        ("working-set", "--low 64k --high 256k", "bytes"),
        ("request-size", "--low 4k --high 16k", "bytes"),
        ("threads", "--high 4", "threads"),
        ("read-share", "--low 0 --high 40% --working-set 1m", "percent"),
        ("sequential-share", "--low 60% --read-share 50 --threads 2", "percent"),
    ] {
        let outcome = place.run(&format!(
            "cliff disk=./data --axis {axis} {range} --probes 8 --budget 30s --format json \
             --out {axis}"
        ));
        let document = outcome.assert_code(0).document();
        assert_valid(&document);
        let search = &document["searches"][0];
        assert_eq!((&search["plan"]["axis"], &search["unit"]), (&axis.into(), &unit.into()));
        assert!(document["cells"].as_array().is_some_and(|cells| cells.len() >= 3), "{document}");
        let text = place.finish(place.fsprism(&format!("report {axis} --terminal")));
        assert!(text.assert_code(0).stdout.contains(" by "), "{text:?}");
    }
    assert_eq!(names_in(&data), ["precious"]);
}

#[test]
fn volumes_of_several_sizes_can_be_searched() {
    let Some(place) = Place::as_root("volumes_of_several_sizes_can_be_searched") else { return };
    let outcome = place.run(
        "cliff ext4 half=ext4:filled=50% --axis volume-size --low 256m --high 1g --working-set 8m \
         --probes 6 --budget 60s --format json --out run",
    );
    let document = outcome.assert_code(0).document();
    assert_valid(&document);
    let searches = document["searches"].as_array().expect("a list");
    assert_eq!(searches.len(), 2);
    for (search, label) in searches.iter().zip(["ext4", "half"]) {
        let plan = &search["plan"];
        assert_eq!((&plan["axis"], &plan["target"]), (&"volume-size".into(), &label.into()));
        assert_eq!((&plan["high"], &search["unit"]), (&(1024.0 * MIB).into(), &"bytes".into()));
    }
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.len() >= 6, "{cells:?}");
    for cell in cells {
        let bytes = cell["parameters"]["volume_bytes"].as_f64().expect("a position");
        assert!((256.0 * MIB..=1024.0 * MIB).contains(&bytes), "{cell}");
        assert_eq!(cell["parameters"]["read_percent"], 0, "{cell}");
        assert!(cell["replicates"].as_u64().is_some_and(|count| count > 0), "{cell}");
    }
    let text = place.finish(place.fsprism("report run --terminal"));
    text.assert_code(0);
    assert!(text.stdout.contains("the first on a new volume"), "{text:?}");
}

#[test]
fn what_cannot_be_searched_is_refused_before_anything_is_kept() {
    let name = "what_cannot_be_searched_is_refused_before_anything_is_kept";
    let Some(place) = Place::as_root(name) else { return };
    for (arguments, words) in [
        ("ext4:size=128m,memory=16m --low 8m --high 12m", ["factor of 2", "larger --high"]),
        ("ext4:size=128m,memory=16m --low 8m --high 4m", ["factor of 2", "smaller --low"]),
        ("ext4:size=128m,memory=16m --low 1k", ["at 4096 bytes or more", "larger --low"]),
        ("ext4:size=128m,memory=16m --high 100g", ["does not fit", "smaller --high"]),
        ("tmpfs:size=64m,memory=16m", ["only copy", "leave memory= out"]),
        ("ext4:size=128m --axis request-size --high 1g", ["larger than the file", "--high"]),
        ("ext4:size=128m --axis threads --high 4096", ["4096 threads", "smaller --high"]),
        ("ext4:size=128m --axis threads --threads 2", ["--threads fixes", "leave one of them"]),
        ("ext4:size=128m --axis read-share --read-share 0", ["--read-share fixes", "leave one"]),
        ("ext4:size=128m --axis read-share --low 120", ["from 0 to 100 %", "120 %"]),
        ("ext4:size=128m --axis read-share --low 60 --high 65", ["10 points", "larger --high"]),
        ("ext4:size=128m --axis read-share --working-set 1g", ["does not fit", "--working-set"]),
        ("ext4:size=128m --low 50%", ["in bytes", "without %"]),
        ("ext4:size=128m --read-share 120", ["--read-share", "between 0% and 100%"]),
        ("ext4:size=128m --sequential-share half", ["--sequential-share", "whole percentage"]),
        ("ext4:size=128m --axis depth", ["depth", "working-set"]),
        ("ext4:size=9g --axis volume-size", ["size= fixes", "leave one of them"]),
        ("ext4:aged=1 --axis volume-size", ["written before", "leave aged="]),
        ("ext2:filled=50% --axis volume-size", ["written before", "filled= where"]),
        ("ext4:image=allocated --axis volume-size", ["written before", "image=allocated out"]),
        ("xfs --axis volume-size --low 300m", ["320 MiB", "--low 320m"]),
        ("xfs --axis volume-size --high 300m", ["320 MiB", "--high 320m"]),
        ("ext4:filled=95% --axis volume-size", ["and what else", "--low 5120m"]),
        ("tmpfs --axis volume-size", ["tmpfs has no image", "on an image"]),
        (". --axis volume-size", ["has no image", "on an image"]),
        ("ext4 --axis volume-size --low 64m", ["too small for a file", "--low 256m"]),
        ("ext4 --axis volume-size --low 1g --high 1536m", ["factor of 2", "larger --high"]),
        ("ext4 --axis volume-size --high 9000000g", ["does not fit", "smaller --high"]),
    ] {
        let outcome = place.run(&format!("cliff {arguments} --out run"));
        outcome.assert_refused(&words);
        assert!(!place.path("run").exists(), "{arguments}");
    }
}

#[test]
fn without_a_memory_controller_a_limit_is_refused() {
    let name = "without_a_memory_controller_a_limit_is_refused";
    let Some(place) = Place::as_root(name) else { return };
    let mounts = PrivateMounts::new("mount -t tmpfs none /sys/fs/cgroup");
    let outcome = mounts.run(&place, "cliff ext4:size=128m,memory=16m --out run");
    outcome.assert_refused(&["memory"]);
}

/// With a journal of 4 MiB that all data goes through, writers wait for room in it as soon as what
/// they write does not fit. Other processes disturb times, but not what is waited for.
#[test]
fn writers_that_wait_for_a_journal_are_seen_waiting_for_it() {
    let Some(place) = Place::as_root("writers_that_wait_for_a_journal_are_seen_waiting_for_it")
    else {
        return;
    };
    let outcome = place.run(
        "cliff ext4:size=160m,mkfs=-Jsize=4,mount=data=journal --read-share 0 --low 256k \
         --high 64m --width 50% --probes 20 --seed 3 --budget 90s --format json --out run",
    );
    let document = outcome.assert_code(0).document();
    assert_valid(&document);
    for cell in document["cells"].as_array().expect("a list") {
        assert_eq!(cell["parameters"]["read_percent"], 0, "{cell}");
        let bytes = cell["parameters"]["working_set_bytes"].as_f64().expect("a position");
        let seen = &cell["observations"][0];
        assert_eq!(seen["kind"], "probe", "{cell}");
        let count = |name: &str| seen["waits"][name].as_f64().expect("stacks can be read");
        assert!(count("looks") >= 10.0 && count("dirty_limit") == 0.0, "{seen}");
        if bytes >= 16.0 * MIB {
            assert!(count("journal") > 0.05 * count("looks"), "{cell}");
        }
    }
    for cliff in document["cliffs"].as_array().expect("a list") {
        let kind = cliff["cause"]["kind"].as_str().expect("a kind");
        assert!(["journal", "unknown", "processor-cache"].contains(&kind), "{cliff}");
    }
}
