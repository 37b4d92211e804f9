//! The run directory: what is kept, what is cut off, what is refused.

use std::fs;

use super::*;
use crate::SCHEMA_VERSION;
use crate::cache_state::CacheState;
use crate::cliff::CellAdded;
use crate::dimension::Dimension;
use crate::journal::{CellFailed, Start};
use crate::machine::Machine;
use crate::manifest::{ClockRecord, RunRecord, Tool};
use crate::run_kind::RunKind;

pub(crate) fn manifest() -> Manifest {
    Manifest {
        schema_version: SCHEMA_VERSION,
        tool: Tool { name: "fsprism".to_owned(), version: "0.0.0".to_owned() },
        run: RunRecord {
            command: "survey".to_owned(),
            arguments: vec!["fsprism".to_owned(), "survey".to_owned()],
            started: "2026-01-01T00:00:00Z".to_owned(),
            suite: "survey".to_owned(),
            kind: RunKind::Timed,
            seed: 7,
            budget_s: 60.0,
            precision_percent: 2.0,
            confidence_level: 0.95,
            blocks: None,
            verify: false,
            data_file_bytes: 1 << 26,
            guest_kernel: None,
            simulated_caches: None,
            offered_load: None,
            custom: None,
            replicate_length: None,
            classic: None,
            order: crate::Order::default(),
        },
        machine: Machine::default(),
        clock: ClockRecord {
            source: "tsc".to_owned(),
            frequency_hz: 2.6e9,
            precision_ns: 1.0,
            cost_ns: 20.0,
            calibration_error_ppm: 1.0,
            system_call_ns: 200.0,
        },
        references: None,
        targets: Vec::new(),
        skipped: Vec::new(),
        cells: Vec::new(),
        scratch: None,
    }
}

pub(crate) fn start(used_s: f64) -> Line {
    Line::Start(Start { used_s, budget_s: None })
}

/// Writes a line as another program, or a fault, might leave it.
fn append_unchecked(directory: &mut RunDirectory, line: &Line) {
    let text = journal_text::text_of(line, directory.last_line + 1);
    directory.write(&text).expect("there is room");
}

#[test]
fn what_was_appended_is_read_back_in_order() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut directory = RunDirectory::create(&path, &manifest()).expect("a new run");
    directory.append(&start(0.0)).expect("a line");
    directory.append(&start(1.5)).expect("a line");
    let run = Run::read(&path).expect("a run");
    assert_eq!(run.manifest, manifest());
    assert_eq!(run.lines, [start(0.0), start(1.5)]);
}

#[test]
fn a_torn_last_line_is_ignored_by_readers_and_cut_off_by_resume() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut directory = RunDirectory::create(&path, &manifest()).expect("a new run");
    directory.append(&start(0.0)).expect("a line");
    drop(directory);
    let journal = path.join(JOURNAL);
    let mut text = fs::read(&journal).expect("the journal");
    text.extend_from_slice(b"{\"kind\":\"start\",\"use");
    fs::write(&journal, &text).expect("a torn journal");
    assert_eq!(Run::read(&path).expect("a run").lines, [start(0.0)]);
    let (mut directory, run) = RunDirectory::resume(&path).expect("a run to go on with");
    assert_eq!(run.lines, [start(0.0)]);
    directory.append(&start(2.0)).expect("a line after the cut");
    assert_eq!(Run::read(&path).expect("a run").lines, [start(0.0), start(2.0)]);
}

#[test]
fn a_damaged_line_is_left_out_and_named_and_nothing_is_added_behind_it() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    drop(RunDirectory::create(&path, &manifest()).expect("a new run"));
    let text = b"{\"kind\":\"start\",\"used_s\":0}\nnonsense\n{\"kind\":\"start\",\"used_s\":2}\n";
    fs::write(path.join(JOURNAL), text).expect("written");
    let run = Run::read(&path).expect("what is left of it");
    assert_eq!(run.lines, [start(0.0), start(2.0)]);
    assert!(matches!(run.damage.as_slice(), [Damage { line: 2, .. }]), "{:?}", run.damage);
    let error = RunDirectory::resume(&path).expect_err("it is damaged");
    assert!(matches!(error, RecordError::Damaged { line: 2, .. }), "{error}");
}

#[test]
fn a_line_of_an_unknown_cell_is_left_out() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut directory = RunDirectory::create(&path, &manifest()).expect("a new run");
    let failed = CellFailed { cell: 3, block: 0, why: "none".to_owned() };
    append_unchecked(&mut directory, &Line::CellFailed(failed));
    let run = Run::read(&path).expect("the rest of it");
    assert!(run.lines.is_empty() && run.damage[0].why.contains("cell 3"), "{:?}", run.damage);
}

#[test]
fn a_manifest_that_cannot_be_is_refused_with_what_is_wrong_with_it() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut impossible = manifest();
    impossible.run.budget_s = 1e300;
    drop(RunDirectory::create(&path, &impossible).expect("a new run"));
    let error = Run::read(&path).expect_err("no run is so long").to_string();
    assert!(error.contains("manifest.json: budget_s is 1e300"), "{error}");
}

