//! Runs operations in rounds: see [`crate::round`].

use std::sync::atomic::Ordering;

use measure::{Clock, Recorder};

use super::AnyStep;
use super::course::{self, Stretch};
use super::gate::Admission;
use super::run::{Rendezvous, SharedRun, ThreadHalt};
use crate::error::EngineError;
use crate::round::{RoundSync, TickSpan};
use crate::run_loop::{Halt, LoopLength, LoopOutcome};

/// One thread in round `number`, counted from 0.
struct InRound<'a> {
    halt: ThreadHalt<'a>,
    rendezvous: &'a Rendezvous,
    number: u64,
}

impl Halt for InRound<'_> {
    #[inline(always)]
    fn at_slice(&self) -> bool {
        self.halt.at_slice()
    }

    #[inline(always)]
    fn at_interval(&self) -> bool {
        self.rendezvous.rounds_over.load(Ordering::Relaxed) > self.number || self.halt.at_interval()
    }
}

impl RoundSync for InRound<'_> {
    fn begin(&self) -> bool {
        self.rendezvous.gate.arrive() == Admission::Go
    }

    fn end(&self) {
        // All threads are still in this round, so nobody has stored a later one.
        self.rendezvous.rounds_over.store(self.number + 1, Ordering::Relaxed);
        self.rendezvous.gate.arrive();
    }
}

