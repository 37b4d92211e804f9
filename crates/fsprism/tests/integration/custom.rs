//! Reads and writes as the user describes them, and replicates of a chosen length.

use serde_json::Value;

use crate::documents::assert_valid;
use crate::place::Place;

fn cell(document: &Value) -> &Value {
    &document["cells"][0]
}

/// The replicates in the journal.
fn replicates(place: &Place, run: &str) -> Vec<Value> {
    let lines = std::fs::read_to_string(place.path(run).join("cells.jsonl")).expect("a journal");
    let all = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    all.filter(|line| line["kind"] == "replicate").collect()
}

#[test]
fn what_is_described_is_measured_for_as_long_as_was_asked_for() {
    let place = Place::new();
    let asked = "run custom . --rw randread --bs 4k --threads 2 --size 8m --blocks 2";
    let run = place.run(&format!("{asked} --replicate 1500ms --out long --format json"));
    let document = run.assert_code(0).document();
    assert_valid(&document);
    let one = cell(&document);
    assert_eq!(one["benchmark"], "randread-4096-2-threads-warm");
    assert_eq!(one["parameters"]["threads"], 2);
    assert_eq!(document["run"]["custom"]["request_bytes"], 4096);
    assert_eq!(document["run"]["replicate_length"]["seconds"], 1.5);
    let all = replicates(&place, "long");
    assert_eq!(all.len(), 2);
    // The length is estimated from the pilot, which is short, and far off on a busy machine.
    let long = |it: &Value| it["elapsed_ns"].as_u64().is_some_and(|ns| ns > 100_000_000);
    assert!(all.iter().all(long), "{all:?}");
    let short = place.run(&format!("{asked} --out short --format json"));
    let operations = |document: &Value| cell(document)["operations"].as_u64().expect("a number");
    let (short, long) = (operations(&short.document()), operations(&document));
    assert!(long > 10 * short, "{long} beside {short}");
}

#[test]
fn writes_go_on_over_the_same_file_and_until_they_are_steady() {
    let place = Place::new();
    let asked = "run custom . --rw randrw --read-share 30% --bs 4k --size 4m --blocks 1";
    let run = place.run(&format!("{asked} --replicate 100ms --steady --out mix --format json"));
    let document = run.assert_code(0).document();
    assert_eq!(cell(&document)["benchmark"], "randrw-4096-reads-30-warm");
    assert_eq!(document["run"]["replicate_length"]["until_steady"], true);
    let resumed = place.fsprism("run --resume mix --budget 1s --format json");
    place.finish(resumed).assert_code(0);
}

#[test]
fn what_is_not_meant_is_refused() {
    let place = Place::new();
    for (arguments, words) in [
        ("custom .", &["custom needs --rw", "randread"][..]),
        ("survey/io . --bs 4k", &["unexpected argument '--bs'", "--bs is an option of custom"]),
        ("custom . --rw read --read-share 20%", &["--read-share is for --rw rw and randrw"]),
        ("custom . --rw randwrite --state cold", &["--state cold is for reads", "leave it out"]),
        ("custom . --rw read --state cold --steady", &["--steady is for operations that can go"]),
        ("custom . --rw read --bs 3000", &["a request is a power of two from 512 to 16m"]),
        (
            "custom . --rw read --replicate 60s --budget 20s",
            &["--replicate 60s is longer than the budget of 20s", "a shorter --replicate"],
        ),
        ("bonnie . --replicate 1s", &["'--replicate'", "--replicate is an option of survey"]),
    ] {
        let outcome = place.run(&format!("run {arguments}"));
        outcome.assert_refused(words);
    }
}

#[test]
fn a_file_that_is_read_once_cannot_be_read_for_long() {
    let place = Place::new();
    let asked = "run custom . --rw randread --state cold --size 4m --blocks 1";
    let run = place.run(&format!("{asked} --replicate 20s --out short --format json"));
    let document = run.document();
    let skipped = document["skipped"].as_array().expect("a list");
    let why = |one: &Value| one["why"].as_str().is_some_and(|why| why.contains("a larger --size"));
    assert!(skipped.iter().any(why), "{skipped:?}");
}
