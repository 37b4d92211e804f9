//! Classic benchmarks: a run has all phases of an execution, with the options that were asked for.

mod bonnie;
mod calls;
mod papers;
mod traffic;

use std::fs;
use std::path::Path;

use record::{Line, Replicate, Run};
use serde_json::Value;

use crate::cells::cells;
use crate::place::Place;

const PHASES: [&str; 5] =
    ["random-read", "random-write", "sequential-read", "sequential-read-again", "sequential-write"];

#[test]
fn every_phase_of_sprite_lfs_has_its_figure() {
    let place = Place::new();
    let arguments = "run sprite-lfs --file-size 256k --blocks 2 . --out run --format json";
    let document = place.run(arguments).assert_code(0).document();
    assert_eq!(document["run"]["classic"]["benchmark"], "sprite-lfs");
    assert_eq!(document["run"]["classic"]["file_bytes"], 256 << 10);
    let mut names = names(&document);
    names.sort_unstable();
    assert_eq!(names, PHASES);
    for cell in cells(&document) {
        assert_eq!(cell["replicates"], 2, "{cell}");
        let bandwidth = &cell["metrics"][0];
        assert_eq!(bandwidth["name"], "bandwidth");
        assert!(bandwidth["median"].as_f64().is_some_and(|value| value > 0.0), "{bandwidth}");
    }
    assert_eq!(alignment(&document, "random-read"), 1);
    assert_eq!(alignment(&document, "sequential-read"), 4096);
}

#[test]
fn the_corrected_variant_reads_pages_and_can_be_changed() {
    let place = Place::new();
    let arguments = "run sprite-lfs --variant corrected --file-size 16k --files 3 --repeat-reads 2 \
                     --blocks 1 . --format json --out run";
    let document = place.run(arguments).assert_code(0).document();
    assert_eq!(alignment(&document, "random-read-2"), 4096);
    let names = names(&document);
    assert!(names.contains(&"pre-read-1") && names.contains(&"sequential-write"), "{names:?}");
    assert_eq!(names.len(), 10);
    let read = cell(&document, "pre-read-2");
    assert_eq!(
        (&read["parameters"]["files"], &read["parameters"]["pad_calls"]),
        (&3.into(), &true.into())
    );
}

#[test]
fn several_sizes_of_files_are_curves_and_go_on_when_resumed() {
    let place = Place::new();
    let run = "run sprite-lfs . --file-size 64k,16k --blocks 1 --format json --out run";
    let document = place.run(run).assert_code(0).document();
    assert_eq!(names(&document).len(), 10);
    for bytes in [16 << 10, 64 << 10] {
        let read = cell(&document, &format!("random-read-{bytes}"));
        assert_eq!(
            (&read["parameters"]["file_bytes"], &read["replicates"]),
            (&bytes.into(), &1.into())
        );
        assert_eq!(read["curve"]["value"], f64::from(bytes));
    }
    let more = place.run("run --resume run --budget 1s --format json").assert_code(0).document();
    assert!(cell(&more, "random-read-16384")["replicates"].as_u64() > Some(1), "{more}");
}

#[test]
fn sizes_around_caches_are_those_of_this_machine() {
    let place = Place::new();
    let machine = place.finish(place.fsprism("machine --format json"));
    let machine = machine.assert_code(0).document();
    let caches = machine["caches"].as_array().expect("a list").iter();
    let of_data = caches.filter(|cache| cache["kind"] != "instruction");
    let largest = of_data.filter_map(|cache| cache["size_bytes"].as_u64()).max();
    // A machine that reports no caches is assumed to have one of 64 MiB.
    let beyond_mib = 4.0 * largest.unwrap_or(64 << 20) as f64 / f64::from(1 << 20);
    let around = "run sprite-lfs . --file-size around-caches --blocks 1 --dry-run";
    let planned = place.run(around).assert_code(0).stdout.clone();
    // Lines are wrapped.
    let planned = planned.split_whitespace().collect::<Vec<_>>().join(" ");
    let sizes_mib = planned.split("random read, file ").skip(1).filter_map(|rest| {
        let (number, rest) = rest.split_once(' ')?;
        let number: f64 = number.parse().ok()?;
        let unit_mib = [("KiB", 1.0 / 1024.0), ("MiB", 1.0), ("GiB", 1024.0)];
        let unit_mib = unit_mib.iter().find(|(unit, _)| rest.starts_with(unit))?.1;
        Some(number * unit_mib)
    });
    // Sizes are rounded down to few digits, which takes off up to a sixteenth.
    let largest_mib = sizes_mib.fold(0.0, f64::max);
    let is_beyond = (beyond_mib * 15.0 / 16.0..=beyond_mib).contains(&largest_mib);
    assert!(is_beyond, "{largest_mib} of {beyond_mib} MiB: {planned}");
}

