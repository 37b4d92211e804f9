//! The cliff report as text.

use record::Cause;

use super::{position, seen};
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
        " on, the device was read and 62.3",
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
    assert!(early.contains("before its grid was measured: it shows nothing yet"), "{early}");
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
    assert_eq!(
        (position("percent", 0.0), position("percent", 85.0)),
        ("0 %".into(), "85 %".into())
    );
    assert_eq!(position("threads", 3.0), "3 threads");
    assert_eq!(position("threads", 1.0), "1 thread");
}

#[test]
fn causes_that_were_seen_are_said_with_their_proof() {
    let text = seen::sentence(&Cause::DirtyLimit {
        limit_bytes: Some(32 << 20),
        dirty_before_bytes: Some(8 << 20),
        dirty_after_bytes: None,
        waiting_before_percent: 0.2,
        waiting_after_percent: 47.0,
    });
    assert_eq!(
        text.unwrap(),
        "Cause: the limit on dirty data, at most 32 MiB. Threads were seen waiting for the dirty \
         data to shrink in 0 % of all samples before it and in 47 % after it."
    );
    let text = seen::sentence(&Cause::Journal {
        written_before: Some(1.0),
        written_after: Some(2.0),
        waiting_before_percent: 0.0,
        waiting_after_percent: 66.6,
    });
    let text = text.unwrap();
    assert!(text.contains("for a commit in 0 % of all samples before it and in 67 % after it."));
    assert!(text.ends_with("the device wrote 1.00 bytes before it and 2.00 after it."), "{text}");
    let text = seen::sentence(&Cause::ReadAhead {
        window_bytes: 128 << 10,
        device_read_before_bytes: 4096,
        device_read_after_bytes: 128 << 10,
        request_bytes: 4096,
    });
    assert!(text.unwrap().starts_with("Cause: read-ahead of at most 128 KiB. One read of the "));
    assert_eq!(seen::sentence(&Cause::Unknown), None);
}

#[test]
fn shares_have_their_width_in_points_and_noise_says_what_it_hides() {
    let plan = record::SearchPlan {
        low: 0.0,
        high: 100.0,
        grain: 1.0,
        workload: "reads of 4 KiB over 128 MiB by 1 thread".to_owned(),
        compared: record::Compared::Alike,
        ..plan(record::Axis::SequentialShare, "throughput")
    };
    let text = |measure: fn(f64, usize) -> f64| {
        let with_evidence = |position, number| (measure(position, number), Default::default());
        let document = searched(&plan, usize::MAX, with_evidence).document();
        words(&render_terminal(&document, &Options { width: 80, colour: false }))
    };
    let step = text(|share, number| {
        let noise = [1.0, 0.97, 1.02, 0.99][number % 4];
        noise * if share > 63.0 { 2e5 } else { 1e5 }
    });
    for part in [
        "Measured: reads of 4 KiB over 128 MiB by 1 thread.",
        " points wide), throughput rises from ",
        "--- between 6",
        "A cliff is where the value crosses the geometric mean of the two plateaus.",
    ] {
        assert!(step.contains(part), "no `{part}` in {step}");
    }
    let noisy = text(|_, number| 1e5 * [1.0, 0.8, 1.3, 0.9, 1.1][number % 5]);
    assert!(noisy.contains("more within a tenth of the range was found between 0 %"), "{noisy}");
    assert!(noisy.contains("so breaks by less than a factor of "), "{noisy}");
}
