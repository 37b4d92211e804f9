//! Labels, limits and options of targets in whole runs.

use std::fs;

use serde_json::Value;

use crate::place::{Place, names_in};

#[test]
fn one_file_system_can_have_two_labels_and_two_conditions() {
    let name = "one_file_system_can_have_two_labels_and_two_conditions";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place.run(
        "run survey/io a=ext4:size=256m b=ext4:size=256m,read_bps=50m,memory=256m \
         --blocks 2 --budget 1s --size 20m --seed 5 --format json --out run",
    );
    let document = outcome.assert_code(0).document();
    assert_eq!(document["run"]["seed"], 5);
    assert_eq!(document["run"]["blocks"], 2);
    let targets = document["targets"].as_array().expect("a list");
    assert_eq!((&targets[0]["label"], &targets[1]["label"]), (&"a".into(), &"b".into()));
    assert!(targets[0]["conditions"]["read_bps"].is_null());
    assert_eq!(targets[1]["conditions"]["read_bps"], 50 << 20);
    assert_eq!(targets[1]["conditions"]["memory_bytes"], 256 << 20);
    let cells = document["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 10);
    assert!(cells.iter().all(|cell| cell["replicates"] == 2), "{cells:?}");
    let comparisons = document["comparisons"].as_array().expect("a list");
    assert!(comparisons.iter().all(|one| one["first"] == "a" && one["second"] == "b"));
    assert!(comparisons.len() >= 5, "{comparisons:?}");
}

#[test]
fn what_is_read_can_be_verified() {
    let Some(place) = Place::as_root("what_is_read_can_be_verified") else { return };
    for suite in ["survey/in-memory", "survey/io"] {
        let arguments = format!(
            "run {suite} ext4:size=128m tmpfs:size=128m --verify --blocks 1 --budget 1s \
             --size 2m --format json --out {}",
            suite.replace('/', "-")
        );
        let outcome = place.run(&arguments);
        let document = outcome.assert_code(0).document();
        assert_eq!(document["run"]["verify"], true);
        let cells = document["cells"].as_array().expect("a list");
        assert!(cells.iter().all(|cell| cell["failed"].is_null()), "{cells:?}");
    }
}

/// Files of a quarter of the limit each did not stay in memory next to directories, whose inodes
/// count too, so that one cell or another failed.
#[test]
fn what_a_limit_of_memory_has_room_for_stays_in_it() {
    let name = "what_a_limit_of_memory_has_room_for_stays_in_it";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place
        .run("survey ext4:size=512m,memory=64m --blocks 2 --budget 2s --format json --out run");
    let document = outcome.assert_code(0).document();
    assert_eq!(document["run"]["data_file_bytes"], 8 << 20);
    let cells = document["cells"].as_array().expect("a list");
    let journal = fs::read_to_string(place.path("run/cells.jsonl")).expect("a journal");
    let lines = journal.lines().map(|line| serde_json::from_str(line).expect("whole lines"));
    let discarded: Vec<Value> = lines.filter(|line: &Value| line["kind"] == "discarded").collect();
    // A cell that is disturbed three times in a block has no value there. If other programs keep
    // the run's threads from running together, that may happen in both blocks.
    let stayed = |(index, cell): (usize, &Value)| {
        let replicates = cell["replicates"].as_u64().expect("a number");
        let of_it: Vec<_> = discarded.iter().filter(|line| line["cell"] == index).collect();
        let is_disturbed = |line: &&&Value| {
            line["why"].as_str().is_some_and(|why| why.contains("ran at the same time"))
        };
        let disturbed = of_it.iter().filter(is_disturbed).count();
        cell["failed"].is_null()
            && replicates + of_it.len() as u64 / 3 >= 2
            && (replicates >= 1 || disturbed == of_it.len())
    };
    let lost: Vec<_> = cells.iter().enumerate().filter(|&cell| !stayed(cell)).collect();
    assert!(lost.is_empty(), "{lost:?}: {discarded:?}");
    let measured = |name: &str| cells.iter().any(|cell| cell["benchmark"] == name);
    assert!(measured("random-write-1m-warm") && measured("stat-10000"), "{cells:?}");
}

/// A file twice as large as the memory cannot stay in it, nor can that many names. What cannot be
/// warm is not measured; what is read cold is.
#[test]
fn what_a_limit_of_memory_has_no_room_for_is_left_out() {
    let name = "what_a_limit_of_memory_has_no_room_for_is_left_out";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place.run(
        "survey ext4:size=512m,memory=24m --size 48m --blocks 1 --budget 1s --format json \
         --out run",
    );
    let document = outcome.assert_code(0).document();
    let skipped = document["skipped"].as_array().expect("a list");
    for (what, why) in [
        ("data files in memory", "or a smaller --size"),
        ("directories of 10,000 in memory", "limited to 24 MiB"),
    ] {
        let what = format!("ext4:size=512m,memory=24m: {what}");
        let one = skipped.iter().find(|one| one["target"] == what.as_str());
        let one = one.unwrap_or_else(|| panic!("no {what}: {skipped:?}"));
        assert!(one["why"].as_str().is_some_and(|said| said.contains(why)), "{one}");
    }
    let cells = document["cells"].as_array().expect("a list");
    let is_cold = |cell: &serde_json::Value| cell["benchmark"] == "random-read-4k-cold";
    assert!(cells.iter().any(is_cold), "{cells:?}");
}

#[test]
fn a_directory_keeps_what_it_holds() {
    let Some(place) = Place::as_root("a_directory_keeps_what_it_holds") else { return };
    let data = place.make("data");
    fs::write(data.join("precious"), "kept").expect("the place is ours");
    let outcome = place.run("run survey/io disk=./data --blocks 1 --budget 1s --size 1m --out run");
    outcome.assert_code(0);
    assert_eq!(names_in(&data), ["precious"]);
    assert_eq!(fs::read_to_string(data.join("precious")).expect("it is there"), "kept");
    assert_eq!(
        names_in(&place.path("run")),
        ["cells.jsonl", "histograms", "manifest.json", "report.html"]
    );
}

#[test]
fn a_run_ends_when_it_is_precise_enough_or_its_time_is_up() {
    let name = "a_run_ends_when_it_is_precise_enough_or_its_time_is_up";
    let Some(place) = Place::as_root(name) else { return };
    let run = "run survey/caching ext4:size=128m --size 1m --format json";
    // Copies from memory vary least.
    let calm = "run survey/in-memory ext4:size=128m --benchmark random-read-1m-warm --size 1m \
                --format json";
    let outcome = place.run(&format!("{calm} --precision 99% --budget 30s --out precise"));
    let document = outcome.assert_code(0).document();
    assert_eq!(document["end"]["reason"], "precision");
    let blocks = document["cells"][0]["replicates"].as_u64();
    assert!(blocks >= Some(7), "six make an interval, and one confirms it: {blocks:?}");
    let outcome = place.run(&format!("{run} --precision 0.0001% --budget 5s --out timed"));
    let document = outcome.assert_code(0).document();
    assert_eq!(document["end"]["reason"], "budget");
    // The time that is left at the end is too short for another block.
    assert!(document["end"]["used_s"].as_f64().is_some_and(|used_s| used_s >= 3.0));
}

/// Progress is only for people who watch: if it cannot be written, the run continues.
#[test]
fn progress_that_nobody_can_see_does_not_end_a_run() {
    let name = "progress_that_nobody_can_see_does_not_end_a_run";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "run survey/caching ext4:size=128m --blocks 1 --budget 1s --size 1m --out run";
    let full = fs::File::options().write(true).open("/dev/full").expect("it is there");
    let mut command = place.measure(arguments);
    let output = command.stderr(full).output().expect("it can be started");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!output.stdout.is_empty());
}

