//! The page beside a run, written again, for several runs, and for runs that are not as they should
//! be. How it looks and behaves in a browser is tested next to its sources, in `web/test`.

use std::fs;

use serde_json::{Value, json};

use crate::place::{Place, names_in};

/// Measures a small run on a directory, which does not need root.
fn measure(place: &Place, name: &str) {
    let command = format!("run survey/in-memory a=. --blocks 2 --budget 1s --size 1m --out {name}");
    place.run(&command).assert_code(0);
}

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).expect(name)
}

fn report(place: &Place, arguments: &str) -> crate::process::Outcome {
    place.finish(place.fsprism(&format!("report {arguments}")))
}

#[test]
fn a_run_leaves_its_page_and_the_report_writes_the_same_again() {
    let place = Place::new();
    measure(&place, "run");
    let page = fs::read(place.path("run/report.html")).expect("a page");
    fs::remove_file(place.path("run/report.html")).expect("it is there");
    let outcome = report(&place, "run");
    assert_eq!(outcome.assert_code(0).stdout, "run/report.html\n");
    assert!(page == fs::read(place.path("run/report.html")).expect("a page"), "another page");
    let printed = report(&place, "run --format html");
    assert!(printed.stdout.as_bytes() == page, "another page is printed");
    assert_eq!(names_in(&place.path("run")).len(), 4, "nothing else is left");
}

#[test]
fn the_report_is_printed_if_the_terminal_is_asked_for() {
    let place = Place::new();
    measure(&place, "run");
    let before = fs::read(place.path("run/report.html")).expect("a page");
    let printed = report(&place, "run --terminal --full");
    assert!(printed.assert_code(0).stdout.contains("\nHow sure this is\n"), "{printed:?}");
    assert_eq!(printed.stdout, report(&place, "run --format terminal --full").stdout);
    assert!(before == fs::read(place.path("run/report.html")).expect("a page"), "written anew");
}

#[test]
fn several_runs_share_a_page_which_replaces_no_file_of_others() {
    let place = Place::new();
    measure(&place, "before");
    measure(&place, "after");
    report(&place, "before after").assert_code(0);
    let page = read(&place, "report.html");
    assert!(page.starts_with("<!doctype html>"), "{}", &page[..60]);
    assert_eq!(page.matches("\nHow sure this is\n").count(), 2, "both in words");
    // One of our own pages may be overwritten.
    report(&place, "before after").assert_code(0);
    fs::write(place.path("mine.html"), "<p>precious").expect("a file");
    report(&place, "before --out mine.html").assert_refused(&["mine.html", "--out"]);
    assert_eq!(read(&place, "mine.html"), "<p>precious");
    report(&place, "before after --format json").assert_refused(&["several runs", "--format"]);
}

#[test]
fn a_run_that_was_cut_off_anywhere_has_a_page() {
    let place = Place::new();
    measure(&place, "run");
    let journal = fs::read(place.path("run/cells.jsonl")).expect("a journal");
    for share in [0, 1, 3, 7, 9] {
        let kept = &journal[..journal.len() * share / 10];
        fs::write(place.path("run/cells.jsonl"), kept).expect("a shorter journal");
        report(&place, "run").assert_code(0);
        let page = read(&place, "run/report.html");
        assert!(page.contains("cut off"), "{share} of 10 parts: it is not said");
    }
    fs::remove_file(place.path("run/cells.jsonl")).expect("it is there");
    report(&place, "run").assert_code(0);
    fs::remove_dir_all(place.path("run/histograms")).expect("it is there");
    fs::write(place.path("run/cells.jsonl"), &journal).expect("the journal");
    report(&place, "run").assert_code(0);
    assert!(read(&place, "run/report.html").contains("histograms cannot be used"));
}

#[test]
fn what_is_no_run_or_a_newer_or_damaged_one_is_refused_in_a_sentence() {
    let place = Place::new();
    measure(&place, "run");
    place.make("empty");
    report(&place, "empty").assert_refused(&["empty", "is not a run directory"]);
    report(&place, "nowhere").assert_refused(&["nowhere", "is not a run directory"]);
    report(&place, "run empty --out both.html").assert_refused(&["empty"]);
    assert!(!place.path("both.html").exists());
    let manifest = read(&place, "run/manifest.json");
    fs::write(place.path("run/manifest.json"), &manifest[..manifest.len() / 2]).expect("half");
    report(&place, "run").assert_refused(&["manifest.json", "damaged"]);
    let another = manifest.replacen("\"benchmark\": \"", "\"benchmark\": \"a", 1);
    fs::write(place.path("run/manifest.json"), another).expect("another one");
    report(&place, "run").assert_refused(&["manifest.json", "checksum", "damaged"]);
    let newer = manifest.replacen("\"schema_version\": 1", "\"schema_version\": 99", 1);
    fs::write(place.path("run/manifest.json"), newer).expect("a newer one");
    report(&place, "run").assert_refused(&["99", "use a newer fsprism"]);
}

#[test]
fn no_label_becomes_markup_of_the_page() {
    let place = Place::new();
    measure(&place, "run");
    let hostile = "</pre></script><script>alert(1)</script><!--";
    let mut manifest: Value =
        serde_json::from_str(&read(&place, "run/manifest.json")).expect("a manifest");
    manifest.as_object_mut().expect("an object").remove("crc32");
    manifest["targets"][0]["label"] = json!(hostile);
    for cell in manifest["cells"].as_array_mut().expect("cells") {
        cell["target"] = json!(hostile);
    }
    fs::write(place.path("run/manifest.json"), manifest.to_string()).expect("a manifest");
    report(&place, "run").assert_code(0);
    let page = read(&place, "run/report.html");
    assert!(!page.contains("<script>alert"), "it runs");
    assert!(page.contains("&lt;/script&gt;"), "it is shown");
    // Only the comment in the head: one that a label opened would hide the rest of the page.
    assert_eq!(page.matches("<!--").count(), 1);
}
