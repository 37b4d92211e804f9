//! A round: operations one after another, without untimed work between them.
//!
//! When threads compete for something, one could do its untimed work while another has it. The
//! operation rate would then not show what the operations cost each other. So untimed work is done
//! before all operations of a round and after all of them, while no thread is timing anything.

use measure::{Clock, Recorder};

use crate::error::EngineError;
use crate::run_loop::{Halt, LoopLength, LoopOutcome, Step, StepFailure, each_slot, run_single};

/// How threads go through a round in step.
pub(crate) trait RoundSync: Halt {
    /// Waits until all threads are ready. Returns whether the round takes place.
    fn begin(&self) -> bool;

    /// Says that this thread has done its operations, and waits for the others.
    fn end(&self);
}

/// When something started and ended, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TickSpan {
    /// When it started.
    pub(crate) start_ticks: u64,
    /// When it ended.
    pub(crate) end_ticks: u64,
}

impl TickSpan {
    /// How long it lasted.
    pub(crate) fn ticks(self) -> u64 {
        self.end_ticks.saturating_sub(self.start_ticks)
    }
}

/// Like [`run_part`](crate::run_loop::run_part), but does the untimed work before all operations
/// and after all of them; the step must have a slot for each. Also returns when the timed part
/// started and ended. Returns None if the round was called off.
pub(crate) fn run_round<S: Step, C: Clock>(
    step: &mut S,
    length: LoopLength,
    clock: &C,
    recorder: &mut Recorder,
    company: &impl RoundSync,
) -> Result<Option<(LoopOutcome, TickSpan)>, EngineError> {
    if C::IS_QUICK {
        run_compiled(step, length, clock, recorder, company)
    } else {
        run_compiled::<dyn Step, _>(step, length, clock, recorder, company)
    }
}

#[inline(never)]
fn run_compiled<S: Step + ?Sized, C: Clock>(
    step: &mut S,
    length: LoopLength,
    clock: &C,
    recorder: &mut Recorder,
    company: &impl RoundSync,
) -> Result<Option<(LoopOutcome, TickSpan)>, EngineError> {
    let LoopLength { first, operations, .. } = length;
    let explained = |step: &S, failure: StepFailure| step.explain(failure.fault, failure.slot);
    each_slot(first, operations, |index, slot| step.before(index, slot))
        .map_err(|failure| explained(step, failure))?;
    if !company.begin() {
        return Ok(None);
    }
    let start_ticks = clock.ticks();
    let timed = run_single::<_, _, true>(step, length, clock, recorder, company);
    let end_ticks = clock.ticks();
    company.end();
    let outcome = timed.map_err(|failure| explained(step, failure))?;
    each_slot(first, outcome.operations, |index, slot| step.after(index, slot))
        .map_err(|failure| explained(step, failure))?;
    Ok(Some((outcome, TickSpan { start_ticks, end_ticks })))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use measure::ManualClock;

    use super::*;
    use crate::fault::Fault;

    /// The calls made, in order: lower case for the step, capitals for the company.
    #[derive(Default)]
    struct Diary(Mutex<String>);

    impl Diary {
        fn note(&self, letter: char) {
            self.0.lock().expect("nobody panics").push(letter);
        }
    }

    struct Writer<'a> {
        diary: &'a Diary,
        fails_at: Option<u64>,
    }

    impl Step for Writer<'_> {
        fn before(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
            self.diary.note('b');
            Ok(())
        }

        fn timed(&mut self, index: u64, _slot: usize) -> Result<u64, Fault> {
            self.diary.note('t');
            match self.fails_at {
                Some(at) if at == index => Err(Fault::errno("call", rustix::io::Errno::IO)),
                _ => Ok(10),
            }
        }

        fn after(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
            self.diary.note('a');
            Ok(())
        }

        fn explain(&self, fault: Fault, slot: usize) -> EngineError {
            fault.into_error(format!("slot {slot}").as_ref())
        }
    }

    /// Lets a round begin or not, and ends it once the diary has this many operations.
    struct Others<'a> {
        diary: &'a Diary,
        begins: bool,
        ends_at: usize,
    }

    impl Halt for Others<'_> {
        fn at_slice(&self) -> bool {
            false
        }

        fn at_interval(&self) -> bool {
            self.diary.0.lock().expect("nobody panics").matches('t').count() == self.ends_at
        }
    }

    impl RoundSync for Others<'_> {
        fn begin(&self) -> bool {
            self.diary.note('B');
            self.begins
        }

        fn end(&self) {
            self.diary.note('E');
        }
    }

    type Ran = Result<Option<(LoopOutcome, TickSpan)>, EngineError>;

    /// A round of four operations starting at number 8, each taking 7 ns: its result, the recorder
    /// and the diary.
    fn round(begins: bool, ends_at: usize, fails_at: Option<u64>) -> (Ran, Recorder, String) {
        let diary = Diary::default();
        let mut recorder = Recorder::new(0, 1000);
        let length = LoopLength { first: 8, operations: 4, batch: 1 };
        let ran = run_round(
            &mut Writer { diary: &diary, fails_at },
            length,
            &ManualClock::with_step(7),
            &mut recorder,
            &Others { diary: &diary, begins, ends_at },
        );
        (ran, recorder, diary.0.into_inner().expect("nobody panics"))
    }

    #[test]
    fn what_is_untimed_stands_before_all_and_after_all() {
        let (ran, recorder, diary) = round(true, 9, None);
        let (outcome, span) = ran.expect("nothing fails").expect("it begins");
        assert_eq!(diary, "bbbbBttttEaaaa");
        assert_eq!((outcome.operations, outcome.bytes, outcome.interrupted), (4, 40, false));
        assert_eq!((recorder.operations(), recorder.busy_ns()), (4, 28));
        // Two readings for each operation, and one at either end.
        assert_eq!(span.end_ticks - span.start_ticks, 9 * 7);
    }

    #[test]
    fn a_round_that_another_ends_undoes_what_was_done() {
        let (ran, recorder, diary) = round(true, 2, None);
        let (outcome, _) = ran.expect("nothing fails").expect("it begins");
        assert_eq!((diary.as_str(), outcome.operations), ("bbbbBttEaa", 2));
        assert_eq!(recorder.operations(), 2);
    }

    #[test]
    fn a_round_that_is_called_off_times_nothing() {
        let (ran, recorder, diary) = round(false, 9, None);
        assert_eq!(ran.expect("nothing fails"), None);
        assert_eq!((diary.as_str(), recorder.operations()), ("bbbbB", 0));
    }

    #[test]
    fn whoever_fails_keeps_nobody_waiting_and_says_where() {
        let (ran, _, diary) = round(true, 9, Some(10));
        let error = ran.expect_err("the third fails");
        assert!(matches!(&error, EngineError::DeviceFailed { path, .. }
            if path.to_str() == Some("slot 2")));
        assert_eq!(diary, "bbbbBtttE");
    }
}
