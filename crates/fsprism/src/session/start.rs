//! How every command that measures starts: it handles signals, waits its turn and makes targets.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use machine::measuring_lock::{Holder, LockAttempt, LockWaiter, MeasuringLock, Purpose};
use measure::{ClockReport, SystemClock};
use record::{ClockRecord, Skipped};
use runner::Stopwatch;
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use suites::Testbed;
use textual::shell_path;

use crate::arguments::making::Making;
use crate::exit::{INTERRUPTED, InterruptedEarly, OrInputError};
use crate::output;
use crate::session::targets::{Choice, choose};

/// Time since a run began.
pub(crate) struct SinceStart(Instant);

impl SinceStart {
    /// Starts a stopwatch.
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }
}

impl Stopwatch for SinceStart {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// This process's lock, kept until it ends: by then, everything it made has been removed.
static LOCK: OnceLock<MeasuringLock> = OnceLock::new();
/// The signals that ask for the end.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// How often a waiting run checks whether its turn has come.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Refuses to start if a seccomp filter blocks a system call that nothing works without.
pub(crate) fn check_calls() -> anyhow::Result<()> {
    let Some((call, why)) = machine::refused_call() else { return Ok(()) };
    Err(anyhow::anyhow!(
        "{call}(2) is blocked here ({why}): allow it in the container's filter of system calls \
         (seccomp), or run fsprism outside the container"
    ))
    .or_input_error()
}

/// Makes signals request an orderly end instead of killing the process, waits until no other run is
/// measuring, then makes the targets.
pub(crate) fn make(
    choice: Choice<'_>,
    making: &Making,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<(Testbed, Vec<Skipped>)> {
    let selection = choose(choice, making)?;
    let skipped = selection.skipped().to_vec();
    take_signals(stop)?;
    suites::notice_stops()?;
    allow_descriptors();
    take_turn(Purpose::Time, making.no_wait, stop)?;
    if making.drop_caches {
        drop_caches();
    }
    if let Some(unseen) = suites::unseen_neighbours() {
        output::say(&unseen);
    }
    let testbed = Testbed::make(selection);
    if stop.load(Ordering::Relaxed) {
        // The signal may have reached mkfs too, whose failure is then not an error.
        if let Ok(Testbed { live, workshop }) = testbed {
            Testbed::close(live, workshop)?;
        }
        return Err(InterruptedEarly.into());
    }
    match testbed {
        Ok(testbed) => Ok((testbed, skipped)),
        Err(error) if error.is_of_input() => Err(error).or_input_error(),
        Err(error) => Err(error.into()),
    }
}

/// Drops what survives a run in the system's caches, if this process may do that.
fn drop_caches() {
    if geteuid().is_root() {
        rustix::fs::sync();
        // If this fails, runs have a little more in common. No figure depends on that.
        let _kept = fs::write("/proc/sys/vm/drop_caches", "3");
    }
}

/// The path of this program's executable, which guests run.
pub(crate) fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot find this program's own file")
}

/// How the program was called, quoted for a shell, with sudo if it was called with that.
pub(crate) fn invocation() -> String {
    let program = std::env::args_os().next().unwrap_or_else(|| "fsprism".into());
    let program = shell_path(Path::new(&program));
    // Within a root shell that sudo started, another sudo is not needed.
    let by_sudo = std::env::var("SUDO_COMMAND").unwrap_or_default();
    let is_by_sudo = by_sudo.split(' ').next().is_some_and(|path| path.ends_with("fsprism"));
    if is_by_sudo { format!("sudo {program}") } else { program }
}

/// A flag that is set by signals which ask for the end.
pub(crate) fn flag_of_signals() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Makes signals request an orderly end.
pub(crate) fn take_signals(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    // A second signal ends the process, and the guardian cleans up.
    Ok(system_calls::stop_then_end(&SIGNALS, stop, i32::from(INTERRUPTED))?)
}

/// Raises the limit of open files as far as allowed: threads keep files open until a round is over.
fn allow_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // If this fails, the old limit stays; an operation that needs more reports an error.
    let _refused = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Waits for this run's turn to measure, and reports that it waits.
pub(crate) fn take_turn(purpose: Purpose, no_wait: bool, stop: &AtomicBool) -> anyhow::Result<()> {
    let mut waiting = LockWaiter::new(purpose);
    let mut has_said = false;
    while LOCK.get().is_none() && !stop.load(Ordering::Relaxed) {
        match waiting.ask() {
            Ok(LockAttempt::Acquired(lock)) => _ = LOCK.set(lock),
            Ok(LockAttempt::Held(holder)) if no_wait => {
                let refusal = anyhow::anyhow!(
                    "{}: try again later, or leave out --no-wait to wait for it to end",
                    others(holder)
                );
                return Err(refusal).or_input_error();
            }
            Ok(LockAttempt::Held(holder)) => {
                if !std::mem::replace(&mut has_said, true) {
                    let others = others(holder);
                    output::say(&format!("{others}: waiting for it to end (--no-wait exits)"));
                }
                std::thread::sleep(LOOK_AGAIN);
            }
            Err(error) if no_wait => {
                let refusal = anyhow::anyhow!(
                    "cannot tell whether another run is measuring on this computer: {error}: \
                     leave out --no-wait to measure all the same"
                );
                return Err(refusal).or_input_error();
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

/// Says that another run is measuring, and if known, which one and since when.
fn others(holder: Option<Holder>) -> String {
    let Some(Holder { pid, since }) = holder else {
        return "another run is measuring on this computer".to_owned();
    };
    let time = moment(since, SystemTime::now());
    format!("another run has been measuring on this computer since {time} (process {pid})")
}

/// A time of day, with the date unless it is today's.
fn moment(time: SystemTime, now: SystemTime) -> String {
    let of = |time| humantime::format_rfc3339_seconds(time).to_string();
    let (time, now) = (of(time), of(now));
    let parts = (time.split_at_checked(10), now.split_at_checked(10));
    match parts {
        (Some((date, of_day)), Some((today, _))) if date == today => {
            format!("{} UTC", of_day.get(1..6).unwrap_or(of_day))
        }
        _ => time,
    }
}

/// Fails if the guardian has died, which stops a run; `then` says what to do about it.
pub(crate) fn check_guarded(is_guarded: bool, then: &str) -> anyhow::Result<()> {
    anyhow::ensure!(
        is_guarded,
        "measuring stopped because fsprism-guard, the process that cleans up if fsprism dies, was \
         killed: {then}"
    );
    Ok(())
}

/// Calibrates the clock. Returns it with its report and with what a run records of it.
pub(crate) fn clock() -> (SystemClock, ClockReport, ClockRecord) {
    let (clock, report) = SystemClock::calibrate();
    let record = runner::clock_record(&report, suites::system_call_ns(&clock));
    (clock, report, record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_today_needs_no_date() {
        let at = |text: &str| humantime::parse_rfc3339(text).expect("a moment");
        let now = at("2026-03-02T00:05:00Z");
        assert_eq!(moment(at("2026-03-02T00:01:59Z"), now), "00:01 UTC");
        assert_eq!(moment(at("2026-03-01T23:59:10Z"), now), "2026-03-01T23:59:10Z");
    }
}
