//! Operations on a schedule: the requested rate is measured, recorded, and kept when resuming.

use std::fs;

use serde_json::Value;

use crate::place::Place;

#[test]
fn a_rate_that_cannot_be_meant_is_refused_with_what_to_change() {
    let place = Place::new();
    for (rate, words) in [
        ("0", ["--rate", "between 10 and 1,000,000"]),
        ("5000k", ["--rate", "between 10 and 1,000,000"]),
        ("1.5k", ["--rate", "whole number of operations per second"]),
        ("fast", ["--rate", "2000 or 2k"]),
    ] {
        place.run(&format!("run nano/io . --rate {rate}")).assert_refused(&words);
    }
    place.run("run nano/io . --rate=-5").assert_refused(&["--rate", "whole number"]);
    place.run("run nano/io . --spacing constant").assert_refused(&["--rate"]);
    let words = ["unexpected argument '--rate'", "--rate is an option of nano and nano/io"];
    place.run("run nano/metadata . --rate 2k").assert_refused(&words);
    place.run("survey . --rate 2k").assert_refused(&words);
    place.run("run footprint tmpfs --rate 2k").assert_refused(&words);
    let words = ["'--rate'", "a resumed run keeps what it began with"];
    place.run("run --resume run --rate 2k").assert_refused(&words);
}

#[test]
fn a_run_keeps_its_rate_when_it_is_gone_on_with() {
    let name = "a_run_keeps_its_rate_when_it_is_gone_on_with";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "run nano/io ext4:size=512m --blocks 1 --size 1m --rate 2k --spacing constant \
                     --benchmark open-loop-* --out run --format json";
    let document = place.run(arguments).assert_code(0).document();
    assert_eq!(document["run"]["offered_load"]["rate_per_s"], 2000);
    assert_eq!(document["run"]["offered_load"]["spacing"], "constant");
    assert_eq!(rates(&document), [2000.0, 2000.0, 2000.0]);
    let path = place.path("run/cells.jsonl");
    let journal = fs::read_to_string(&path).expect("it is there");
    let lines: Vec<&str> = journal.lines().collect();
    // Without its end line, the run looks cut off.
    fs::write(&path, format!("{}\n", lines[..lines.len() - 1].join("\n"))).expect("it is ours");
    let again = place.run("run --resume run --format json").assert_code(0).document();
    assert_eq!(rates(&again), [2000.0, 2000.0, 2000.0]);
}

/// The rates of scheduled operations.
fn rates(document: &Value) -> Vec<f64> {
    let cells = document["cells"].as_array().expect("a list");
    let on_schedule = cells.iter().filter(|cell| cell["curve"]["axis"] == "operations per second");
    on_schedule.map(|cell| cell["curve"]["value"].as_f64().expect("a number")).collect()
}
