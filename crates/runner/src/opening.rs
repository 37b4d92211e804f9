//! What a run says of itself before anything is measured, and the directory that it begins.

use std::fs;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use machine::describe;
use measure::ClockReport;
use record::machine::Machine;
use record::{
    ClockRecord, Manifest, Order, RecordError, ReservedDirectory, RunRecord, SCHEMA_VERSION, Tool,
};

/// Where runs lie for which no directory is named, in the current directory.
pub const RUNS: &str = "fsprism-runs";

/// The record of a run that begins now: of what is not said, nothing. Without a seed it has one
/// that no earlier run had.
#[must_use]
pub fn run_record(command: &str, suite: &str, seed: Option<u64>) -> RunRecord {
    let now = SystemTime::now();
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    RunRecord {
        command: command.to_owned(),
        arguments: std::env::args().collect(),
        started: humantime::format_rfc3339_seconds(now).to_string(),
        suite: suite.to_owned(),
        seed: seed.unwrap_or(since_epoch.as_secs() ^ u64::from(since_epoch.subsec_nanos())),
        budget_s: 0.0,
        precision_percent: 0.0,
        confidence_level: 0.0,
        blocks: None,
        verify: false,
        data_file_bytes: 0,
        guest_kernel: None,
        simulated_caches: None,
        offered_load: None,
        classic: None,
        order: Order::default(),
    }
}

/// The manifest of a run on this machine, with the storage below the scratch directory. It has
/// neither targets nor cells yet.
#[must_use]
pub fn manifest(run: RunRecord, scratch: &Path, clock: ClockRecord) -> Manifest {
    Manifest {
        schema_version: SCHEMA_VERSION,
        tool: tool(),
        run,
        machine: machine(scratch),
        clock,
        references: None,
        targets: Vec::new(),
        skipped: Vec::new(),
        cells: Vec::new(),
        scratch: None,
    }
}

/// This program.
pub(crate) fn tool() -> Tool {
    Tool { name: "fsprism".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// This machine, with the storage below the scratch directory.
#[must_use]
pub fn machine(scratch: &Path) -> Machine {
    let mut machine = describe::describe();
    machine.storage = describe::storage([scratch]);
    machine
}

/// The clock as it was calibrated, and what a system call takes.
#[must_use]
pub fn clock_record(report: &ClockReport, system_call_ns: f64) -> ClockRecord {
    ClockRecord {
        source: report.source.to_string(),
        frequency_hz: report.frequency_hz,
        precision_ns: report.precision_ns,
        cost_ns: report.cost_ns,
        calibration_error_ppm: report.calibration_error_ppm,
        system_call_ns,
    }
}

/// Where images lie, as a run records it: with its whole path, as the run may be resumed from
/// another directory.
#[must_use]
pub fn recorded_scratch(scratch: &Path) -> Option<String> {
    std::path::absolute(scratch).ok()?.into_os_string().into_string().ok()
}

/// The directory of a new run, held for it: the one that is named, or a new one among the other
/// runs.
///
/// # Errors
/// It cannot be made, or holds something.
pub fn run_directory(
    named: Option<&Path>,
    run: &RunRecord,
) -> Result<ReservedDirectory, RecordError> {
    if let Some(path) = named {
        return ReservedDirectory::make(path);
    }
    let mut names = names_of_now(&run.started, &run.command);
    let made = names.find_map(|name| ReservedDirectory::make_in(RUNS.as_ref(), &name).transpose());
    made.expect("there is always a next name")
}

/// A new directory among the other runs, which nothing holds, for several that `command` begins at
/// the time `started`.
///
/// # Errors
/// It cannot be made.
pub fn directory_of_runs(started: &str, command: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(RUNS)?;
    let paths = names_of_now(started, command).map(|name| Path::new(RUNS).join(name));
    let mut made = paths.map(|path| fs::create_dir(&path).map(|()| path));
    let is_new = |made: &io::Result<PathBuf>| {
        !made.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    };
    made.find(is_new).expect("there is always a next name")
}

/// Names for a directory of what `command` begins at the time `started`: others may have begun
/// something in the same second.
fn names_of_now(started: &str, command: &str) -> impl Iterator<Item = String> + use<> {
    let time: String = started.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    let name = format!("{time}-{command}");
    let further = name.clone();
    iter::once(name).chain((2..).map(move |number| format!("{further}-{number}")))
}
