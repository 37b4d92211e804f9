//! What phases move into and out of caches: `run sprite-lfs --cache-traffic`, counted in guests,
//! and `--counters`, counted by the processor.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::guests::lab;
use crate::place::{Place, say_skipped};

const CACHES: &str = "--cache l1i=16k,32,4 --cache l1d=16k,32,4 --cache l2=64k,32,8";
/// Size of the file, in bytes. `L2` is that of the second level.
const FILE: f64 = 262_144.0;
const L2: f64 = 65_536.0;

#[test]
fn what_a_write_leaves_in_a_cache_the_next_read_moves_out() {
    let lab = match lab() {
        Ok(lab) => lab,
        Err(why) => return say_skipped("cache traffic", why.trim()),
    };
    let place = Place::new();
    let arguments =
        format!("run sprite-lfs --file-size 256k --blocks 1 --cache-traffic {CACHES} mine=ramfs .");
    let mut planned = place.fsprism(&format!("{arguments} --dry-run"));
    planned.env("FSPRISM_LAB", &lab);
    let planned = place.finish(planned);
    assert!(planned.assert_code(0).stderr.contains("guests would then count"), "{planned:?}");
    let mut run = place.fsprism(&format!("{arguments} --out run"));
    run.env("FSPRISM_LAB", lab);
    let ran = place.finish(run);
    ran.assert_code(0);
    assert!(ran.stdout.contains("into and out of L2 (64 KiB)"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("not counted: `"),
        "a directory is on this machine: {}",
        ran.stderr
    );

    let report = "report run/cache-traffic --format json";
    let counted = place.finish(place.fsprism(report)).assert_code(0).document();
    let median = |phase: &str, metric: &str| {
        let cells = counted["cells"].as_array().expect("a list");
        let cell = cells.iter().find(|cell| cell["benchmark"] == phase).expect("it was counted");
        assert_eq!((&cell["replicates"], &cell["target"]), (&3.into(), &"mine".into()), "{cell}");
        let metrics = cell["metrics"].as_array().expect("a list");
        let found = metrics.iter().find(|one| one["name"] == metric).expect("it is a metric");
        found["median"].as_f64().expect("a number")
    };
    // Nearly all of the cache contains what was written last; reading fetches the whole file into
    // it.
    let left = median("sequential-write", "l2_dirty_bytes");
    let moved = median("sequential-read", "l2_bytes_out");
    let fetched = median("sequential-read", "l2_bytes_in");
    assert!((0.6 * L2..=L2).contains(&left), "{left}");
    assert!((0.9 * left..1.5 * left).contains(&moved), "{moved} of {left}");
    assert!((0.95 * FILE..1.3 * FILE).contains(&fetched), "{fetched}");
    let again = median("sequential-read-again", "l2_bytes_out");
    assert!(again < moved / 4.0, "nothing was written before: {again}");

    // Timer ticks are not part of a phase. If the guest is fast, there may be none.
    let cells = counted["cells"].as_array().expect("a list");
    let values = cells.iter().flat_map(|cell| values(cell, "interrupt_instructions"));
    assert_eq!(values.count(), 5 * 3, "{counted}");
    let given = place.finish(place.fsprism("check run --format json"));
    let given = given.assert_code(0).document();
    assert!(!given.to_string().contains("bytes_moved_out"), "they are not this machine's: {given}");
}

fn values(cell: &Value, metric: &str) -> Vec<f64> {
    let metrics = cell["metrics"].as_array().expect("a list");
    let found = metrics.iter().find(|one| one["name"] == metric).expect("it is a metric");
    let values = found["values"].as_array().expect("a list");
    values.iter().map(|value| value.as_f64().expect("a number")).collect()
}

#[test]
fn what_was_not_counted_beside_a_run_is_no_part_of_its_report() {
    let place = Place::new();
    place.run("run sprite-lfs --file-size 16k --blocks 1 . --out run").assert_code(0);
    place.run("run sprite-lfs --file-size 16k --blocks 1 . --out other").assert_code(0);
    for put in [place_another, place_link] {
        put(&place);
        let report = place.finish(place.fsprism("report --terminal run"));
        report.assert_code(0);
        let words = "into and out of caches is left out";
        assert!(report.stdout.contains(words), "{}", report.stdout);
    }
}

fn place_another(place: &Place) {
    fs::rename(place.path("other"), place.path("run/cache-traffic")).expect("ours");
}

fn place_link(place: &Place) {
    fs::rename(place.path("run/cache-traffic"), place.path("elsewhere")).expect("ours");
    symlink(place.path("elsewhere"), place.path("run/cache-traffic")).expect("ours");
}

#[test]
fn the_processor_counts_or_it_is_said_before_anything_is_timed() {
    let place = Place::new();
    for (suite, count) in [("array-walk --size 64k", 3), ("sprite-lfs --file-size 64k .", 5)] {
        let arguments = format!("run {suite} --counters --blocks 1 --out run");
        let ran = place.finish(place.fsprism(&arguments));
        if ran.code == Some(2) {
            let why = "--counters needs the processor's counters, but ";
            assert!(ran.stderr.contains(why) && ran.stderr.lines().count() < 4, "{}", ran.stderr);
            assert!(!place.path("run").exists(), "nothing was begun");
            continue;
        }
        ran.assert_code(0);
        assert!(ran.stdout.contains("Counted by the processor"), "{}", ran.stdout);
        let report = "report run --format json";
        let document = place.finish(place.fsprism(report)).assert_code(0).document();
        let cells = document["cells"].as_array().expect("a list");
        let is_counted = |cell: &&Value| {
            let metrics = cell["metrics"].as_array().expect("a list");
            metrics.iter().any(|one| one["name"] == "l2_bytes_in" || one["unit"] == "accesses")
        };
        assert_eq!(cells.iter().filter(is_counted).count(), count, "{document}");
        fs::remove_dir_all(place.path("run")).expect("ours");
    }
}

#[test]
fn what_cannot_be_counted_is_refused_before_anything_is_timed() {
    let place = Place::new();
    for (arguments, words) in [
        ("run bonnie --cache-traffic .", "--cache-traffic is an option of sprite-lfs"),
        ("run bonnie --counters .", "--counters is an option of sprite-lfs and array-walk"),
        ("run sprite-lfs --cache-traffic --file-size 64k,1m ramfs", "give one --file-size"),
        ("run sprite-lfs --cache-traffic --file-size 64m ramfs", "at most 96m together"),
        ("run sprite-lfs --cache-traffic .", "name a file system such as ext4"),
        ("run sprite-lfs --cache-traffic --op stat ramfs", "--op is an option of pollution and"),
        ("run sprite-lfs --cache l2=64k,32,8 .", "--cache-traffic"),
    ] {
        let refused = place.finish(place.fsprism(arguments));
        refused.assert_code(2);
        assert!(refused.stderr.contains(words), "{arguments}: {}", refused.stderr);
    }
    assert!(!place.path("fsprism-runs").exists(), "nothing was begun");
}
