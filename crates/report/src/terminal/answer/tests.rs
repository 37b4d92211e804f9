//! Whole closing screens, as users see them: golden files like those of the full report.

use std::path::Path;

use record::{
    Better, CacheState, CellReport, CurvePoint, Damage, Dimension, Document, EndReason, Line,
    Warning,
};

use super::super::tests::assert_golden;
use super::render_answer;
use crate::known_loads;
use crate::layout::Options;
use crate::sample::{Sample, noisy};

/// Maximum number of lines, without the last three: how to see everything, the page, the run.
const LINES_MAX: usize = 22;

/// A benchmark: its name, title and dimension, and how long an operation takes on tmpfs, ext4, xfs
/// and btrfs in nanoseconds; 0 on tmpfs if it is meaningless there.
pub(super) type SurveyRow = (&'static str, &'static str, Dimension, [f64; 4]);

pub(super) const ROWS: [SurveyRow; 23] = [
    ("append-fsync-4k", "append 4 KiB and fsync", Dimension::Io, [0.0, 673e3, 436e3, 951e3]),
    ("random-read-4k-cold", "random read 4 KiB, cold", Dimension::Io, [0.0, 60e3, 63e3, 66e3]),
    ("random-read-1m-cold", "random read 1 MiB, cold", Dimension::Io, [0.0, 1.2e6, 1.3e6, 1.4e6]),
    (
        "sequential-read-4k-cold",
        "sequential read 4 KiB, cold",
        Dimension::Io,
        [0.0, 1800.0, 1810.0, 2400.0],
    ),
    (
        "sequential-read-1m-cold",
        "sequential read 1 MiB, cold",
        Dimension::Io,
        [0.0, 490e3, 493e3, 541e3],
    ),
    (
        "sequential-read-4k-warm",
        "sequential read 4 KiB, warm",
        Dimension::InMemory,
        [400.0, 466.0, 530.0, 560.0],
    ),
    (
        "sequential-read-1m-warm",
        "sequential read 1 MiB, warm",
        Dimension::InMemory,
        [58e3, 60e3, 61e3, 66e3],
    ),
    (
        "sequential-write-4k-warm",
        "sequential write 4 KiB, warm",
        Dimension::InMemory,
        [640.0, 1910.0, 1290.0, 3400.0],
    ),
    (
        "sequential-write-1m-warm",
        "sequential write 1 MiB, warm",
        Dimension::InMemory,
        [58e3, 121e3, 59e3, 200e3],
    ),
    (
        "random-write-4k-warm",
        "random write 4 KiB, warm",
        Dimension::InMemory,
        [660.0, 4720.0, 1340.0, 5000.0],
    ),
    (
        "random-write-1m-warm",
        "random write 1 MiB, warm",
        Dimension::InMemory,
        [60e3, 140e3, 74e3, 220e3],
    ),
    (
        "random-write-4k-clean",
        "random write 4 KiB, clean pages",
        Dimension::InMemory,
        [0.0, 5200.0, 1420.0, 5900.0],
    ),
    (
        "random-write-1m-clean",
        "random write 1 MiB, clean pages",
        Dimension::InMemory,
        [0.0, 190e3, 81e3, 260e3],
    ),
    ("create-100", "create, directory of 100", Dimension::Metadata, [6e3, 14e3, 14e3, 27e3]),
    (
        "open-close-100",
        "open and close, directory of 100",
        Dimension::Metadata,
        [2050.0, 2100.0, 2110.0, 2150.0],
    ),
    ("new-file-4k", "write a new file of 4 KiB", Dimension::Metadata, [9e3, 23e3, 24e3, 47e3]),
    ("new-file-32k", "write a new file of 32 KiB", Dimension::Metadata, [26e3, 58e3, 49e3, 99e3]),
    ("read-file-4k", "read a file of 4 KiB", Dimension::Metadata, [2300.0, 2500.0, 2550.0, 2700.0]),
    ("read-file-32k", "read a file of 32 KiB", Dimension::Metadata, [9800.0, 10e3, 10.2e3, 10.6e3]),
    ("stat-100", "stat, directory of 100", Dimension::Metadata, [1e3, 1100.0, 1110.0, 1200.0]),
    ("mkdir-100", "mkdir, directory of 100", Dimension::Metadata, [5e3, 22e3, 13e3, 40e3]),
    ("unlink-100", "unlink, directory of 100", Dimension::Metadata, [4e3, 11.6e3, 13.5e3, 40e3]),
    ("readdir-100", "readdir, directory of 100", Dimension::Metadata, [9e3, 26e3, 10.6e3, 20e3]),
];