/// Two threads that take turns making files took inodes that no rehearsal had taken, so that the
/// inode tables were read: more than every other replicate was discarded, and sometimes the cell
/// failed.
#[test]
fn what_two_threads_make_has_been_rehearsed() {
    let name = "what_two_threads_make_has_been_rehearsed";
    let Some(place) = Place::as_root(name) else { return };
    let refuted = |run: &str| {
        let outcome = place.run(&format!(
            "survey ext4:size=512m --benchmark create-2-threads-two-directories --blocks 8 \
             --format csv --out {run}",
        ));
        let journal = fs::read_to_string(place.path(run).join("cells.jsonl")).expect("a journal");
        let refuted = journal.lines().filter(|line| line.contains("were read from the device"));
        (outcome.code, refuted.count())
    };
    // On a busy machine, threads interleave differently, and other programs evict pages.
    let found = ["first", "second", "third"].map(refuted);
    assert!(found.iter().any(|&(code, count)| code == Some(0) && count <= 2), "{found:?}");
}

/// Counting bytes from the device would not show that each read waited for it, as a neighbouring
/// read may have brought them.
#[test]
fn every_random_cold_read_is_a_request_of_its_own() {
    let name = "every_random_cold_read_is_a_request_of_its_own";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place.run(
        "survey ext4:size=512m xfs:size=512m btrfs:size=512m --benchmark random-read-4k-cold \
         --blocks 3 --format csv --out run",
    );
    outcome.assert_code(0);
    let journal = fs::read_to_string(place.path("run").join("cells.jsonl")).expect("a journal");
    let lines = journal.lines().map(|line| -> Value { serde_json::from_str(line).expect("JSON") });
    let counted: Vec<Value> = lines.filter(|line| line["kind"] == "replicate").collect();
    assert_eq!(counted.len(), 9);
    for replicate in counted {
        let reads = replicate["evidence"]["device_reads"].as_u64();
        assert!(reads >= replicate["operations"].as_u64(), "{replicate}");
    }
}
