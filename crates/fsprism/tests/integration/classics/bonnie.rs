//! Bonnie and the tests that Bonnie++ added: what they measure and refuse, and how other programs
//! read their results.

use std::fs;
use std::process::Command;

use super::{cell, names};
use crate::cells::cells;
use crate::place::{Place, say_skipped};
use crate::process::Outcome;

const PHASES: [&str; 6] =
    ["char-output", "rewrite", "block-output", "char-input", "block-input", "random-seeks"];
const TESTS: [&str; 6] = [
    "create-sequential",
    "stat-sequential",
    "delete-sequential",
    "create-random",
    "stat-random",
    "delete-random",
];

fn report(place: &Place, form: &str) -> Outcome {
    place.finish(place.fsprism(&format!("report run --format {form}")))
}

#[test]
fn every_phase_of_bonnie_has_its_rate_and_its_share_of_the_processors() {
    let place = Place::new();
    let arguments = "run bonnie --size 1m --seeks 50 --blocks 2 . --out run --format json";
    let outcome = place.run(arguments);
    let document = outcome.assert_code(0).document();
    assert_eq!(document["run"]["classic"]["benchmark"], "bonnie");
    assert_eq!(document["run"]["classic"]["chunk_bytes"], 16 << 10);
    assert_eq!(names(&document), PHASES);
    for cell in cells(&document) {
        assert_eq!(cell["replicates"], 2, "{cell}");
        let [rate, share] = [&cell["metrics"][0], &cell["metrics"][1]];
        assert!(rate["median"].as_f64().is_some_and(|value| value > 0.0), "{rate}");
        assert_eq!((&share["name"], &share["unit"]), (&"processor_share".into(), &"%".into()));
        let warnings = cell["warnings"].as_array().expect("a list");
        assert!(warnings.iter().any(|one| one["kind"] == "cache-benchmark"), "{cell}");
    }
    assert_eq!(cell(&document, "block-input")["metrics"][0]["name"], "bandwidth");
    assert_eq!(cell(&document, "random-seeks")["metrics"][0]["name"], "throughput");
    assert!(outcome.stderr.contains("a cache benchmark: the file (1 MiB)"), "{}", outcome.stderr);
    let table = report(&place, "bonnie");
    let lines: Vec<&str> = table.assert_code(0).stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[2].starts_with("Machine ") && lines[3].contains(" +++++ "), "{lines:?}");
    assert!(table.stderr.contains("--size ") && table.stderr.contains("would do"), "{table:?}");
}

#[test]
fn with_the_order_of_bonnie_plus_plus_what_was_written_by_block_is_rewritten() {
    let place = Place::new();
    let run = |order: &str, name: &str| {
        let arguments = format!("run bonnie --size 1m --seeks 50 --blocks 1 label=. {order}");
        let outcome = place.run(&format!("{arguments} --out {name} --format json"));
        outcome.assert_code(0).document()
    };
    let document = run("--phase-order bonnie++", "run");
    assert_eq!(document["run"]["classic"]["phase_order"], "bonnie++");
    let [first, second, third, rest @ ..] = PHASES;
    assert_eq!(names(&document), [&[first, third, second], &rest[..]].concat());
    // Each format has its own order of phases, and contains the figures of all.
    assert_eq!(report(&place, "bonnie").assert_code(0).stdout.lines().count(), 4);
    let refused = place.run("reproduce bonnie-anova --run run");
    refused.assert_refused(&["rewrites what it wrote by block", "--phase-order bonnie"]);
    // In a different order, phases do different work.
    let document = run("--phase-order bonnie", "other");
    assert!(document["run"]["classic"].get("phase_order").is_none(), "{document}");
    let compared = place.finish(place.fsprism("compare other run"));
    compared.assert_refused(&["phase order", "bonnie++ in run", "--unlike"]);
}