/// A survey of some of tmpfs, ext4, xfs and btrfs, given by their indices.
pub(super) fn survey(targets: &[usize], blocks: usize) -> Sample {
    survey_of(targets, |row, at| {
        noisy(ROWS[row].3[at], 0.03, row as u64 * 8 + 8 + at as u64, blocks)
    })
}

/// Like [`survey`]; `values` gives the values by the indices of the benchmark and of the target.
pub(super) fn survey_of(targets: &[usize], values: impl Fn(usize, usize) -> Vec<f64>) -> Sample {
    let labels: Vec<&str> =
        targets.iter().map(|&at| ["tmpfs", "ext4", "xfs", "btrfs"][at]).collect();
    let mut sample = Sample::new(&labels).operations(400);
    for (row, (name, title, dimension, times)) in ROWS.into_iter().enumerate() {
        sample = sample.not_on(if times[0] == 0.0 { &["tmpfs"] } else { &[] });
        let values: Vec<Vec<f64>> = targets.iter().map(|&at| values(row, at)).collect();
        let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        sample = sample.benchmark(name, &values);
        sample.change(name, |cell| {
            cell.title = title.to_owned();
            cell.dimension = dimension;
            let request_bytes = if name.contains("-1m-") { 1 << 20 } else { 4 << 10 };
            if dimension != Dimension::Metadata {
                let words: Vec<&str> = name.split('-').collect();
                let mut insert = |name: &str, value| cell.parameters.insert(name.to_owned(), value);
                insert("request_bytes", request_bytes.into());
                insert("access", words[0].into());
                insert("operation", words[1].into());
            }
            if name.ends_with("-cold") {
                cell.cache_state = CacheState::Cold;
            }
        });
    }
    sample.ended()
}

/// The loads on golden screens, which another load leaves as they are.
const LOADS: [&str; 6] = ["database", "mail", "build", "media", "web", "container"];

/// The document of a command that was not asked for particular loads.
pub(super) fn document(sample: &Sample) -> Document {
    let mut loads = known_loads();
    loads.retain(|load| LOADS.contains(&load.name.as_str()));
    let mut document = sample.document_under(&loads);
    document.loads.retain(|load| !load.costs.is_empty());
    document
}

fn screen(sample: &Sample) -> String {
    let document = document(sample);
    let options = Options { width: 80, colour: false };
    let text = render_answer(&document, Path::new("fsprism-runs/RUN"), None, &options);
    assert!(text.lines().count() <= LINES_MAX, "{} lines:\n{text}", text.lines().count());
    text
}

#[test]
fn two_targets() {
    assert_golden("answer-two-targets.txt", &screen(&survey(&[1, 2], 12)));
}

#[test]
fn known_mistakes_are_counted_where_there_is_room_for_the_line() {
    let text = |document: &Document| {
        let options = Options { width: 80, colour: false };
        render_answer(document, Path::new("run"), Some(2), &options)
    };
    let short = document(&Sample::new(&["ext4"]).benchmark("create", &[&[1e4; 6]]).ended());
    assert!(text(&short).contains("\nKnown mistakes: 2 (fsprism check run).\nHalf as wide: "));
    let mut long = document(&survey(&[1, 2], 12));
    let loads = long.loads.clone();
    long.loads.extend(loads);
    assert!(text(&long).lines().count() <= LINES_MAX, "{}", text(&long));
}

#[test]
fn four_targets() {
    let why = "mkfs.f2fs is not installed: install the package f2fs-tools";
    let sample = survey(&[0, 1, 2, 3], 12).skipped("f2fs", why);
    assert_golden("answer-four-targets.txt", &screen(&sample));
}

#[test]
fn damaged_lines_are_left_out_in_words_and_nothing_is_resumed() {
    let mut sample = survey(&[1, 2], 12);
    let damage = |line| Damage { line, why: "its checksum does not match".to_owned() };
    sample.run.damage = vec![damage(7)];
    let text = screen(&sample);
    assert!(text.contains("Left out: line 7 of cells.jsonl is damaged"), "{text}");
    assert!(text.contains("a damaged journal cannot be resumed"), "{text}");
    sample.run.damage.push(damage(9));
    assert!(screen(&sample).contains("is damaged, as is another"), "{}", screen(&sample));
}

#[test]
fn more_loads_than_there_is_room_for_are_counted() {
    let mut document = document(&survey(&[1, 2], 12));
    let loads = document.loads.clone();
    document.loads.extend(loads);
    let options = Options { width: 80, colour: false };
    let text = render_answer(&document, Path::new("run"), None, &options);
    assert!(text.contains("\n  and 6 more (--full)\n"), "{text}");
    assert_eq!(text.lines().count(), LINES_MAX, "{text}");
}

