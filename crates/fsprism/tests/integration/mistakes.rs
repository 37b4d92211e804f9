//! `fsprism check`: what it finds in a benchmark as published, and no longer in the corrected one.

use serde_json::Value;

use crate::place::Place;

/// The outcome of one of a document's checks.
fn outcome<'a>(document: &'a Value, mistake: &str) -> &'a str {
    let checks = document["checks"].as_array().expect("a list");
    let check = checks.iter().find(|check| check["mistake"] == mistake);
    check.and_then(|check| check["outcome"].as_str()).expect("it is looked for")
}

#[test]
fn what_the_published_benchmark_contains_the_corrected_one_does_not() {
    let place = Place::new();
    let run = |variant: &str| {
        let arguments = format!(
            "run sprite-lfs . --variant {variant} --file-size 64k --blocks 2 --out {variant}"
        );
        place.run(&arguments).assert_code(0).stdout.clone()
    };
    let screen = run("published");
    assert!(screen.contains("\nKnown mistakes: "), "{screen}");
    assert!(screen.contains("fsprism check published).\n"), "{screen}");
    run("corrected");
    let check = |arguments: &str| place.finish(place.fsprism(&format!("check {arguments}")));
    let published = check("published --format json").assert_code(0).document();
    let corrected = check("corrected --format json").assert_code(0).document();
    for mistake in ["unaligned-access", "call-overhead", "unequal-states"] {
        assert_eq!(outcome(&published, mistake), "found", "{published}");
        assert_eq!(outcome(&corrected, mistake), "passed", "{corrected}");
    }
    // Two blocks do not give a ratio, nor do phases that are executed only once.
    assert_eq!(outcome(&published, "dirty-cache"), "cannot-tell", "{published}");
    assert_eq!(published["known"], 10);
    let mut narrow = place.fsprism("check published");
    let text = place.finish({
        narrow.env("COLUMNS", "80");
        narrow
    });
    let text = &text.assert_code(0).stdout;
    for words in ["of 10 known mistakes: sprite-lfs of ", "--align page", "--pad-calls"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn an_array_has_no_calls_and_no_random_phases() {
    let place = Place::new();
    place.run("run array-walk --size 64k --blocks 8 --out run").assert_code(0);
    let document = place.finish(place.fsprism("check run --format json")).document();
    for mistake in ["warm-up", "unaligned-access", "unequal-states", "cache-reuse"] {
        assert_eq!(outcome(&document, mistake), "passed", "{document}");
    }
}

#[test]
fn what_is_no_run_is_refused_in_a_sentence() {
    let place = Place::new();
    place.finish(place.fsprism("check nothing")).assert_refused(&["not a run directory"]);
    place.finish(place.fsprism("check")).assert_refused(&["no run is named"]);
}
