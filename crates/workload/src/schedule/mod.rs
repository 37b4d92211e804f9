//! Operations on a schedule: each should begin at a predetermined moment, however long the earlier
//! ones took, and is timed from that moment (an open loop, in the words of Schroeder, Wierman &
//! Harchol-Balter, "Open Versus Closed: A Cautionary Tale", NSDI 2006).
//!
//! A loop that starts an operation only when the last one has ended cannot see how long others
//! would have waited: during a slow one it asks for nothing, and the slow one counts once. Users
//! keep coming. Here, operations that should have begun in the meantime are late, and the delay is
//! part of their latency, so nothing is omitted (Gil Tene calls the mistake "coordinated
//! omission").
//!
//! There is a single thread, so late operations queue up before the call, not inside the kernel: it
//! is a queue with one server.

use std::hint::spin_loop;
use std::num::NonZeroU64;
use std::time::Duration;

use measure::{Clock, Histogram, Recorder};
use rand::{RngExt as _, SeedableRng};
use rand_distr::Exp1;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::thread::{
    ClockId, Timespec, clock_nanosleep_relative, current_timer_slack, set_current_timer_slack,
};

use crate::arithmetic::whole;

/// Initial width of a slice of the timeline.
const SLICE_NS: u64 = 1_000_000;
/// A thread that waits longer than this sleeps; for less, it spins, because the kernel takes some
/// tens of microseconds to wake it.
const SPIN_NS: u64 = 50_000;
/// The longest single sleep, after which the halt is checked.
const SLEEP_NS_MAX: u64 = 50_000_000;
/// An operation is late if it begins more than this after its scheduled moment. A spinning thread
/// notices the moment within less than a microsecond; one that was busy, or descheduled, does not.
const LATE_NS: u64 = 10_000;

/// The spacing of the moments of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// Like independent users: gaps are exponential, so some operations come close together.
    Poisson,
    /// All gaps are the same.
    Constant,
}

/// The moments at which operations should begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Nanoseconds since the start, ascending.
    starts_ns: Vec<u64>,
}

impl Schedule {
    /// `operations` moments at a given rate. All gaps are scaled alike so that the last moment is
    /// exactly `operations` / rate after the start, and every replicate is offered exactly this
    /// rate. With exponential gaps this is a Poisson process conditioned on the number of arrivals.
    #[must_use]
    pub fn new(rate_per_s: f64, operations: u64, spacing: Spacing, seed: u64) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut gap = || match spacing {
            Spacing::Poisson => generator.sample::<f64, _>(Exp1),
            Spacing::Constant => 1.0,
        };
        let mut sum = 0.0;
        let sums: Vec<f64> = (0..operations)
            .map(|_| {
                sum += gap();
                sum
            })
            .collect();
        let all_ns = operations as f64 / rate_per_s * 1e9;
        let starts_ns = sums.iter().map(|so_far| whole(so_far / sum * all_ns)).collect();
        Self { starts_ns }
    }

    /// The number of operations.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.starts_ns.len() as u64
    }
}

/// Waits until the clock reaches a given time.
pub trait Wait<C: Clock> {
    /// Returns soon after `clock` reads `until_ticks`, or a little before that.
    fn wait(&mut self, until_ticks: u64, clock: &C);
}

/// Sleeps while there is enough time, then spins.
#[derive(Debug)]
pub struct SleepThenSpin<S> {
    sleep: S,
}

impl<S: FnMut(Duration)> SleepThenSpin<S> {
    /// Uses `sleep` to sleep, which may take longer than asked.
    pub fn new(sleep: S) -> Self {
        Self { sleep }
    }
}

