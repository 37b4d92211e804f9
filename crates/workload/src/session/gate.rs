//! Where threads wait for each other: all go on together or none does.
//!
//! Waiting threads spin, because the kernel wakes threads one after the other, tens of microseconds
//! apart, which can be a tenth of a replicate. With more threads than processors, spinning would
//! keep the last one from arriving, so they yield instead.
//!
//! Like a barrier, it can be passed repeatedly. Unlike a barrier, it can be called off when a
//! thread is not going to arrive.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// The result of waiting at the gate.
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
    /// How many arrivals there have been, over all passages. A passage is open once each thread has
    /// arrived one more time.
    arrived: AtomicUsize,
    is_called_off: AtomicBool,
}

impl Gate {
    /// A gate for this many threads on this many processors.
    pub(super) fn new(threads: usize, processors: usize) -> Self {
        let pause = if threads > processors { thread::yield_now } else { spin_loop };
        let (arrived, is_called_off) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { threads, pause, arrived, is_called_off }
    }

    /// Waits until all threads have arrived, or the gate is called off.
    pub(super) fn arrive(&self) -> Admission {
        let before = self.arrived.fetch_add(1, Ordering::AcqRel);
        let wanted = (before / self.threads + 1) * self.threads;
        loop {
            // Must be read before `arrived`: the thread that calls it off may have just passed
            // together with this one.
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

    /// Releases the threads that wait for one that will not arrive, now and later.
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
                            // Other threads may have reached the next passage already.
                            assert!((4 * passage..4 * passage + 4).contains(&seen), "{seen}");
                        }
                    });
                }
            });
        }
    }

    /// The last thread to arrive calls off the gate, which the other has passed too but may not
    /// have noticed yet.
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
                // The other thread waits at the gate by now, or is about to.
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