#[test]
fn what_is_taken_in_is_made_in_a_directory_of_its_own() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let run = RunDirectory::create(&path, &manifest()).expect("a new run");
    run.take_in("guest", |into| {
        drop(RunDirectory::create(&into.join("guest"), &manifest()).expect("a new run"));
        fs::write(into.join("beside"), "it").map_err(|error| error.to_string())
    })
    .expect("it was left there");
    assert_eq!(run.read_below("guest").expect("a run").manifest, manifest());
    let failed = run.take_in("other", |into| Err(format!("{}/output: none", into.display())));
    let said = failed.expect_err("there is none").to_string();
    assert_eq!(said, format!("{}/output: none", path.join("other.part").display()));
    run.take_in("nothing", |_| Ok(())).expect_err("there is none");
    let mut names = run.held.names().expect("ours");
    names.sort();
    assert_eq!(names, ["cells.jsonl", "guest", "histograms", "manifest.json"]);
}

#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    for name in [MANIFEST, JOURNAL] {
        let path = temporary.path().join(name.replace('.', "-"));
        drop(RunDirectory::create(&path, &manifest()).expect("a new run"));
        fs::remove_file(path.join(name)).expect("it is ours");
        rustix::fs::mkfifoat(rustix::fs::CWD, path.join(name), rustix::fs::Mode::RWXU)
            .expect("it is ours");
        let error = Run::read(&path).expect_err("it is no file").to_string();
        assert!(error.contains(name) && error.contains("not a regular file"), "{error}");
        RunDirectory::resume(&path).expect_err("it is no file");
    }
}

/// Regression test: two processes that found the directory empty at the same time used to leave
/// one's journal under the other's manifest.
#[test]
fn of_two_that_begin_in_one_directory_one_does() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    for round in 0..40 {
        let path = temporary.path().join(round.to_string());
        let begin = |seed| {
            let mut manifest = manifest();
            manifest.run.seed = seed;
            let path = path.clone();
            std::thread::spawn(move || {
                let mut run = RunDirectory::create(&path, &manifest).ok()?;
                run.append(&start(seed as f64)).expect("it is ours");
                Some(run)
            })
        };
        let both = [begin(1), begin(2)].map(|one| one.join().expect("no panic"));
        let winners: Vec<usize> = (0..2).filter(|&one| both[one].is_some()).collect();
        let [winner] = winners[..] else { panic!("{winners:?} of two began") };
        let run = Run::read(&path).expect("one has begun");
        let seed = winner as u64 + 1;
        assert_eq!((run.manifest.run.seed, run.lines), (seed, vec![start(seed as f64)]));
    }
}

#[test]
fn what_was_begun_since_the_directory_was_found_empty_is_left_alone() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    drop(RunDirectory::create(&path, &manifest()).expect("a new run"));
    let mut other = manifest();
    other.run.seed += 1;
    let held = OpenDirectory::open(&path).expect("it is there");
    let begun = ReservedDirectory::lock(held).and_then(|it| it.begin(&other));
    let error = begun.expect_err("another run is there by now");
    assert!(matches!(error, RecordError::NotEmpty { .. }), "{error}");
    assert_eq!(Run::read(&path).expect("the first").manifest, manifest());
}

#[test]
fn a_directory_that_holds_something_is_refused_and_left_alone() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    fs::write(temporary.path().join("thesis.txt"), b"years").expect("a file");
    let error = RunDirectory::create(temporary.path(), &manifest()).expect_err("not empty");
    assert!(matches!(error, RecordError::NotEmpty { .. }), "{error}");
    for name in [MANIFEST, JOURNAL, HISTOGRAMS] {
        assert!(!temporary.path().join(name).exists(), "{name}");
    }
}

#[test]
fn a_run_of_a_newer_schema_is_refused_before_anything_in_it_is_believed() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let text = format!("{{\"schema_version\": {}, \"new\": true}}", SCHEMA_VERSION + 1);
    fs::write(temporary.path().join(MANIFEST), text).expect("a manifest");
    let error = Run::read(temporary.path()).expect_err("a newer run");
    assert!(matches!(error, RecordError::NewerSchema { .. }), "{error}");
}

#[test]
fn what_is_not_a_run_is_said_not_to_be_one() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    assert!(matches!(Run::read(temporary.path()), Err(RecordError::NotARun { .. })));
}

#[test]
fn a_second_writer_is_refused() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let _directory = RunDirectory::create(&path, &manifest()).expect("a new run");
    assert!(matches!(RunDirectory::resume(&path), Err(RecordError::Busy { .. })));
}

