//! How fast a job may be: when its next operation is due.
//!
//! What is due follows from the bytes that have been issued, not from when the last operation was
//! done, so that a job that was held up catches up, and its rate does not drift.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use job_offsets::{Direction, Generator, JobSeeds, Purpose};
use measure::{Clock, SystemClock};

use crate::plan::JobPlan;

const NS_PER_S: u64 = 1_000_000_000;
/// What a sleep may come too late; the rest is waited for by looking at the clock.
const SPIN_NS: u64 = 60_000;
/// How long it sleeps at a time, to notice that it is told to stop.
const NAP_NS: u64 = 100_000_000;

/// Keeps rates.
pub(super) struct Pace {
    clock: SystemClock,
    bytes_per_s: [u64; 3],
    smallest: [u64; 3],
    is_mixed: bool,
    /// Bytes that have been issued.
    issued: [u64; 3],
    /// When the next is due, in nanoseconds since the epoch.
    due_ns: [u64; 3],
    poisson: Option<[Generator; 3]>,
    epoch: u64,
    limit_ns: Option<u64>,
}

impl Pace {
    /// `None` if the job has no limits.
    pub(super) fn new(plan: &JobPlan, seeds: &JobSeeds, clock: SystemClock) -> Option<Self> {
        let rate = &plan.rate;
        if !rate.limits() {
            return None;
        }
        let smallest = Direction::ALL.map(|way| plan.offsets.spec.block_sizes[way].min_bytes);
        let of = |way: usize| match rate.bytes_per_s[way] {
            0 => rate.operations_per_s[way].saturating_mul(smallest[way]),
            bytes => bytes,
        };
        let purposes = [Purpose::PoissonRead, Purpose::PoissonWrite, Purpose::PoissonTrim];
        let runtime_us = plan.schedule.runtime_us;
        Some(Self {
            clock,
            bytes_per_s: [of(0), of(1), of(2)],
            smallest,
            is_mixed: plan.reads() && plan.writes(),
            issued: [0; 3],
            due_ns: [0; 3],
            poisson: rate.is_poisson.then(|| purposes.map(|purpose| seeds.generator(purpose))),
            epoch: clock.ticks(),
            limit_ns: (runtime_us > 0).then(|| runtime_us.saturating_mul(1000)),
        })
    }

    /// Begins again, as after the ramp.
    pub(super) fn restart(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.issued = [0; 3];
        self.due_ns = [0; 3];
    }

    fn now_ns(&self) -> u64 {
        self.clock.nanos(self.clock.ticks().saturating_sub(self.epoch))
    }

    /// Whether all that the job could do next is not due yet.
    pub(super) fn is_ahead(&self) -> bool {
        let now = self.now_ns();
        let limited = Direction::ALL.map(|way| way as usize).into_iter();
        let mut limited = limited.filter(|way| self.bytes_per_s[*way] > 0).peekable();
        limited.peek().is_some() && limited.all(|way| self.due_ns[way] > now)
    }

    /// Waits until an operation in this direction is due, or one in the other is, if the job has
    /// both. `None` if the job is over before.
    pub(super) fn wait(&mut self, wanted: Direction, stop: &AtomicBool) -> Option<Direction> {
        let mut chosen = wanted;
        let now = self.now_ns();
        if self.due_ns[wanted as usize] <= now {
            return Some(chosen);
        }
        if self.is_mixed && wanted != Direction::Trim {
            let other = match wanted {
                Direction::Read | Direction::Trim => Direction::Write,
                Direction::Write => Direction::Read,
            };
            if self.due_ns[other as usize] < self.due_ns[wanted as usize] {
                chosen = other;
            }
        }
        let due = self.due_ns[chosen as usize];
        let until = self.limit_ns.map_or(due, |limit| due.min(limit));
        sleep_until(&self.clock, self.epoch, until, stop);
        let is_over = self.limit_ns.is_some_and(|limit| self.now_ns() > limit);
        (!is_over && !stop.load(Ordering::Relaxed)).then_some(chosen)
    }

    /// When the operation in this direction that is issued now should have begun, in ticks.
    pub(super) fn intended(&self, direction: Direction, now: u64) -> u64 {
        if self.bytes_per_s[direction as usize] == 0 {
            return now;
        }
        let due = self.epoch.saturating_add(self.clock.ticks_of(self.due_ns[direction as usize]));
        due.min(now)
    }

    /// An operation has been issued: works out when the next is due.
    pub(super) fn issued(&mut self, direction: Direction, bytes: u64) {
        let way = direction as usize;
        let rate = self.bytes_per_s[way];
        if rate == 0 {
            return;
        }
        self.issued[way] += bytes;
        self.due_ns[way] = match &mut self.poisson {
            Some(generators) => {
                let mean_s = self.smallest[way] as f64 / rate as f64;
                let gap_s = -generators[way].positive_share().ln() * mean_s;
                let gap = Duration::try_from_secs_f64(gap_s).unwrap_or_default();
                self.due_ns[way] + u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX)
            }
            None => {
                let due = u128::from(self.issued[way]) * u128::from(NS_PER_S) / u128::from(rate);
                u64::try_from(due).unwrap_or(u64::MAX)
            }
        };
    }

    /// Takes a pause as if its operations had been issued meanwhile.
    pub(super) fn forgive(&mut self, paused_ns: u64) {
        for way in 0..3 {
            let missed = u128::from(self.bytes_per_s[way]) * u128::from(paused_ns);
            let missed = u64::try_from(missed / u128::from(NS_PER_S)).unwrap_or(u64::MAX);
            self.issued[way] += missed.saturating_sub(self.smallest[way]);
            if self.bytes_per_s[way] > 0 {
                self.due_ns[way] += paused_ns;
            }
        }
    }
}

/// Sleeps until so many nanoseconds after the epoch, the last bit of it awake.
pub(super) fn sleep_until(clock: &SystemClock, epoch: u64, until_ns: u64, stop: &AtomicBool) {
    loop {
        let now = clock.nanos(clock.ticks().saturating_sub(epoch));
        if now >= until_ns || stop.load(Ordering::Relaxed) {
            return;
        }
        let left = until_ns - now;
        if left > SPIN_NS {
            std::thread::sleep(Duration::from_nanos((left - SPIN_NS).min(NAP_NS)));
        } else {
            std::hint::spin_loop();
        }
    }
}
