//! What a run does when other programs keep the machine busy.

use std::sync::atomic::Ordering;
use std::time::Duration;

use record::{Busy, Waited};

use crate::context::{OnBusy, RunContext};
use crate::executor::Measured;
use crate::observer::Event;
use crate::plan::ATTEMPTS;

/// Share of the budget that a run spends waiting for others at most, all waits together.
const WAITS_SHARE: f64 = 0.25;
/// How long the machine must be watched and seen idle to count as quiet.
pub(crate) const WATCHED: Duration = Duration::from_secs(1);

/// What to do with a replicate that other programs disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusyAction {
    /// Discard it and measure again.
    Retry,
    /// Discard it and wait until the machine is quiet, for at most this long.
    Wait(Duration),
    /// Keep it, with a mark.
    Keep,
    /// End the run.
    Refuse,
}

/// Waits until `watch` finds the machine quiet, for `time_max` at most, or until the run is told to
/// stop. `used` is the budget used so far.
pub(crate) fn wait(
    busy: Busy,
    used: Duration,
    time_max: Duration,
    context: &mut RunContext<'_>,
    mut watch: impl FnMut(Duration) -> Option<Busy>,
) -> Waited {
    let began = context.stopwatch.elapsed();
    context.observer.observe(&Event::Waiting { busy: &busy, time_max });
    let (mut last, mut is_quiet) = (busy, false);
    let mut time = Duration::ZERO;
    while !is_quiet && time < time_max && !context.stop.load(Ordering::Relaxed) {
        match watch(WATCHED) {
            Some(busy) => last = busy,
            None => is_quiet = true,
        }
        time = context.stopwatch.elapsed().saturating_sub(began);
    }
    context.observer.observe(&Event::Waited { time, is_quiet });
    Waited { at_s: used.as_secs_f64(), waited_s: time.as_secs_f64(), is_quiet, busy: last }
}

/// How much longer a run can wait for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    on_busy: OnBusy,
    left: Duration,
}

impl Patience {
    pub(crate) fn new(on_busy: OnBusy, budget: Duration) -> Self {
        Self { on_busy, left: budget.mul_f64(WAITS_SHARE) }
    }

    /// What to do after this attempt, counted from 1. A disturbance is usually over by the next
    /// attempt, so the run waits only before the last one, which is kept in any case.
    pub(crate) fn after(&self, attempt: u32) -> BusyAction {
        match self.on_busy {
            OnBusy::Measure => BusyAction::Keep,
            OnBusy::Refuse if attempt >= ATTEMPTS => BusyAction::Refuse,
            OnBusy::Wait if self.left.is_zero() || attempt >= ATTEMPTS => BusyAction::Keep,
            OnBusy::Wait if attempt + 1 == ATTEMPTS => BusyAction::Wait(self.left),
            OnBusy::Wait | OnBusy::Refuse => BusyAction::Retry,
        }
    }

    /// Subtracts a wait that has ended. If it was in vain, the run does not wait again.
    pub(crate) fn note(&mut self, waited: &Waited) {
        let time = Duration::from_secs_f64(waited.waited_s);
        self.left = if waited.is_quiet { self.left.saturating_sub(time) } else { Duration::ZERO };
    }
}

/// What to do after this attempt, and which programs disturbed it.
pub(crate) fn action_after(
    measured: &Measured,
    patience: &Patience,
    attempt: u32,
) -> (BusyAction, Busy) {
    let busy = measured.neighbours.as_ref().and_then(|neighbours| neighbours.busy.clone());
    busy.map_or((BusyAction::Keep, Busy::default()), |busy| (patience.after(attempt), busy))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_secs(100);

    #[test]
    fn a_run_tries_again_then_waits_and_then_measures() {
        let mut patience = Patience::new(OnBusy::Wait, BUDGET);
        let quarter = Duration::from_secs(25);
        let all = |patience: Patience| (1..=ATTEMPTS).map(|it| patience.after(it)).collect();
        let after: Vec<BusyAction> = all(patience);
        assert_eq!(after, [BusyAction::Retry, BusyAction::Wait(quarter), BusyAction::Keep]);
        let waited =
            |waited_s, is_quiet| Waited { at_s: 0.0, waited_s, is_quiet, busy: Busy::default() };
        patience.note(&waited(5.0, true));
        assert_eq!(patience.after(2), BusyAction::Wait(Duration::from_secs(20)));
        patience.note(&waited(1.0, false));
        let after: Vec<BusyAction> = all(patience);
        assert_eq!(after, [BusyAction::Keep; 3], "waiting did not help");
    }

    #[test]
    fn others_do_as_they_are_told() {
        let all = |on_busy| (1..=ATTEMPTS).map(move |it| Patience::new(on_busy, BUDGET).after(it));
        assert!(all(OnBusy::Measure).eq([BusyAction::Keep; 3]));
        assert!(all(OnBusy::Refuse).eq([BusyAction::Retry, BusyAction::Retry, BusyAction::Refuse]));
    }
}