impl<C: Clock> SharedRun<'_, C> {
    /// Runs stretches of these lengths in rounds. A round ends for all threads when one has done
    /// its operations of it; all go through the same number of rounds.
    pub(super) fn in_rounds(
        &self,
        step: &mut AnyStep,
        mut first: u64,
        lengths: &[u64],
        recorder: &mut Recorder,
    ) -> Result<(LoopOutcome, Vec<Stretch>, Vec<TickSpan>), EngineError> {
        let most = self.workload.operations_per_round as u64;
        let mut outcome = LoopOutcome::default();
        let (mut stretches, mut spans) = (Vec::with_capacity(lengths.len()), Vec::new());
        let mut number = 0;
        for &length in lengths {
            let (mut stretch, mut left) = (Stretch::default(), length);
            while left > 0 && !outcome.interrupted {
                let operations = left.min(most);
                left -= operations;
                let round = InRound { halt: self.halt(), rendezvous: self.rendezvous, number };
                number += 1;
                let busy_before_ns = recorder.busy_ns();
                let length = LoopLength { first, operations, batch: 1 };
                match step.run_round(length, self.clock, recorder, &round)? {
                    Some((done, span)) => {
                        first += done.operations;
                        let busy_ns = recorder.busy_ns() - busy_before_ns;
                        stretch = stretch.and(Stretch { operations: done.operations, busy_ns });
                        outcome = course::together(outcome, done);
                        spans.push(span);
                    }
                    None => outcome.interrupted = true,
                }
            }
            stretches.push(stretch);
        }
        Ok((outcome, stretches, spans))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::hint::spin_loop;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64};
    use std::time::{Duration, Instant};

    use measure::MonotonicClock;

    use super::super::outcome::Outcome;
    use super::super::run::run_steps;
    use super::*;
    use crate::description::Workload;
    use crate::fault::Fault;
    use crate::operation::Operation;
    use crate::run_loop::Step;

    const CALL: Duration = Duration::from_micros(20);

    /// A lock that yields instead of sleeping, because waking up would take longer than the call;
    /// and how long it was held.
    #[derive(Debug, Default)]
    struct Lock {
        is_held: AtomicBool,
        held_ns: AtomicU64,
    }

    impl Lock {
        fn hold(&self, act: impl FnOnce()) {
            while self.is_held.swap(true, Ordering::Acquire) {
                std::thread::yield_now();
            }
            let began = Instant::now();
            act();
            let held_ns = u64::try_from(began.elapsed().as_nanos()).expect("it is short");
            self.held_ns.fetch_add(held_ns, Ordering::Relaxed);
            self.is_held.store(false, Ordering::Release);
        }
    }

    /// A call that holds a lock throughout, with as much untimed work on either side.
    #[derive(Debug)]
    pub(crate) struct Locked(Arc<Lock>);

    fn work() {
        let began = Instant::now();
        while began.elapsed() < CALL {
            spin_loop();
        }
    }

    impl Step for Locked {
        fn before(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
            work();
            Ok(())
        }

        fn timed(&mut self, _index: u64, _slot: usize) -> Result<u64, Fault> {
            self.0.hold(work);
            Ok(0)
        }

        fn after(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
            work();
            Ok(())
        }

        fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
            fault.into_error(Path::new("the lock"))
        }
    }

    fn steps(threads: usize, lock: &Arc<Lock>) -> Vec<AnyStep> {
        (0..threads).map(|_| AnyStep::Path(Locked(Arc::clone(lock)).into())).collect()
    }

    /// Runs threads that share one lock. Returns the outcome and the mean time the lock was held.
    fn run(threads: usize, operations_per_round: usize) -> (Outcome, f64) {
        let workload = Workload {
            threads,
            operations_per_round,
            operations_per_thread: 500,
            ..Workload::new(Operation::Create)
        };
        let lock = Arc::new(Lock::default());
        let never = AtomicBool::new(false);
        let outcome = run_steps(&workload, steps(threads, &lock), &MonotonicClock, &never)
            .expect("nothing fails");
        let held_ns = lock.held_ns.load(Ordering::Relaxed) as f64;
        let mean_ns = held_ns / outcome.recorder.operations() as f64;
        (outcome, mean_ns)
    }

    /// Whether its threads, which never sleep, had their processors to themselves.
    fn was_undisturbed(outcome: &Outcome) -> bool {
        let elapsed_ns: u64 = outcome.threads.iter().map(|thread| thread.elapsed_ns).sum();
        outcome.processor_ns as f64 > 0.98 * elapsed_ns as f64
    }

    /// Two threads that take turns with one lock do no more than one that always has it, although
    /// there is as much untimed work between calls.
    #[test]
    fn a_lock_around_the_call_reads_a_speed_up_of_one() {
        let mut undisturbed = Vec::new();
        for _ in 0..40 {
            let ((alone, alone_held_ns), (together, held_ns)) = (run(1, 64), run(2, 64));
            // Calls that exclude each other cannot take up more than the whole time, whatever else
            // the machine does.
            let held_at_once = together.rate_per_s * held_ns / 1e9;
            assert!(held_at_once <= 1.0, "{held_at_once}: {together:?}");
            // Each is scaled by how long its own calls took: the machine may be faster in one of
            // the runs.
            let per_s = alone.recorder.operations() as f64 * 1e9 / alone.elapsed_ns as f64;
            let speed_up = held_at_once / (per_s * alone_held_ns / 1e9);
            if was_undisturbed(&alone) && was_undisturbed(&together) {
                undisturbed.push(speed_up);
                if (0.9..1.05).contains(&speed_up) {
                    return;
                }
            }
        }
        // Time taken away by a hypervisor does not show in processor times.
        assert!(undisturbed.len() < 20, "{undisturbed:?}");
        println!("skipped in part: the machine was too busy to say that it is no less");
    }

    #[test]
    fn all_do_their_rounds_and_whoever_is_stopped_keeps_nobody() {
        let (outcome, _) = run(3, 7);
        assert!(!outcome.interrupted);
        let most = outcome.threads.iter().map(|thread| thread.operations).max();
        assert!(most.is_some_and(|most| (1..=500).contains(&most)), "{:?}", outcome.threads);
        assert_eq!(outcome.course.steady.len(), 8);
        let workload = Workload {
            threads: 3,
            operations_per_round: 5,
            operations_per_thread: 100_000,
            ..Workload::new(Operation::Create)
        };
        let stop = AtomicBool::new(false);
        let outcome = std::thread::scope(|scope| {
            let lock = Arc::new(Lock::default());
            let steps = steps(3, &lock);
            let running = scope.spawn(|| run_steps(&workload, steps, &MonotonicClock, &stop));
            while lock.held_ns.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            stop.store(true, Ordering::Relaxed);
            running.join().expect("it does not panic").expect("nothing fails")
        });
        assert!(outcome.interrupted);
    }
}
