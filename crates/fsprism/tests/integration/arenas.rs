//! Targets that are reached through a library: measured beside others, labelled, gone afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use densefs_process::DenseFs;
use serde_json::Value;

use crate::kill::ends_before_lines;
use crate::place::{Place, names_in};
use crate::process::kill;

const LABEL: &str = "densefs (by library call)";

fn why_skipped(document: &Value, target: &str) -> Option<String> {
    let all = document["skipped"].as_array().expect("a list").iter();
    let mut found = all.filter(|one| one["target"] == format!("{LABEL}: {target}"));
    found.next().map(|one| one["why"].as_str().expect("a sentence").to_owned())
}

#[test]
fn a_library_is_measured_beside_a_file_system_and_named_as_one() {
    let name = "a_library_is_measured_beside_a_file_system_and_named_as_one";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place.run(
        "run survey tmpfs:size=128m densefs:size=128m --size 2m --blocks 1 --verify --format json \
         --out run",
    );
    let document = outcome.assert_code(0).document();
    let of = |label: &str| -> Vec<&Value> {
        let cells = document["cells"].as_array().expect("a list").iter();
        cells.filter(|cell| cell["target"] == label).collect()
    };
    let named = "densefs:size=128m (by library call)";
    let measured = |label: &str| -> Vec<&str> {
        of(label).iter().map(|cell| cell["benchmark"].as_str().expect("a name")).collect()
    };
    assert_eq!(measured(named), measured("tmpfs:size=128m"));
    for benchmark in ["sequential-read-4k-warm", "random-write-4k-warm", "create-100", "rename-100"]
    {
        assert!(measured(named).contains(&benchmark), "{benchmark}");
    }
    for cell in of(named) {
        assert!(cell["failed"].is_null(), "{cell}");
        // On a busy machine, threads may never run together; such replicates are discarded.
        let is_disturbed =
            cell["parameters"]["threads"] == 2 && cell["discarded"].as_u64() > Some(0);
        assert!(cell["operations"].as_u64() > Some(0) || is_disturbed, "{cell}");
    }
    let manifest = fs::read_to_string(place.path("run/manifest.json")).expect("it is there");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let target = &manifest["targets"][1];
    assert_eq!((&target["label"], &target["file_system"]), (&named.into(), &"densefs".into()));
    let told =
        place.finish(place.fsprism("report run --terminal --full")).assert_code(0).stdout.clone();
    let is_named = told.contains("densefs:size=12~ (by library call)");
    assert!(is_named && told.contains("reached by calls of its"), "{told}");
    place.finish(place.fsprism("report run")).assert_code(0);
    let page = fs::read_to_string(place.path("run/report.html")).expect("it is written");
    assert!(page.starts_with("<!"), "a page");
}

#[test]
fn what_a_library_has_no_calls_for_is_left_out_with_why() {
    let place = Place::new();
    let outcome = place.run(
        "run nano densefs=densefs:size=96m --benchmark random-read*,append*,open-loop*,create-1* \
         --size 1m --blocks 1 --format json --out run",
    );
    let document = outcome.assert_code(0).document();
    let because = |target: &str| why_skipped(&document, target);
    for (target, why) in [
        ("direct reads and writes", "no O_DIRECT"),
        ("reads and writes in flight", "io_uring is an interface of the kernel"),
        ("reads and writes on the device", "it has no device"),
        ("cold reads and writes", "never cold"),
        ("append and fsync", "no device that fsync could write to"),
    ] {
        let said = because(target).unwrap_or_else(|| panic!("{target}: {}", document["skipped"]));
        assert!(said.contains(why), "{target}: {said}");
    }
    let by_itself = document["skipped"].as_array().expect("a list").iter();
    let says = |one: &&Value| one["why"].as_str().is_some_and(|why| why.contains("of its own"));
    assert!(by_itself.filter(says).count() > 0, "{}", document["skipped"]);
}

#[test]
fn what_has_no_meaning_for_a_library_is_refused() {
    let place = Place::new();
    let limited = place.run("survey densefs:memory=64m");
    limited.assert_refused(&["`memory=` does not apply to densefs", "a library keeps its files"]);
    place.run("cliff densefs:size=96m").assert_says(&["not reached by system calls"]);
}

/// The arena of the process with this id.
fn arena_of(pid: u32) -> PathBuf {
    let shared = Path::new("/dev/shm");
    let begins = format!("fsprism-{pid}-");
    let mut names = names_in(shared).into_iter().filter(|name| name.starts_with(&begins));
    shared.join(names.next().expect("it is there while it is measured"))
}

#[test]
fn a_killed_run_leaves_no_arena_behind() {
    let place = Place::new();
    let run = "run survey/in-memory densefs:size=96m --size 1m --budget 20s --blocks 20 --out run";
    let mut command = place.measure(run);
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it can be started");
    // Wait until it has a journal.
    while !place.path("run/cells.jsonl").exists() {
        assert!(!ends_before_lines(&child, &place.path("run"), 1), "it has not measured yet");
    }
    ends_before_lines(&child, &place.path("run"), 4);
    let path = arena_of(child.id());
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(&path).expect("it is there").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    // Another process of the same user may attach the arena, which is made anew from time to time.
    let size = || DenseFs::attach(&path).ok()?.stat("/data/read/0").ok().map(|file| file.size);
    while size() != Some(1 << 20) {
        let has_ended = ends_before_lines(&child, &place.path("run"), 1);
        assert!(!has_ended, "the operations never worked on it");
    }
    kill(&mut child);
    place.assert_nothing_left(child.id());
    assert!(!path.exists());
}
