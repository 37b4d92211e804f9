//! What a run says of itself before anything is measured, and the directory that it begins.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use machine::describe;
use measure::ClockReport;
use record::machine::Machine;
use record::{ClockRecord, Manifest, Order, RunRecord, SCHEMA_VERSION, Tool};
use thiserror::Error;

/// Where runs lie for which no directory is named, in the current directory.
pub const RUNS: &str = "fsprism-runs";

/// A run directory cannot be made.
#[derive(Debug, Error)]
#[error("cannot make {RUNS}/{name}: {source}; choose a run directory with --out")]
pub struct DirectoryError {
    name: String,
    source: io::Error,
}

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

/// The run directory: the one that is named, or a new one, which no other run can have then.
///
/// # Errors
/// The new one cannot be made.
pub fn run_directory(named: Option<&Path>, run: &RunRecord) -> Result<PathBuf, DirectoryError> {
    named.map_or_else(|| directory_of_now(&run.started, &run.command), |named| Ok(named.to_owned()))
}

/// A new directory for what `command` begins at the time `started`, among the other runs.
///
/// # Errors
/// It cannot be made.
pub fn directory_of_now(started: &str, command: &str) -> Result<PathBuf, DirectoryError> {
    let time: String = started.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    let name = format!("{time}-{command}");
    let made = || -> io::Result<PathBuf> {
        fs::create_dir_all(RUNS)?;
        let mut path = Path::new(RUNS).join(&name);
        for number in 2.. {
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    // Another of this second.
                    path = Path::new(RUNS).join(format!("{name}-{number}"));
                }
                made => return made.map(|()| path),
            }
        }
        unreachable!("there is always a next number")
    };
    made().map_err(|source| DirectoryError { name, source })
}