#[test]
fn phases_per_character_can_be_left_out() {
    let place = Place::new();
    let options = "--size 1m --seeks 50 --blocks 1 --phase-order bonnie++-f";
    let outcome = place.run(&format!("run bonnie label=. {options} --out run --format json"));
    let document = outcome.assert_code(0).document();
    assert_eq!(document["run"]["classic"]["phase_order"], "bonnie++-f");
    assert_eq!(names(&document), ["block-output", "rewrite", "block-input", "random-seeks"]);
    // Phases that are left out have no figure in either format.
    let table = report(&place, "bonnie");
    let line = table.assert_code(0).stdout.lines().nth(3).expect("it has a line");
    let words: Vec<&str> = line.split_whitespace().skip(2).collect();
    assert_eq!(words.len(), 12, "{line}");
    for (at, word) in words.iter().enumerate() {
        assert_eq!(*word == "-", [0, 1, 6, 7].contains(&at), "{line}");
    }
    let csv = report(&place, "bonnie++");
    let fields: Vec<&str> = csv.assert_code(0).stdout.split(',').skip(9).take(12).collect();
    for (at, field) in fields.iter().enumerate() {
        assert_eq!(field.is_empty(), [0, 1, 6, 7].contains(&at), "{fields:?}");
    }
    let refused = place.run("reproduce bonnie-anova --run run");
    refused.assert_refused(&["rewrites what it wrote by block", "--phase-order bonnie"]);
}

#[test]
fn sizes_around_a_limit_of_memory_are_below_it_and_beyond() {
    let name = "sizes_around_a_limit_of_memory_are_below_it_and_beyond";
    let Some(place) = Place::as_root(name) else { return };
    // Not 16 MiB: fsprism itself takes most of that, and the kernel has once killed it.
    let outcome = place.run(
        "run bonnie ext4:size=320m,memory=32m --size around-memory --seeks 50 --blocks 1 --out run \
         --format json",
    );
    let document = outcome.assert_code(0).document();
    let [below, beyond] = [8_u64 << 20, 128 << 20];
    assert_eq!(document["run"]["classic"]["size_bytes"], below);
    assert_eq!(document["run"]["classic"]["further_size_bytes"], serde_json::json!([beyond]));
    let is_cached = |name: String| {
        let warnings = cell(&document, &name)["warnings"].as_array().expect("a list").clone();
        warnings.iter().any(|one| one["kind"] == "cache-benchmark")
    };
    for phase in PHASES {
        assert!(is_cached(format!("{phase}-{below}")), "{phase}");
        assert!(!is_cached(format!("{phase}-{beyond}")), "{phase}");
    }
    // The larger file shows the device.
    assert!(!outcome.stderr.contains("a cache benchmark"), "{}", outcome.stderr);
    let table = report(&place, "bonnie");
    let sizes: Vec<&str> = table.assert_code(0).stdout.lines().skip(3).collect();
    let sizes: Vec<Option<&str>> =
        sizes.into_iter().map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(sizes, [Some("8"), Some("128")]);
    let refused = place.run("reproduce bonnie-anova --run run");
    refused.assert_refused(&["has files of several sizes", "made with a single --size"]);
}

#[test]
fn every_test_of_files_has_its_rate_in_many_directories_and_in_one() {
    for directories in ["3", "1"] {
        let place = Place::new();
        let arguments = format!("run bonnie-metadata --dirs {directories} --files 5 --blocks 1 .");
        let outcome = place.run(&(arguments + " --out run --format json"));
        let document = outcome.assert_code(0).document();
        assert_eq!(names(&document), TESTS);
        for cell in cells(&document) {
            assert_eq!(cell["metrics"][0]["name"], "throughput");
            assert!(cell["metrics"][0]["median"].as_f64().is_some_and(|value| value > 0.0));
        }
    }
}

