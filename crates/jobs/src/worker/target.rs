//! The search for the depth that keeps latencies below a target.
//!
//! The depth is doubled as long as enough operations are below it, then halved between the last
//! that was good and the first that was not. When it no longer changes, everything is counted anew
//! at that depth, and then the job ends (fio's manual, `latency_target`).

use measure::{Clock, SystemClock};

use crate::plan::{JobPlan, LatencyTarget};

/// What a look at the last window says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Go on.
    GoOn,
    /// The depth was lowered: what is in flight has to end first.
    Quiesce,
    /// The depth has been found: count anew, at this depth.
    CountAnew,
    /// All has been counted at the depth that was found.
    End,
}

/// The search.
#[derive(Clone, Debug)]
pub(super) struct Target {
    plan: LatencyTarget,
    most: u32,
    pub(super) depth: u32,
    low: u32,
    high: u32,
    stable: u32,
    is_final: bool,
    began: u64,
    done_before: u64,
    failed: u64,
}

impl Target {
    pub(super) fn new(plan: &JobPlan) -> Option<Self> {
        let most = plan.depth.depth;
        plan.latency_target.map(|plan| Self {
            plan,
            most,
            depth: 1,
            low: 1,
            high: most,
            stable: 0,
            is_final: false,
            began: 0,
            done_before: 0,
            failed: 0,
        })
    }

    /// Begins a window.
    pub(super) fn restart(&mut self, now: u64, done: u64) {
        (self.began, self.done_before, self.failed) = (now, done, 0);
    }

    /// An operation took so long. False if the target cannot be kept at all.
    pub(super) fn observe(&mut self, took_ns: u64) -> Option<Next> {
        if took_ns <= self.plan.target_ns {
            return Some(Next::GoOn);
        }
        if self.plan.percentile < 100.0 {
            self.failed += 1;
            return Some(Next::GoOn);
        }
        self.lower()
    }

    /// Looks at the window, if it is over. `None` if the target cannot be kept.
    pub(super) fn look(&mut self, clock: &SystemClock, done: u64) -> Option<Next> {
        let now = clock.ticks();
        if clock.nanos(now.saturating_sub(self.began)) / 1000 < self.plan.window_us {
            return Some(Next::GoOn);
        }
        let operations = done.saturating_sub(self.done_before);
        let good = operations.saturating_sub(self.failed) as f64 / operations.max(1) as f64;
        let next = if operations > 0 && good * 100.0 >= self.plan.percentile {
            Some(self.raise())
        } else {
            self.lower()
        };
        self.restart(now, done);
        next
    }

    fn lower(&mut self) -> Option<Next> {
        if self.depth == 1 {
            return None;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = u32::midpoint(self.depth, self.low).max(1);
        self.stable = 0;
        Some(Next::Quiesce)
    }

    fn raise(&mut self) -> Next {
        let before = self.depth;
        self.low = self.depth;
        if self.depth + 1 == self.high {
            self.stable += 1;
            if self.stable >= 3 {
                self.high += 1;
                self.stable = 0;
            }
        }
        self.depth = match self.high == self.most {
            true => self.depth * 2,
            false => u32::midpoint(self.depth, self.high),
        };
        self.depth = self.depth.min(self.most);
        if self.plan.goes_on || self.depth != before {
            return Next::GoOn;
        }
        if self.is_final {
            return Next::End;
        }
        self.is_final = true;
        Next::CountAnew
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(most: u32) -> Target {
        let plan = LatencyTarget { target_ns: 100, window_us: 0, percentile: 50.0, goes_on: false };
        Target {
            plan,
            most,
            depth: 1,
            low: 1,
            high: most,
            stable: 0,
            is_final: false,
            began: 0,
            done_before: 0,
            failed: 0,
        }
    }

    #[test]
    fn the_largest_depth_that_is_good_is_found() {
        let mut target = target(64);
        let mut last = Next::GoOn;
        for _ in 0..64 {
            last = if target.depth <= 19 { target.raise() } else { target.lower().expect("not 1") };
            if last == Next::CountAnew {
                break;
            }
        }
        assert_eq!((last, target.depth), (Next::CountAnew, 19));
        assert_eq!(target.raise(), Next::End);
    }

    #[test]
    fn what_is_too_slow_one_at_a_time_cannot_be_kept() {
        let mut target = target(8);
        target.plan.percentile = 100.0;
        assert_eq!(target.observe(100), Some(Next::GoOn));
        assert_eq!(target.observe(101), None);
        target.depth = 4;
        assert_eq!(target.observe(101), Some(Next::Quiesce));
        assert_eq!(target.depth, 2);
    }
}
