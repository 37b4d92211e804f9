//! Beginning a run: its record, its manifest and its directory.

use std::env;
use std::ffi::{OsStr, OsString};
use std::iter;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use machine::describe;
use measure::ClockReport;
use record::machine::Machine;
use record::{
    ClockRecord, GroupDirectory, Manifest, Order, RecordError, ReservedDirectory, RunKind,
    RunRecord, SCHEMA_VERSION, Tool,
};

/// Directory for runs that are not given one, relative to the current directory.
pub const RUNS: &str = "fsprism-runs";

/// The record of a run that begins now; everything that is not a parameter here is left empty.
/// Without a seed, it gets a new one derived from the time.
#[must_use]
pub fn run_record(command: &str, suite: &str, seed: Option<u64>) -> RunRecord {
    let now = SystemTime::now();
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    RunRecord {
        command: command.to_owned(),
        arguments: std::env::args().collect(),
        started: humantime::format_rfc3339_seconds(now).to_string(),
        suite: suite.to_owned(),
        kind: RunKind::Timed,
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
        custom: None,
        replicate_length: None,
        classic: None,
        order: Order::default(),
    }
}

/// The manifest of a run on this machine, without targets and cells so far. Storage is that of the
/// scratch directory.
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

/// The name and version of this program.
pub(crate) fn tool() -> Tool {
    Tool { name: "fsprism".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// A description of this machine, with the storage of the scratch directory.
#[must_use]
pub fn machine(scratch: &Path) -> Machine {
    let mut machine = describe::describe();
    machine.storage = describe::storage([scratch]);
    machine
}

/// The calibrated clock, and the cost of a system call.
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

/// The directory of the images, as recorded in the manifest: an absolute path, since the run may be
/// resumed from another directory.
#[must_use]
pub fn recorded_scratch(scratch: &Path) -> Option<String> {
    std::path::absolute(scratch).ok()?.into_os_string().into_string().ok()
}

/// Environment variable that tells a run in a group where its reserved directory is: the route to
/// it, a space, and the path given by `--out`.
pub const HELD_FOR_RUN: &str = "FSPRISM_HELD_FOR_RUN";

/// Reserves the directory of a new run: the named one, or a new one below [`RUNS`].
///
/// # Errors
/// If it cannot be made or is not empty.
pub fn run_directory(
    named: Option<&Path>,
    run: &RunRecord,
) -> Result<ReservedDirectory, RecordError> {
    if let Some(path) = named {
        return match route_to(path, env::var_os(HELD_FOR_RUN)) {
            Some(route) => ReservedDirectory::make_at(&route, path),
            None => ReservedDirectory::make(path),
        };
    }
    let mut names = names_of_now(&run.started, &run.command);
    let made = names.find_map(|name| ReservedDirectory::make_in(RUNS.as_ref(), &name).transpose());
    made.expect("there is always a next name")
}

/// The route to the directory reserved for the run at `path`, if that is the path in `held`.
fn route_to(path: &Path, held: Option<OsString>) -> Option<PathBuf> {
    let held = held?.into_vec();
    let space = held.iter().position(|&byte| byte == b' ')?;
    let (route, of) = (&held[..space], &held[space + 1..]);
    (of == path.as_os_str().as_bytes()).then(|| OsStr::from_bytes(route).into())
}

/// Makes the directory for several runs that `command` begins at the time `started`: the named one,
/// or a new one below [`RUNS`].
///
/// # Errors
/// If it cannot be made or is not empty.
pub fn directory_of_runs(
    named: Option<&Path>,
    started: &str,
    command: &str,
) -> Result<GroupDirectory, RecordError> {
    if let Some(path) = named {
        return GroupDirectory::make(path);
    }
    let mut names = names_of_now(started, command);
    let made = names.find_map(|name| GroupDirectory::make_in(RUNS.as_ref(), &name).transpose());
    made.expect("there is always a next name")
}

/// Candidate names for a directory of `command` at the time `started`. Another run may have begun
/// in the same second, so there are more than one.
fn names_of_now(started: &str, command: &str) -> impl Iterator<Item = String> + use<> {
    let time: String = started.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    let name = format!("{time}-{command}");
    let further = name.clone();
    iter::once(name).chain((2..).map(move |number| format!("{further}-{number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_taken_to_the_directory_that_it_is_for_and_to_no_other() {
        let held = Some(OsString::from("/proc/7/fd/5 a group/run-1"));
        let route = route_to("a group/run-1".as_ref(), held.clone());
        assert_eq!(route, Some(PathBuf::from("/proc/7/fd/5")));
        assert_eq!(route_to("group/run-2".as_ref(), held), None);
        assert_eq!(route_to("/proc/7/fd/5".as_ref(), Some("/proc/7/fd/5".into())), None);
        assert_eq!(route_to("run".as_ref(), None), None);
    }
}
