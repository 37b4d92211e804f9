//! The start: threads arrive, and go together or not at all.
//!
//! Whoever waits spins, because threads woken one after the other by the kernel start tens of
//! microseconds apart, which can be a tenth of a replicate. With more threads than processors,
//! spinning would keep the last one from arriving, so they yield instead.
//!
//! Unlike a barrier, it can be called off when a thread could not be started.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;

/// What the threads at the gate are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Go,
    CalledOff,
}

const UNDECIDED: u8 = 0;
const GO: u8 = 1;
const CALLED_OFF: u8 = 2;

/// Where threads wait for each other.
#[derive(Debug)]
pub(super) struct Gate {
    threads: usize,
    pause: fn(),
    arrived: AtomicUsize,
    verdict: AtomicU8,
}

impl Gate {
    /// A gate for so many threads on so many processors.
    pub(super) fn new(threads: usize, processors: usize) -> Self {
        let pause = if threads > processors { thread::yield_now } else { spin_loop };
        Self { threads, pause, arrived: AtomicUsize::new(0), verdict: AtomicU8::new(UNDECIDED) }
    }

    /// Waits, in a thread that is ready, for the verdict. The last one to arrive lets all go.
    pub(super) fn arrive(&self) -> Verdict {
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.verdict.store(GO, Ordering::Release);
        }
        loop {
            match self.verdict.load(Ordering::Acquire) {
                UNDECIDED => (self.pause)(),
                GO => return Verdict::Go,
                _ => return Verdict::CalledOff,
            }
        }
    }

    /// Sends those that arrived, and those that still will, home. Only where some thread will never
    /// arrive: otherwise all may have gone already.
    pub(super) fn call_off(&self) {
        self.verdict.store(CALLED_OFF, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_before_all_arrived() {
        for processors in [1, 4] {
            let (gate, ready) = (Gate::new(4, processors), AtomicUsize::new(0));
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        ready.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(gate.arrive(), Verdict::Go);
                        assert_eq!(ready.load(Ordering::SeqCst), 4);
                    });
                }
            });
        }
    }

    #[test]
    fn a_start_that_is_called_off_frees_whoever_waits() {
        let gate = Gate::new(2, 1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.arrive());
            gate.call_off();
            assert_eq!(waiting.join().expect("the thread does not panic"), Verdict::CalledOff);
        });
    }
}
