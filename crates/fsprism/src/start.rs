//! What every command that measures begins with: targets made, signals taken, the run recorded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use machine::turn::{Asked, Holder, Turn};
use measure::SystemClock;
use record::{ClockRecord, RunRecord, Tool};
use runner::Stopwatch;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::arguments::Making;
use crate::exit::{Blame, INTERRUPTED, InterruptedEarly};
use crate::output;
use crate::targets::{Made, Wanted};

/// Time since a run began.
pub(crate) struct SinceStart(Instant);

impl SinceStart {
    /// A stopwatch that begins now.
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }
}

impl Stopwatch for SinceStart {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Where runs lie for which no directory is named.
const RUNS: &str = "fsprism-runs";
/// This process' turn, which it keeps to its end: what it made is taken away by then.
static TURN: OnceLock<Turn> = OnceLock::new();
/// How often a run that waits looks whether its turn has come.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Lets signals ask for an orderly end instead of killing the process, waits until no other run
/// measures, then makes the targets.
pub(crate) fn make(
    wanted: Wanted,
    making: &Making,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Made> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The second signal ends the process at once; the guardian cleans up after it.
        let status = i32::from(INTERRUPTED);
        signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(stop))?;
        signal_hook::flag::register(signal, Arc::clone(stop))?;
    }
    suites::notice_stops()?;
    allow_descriptors();
    take_turn(making.no_wait, stop)?;
    let made = wanted.make();
    if stop.load(Ordering::Relaxed) {
        // The signal may have reached mkfs as well, whose end is then no failure.
        if let Ok(made) = made {
            Made::close(made.live, made.workshop)?;
        }
        return Err(InterruptedEarly.into());
    }
    made
}

/// Takes as many open files as this process may have: threads keep some until a round is over.
fn allow_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // Who may not has what there is; an operation that needs more says so.
    let _refused = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Waits for this run's turn to measure, and says so.
fn take_turn(no_wait: bool, stop: &AtomicBool) -> anyhow::Result<()> {
    let mut has_said = TURN.get().is_some();
    while TURN.get().is_none() && !stop.load(Ordering::Relaxed) {
        match Turn::ask() {
            Ok(Asked::Ours(turn)) => _ = TURN.set(turn),
            Ok(Asked::Theirs(holder)) if no_wait => {
                let refusal = anyhow::anyhow!(
                    "{}: try again later, or leave out --no-wait to wait for it to end",
                    others(holder)
                );
                return Err(refusal).blame_input();
            }
            Ok(Asked::Theirs(holder)) => {
                if !std::mem::replace(&mut has_said, true) {
                    let others = others(holder);
                    output::say(&format!("{others}: waiting for it to end (--no-wait exits)"));
                }
                std::thread::sleep(LOOK_AGAIN);
            }
            Err(error) => {
                output::say(&format!(
                    "cannot tell whether another run is measuring, so fsprism does not wait: \
                     {error}"
                ));
                return Ok(());
            }
        }
    }
    if stop.load(Ordering::Relaxed) { Err(InterruptedEarly.into()) } else { Ok(()) }
}

/// That another run measures, and which.
fn others(holder: Option<Holder>) -> String {
    let which = holder.map_or_else(String::new, |Holder { pid, age }| {
        let age = humantime::format_duration(Duration::from_secs(age.as_secs()));
        format!(" (process {pid}, started {age} ago)")
    });
    format!("another run is measuring on this computer{which}")
}

/// Says why a run was stopped whose guardian died; `then` is what to do.
pub(crate) fn check_guarded(is_guarded: bool, then: &str) -> anyhow::Result<()> {
    anyhow::ensure!(
        is_guarded,
        "measuring stopped because fsprism-guard, the process that cleans up if fsprism dies, was \
         killed: {then}"
    );
    Ok(())
}

/// The moment as a run records it, and a seed that no earlier run had.
pub(crate) fn moment_and_seed() -> (String, u64) {
    let now = SystemTime::now();
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = since_epoch.as_secs() ^ u64::from(since_epoch.subsec_nanos());
    (humantime::format_rfc3339_seconds(now).to_string(), seed)
}

/// This machine, with the storage below the scratch directory.
pub(crate) fn described(scratch: &Path) -> record::machine::Machine {
    let mut machine = machine::describe::describe();
    machine.storage = machine::describe::storage([scratch]);
    machine
}

/// Where images lie, as a run records it: with its whole path, for it may be gone on with from
/// another directory.
pub(crate) fn recorded_scratch(making: &Making) -> Option<String> {
    std::path::absolute(making.scratch()).ok()?.into_os_string().into_string().ok()
}

/// The run directory: the one that is named, or a new one, which no other run can have then.
pub(crate) fn run_directory(named: Option<&Path>, run: &RunRecord) -> anyhow::Result<PathBuf> {
    named.map_or_else(|| directory_of_now(&run.started, &run.command), |named| Ok(named.to_owned()))
}

/// A new directory for what `command` begins at the time `started`, among the other runs.
pub(crate) fn directory_of_now(started: &str, command: &str) -> anyhow::Result<PathBuf> {
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
    let cannot = |error: io::Error| {
        anyhow::anyhow!("cannot make {RUNS}/{name}: {error}; choose a run directory with --out")
    };
    made().map_err(cannot).blame_input()
}

/// This program.
pub(crate) fn tool() -> Tool {
    Tool { name: "fsprism".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// The clock as it was calibrated.
pub(crate) fn clock_record(clock: &SystemClock, report: &measure::ClockReport) -> ClockRecord {
    ClockRecord {
        source: report.source.to_string(),
        frequency_hz: report.frequency_hz,
        precision_ns: report.precision_ns,
        cost_ns: report.cost_ns,
        calibration_error_ppm: report.calibration_error_ppm,
        system_call_ns: suites::system_call_ns(clock),
    }
}