/// Its parts disappear one after another; whichever is first, the error is the same.
#[test]
fn a_directory_that_is_being_removed_is_said_to_be() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let mut histogram = Histogram::new();
    histogram.record(1);
    for gone in [JOURNAL, HISTOGRAMS, MANIFEST] {
        let path = temporary.path().join(gone.replace('.', "-"));
        let mut run = RunDirectory::create(&path, &manifest()).expect("a new run");
        run.append_histogram(0, &histogram, 0.0, 1).expect("it is there");
        run.append(&start(0.0)).expect("it is there");
        match gone {
            HISTOGRAMS => fs::remove_dir_all(path.join(gone)).expect("it is ours"),
            _ => fs::remove_file(path.join(gone)).expect("it is ours"),
        }
        if gone == MANIFEST {
            run.append(&start(1.0)).expect("what is written to is there");
            fs::remove_dir_all(&path).expect("it is ours");
        }
        for error in [
            run.append(&start(1.0)).expect_err(gone),
            run.append_histogram(1, &histogram, 0.0, 1).expect_err(gone),
            run.append_histogram(0, &histogram, 0.0, 1).expect_err(gone),
        ] {
            assert!(matches!(error, RecordError::Removed { .. }), "{gone}: {error}");
        }
    }
}

#[test]
fn a_log_that_was_removed_or_cut_is_not_filled_up_with_zeros() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut run = RunDirectory::create(&path, &manifest()).expect("a new run");
    let mut histogram = Histogram::new();
    histogram.record(1);
    run.append_histogram(0, &histogram, 0.0, 1).expect("it is there");
    fs::remove_file(path.join(HISTOGRAMS).join(log_name(0))).expect("it is ours");
    let error = run.append_histogram(0, &histogram, 0.0, 1).expect_err("it is gone").to_string();
    assert!(error.contains("0000.hlog was removed during the run"), "{error}");
}

#[test]
fn a_full_disk_has_a_sentence_of_its_own() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let mut directory =
        RunDirectory::create(&temporary.path().join("run"), &manifest()).expect("a new run");
    directory.journal = full;
    let error = directory.append(&start(0.0)).expect_err("no room");
    assert!(matches!(error, RecordError::DiskFull { .. }), "{error}");
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut directory = RunDirectory::create(&path, &manifest()).expect("a new run");
    directory.append(&start(0.0)).expect("it can be read");
    let refused = directory.append(&start(1e10)).expect_err("thirty years").to_string();
    assert!(refused.contains("used_s") && refused.contains("is kept"), "{refused}");
    assert!(!directory.is_full());
    directory.journal_bytes = JOURNAL_BYTES_MAX / 16 * 15;
    assert!(directory.is_full());
    directory.append(&start(1.0)).expect("there is room for the end");
    directory.journal_bytes = JOURNAL_BYTES_MAX - 10;
    let refused = directory.append(&start(2.0)).expect_err("too long").to_string();
    assert!(refused.contains("at most 134217728 bytes"), "{refused}");
    directory.journal_bytes = 0;
    directory.last_line = journal_text::LINES_READ_MAX;
    directory.append(&start(2.0)).expect_err("too many lines");
    let run = directory.read().expect("what was written is sound");
    assert_eq!((run.lines.len(), run.damage.len()), (2, 0));
}

/// A cell of this benchmark.
pub(crate) fn cell(benchmark: &str) -> Cell {
    Cell {
        target: "ext4".to_owned(),
        suite: "cliff/working-set".to_owned(),
        benchmark: benchmark.to_owned(),
        title: String::new(),
        dimension: Dimension::Caching,
        exercises: Vec::new(),
        parameters: std::collections::BTreeMap::new(),
        cache_state: CacheState::Steady,
        metrics: Vec::new(),
        baseline: None,
        working_set_bytes: Some(4096),
        curve: None,
        floor: None,
        rank: 0,
        least: None,
        sequence: None,
    }
}

fn added(number: u32) -> Line {
    let definition = cell(&format!("read-{number}"));
    Line::CellAdded(Box::new(CellAdded { cell: number, definition }))
}

#[test]
fn cells_that_a_search_adds_count_from_their_line_on() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut directory = RunDirectory::create(&path, &manifest()).expect("a new run");
    let failed = |cell| Line::CellFailed(CellFailed { cell, block: 0, why: String::new() });
    for line in [added(0), failed(0), added(1), failed(1), failed(0)] {
        append_unchecked(&mut directory, &line);
    }
    let run = Run::read(&path).expect("a run");
    let names: Vec<&str> = run.cells().iter().map(|cell| cell.benchmark.as_str()).collect();
    assert_eq!(names, ["read-0", "read-1"]);
    append_unchecked(&mut directory, &failed(2));
    let damage = Run::read(&path).expect("the rest of it").damage;
    assert!(matches!(damage.as_slice(), [Damage { line: 6, .. }]), "nobody added it: {damage:?}");
}

#[test]
fn a_cell_that_is_added_out_of_turn_is_damage() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let path = temporary.path().join("run");
    let mut directory = RunDirectory::create(&path, &manifest()).expect("a new run");
    append_unchecked(&mut directory, &added(1));
    let damage = Run::read(&path).expect("the rest of it").damage;
    assert!(damage[0].line == 1 && damage[0].why.contains("next is cell 0"), "{damage:?}");
}