#[test]
fn sizes_that_nobody_asked_for_are_left_out_where_there_is_no_room() {
    let test = "sizes_that_nobody_asked_for_are_left_out_where_there_is_no_room";
    let Some(place) = Place::as_root(test) else { return };
    let run = "run sprite-lfs tmpfs:size=4m --variant corrected --files 2 --blocks 1 --out run \
               --format json";
    let document = place.run(run).assert_code(0).document();
    let all = cells(&document);
    assert!(!all.is_empty());
    for cell in all {
        assert!(cell["parameters"]["file_bytes"].as_u64() < Some(2 << 20), "{cell}");
    }
    let skipped = document["skipped"].as_array().expect("a list");
    let is_said = |one: &Value| {
        let says =
            |name: &str, words: &str| one[name].as_str().is_some_and(|it| it.contains(words));
        says("target", "files of ") && says("why", "will not fit on tmpfs")
    };
    assert!(skipped.iter().any(is_said), "{skipped:?}");
    let more = place.run("run --resume run --budget 1s --format json").assert_code(0).document();
    assert_eq!(cells(&more).len(), all.len());
    let typed = "run sprite-lfs tmpfs:size=4m --files 2 --file-size 4k,2m";
    place.run(typed).assert_refused(&["will not fit on tmpfs", "--file-size"]);
}

/// The random write once left the file too short, and the read after it failed.
#[test]
fn what_was_written_randomly_first_is_read_whole() {
    let place = Place::new();
    let arguments = "run sprite-lfs --random-first --file-size 16k --blocks 3 . --format json";
    let document = place.run(arguments).assert_code(0).document();
    assert_eq!(names(&document).len(), 5);
    assert_eq!(cell(&document, "sequential-read")["replicates"], 3);
}

#[test]
fn new_files_are_written_where_that_is_asked_for() {
    let place = Place::new();
    for (option, resident) in [("--new-files", 0), ("--new-files=false", 4)] {
        let arguments = format!("run sprite-lfs {option} --file-size 16k --blocks 1 . --out run");
        place.run(&arguments).assert_code(0);
        let before = resident_before(&place.path("run"), "random-write");
        assert_eq!(before, [resident], "{option}");
        assert_eq!(resident_before(&place.path("run"), "random-read"), [4], "{option}");
        fs::remove_dir_all(place.path("run")).expect("it is ours");
    }
}

/// How many pages were in memory before each replicate of a benchmark.
fn resident_before(run: &Path, benchmark: &str) -> Vec<u64> {
    let run = Run::read(run).expect("it was made");
    let is_own =
        |replicate: &&Replicate| run.manifest.cells[replicate.cell as usize].benchmark == benchmark;
    let replicates = run.lines.iter().filter_map(|line| {
        if let Line::Replicate(replicate) = line { Some(replicate.as_ref()) } else { None }
    });
    replicates.filter(is_own).filter_map(|one| one.evidence.resident_before).collect()
}

#[test]
fn what_sprite_lfs_cannot_do_is_refused_with_what_to_change() {
    let place = Place::new();
    for (options, words) in [
        ("--file-size 5000", ["--file-size", "multiple of 4096"]),
        ("--file-size 0", ["--file-size", "0 leaves nothing"]),
        ("--file-size 4k,5000", ["--file-size", "multiple of 4096"]),
        ("--file-size near-caches", ["--file-size", "around-caches"]),
        ("--file-size 900g", ["of 900 GiB will not fit on", "smaller --file-size"]),
        ("--drop-first", ["--files 2", "--drop-first=false"]),
        ("--size 1m", ["unexpected argument '--size'", "sprite-lfs"]),
        ("--write-pause 1h", ["--write-pause", "1us"]),
        ("--files 0", ["--files", "1..=10000"]),
    ] {
        place.run(&format!("run sprite-lfs . {options}")).assert_refused(&words);
    }
    let words = ["unexpected argument '--align'", "--align is an option of sprite-lfs"];
    place.run("run nano/io . --align page").assert_refused(&words);
    place.run("run --resume run --file-size 1m").assert_refused(&["--file-size", "resumed"]);
}

#[test]
fn an_array_is_walked_without_a_target() {
    let place = Place::new();
    let arguments = "run array-walk --size 64k --blocks 2 --format json --out run";
    let document = place.run(arguments).assert_code(0).document();
    assert_eq!(
        names(&document),
        ["write-65536", "first-read-65536", "second-read-65536", "write-back-65536"]
    );
    let ratio = &cell(&document, "write-back-65536")["metrics"][0];
    assert_eq!((&ratio["name"], &ratio["unit"]), (&"first_over_second_read".into(), &"x".into()));
    assert!(ratio["median"].as_f64().is_some_and(|ratio| ratio > 0.0), "{ratio}");
    let words = ["array-walk walks over memory", "leave out ext4"];
    place.run("run array-walk ext4").assert_refused(&words);
    place.run("run array-walk --size 1023").assert_refused(&["--size", "multiple of 4"]);
    let words = ["--files is an option of sprite-lfs, bonnie-metadata and applications"];
    place.run("run array-walk --files 2").assert_refused(&words);
}

fn names(document: &Value) -> Vec<&str> {
    cells(document).iter().filter_map(|cell| cell["benchmark"].as_str()).collect()
}

fn cell<'a>(document: &'a Value, name: &str) -> &'a Value {
    let named = |cell: &&Value| cell["benchmark"] == name;
    cells(document).iter().find(named).expect("it is measured")
}

fn alignment(document: &Value, name: &str) -> u64 {
    cell(document, name)["parameters"]["alignment_bytes"].as_u64().expect("a number")
}
