//! Runs of before a change of their format: one of each kind must read as it did.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::documents::assert_valid;
use crate::place::Place;

/// Runs from before manifests said what kind of run they are, each with the report of then.
const KINDS: [&str; 5] = ["timed", "searched", "traced", "networked", "traffic"];
const RUNS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/runs");

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.expect("coreutils").success());
}

#[test]
fn runs_of_each_kind_read_as_they_did_before_it_was_recorded() {
    let place = Place::new();
    for kind in KINDS {
        // What phases move through caches lies within the run that it was counted beside.
        let (name, run) = match kind {
            "traffic" => ("counted", "counted/cache-traffic"),
            name => (name, name),
        };
        if name == run || !place.path(name).exists() {
            copy(&Path::new(RUNS).join(name), &place.path(name));
        }
        let full = place.finish(place.fsprism(&format!("report {name} --terminal --full")));
        let expected =
            fs::read_to_string(place.path(name).join("expected.txt")).expect("a fixture");
        assert_eq!(full.assert_code(0).stdout, expected, "{kind}");
        let json = place.finish(place.fsprism(&format!("report {run} --format json")));
        let document = json.assert_code(0).document();
        assert_valid(&document);
        assert_eq!(document["run"]["kind"], kind);
        place.finish(place.fsprism(&format!("report {run} --out {kind}.html"))).assert_code(0);
    }
    for (run, words) in [
        ("searched", "search for cliffs"),
        ("traced", "a run of footprint, which cannot be resumed"),
        ("networked", "a run of fscache, which cannot be resumed"),
        ("counted/cache-traffic", "cannot be resumed"),
    ] {
        place.finish(place.fsprism(&format!("run --resume {run}"))).assert_refused(&[words]);
    }
}