#[test]
fn what_bonnie_cannot_do_is_refused_with_what_to_change() {
    let place = Place::new();
    for (arguments, words) in [
        ("bonnie . --size 20000", ["--size must be a multiple of 16384", "give 32768"]),
        ("bonnie . --size 0", ["--size", "0 leaves nothing"]),
        ("bonnie . --size 900g", ["a file of 900 GiB will not fit on", "smaller --size"]),
        ("bonnie . --size 16k,20000", ["--size must be a multiple of 16384", "give 32768"]),
        ("bonnie . --size around-caches", ["--size", "around-memory is accepted as well"]),
        ("bonnie . --size 16k,900g", ["a file of 900 GiB will not fit", "as in ext4:memory=64m"]),
        ("nano/io . --size 1m,2m", ["--size", "must be a whole number"]),
        ("nano/io . --size 1m,2m --runs 3", ["--size", "must be a whole number"]),
        ("nano/io . --size around-memory", ["--size", "must be a whole number"]),
        ("array-walk --size around-memory", ["--size", "must be a whole number"]),
        ("bonnie .:memory=1m --size around-memory --chunk 512k", ["too large", "smaller --chunk"]),
        ("bonnie . --chunk 3k", ["--chunk must be a power of two", "give 16k"]),
        ("bonnie . --files 3", ["'--files'", "an option of sprite-lfs, bonnie-metadata"]),
        ("bonnie . --seekers 65", ["--seekers", "1..=64"]),
        ("bonnie . --phase-order bonnie+", ["--phase-order", "bonnie++, bonnie++-f"]),
        ("bonnie-metadata . --phase-order bonnie", ["'--phase-order'", "is an option of bonnie"]),
        ("bonnie-metadata . --size 1m", ["unexpected argument '--size'", "bonnie-metadata"]),
        ("bonnie-metadata . --seeks 3", ["'--seeks'", "--seeks is an option of bonnie"]),
        ("bonnie-metadata . --dirs 100000", ["--dirs", "99999"]),
        ("nano/io . --fsync", ["'--fsync'", "--fsync is an option of bonnie"]),
        ("survey . --format bonnie", ["for runs of bonnie, not of 'survey'", "csv-summary"]),
        ("bonnie-metadata . --format bonnie", ["of bonnie, not of 'bonnie-metadata'", "csv"]),
    ] {
        place.run(&format!("run {arguments}")).assert_refused(&words);
    }
    let words = ["--format bonnie++ is for runs of bonnie and bonnie-metadata"];
    place.run("survey . --format bonnie++").assert_refused(&words);
}

#[test]
fn more_files_than_a_target_has_inodes_for_are_refused() {
    let name = "more_files_than_a_target_has_inodes_for_are_refused";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place.run("run bonnie-metadata ext4:size=128m --files 64 --out run");
    outcome
        .assert_refused(&["has", "inodes free: give fewer --dirs or --files, or a larger size="]);
    assert!(!place.path("run").exists());
}

/// Rates are only printed for phases that take half a second, so the device is throttled here.
#[test]
fn bon_csv2html_shows_the_rate_that_was_measured() {
    let name = "bon_csv2html_shows_the_rate_that_was_measured";
    let reader = "bon_csv2html";
    if Command::new(reader).arg("/dev/null").output().is_err() {
        say_skipped(name, "it needs bon_csv2html, which `scripts/setup test` installs");
        return;
    }
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place.run(
        "run bonnie slow=ext4:size=128m,write_bps=8m --size 8m --seeks 50 --fsync --blocks 1 \
         --out run --format bonnie++",
    );
    let line = &outcome.assert_code(0).stdout;
    let rate = line.split(',').nth(9).expect("it has output per character");
    assert!(rate.parse::<u64>().is_ok_and(|rate| (1000..16_000).contains(&rate)), "{line}");
    let file = place.path("line.csv");
    fs::write(&file, line).expect("the place is ours");
    let page = Outcome::from_output(Command::new(reader).arg(&file).output().expect("it is there"));
    let page = &page.assert_code(0).stdout;
    assert!(page.contains(&format!(">{rate}<")), "no {rate} in {page}");
}

#[test]
fn bon_csv2html_reads_the_lines_of_both() {
    let name = "bon_csv2html_reads_the_lines_of_both";
    let reader = "bon_csv2html";
    if Command::new(reader).arg("/dev/null").output().is_err() {
        say_skipped(name, "it needs bon_csv2html, which `scripts/setup test` installs");
        return;
    }
    for (arguments, fields, written) in [
        ("bonnie --size 1m --seeks 50", 9..21, ">1M<"),
        ("bonnie-metadata --dirs 16 --files 64", 26..38, ">16<"),
    ] {
        let place = Place::new();
        let arguments = format!("run {arguments} --blocks 1 label=. --out run --format bonnie++");
        let line = place.run(&arguments).assert_code(0).stdout.clone();
        let values: Vec<&str> = line.trim_end_matches('\n').split(',').collect();
        assert_eq!(values.len(), 50, "{line}");
        assert!(values[fields].iter().all(|value| !value.is_empty()), "{line}");
        assert_eq!(report(&place, "bonnie++").assert_code(0).stdout, line);
        let file = place.path("lines.csv");
        fs::write(&file, &line).expect("the place is ours");
        let page =
            Outcome::from_output(Command::new(reader).arg(&file).output().expect("it is there"));
        let page = &page.assert_code(0).stdout;
        for words in ["<html", "label", written, "</html>"] {
            assert!(page.contains(words), "no {words} in {page}");
        }
    }
}
