//! Pauses between operations.

use measure::{Clock, SystemClock};

use super::Worker;
use super::pace::sleep_until;
use crate::plan::{JobPlan, ThinkPlan};

/// When the next pause comes.
pub(super) struct Think {
    plan: ThinkPlan,
    pub(super) issued: u64,
    pub(super) completed: u64,
    counted: u64,
    last: u64,
}

impl Think {
    /// `None` if the job has no pauses.
    pub(super) fn new(plan: &JobPlan) -> Option<Self> {
        let plan = plan.think;
        (plan.pause_us > 0).then_some(Self { plan, issued: 0, completed: 0, counted: 0, last: 0 })
    }

    pub(super) fn restart(&mut self, epoch: u64) {
        (self.issued, self.completed, self.counted, self.last) = (0, 0, 0, epoch);
    }

    fn count(&self) -> u64 {
        if self.plan.counts_issued { self.issued } else { self.completed }
    }

    fn is_due(&self, clock: &SystemClock) -> bool {
        if self.plan.work_us > 0 {
            let worked = clock.nanos(clock.ticks().saturating_sub(self.last)) / 1000;
            if worked >= self.plan.work_us + self.plan.pause_us {
                return true;
            }
            if !self.plan.has_blocks {
                return false;
            }
        }
        self.count() >= self.counted + self.plan.blocks
    }
}

impl Worker<'_> {
    /// Pauses, if it is time to.
    pub(super) fn think(&mut self) {
        let Some(think) = &self.think else { return };
        if !think.is_due(&self.clock) {
            return;
        }
        let plan = think.plan;
        self.quiesce();
        let began = self.clock.ticks();
        let stop = self.control.stop_flag();
        let spin_ns = plan.spin_us * 1000;
        while self.clock.nanos(self.clock.ticks().saturating_sub(began)) < spin_ns {
            std::hint::spin_loop();
        }
        sleep_until(&self.clock, began, plan.pause_us * 1000, stop);
        let now = self.clock.ticks();
        if self.plan.rate.ignores_think_time
            && let Some(pace) = &mut self.pace
        {
            pace.forgive(self.clock.nanos(now.saturating_sub(began)));
        }
        if let Some(think) = &mut self.think {
            think.counted = think.count();
            think.last = now;
        }
    }
}
