//! What every command that measures begins with: signals taken, its turn awaited, targets made.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use machine::turn::{Asked, Holder, Turn};
use measure::{ClockReport, SystemClock};
use record::{ClockRecord, Skipped};
use runner::Stopwatch;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use suites::Testbed;

use crate::arguments::Making;
use crate::exit::{Blame, INTERRUPTED, InterruptedEarly};
use crate::output;
use crate::session::targets::{Choice, choose};

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

/// This process' turn, which it keeps to its end: what it made is taken away by then.
static TURN: OnceLock<Turn> = OnceLock::new();
/// How often a run that waits looks whether its turn has come.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Lets signals ask for an orderly end instead of killing the process, waits until no other run
/// measures, then makes the targets.
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
    take_turn(making.no_wait, stop)?;
    let testbed = Testbed::make(selection);
    if stop.load(Ordering::Relaxed) {
        // The signal may have reached mkfs as well, whose end is then no failure.
        if let Ok(Testbed { live, workshop }) = testbed {
            Testbed::close(live, workshop)?;
        }
        return Err(InterruptedEarly.into());
    }
    match testbed {
        Ok(testbed) => Ok((testbed, skipped)),
        Err(error) if error.is_of_input() => Err(error).blame_input(),
        Err(error) => Err(error.into()),
    }
}

/// Lets signals ask for an orderly end.
pub(crate) fn take_signals(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The second signal ends the process at once; the guardian cleans up after it.
        let status = i32::from(INTERRUPTED);
        signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(stop))?;
        signal_hook::flag::register(signal, Arc::clone(stop))?;
    }
    Ok(())
}

/// Takes as many open files as this process may have: threads keep some until a round is over.
fn allow_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // Who may not has what there is; an operation that needs more says so.
    let _refused = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Waits for this run's turn to measure, and says so.
pub(crate) fn take_turn(no_wait: bool, stop: &AtomicBool) -> anyhow::Result<()> {
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

/// The clock, and what a run records of it.
pub(crate) fn clock() -> (SystemClock, ClockReport, ClockRecord) {
    let (clock, report) = SystemClock::calibrate();
    let record = runner::clock_record(&report, suites::system_call_ns(&clock));
    (clock, report, record)
}