impl<C: Clock, S: FnMut(Duration)> Wait<C> for SleepThenSpin<S> {
    fn wait(&mut self, until_ticks: u64, clock: &C) {
        loop {
            let left_ticks = until_ticks.saturating_sub(clock.ticks());
            if left_ticks == 0 {
                return;
            }
            let left_ns = clock.nanos(left_ticks);
            if left_ns > SPIN_NS {
                let sleep_ns = (left_ns - SPIN_NS).min(SLEEP_NS_MAX);
                (self.sleep)(Duration::from_nanos(sleep_ns));
                if sleep_ns == SLEEP_NS_MAX {
                    return;
                }
            } else {
                spin_loop();
            }
        }
    }
}

/// Makes the kernel end this thread's sleeps as precisely as it can, until dropped. By default, it
/// delays wake-ups by up to 50 microseconds to coalesce them.
#[derive(Debug)]
pub struct ExactSleeps {
    before_ns: Option<NonZeroU64>,
}

impl ExactSleeps {
    /// Takes effect immediately, for the calling thread.
    #[must_use]
    pub fn begin() -> Self {
        // If this is not permitted, operations begin late, which is counted.
        let before_ns = current_timer_slack().ok().and_then(NonZeroU64::new);
        _ = set_current_timer_slack(Some(NonZeroU64::MIN));
        Self { before_ns }
    }

    /// Sleeps for about `time`; a signal may end it early.
    pub fn sleep(&self, time: Duration) {
        if let Ok(request) = Timespec::try_from(time) {
            _ = clock_nanosleep_relative(ClockId::Monotonic, &request);
        }
    }
}

impl Drop for ExactSleeps {
    fn drop(&mut self) {
        _ = set_current_timer_slack(self.before_ns);
    }
}

/// The result of operations on a schedule.
#[derive(Debug, Clone)]
pub struct OnSchedule {
    /// Each operation from its scheduled moment to its end.
    pub latency: Recorder,
    /// Each operation from its actual start to its end.
    pub service: Histogram,
    /// Operations that began late.
    pub late: u64,
    /// From the start of the schedule to the end of the last operation.
    pub elapsed_ns: u64,
    /// Whether it ended because it was told to halt.
    pub interrupted: bool,
}

impl OnSchedule {
    /// Operations done per second.
    #[must_use]
    pub fn rate_per_s(&self) -> f64 {
        self.latency.operations() as f64 / self.elapsed_ns.max(1) as f64 * 1e9
    }

    /// The share of operations that began late, from 0 to 1.
    #[must_use]
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.latency.operations().max(1) as f64
    }
}

/// Does one operation per moment of the schedule, in order, unless `halt` ends it early.
/// `operation` is passed its number, from 0.
///
/// # Errors
/// The first error of an operation.
pub fn run_on_schedule<C: Clock, E>(
    schedule: &Schedule,
    clock: &C,
    wait: &mut impl Wait<C>,
    halt: &impl Fn() -> bool,
    mut operation: impl FnMut(u64) -> Result<(), E>,
) -> Result<OnSchedule, E> {
    let mut service = Histogram::new();
    let mut late = 0;
    let mut end_ticks = clock.ticks();
    let origin_ticks = end_ticks;
    let mut latency = Recorder::new(origin_ticks, clock.ticks_of(SLICE_NS));
    let mut interrupted = false;
    for (number, &at_ns) in (0..).zip(&schedule.starts_ns) {
        let due_ticks = origin_ticks + clock.ticks_of(at_ns);
        while !interrupted && clock.ticks() < due_ticks {
            wait.wait(due_ticks, clock);
            interrupted = halt();
        }
        interrupted = interrupted || halt();
        if interrupted {
            break;
        }
        let start_ticks = clock.start();
        operation(number)?;
        end_ticks = clock.end();
        latency.record(due_ticks, end_ticks, clock);
        service.record(clock.nanos(end_ticks.saturating_sub(start_ticks)));
        late += u64::from(clock.nanos(start_ticks.saturating_sub(due_ticks)) > LATE_NS);
    }
    let elapsed_ns = clock.nanos(end_ticks.saturating_sub(origin_ticks));
    Ok(OnSchedule { latency, service, late, elapsed_ns, interrupted })
}

#[cfg(test)]
mod tests;