#[test]
fn one_target() {
    assert_golden("answer-one-target.txt", &screen(&survey(&[1], 12)));
}

#[test]
fn one_target_without_times_has_its_figures() {
    let mut document = document(&survey(&[1], 12));
    document.loads.clear();
    document.cells = [document.cells.clone(), document.cells].concat();
    for (at, cell) in document.cells.iter_mut().enumerate() {
        cell.metrics[0].unit = "bytes/s".to_owned();
        cell.metrics[0].better = Better::Higher;
        let curve = format!("curve {}", at % 2);
        let (title, axis, unit) = (curve.clone(), "size".to_owned(), "bytes".to_owned());
        cell.curve = Some(CurvePoint { curve, title, axis, unit, value: at as f64, family: None });
    }
    let options = Options { width: 80, colour: false };
    let text = render_answer(&document, Path::new("run"), None, &options);
    let figures = text.lines().filter(|line| line.contains("/s [")).count();
    assert_eq!(figures, 14, "seven of each curve: {text}");
    let titles = [&document.cells[0], &document.cells[document.cells.len() - 1]];
    assert!(titles.iter().all(|cell| text.contains(&cell.title)), "both ends: {text}");
    assert!(!text.contains("a copy"), "{text}");
}

#[test]
fn one_block() {
    assert_golden("answer-one-block.txt", &screen(&survey(&[1, 2], 1)));
}

#[test]
fn interrupted() {
    let mut sample = survey(&[1, 2], 12);
    let Some(Line::End(end)) = sample.run.lines.last_mut() else { panic!("it has ended") };
    end.reason = EndReason::Interrupted;
    assert_golden("answer-interrupted.txt", &screen(&sample));
    sample.run.lines.pop();
    let text = screen(&sample);
    assert!(text.ends_with("Continue: fsprism survey --resume fsprism-runs/RUN\n"), "{text}");
}

#[test]
fn what_cannot_be_resumed_is_run_anew() {
    let mut sample = survey(&[1, 2], 3);
    sample.run.manifest.run.kind = record::RunKind::Networked;
    let text = screen(&sample);
    assert!(text.contains("Next: to get intervals, run it anew with --blocks 6."), "{text}");
    sample.run.lines.pop();
    let text = screen(&sample);
    assert!(text.contains("Next: run it anew; it cannot be resumed."), "{text}");
}

#[test]
fn nothing_real() {
    let same = |seed| noisy(1000.0, 0.05, seed, 12);
    let sample = Sample::new(&["ext4", "xfs"]).benchmark("create-100", &[&same(1), &same(2)]);
    assert_golden("answer-nothing-real.txt", &screen(&sample.ended()));
}

/// ext4 and xfs, where a few long operations dominate the mean of ext4 on this benchmark.
pub(super) fn with_stalls_on_ext4(benchmark: &str) -> Document {
    let mut document = document(&survey(&[1, 2], 12));
    let stalls = Warning::Stalls {
        operations: 3,
        of: 4800,
        longer_than_ns: 1_000_000,
        longest_ns: 30_000_000,
        share_percent: 90.0,
    };
    let slow = |cell: &&mut CellReport| cell.benchmark == benchmark && cell.target == "ext4";
    document.cells.iter_mut().find(slow).expect("it is there").warnings.push(stalls.into());
    document
}

#[test]
fn a_difference_that_few_long_operations_make_says_so() {
    let document = with_stalls_on_ext4("random-write-4k-warm");
    let options = Options { width: 80, colour: false };
    let text = render_answer(&document, Path::new("run"), None, &options);
    assert!(text.contains("slower than xfs (by a few"), "{text}");
    assert_eq!(text.matches("(by a few").count(), 1, "{text}");
}

#[test]
fn every_width_is_kept_and_colour_adds_nothing_but_colour() {
    for targets in [&[0, 1, 2, 3][..], &[1, 2], &[3]] {
        let document = document(&survey(targets, 8));
        for width in [40, 60, 80, 120] {
            let render = |colour| {
                render_answer(&document, Path::new("run"), None, &Options { width, colour })
            };
            let plain = render(false);
            for line in plain.lines().filter(|line| !line.contains(": fsprism ")) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            let mut without = String::new();
            for part in render(true).split('\u{1b}') {
                let rest = part.split_once('m').filter(|_| part.starts_with('['));
                without.push_str(rest.map_or(part, |(_, rest)| rest));
            }
            assert_eq!(without, plain);
        }
    }
}
