//! Choices that were recorded from the running fio 3.33.
//!
//! `jobs.txt` lists jobs, each with a name. `recorded/<name>.txt` has what fio chose, a line each:
//! direction and file, offset, length; those of clones follow one another, each after a line
//! `clone`. To record them again, with fio 3.33 installed:
//!
//! ```sh
//! cargo test -p fsprism-job-offsets --test fio -- --ignored record_again
//! ```

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::job::{Event, Job, Line};

/// How many choices of each clone are recorded.
const MOST: usize = 160;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio")
}

fn jobs() -> Vec<(String, Job)> {
    let text = fs::read_to_string(folder().join("jobs.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let (name, options) = line.split_once(": ").expect(line);
            (name.to_owned(), Job(options.to_owned()))
        })
        .collect()
}

fn text_of(clones: &[Vec<Line>]) -> String {
    let mut text = String::new();
    for lines in clones {
        text.push_str("clone\n");
        for line in lines {
            writeln!(text, "{line}").unwrap();
        }
    }
    text
}

#[test]
fn choices_are_those_that_were_recorded() {
    let mut failures = Vec::new();
    for (name, job) in jobs() {
        let recorded = fs::read_to_string(folder().join(format!("recorded/{name}.txt"))).unwrap();
        let own: Vec<_> = (0..job.clones()).map(|clone| job.choices(clone, MOST)).collect();
        let own = text_of(&own);
        if own != recorded {
            let pairs = || own.lines().zip(recorded.lines());
            let at = pairs().position(|(own, fio)| own != fio);
            let pair = at.and_then(|at| pairs().nth(at));
            let counts = (own.lines().count(), recorded.lines().count());
            failures.push(format!("{name}: line {at:?}: {pair:?} of {counts:?}"));
        }
    }
    assert!(failures.is_empty(), "ours, and fio's:\n{}", failures.join("\n"));
}

#[test]
#[ignore = "needs fio 3.33, and writes the recordings"]
fn record_again() {
    for (name, job) in jobs() {
        let events = job.events_of_fio(3 * MOST);
        assert_eq!(events.len(), job.clones() as usize, "{name}");
        let chosen = |event: Event| match event {
            Event::Chosen(line) => Some(line),
            Event::Completed(_) | Event::NoFile => None,
        };
        let lines = |events: Vec<Event>| events.into_iter().filter_map(chosen).take(MOST).collect();
        let clones: Vec<Vec<Line>> = events.into_iter().map(lines).collect();
        fs::write(folder().join(format!("recorded/{name}.txt")), text_of(&clones)).unwrap();
    }
}
