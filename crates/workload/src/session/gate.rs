//! The start: threads arrive, and go together or not at all.
//!
//! Unlike a barrier of fixed size, it can be called off when a thread could not be started.

use std::sync::{Condvar, Mutex, PoisonError};

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    verdict: Option<Verdict>,
}

/// What the threads at the gate are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Go,
    CalledOff,
}

/// Where threads wait for each other.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

impl Gate {
    /// Waits, in a thread that is ready, for the verdict.
    pub(super) fn arrive(&self) -> Verdict {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived += 1;
        self.changed.notify_all();
        loop {
            if let Some(verdict) = state.verdict {
                return verdict;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until `threads` have arrived and lets them go.
    pub(super) fn open(&self, threads: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.arrived < threads {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.verdict = Some(Verdict::Go);
        self.changed.notify_all();
    }

    /// Sends those that arrived, and those that still will, home.
    pub(super) fn call_off(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.verdict = Some(Verdict::CalledOff);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn nobody_goes_before_all_arrived() {
        let (gate, ready) = (Gate::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    ready.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(gate.arrive(), Verdict::Go);
                    assert_eq!(ready.load(Ordering::SeqCst), 4);
                });
            }
            gate.open(4);
        });
    }

    #[test]
    fn a_start_that_is_called_off_frees_whoever_waits() {
        let gate = Gate::default();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.arrive());
            gate.call_off();
            assert_eq!(waiting.join().expect("the thread does not panic"), Verdict::CalledOff);
        });
    }
}
