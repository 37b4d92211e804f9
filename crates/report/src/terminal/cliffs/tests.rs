//! The cliff report as text.

use super::position;
use crate::sample_search::{MIB, of_cache, plan, searched};
use crate::{Options, render_terminal};

fn text(probes: usize, cache_bytes: f64, width: usize) -> String {
    let plan = plan(record::Axis::WorkingSet, "throughput");
    let document = searched(&plan, probes, of_cache(cache_bytes)).document();
    render_terminal(&document, &Options { width, colour: false })
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_curve_has_a_row_per_position_and_a_mark_where_it_breaks() {
    let text = text(usize::MAX, 62.3 * MIB, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.contains(" op/s ")).collect();
    let at = |start: &str| rows.iter().position(|row| row.trim_start().starts_with(start));
    assert!(at("1 MiB") < at("32 MiB") && at("32 MiB") < at("64 MiB"), "{text}");
    assert!(at("64 MiB") < at("128 MiB") && at("128 MiB") < at("256 MiB"), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let mark = lines.iter().position(|line| line.contains("--- between 6")).unwrap();
    assert!(lines[mark - 1].contains("####"), "{text}");
    assert!(rows.last().is_some_and(|row| !row.contains("####")), "{text}");
}

#[test]
fn a_cliff_is_said_with_its_interval_its_plateaus_and_its_cause() {
    let text = words(&text(usize::MAX, 62.3 * MIB, 100));
    for part in [
        "ext4: throughput by working set",
        "(95 %; ",
        " throughput falls from ",
        "Cause: the target's memory limit, 64 MiB. Up to 6",
        " every page stayed resident; from 6",
        " on the device was read, and 62.3",
        "Fragile: ",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("--resume") && !text.contains("blocks"), "{text}");
}

#[test]
fn what_was_not_found_and_what_was_cut_off_is_said() {
    let flat = words(&text(usize::MAX, 1e12, 100));
    assert!(flat.contains("No break by a factor of 1.2 or more"), "{flat}");
    assert!(flat.contains("was found between 1 MiB and 256 MiB."), "{flat}");
    let early = words(&text(5, 62.3 * MIB, 100));
    assert!(early.contains("before its grid was measured: it says nothing yet"), "{early}");
    let late = words(&text(16, 62.3 * MIB, 100));
    assert!(late.contains("after 16 probes: what it found is preliminary"), "{late}");
}

#[test]
fn positions_have_four_digits_or_are_exact() {
    for (bytes, expected) in [
        (4096.0, "4 KiB"),
        (64.0 * MIB, "64 MiB"),
        (62.29 * MIB, "62.29 MiB"),
        (2.379 * MIB, "2.379 MiB"),
        (215.27 * MIB, "215.3 MiB"),
        (1.5 * 1024.0 * MIB, "1.500 GiB"),
    ] {
        assert_eq!(position("bytes", bytes), expected);
    }
    assert_eq!(position("threads", 3.0), "3 threads");
    assert_eq!(position("threads", 1.0), "1 thread");
}
