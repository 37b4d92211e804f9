//! A clock moved by hand, so that tests of timed code are exact and repeatable.

use crate::clock::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A clock that advances only by [`advance_ns`](Self::advance_ns) and, if asked for, by a fixed
/// step per reading. Its tick is one nanosecond, and it starts at 0. Clones share the time.
#[derive(Debug, Clone, Default)]
pub struct ManualClock {
    now_ns: Arc<AtomicU64>,
    step_ns: u64,
}

impl ManualClock {
    /// A clock that advances only by hand.
    pub fn new() -> Self {
        Self::default()
    }

    /// A clock that also advances by `step_ns` after each reading: an operation that does nothing
    /// takes exactly one step.
    pub fn with_step(step_ns: u64) -> Self {
        Self { step_ns, ..Self::default() }
    }

    /// Advances this clock and its clones.
    pub fn advance_ns(&self, nanos: u64) {
        self.now_ns.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The current time, without advancing it by a step.
    pub fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }
}

impl Clock for ManualClock {
    fn start(&self) -> u64 {
        self.now_ns.fetch_add(self.step_ns, Ordering::Relaxed)
    }

    fn end(&self) -> u64 {
        self.start()
    }

    fn nanos(&self, ticks: u64) -> u64 {
        ticks
    }

    fn ticks_of(&self, nanos: u64) -> u64 {
        nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_time_and_each_reading_steps() {
        let clock = ManualClock::with_step(5);
        let other = clock.clone();
        assert_eq!((clock.start(), other.end(), clock.ticks()), (0, 5, 10));
        other.advance_ns(100);
        assert_eq!((clock.now_ns(), clock.now_ns()), (115, 115));
        let still = ManualClock::new();
        assert_eq!((still.start(), still.end()), (0, 0));
    }
}
