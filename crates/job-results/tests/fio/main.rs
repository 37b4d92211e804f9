//! Prints results again that fio has printed, from what its `json+` says of them, and compares all
//! outputs: those of an fio that is installed, and recorded ones.
//!
//! JSON must be the same, character for character. Statistics come with six decimals, from which
//! those of other outputs may differ in the last place; and what JSON lacks (process ids, texts of
//! errors, times of day) is taken from the normal output.
//!
//! The fixtures are outputs of fio 3.33 on Debian 12:
//! `cargo test -p fsprism-job-results --test fio -- --ignored record` makes them again.

mod cases;
mod comparison;
mod logs;
mod merging;
mod outputs;
mod reading;
mod unknowns;

use std::path::PathBuf;

use cases::{CASES, Case, Source};
use outputs::Outputs;

fn fixture(case: &Case) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    folder.join(case.name).with_extension("txt")
}

/// Prints these outputs again and compares them.
fn check(case: &Case, text: &str) {
    let outputs = Outputs::split(text);
    let report = reading::report(case, &outputs);
    let same = comparison::compare(case, &outputs, &report);
    println!("{:<18} {same}", case.name);
}

#[test]
fn recorded_outputs_are_printed_again() {
    for case in CASES.iter().filter(|case| case.is_recorded()) {
        let path = fixture(case);
        let text = std::fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        check(case, &text);
    }
}

#[test]
fn outputs_of_the_installed_fio_are_printed_again() {
    if !outputs::is_fio_installed() {
        println!("fio 3.33 is not installed");
        return;
    }
    for case in CASES.iter().filter(|case| case.source != Source::Fixture) {
        check(case, &outputs::run(case));
    }
}

#[test]
#[ignore = "overwrites the fixtures"]
fn record() {
    for case in CASES.iter().filter(|case| case.is_recorded()) {
        std::fs::write(fixture(case), outputs::run(case)).unwrap();
    }
}
