//! Where threads wait for each other: they go on together or not at all.
//!
//! Whoever waits spins, because threads woken one after the other by the kernel start tens of
//! microseconds apart, which can be a tenth of a replicate. With more threads than processors,
//! spinning would keep the last one from arriving, so they yield instead.
//!
//! Like a barrier, it can be passed again and again; unlike one, it can be called off when a thread
//! will not arrive any more.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// What the threads at the gate are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Go,
    CalledOff,
}

/// Where threads wait for each other.
#[derive(Debug)]
pub(super) struct Gate {
    threads: usize,
    pause: fn(),
    /// How many have arrived, over all passages: a passage is open once each thread has arrived one
    /// time more.
    arrived: AtomicUsize,
    is_called_off: AtomicBool,
}

impl Gate {
    /// A gate for so many threads on so many processors.
    pub(super) fn new(threads: usize, processors: usize) -> Self {
        let pause = if threads > processors { thread::yield_now } else { spin_loop };
        let (arrived, is_called_off) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { threads, pause, arrived, is_called_off }
    }

    /// Waits for the others, in a thread that is ready. The last one to arrive lets all go.
    pub(super) fn arrive(&self) -> Admission {
        let before = self.arrived.fetch_add(1, Ordering::AcqRel);
        let wanted = (before / self.threads + 1) * self.threads;
        loop {
            // Looked at first: whoever calls it off may have passed it just before, as this thread.
            let is_called_off = self.is_called_off.load(Ordering::Acquire);
            if self.arrived.load(Ordering::Acquire) >= wanted {
                return Admission::Go;
            }
            if is_called_off {
                return Admission::CalledOff;
            }
            (self.pause)();
        }
    }

    /// Sends those that wait for a thread, and those that still will, home.
    pub(super) fn call_off(&self) {
        self.is_called_off.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn nobody_goes_before_all_arrived_however_often() {
        const PASSAGES: usize = 50;
        for processors in [1, 4] {
            let (gate, ready) = (Gate::new(4, processors), AtomicUsize::new(0));
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for passage in 1..=PASSAGES {
                            ready.fetch_add(1, Ordering::SeqCst);
                            assert_eq!(gate.arrive(), Admission::Go);
                            let seen = ready.load(Ordering::SeqCst);
                            // Others may have come as far as to the next passage.
                            assert!((4 * passage..4 * passage + 4).contains(&seen), "{seen}");
                        }
                    });
                }
            });
        }
    }

    /// The last to arrive calls off what the other has passed, too, but perhaps not seen yet.
    #[test]
    fn who_has_passed_is_not_called_back() {
        let gates: Vec<Gate> = (0..100_000).map(|_| Gate::new(2, 2)).collect();
        let (reached, began) = (AtomicUsize::new(0), Instant::now());
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let enough = || began.elapsed() > Duration::from_secs(2);
                for gate in gates.iter().take_while(|_| !enough()) {
                    reached.fetch_add(1, Ordering::AcqRel);
                    assert_eq!(gate.arrive(), Admission::Go);
                }
            });
            for (at, gate) in gates.iter().enumerate() {
                // The other waits at the gate by now, or is about to.
                while reached.load(Ordering::Acquire) <= at && !other.is_finished() {
                    spin_loop();
                }
                if other.is_finished() {
                    break;
                }
                assert_eq!(gate.arrive(), Admission::Go);
                gate.call_off();
            }
        });
    }

    #[test]
    fn a_start_that_is_called_off_frees_whoever_waits_and_whoever_comes_later() {
        let gate = Gate::new(2, 1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.arrive());
            gate.call_off();
            assert_eq!(waiting.join().expect("the thread does not panic"), Admission::CalledOff);
        });
        let late = Gate::new(3, 1);
        late.call_off();
        assert_eq!([late.arrive(), late.arrive()], [Admission::CalledOff; 2]);
    }
}
