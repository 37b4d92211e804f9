//! Requests that threads of their own wait for, and that the kernel may give up.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How many requests that were given up are remembered.
const GIVEN_UP_MAX: usize = 1024;

#[derive(Debug, Default)]
struct State {
    /// Whether each has been given up, by its number.
    waiting: HashMap<u64, Arc<AtomicBool>>,
    /// Those given up that nobody waited for. A thread that has just read such a request may be
    /// about to begin. No two requests have the same number.
    given_up: VecDeque<u64>,
    /// Whether there will be no more.
    has_ended: bool,
}

/// All requests that are being waited for.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    state: Mutex<State>,
    none_left: Condvar,
}

/// A request that a thread waits for, until this is dropped.
#[derive(Debug)]
pub(crate) struct Wait {
    all: Arc<Waits>,
    unique: u64,
    is_given_up: Arc<AtomicBool>,
}

impl Waits {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to wait for a request; none if it has been given up.
    pub(crate) fn begin(all: &Arc<Self>, unique: u64) -> Option<Wait> {
        let mut state = all.state();
        if state.has_ended || state.given_up.contains(&unique) {
            return None;
        }
        let is_given_up = Arc::new(AtomicBool::new(false));
        state.waiting.insert(unique, is_given_up.clone());
        Some(Wait { all: all.clone(), unique, is_given_up })
    }

    /// Gives up a request, which may be any.
    pub(crate) fn interrupt(&self, unique: u64) {
        let mut state = self.state();
        if let Some(is_given_up) = state.waiting.get(&unique) {
            is_given_up.store(true, Ordering::Relaxed);
            return;
        }
        state.given_up.truncate(GIVEN_UP_MAX - 1);
        state.given_up.push_front(unique);
    }

    /// Gives up all requests, and waits until no thread waits for one.
    pub(crate) fn end_all(&self) {
        let mut state = self.state();
        state.has_ended = true;
        for is_given_up in state.waiting.values() {
            is_given_up.store(true, Ordering::Relaxed);
        }
        let is_any = |state: &mut State| !state.waiting.is_empty();
        drop(self.none_left.wait_while(state, is_any));
    }
}

impl Wait {
    /// Whether it has not been given up.
    pub(crate) fn goes_on(&self) -> bool {
        !self.is_given_up.load(Ordering::Relaxed)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.all.state().waiting.remove(&self.unique);
        self.all.none_left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_may_be_given_up_before_or_while_it_is_waited_for() {
        let waits = Arc::new(Waits::default());
        waits.interrupt(2);
        assert!(Waits::begin(&waits, 2).is_none());
        let wait = Waits::begin(&waits, 4).expect("it goes on");
        waits.interrupt(6);
        assert!(wait.goes_on());
        waits.interrupt(4);
        assert!(!wait.goes_on());
    }

    #[test]
    fn only_the_latest_are_remembered() {
        let waits = Arc::new(Waits::default());
        (0..=GIVEN_UP_MAX as u64).for_each(|unique| waits.interrupt(unique));
        assert!(Waits::begin(&waits, 0).is_some());
        assert!(Waits::begin(&waits, 1).is_none());
    }

    #[test]
    fn at_the_end_all_are_given_up_and_awaited() {
        let waits = Arc::new(Waits::default());
        let wait = Waits::begin(&waits, 2).expect("it goes on");
        let waiting = std::thread::spawn(move || {
            while wait.goes_on() {
                std::thread::yield_now();
            }
        });
        waits.end_all();
        assert!(waits.state().waiting.is_empty() && Waits::begin(&waits, 4).is_none());
        waiting.join().expect("it does not panic");
    }
}
