//! Wakes a thread that sleeps between its rounds.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Quiet,
    Rings,
    /// There are to be no more rounds.
    Ended,
}

/// An alarm that one thread waits for.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    state: Mutex<State>,
    changed: Condvar,
}

impl Alarm {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, new: State) {
        let mut state = self.state();
        if *state != State::Ended {
            *state = new;
            self.changed.notify_all();
        }
    }

    /// Wakes the thread for its next round.
    pub(crate) fn ring(&self) {
        self.set(State::Rings);
    }

    /// Wakes the thread for the last time.
    pub(crate) fn end(&self) {
        self.set(State::Ended);
    }

    /// Sleeps until it rings, or this long; false if there are to be no more rounds.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let is_quiet = |state: &mut State| *state == State::Quiet;
        let waited = self.changed.wait_timeout_while(self.state(), at_most, is_quiet);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *state == State::Ended {
            return false;
        }
        *state = State::Quiet;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_begins_at_the_alarm_or_after_the_time_and_none_after_the_end() {
        let alarm = Alarm::default();
        assert!(alarm.wait(Duration::ZERO));
        alarm.ring();
        assert!(alarm.wait(Duration::MAX / 2));
        alarm.end();
        alarm.ring();
        assert!(!alarm.wait(Duration::MAX / 2));
        assert!(!alarm.wait(Duration::ZERO));
    }
}
