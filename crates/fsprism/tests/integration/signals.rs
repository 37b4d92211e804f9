//! Signals that ask for the end, and those that insist.

use std::fs;
use std::process::Command;

use rustix::process::{Signal, kill_process};

use crate::documents::assert_valid;
use crate::place::Place;
use crate::process::Running;

const ARGUMENTS: &str = "run survey/in-memory ext4:size=128m tmpfs:size=128m --blocks 80 \
                         --budget 2s --size 1m --format json --out run";

#[test]
fn sigint_ends_a_run_with_its_report_and_it_can_be_gone_on_with() {
    ends_and_goes_on("sigint_ends_a_run_with_its_report", Signal::INT);
}

#[test]
fn sigterm_ends_a_run_with_its_report_and_it_can_be_gone_on_with() {
    ends_and_goes_on("sigterm_ends_a_run_with_its_report", Signal::TERM);
}

#[test]
fn a_lost_terminal_ends_a_run_with_its_report() {
    ends_and_goes_on("a_lost_terminal_ends_a_run_with_its_report", Signal::HUP);
}

fn ends_and_goes_on(name: &str, signal: Signal) {
    let Some(place) = Place::as_root(name) else { return };
    let mut running = Running::start(&place, place.measure(ARGUMENTS));
    running.until("block 1 done");
    running.signal_group(signal);
    let outcome = running.finish(&place);
    let document = outcome.assert_code(130).document();
    assert_valid(&document);
    assert_eq!(document["end"]["reason"], "interrupted");
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.iter().all(|cell| cell["failed"].is_null()), "{cells:?}");
    let measured = cells[0]["replicates"].as_u64().expect("a number");
    assert!((1..80).contains(&measured), "{measured}");

    let outcome = place.run("run --resume run --format json");
    let document = outcome.assert_code(0).document();
    assert_eq!(document["end"]["reason"], "blocks");
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.iter().all(|cell| cell["replicates"] == 80), "{cells:?}");
}

/// The program with a mkfs that reports when it is reached and then takes forever; it ignores the
/// signals that `ignores` traps.
fn with_slow_mkfs(place: &Place, ignores: &str) -> Command {
    let tools = place.make("tools");
    let fifo = place.text("reached");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("coreutils").success());
    let script = format!("#!/bin/sh\n{ignores}\necho reached > {fifo}\nexec sleep 100000\n");
    fs::write(place.path("script"), script).expect("the place is ours");
    place.install(&place.path("script"), "tools/mkfs.ext4");
    let path = std::env::var("PATH").expect("there is one");
    let mut command = place.measure(ARGUMENTS);
    command.env("PATH", format!("{}:{path}", tools.display()));
    command
}

#[test]
fn a_signal_while_targets_are_made_is_no_failure_of_mkfs() {
    let name = "a_signal_while_targets_are_made_is_no_failure_of_mkfs";
    let Some(place) = Place::as_root(name) else { return };
    let mut running = Running::start(&place, with_slow_mkfs(&place, ":"));
    fs::read_to_string(place.path("reached")).expect("mkfs comes so far");
    running.signal_group(Signal::INT);
    let outcome = running.finish(&place);
    outcome.assert_code(130).assert_says(&["interrupted before anything was measured"]);
    assert_eq!(outcome.stdout, "");
    assert!(!place.path("run").exists());
}

#[test]
fn a_second_signal_ends_at_once_and_leaves_nothing() {
    let name = "a_second_signal_ends_at_once_and_leaves_nothing";
    let Some(place) = Place::as_root(name) else { return };
    let mut running = Running::start(&place, with_slow_mkfs(&place, "trap '' INT TERM"));
    fs::read_to_string(place.path("reached")).expect("mkfs comes so far");
    // Different signals, as the kernel may merge two of the same kind.
    running.signal_group(Signal::TERM);
    assert!(!running.ends_within(500), "mkfs goes on");
    running.signal_group(Signal::INT);
    let outcome = running.finish(&place);
    assert_eq!(outcome.assert_code(130).stdout, "");
}

/// `timeout -s INT` signals both its child and the group, so the child gets the signal twice.
#[test]
fn two_signals_at_once_are_one_wish_and_what_was_measured_is_shown() {
    let place = Place::new();
    place.make("data");
    let arguments = "run survey/in-memory data --blocks 400 --size 1m --out run";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 7 done");
    running.signal_group(Signal::INT);
    running.signal_group(Signal::TERM);
    let outcome = running.finish(&place);
    let said = &outcome.assert_code(130).stdout;
    assert!(said.contains("survey/in-memory of data"), "{said}");
}

/// If fsprism died after its guardian, what it has made would stay, so it does not go on for longer
/// than it must.
#[test]
fn without_its_guardian_a_run_stops_and_can_be_gone_on_with() {
    let name = "without_its_guardian_a_run_stops_and_can_be_gone_on_with";
    let Some(place) = Place::as_root(name) else { return };
    let arguments =
        "run survey/in-memory ext4:size=128m --blocks 20 --budget 1s --size 1m --out run";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    let guardian = running.child_named("fsprism-guard");
    kill_process(guardian, Signal::KILL).expect("it lives");
    let outcome = running.finish(&place);
    outcome.assert_code(1).assert_says(&["fsprism-guard", "was killed", "--resume run"]);
    let resumed = place.run("run --resume run --format json");
    let document = resumed.assert_code(0).document();
    assert_eq!(document["end"]["reason"], "blocks");
    assert!(
        document["cells"].as_array().expect("a list").iter().all(|cell| cell["failed"].is_null())
    );
}

/// The pause would be part of the times of what was running.
#[test]
fn a_replicate_in_which_it_was_stopped_is_thrown_away() {
    let name = "a_replicate_in_which_it_was_stopped_is_thrown_away";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "run survey/io ext4:size=128m --blocks 12 --budget 2s --size 1m --out run \
                     --format json";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    // Sooner or later, a stop falls into a replicate.
    let journal = place.path("run/cells.jsonl");
    let is_noticed = || {
        let journal = fs::read_to_string(&journal).expect("the run's own");
        journal.contains("was suspended (SIGSTOP")
    };
    while !is_noticed() {
        assert!(!running.ends_within(1), "it was stopped and took no notice");
        running.stop_and_continue();
    }
    let document = running.finish(&place).assert_code(0).document();
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.iter().all(|cell| cell["failed"].is_null()), "{cells:?}");
}
