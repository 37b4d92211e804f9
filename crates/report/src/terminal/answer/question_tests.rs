//! Questions of somebody who sees the screen for the first time, and where the answers are: on the
//! screen, or in the output of the command that it names.

use std::path::Path;

use record::Document;

use super::render_answer;
use super::tests::{ROWS, document, survey, survey_of, with_stalls_on_ext4};
use crate::compare::{CompareDocument, CompareOptions, NamedRun, compare};
use crate::sample::noisy;
use crate::{Options, render_terminal};

const OPTIONS: Options = Options { width: 80, colour: false };

fn screen(document: &Document) -> String {
    render_answer(document, Path::new("fsprism-runs/RUN"), None, &OPTIONS)
}

/// The line with this beginning.
fn line<'a>(text: &'a str, start: &str) -> &'a str {
    let found = text.lines().find(|line| line.trim_start().starts_with(start));
    found.unwrap_or_else(|| panic!("no line `{start}` in\n{text}"))
}

/// Joins lines that were broken at the width.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn which_is_best_for_mail() {
    let text = screen(&document(&survey(&[0, 1, 2, 3], 12)));
    let row: Vec<&str> = line(&text, "mail ").split_whitespace().collect();
    // tmpfs has no fsync; the 1 is in the column of xfs.
    assert_eq!(row[..3], ["mail", "not", "measured"], "{text}");
    assert_eq!(row[3..6], ["1.5", "[1.5,", "1.5]"], "{text}");
    assert_eq!(row[6], "1", "{text}");
}

#[test]
fn is_xfs_slower_at_create_and_by_how_much() {
    let text = render_terminal(&document(&survey(&[1, 2], 12)), &OPTIONS);
    let said = line(&text, "create, directory of 100: ");
    let is_answer = ["slower", "cannot be told apart", "the same within"];
    assert!(is_answer.iter().any(|words| joined(&text).contains(words)), "{said}");
    assert!(said.contains("ext4 14.0 us") || said.contains("xfs"), "{said}");
}

#[test]
fn what_is_the_99th_percentile_of_fsync() {
    let text = render_terminal(&document(&survey(&[1, 2], 12)), &OPTIONS);
    let heading = text.lines().find(|line| line.contains("p99")).expect("a column of p99");
    assert!(heading.contains("p50"), "{heading}");
    let mut rows = text.lines().filter(|line| line.trim_start().starts_with("append 4 KiB and"));
    assert!(rows.any(|line| line.matches(" us").count() >= 3), "{text}");
}

/// Two sides of four runs, the second with slower creates.
fn sides(times: f64) -> CompareDocument {
    let run = |number: usize| {
        let factor = if number < 4 { 1.0 } else { times };
        let values = move |row: usize, at: usize| {
            let own = (number * 1000 + row * 8 + at) as u64;
            let factor = if ROWS[row].0 == "create-100" { factor } else { 1.0 };
            noisy(ROWS[row].3[at] * factor, 0.02, own, 8)
        };
        let run = survey_of(&[1, 2], values).run;
        NamedRun { name: format!("run-{number}"), run }
    };
    let runs: Vec<NamedRun> = (0..8).map(run).collect();
    let how = CompareOptions { first_side: Some(4), ..CompareOptions::default() };
    compare(&runs, &how).expect("they can be compared")
}

#[test]
fn what_changed() {
    let text = joined(&sides(1.3).summary(80));
    assert!(text.contains(" worse, 0 better, "), "{text}");
    let first = "Largest differences create, directory of 100: ext4 (b): time per operation 1.";
    assert!(text.contains(first), "{text}");
    assert!(!joined(&sides(1.0).summary(80)).contains("create, "));
}

#[test]
fn could_it_have_seen_5_percent() {
    let same = sides(1.0);
    assert!(joined(&same.summary(80)).contains("4 and 4 runs show a ratio of 1.0"));
    assert_eq!((same.gate(0.05).failure(), same.gate(0.05).blindness()), (None, None));
    let blind = same.gate(0.001).blindness().expect("so little cannot be seen");
    assert!(blind.contains("runs a side (--runs)") || blind.contains("even 100 runs"), "{blind}");
}

#[test]
fn what_was_not_measured() {
    let why = "mkfs.f2fs is not installed: install the package f2fs-tools";
    let text = screen(&document(&survey(&[0, 1, 2, 3], 12).skipped("f2fs", why)));
    assert!(line(&text, "Left out: ").contains("f2fs: mkfs.f2fs is not installed"), "{text}");
    let text = screen(&document(&survey(&[0, 1, 2, 3], 12)));
    assert_eq!(line(&text, "Left out: "), "Left out: nothing.");
}

#[test]
fn why_is_it_so_many_times_slower() {
    let document = with_stalls_on_ext4("random-write-4k-clean");
    let text = joined(&screen(&document));
    assert!(text.contains("slower than xfs (by a few long operations"), "{text}");
}

#[test]
fn is_it_the_disk_or_memory() {
    let text = screen(&document(&survey(&[0, 1, 2, 3], 12)));
    for (dimension, of_btrfs) in [("I/O ", "1.3 [1.3, 1.3]"), ("In memory ", "3.1 [3.0, 3.1]")] {
        assert!(line(&text, dimension).ends_with(of_btrfs), "{text}");
    }
    assert!(joined(&text).contains("cold 4 KiB read 60.0 us"), "{text}");
}

#[test]
fn what_next() {
    let text = screen(&document(&survey(&[1, 2], 12)));
    let command = "fsprism survey --resume fsprism-runs/RUN --budget 182s";
    assert_eq!(line(&text, "Half as wide: "), format!("Half as wide: {command}"));
}

#[test]
fn can_this_number_be_quoted() {
    let text = screen(&document(&survey(&[1, 2], 12)));
    let sure = line(&text, "Confidence ");
    for words in ["95 %", "of 23 comparisons differ", "intervals +/- ", "warning"] {
        assert!(sure.contains(words), "{sure}");
    }
    // Everything that is quoted has its interval next to it.
    let ratios = text.lines().filter(|line| line.contains("x ") && line.contains("slower"));
    assert!(ratios.clone().count() > 4, "{text}");
    assert!(ratios.clone().all(|line| line.contains("x [")), "{text}");
}
