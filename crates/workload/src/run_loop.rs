//! The hot loop: one operation after another, each between two clock readings.
//!
//! It is generic over the step and, with a quick clock, compiled for each, so a loop of reads
//! consists of choosing an offset, two clock readings, the call and the recording. It takes no
//! lock, does no atomic read-modify-write and does not allocate. The stop flag is checked only when
//! the recorder reports that the timeline has moved to a new slice; operations slower than a slice
//! cause that every time.

use measure::{Clock, Recorder};

use crate::error::EngineError;
use crate::fault::Fault;

/// One kind of operation, ready to be repeated.
///
/// `index` counts a thread's operations from 0. `slot` distinguishes the operations of one timed
/// interval, from 0 to the batch size minus one: whatever `before` prepares for `timed` must be
/// kept per slot.
pub trait Step: Send {
    /// Does what must happen before the call, untimed.
    ///
    /// # Errors
    /// What went wrong.
    #[inline(always)]
    fn before(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
        Ok(())
    }

    /// Makes the call, timed. Returns the number of bytes moved, or 0 if that is not the point.
    ///
    /// # Errors
    /// What went wrong.
    fn timed(&mut self, index: u64, slot: usize) -> Result<u64, Fault>;

    /// Does what must happen after the call, untimed.
    ///
    /// # Errors
    /// What went wrong.
    #[inline(always)]
    fn after(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
        Ok(())
    }

    /// Does what must happen once after the last operation, untimed. A fault of it is explained
    /// with slot 0.
    ///
    /// # Errors
    /// What went wrong.
    fn end(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Turns a fault of one of the functions above into an error.
    fn explain(&self, fault: Fault, slot: usize) -> EngineError;

    /// Bytes compared with their expected content so far.
    fn checked_bytes(&self) -> u64 {
        0
    }

    /// What else has been counted so far, besides operations and bytes.
    fn tally(&self) -> Tally {
        Tally::default()
    }
}

/// What is counted besides operations and bytes; 0 where it does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// In a mix: the operations that were reads.
    pub reads: u64,
    /// In a mix: the operations that were writes.
    pub writes: u64,
    /// With `RWF_NOWAIT`: the operations that moved less than their request because the rest would
    /// have blocked. Each is timed up to the kernel's refusal and counts as an operation, with the
    /// bytes that it moved.
    pub would_block: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, more: Self) {
        self.reads += more.reads;
        self.writes += more.writes;
        self.would_block += more.would_block;
    }
}

/// Ends a loop before its last operation. A closure is called at each new slice of the timeline.
pub trait Halt {
    /// Asked at each new slice of the timeline; a loop that ends here counts as interrupted.
    fn at_slice(&self) -> bool;

    /// Asked after each timed interval; a loop that ends here has done its part. Compiles to
    /// nothing unless a type overrides it.
    #[inline(always)]
    fn at_interval(&self) -> bool {
        false
    }
}

impl<F: Fn() -> bool> Halt for F {
    #[inline(always)]
    fn at_slice(&self) -> bool {
        self()
    }
}

/// The length of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopLength {
    /// The index of its first operation: how many the step has done before.
    pub first: u64,
    /// The number of operations.
    pub operations: u64,
    /// Operations per timed interval; at least 1.
    pub batch: usize,
}

/// What a loop did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoopOutcome {
    /// Operations done.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Whether it ended because it was told to halt.
    pub interrupted: bool,
}

/// A fault and the slot of the operation that had it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepFailure {
    pub(crate) fault: Fault,
    pub(crate) slot: usize,
}

/// Does `length` operations, timing and recording each, unless `halt` ends it early. Then lets the
/// step finish.
///
/// # Errors
/// The first fault of the step, as explained by it.
pub fn run_loop<S: Step, C: Clock>(
    step: &mut S,
    length: LoopLength,
    clock: &C,
    recorder: &mut Recorder,
    halt: &impl Halt,
) -> Result<LoopOutcome, EngineError> {
    let outcome = run_part(step, length, clock, recorder, halt)?;
    end(step)?;
    Ok(outcome)
}

/// Lets a step do what it does once, after its last operation.
pub(crate) fn end<S: Step>(step: &mut S) -> Result<(), EngineError> {
    step.end().map_err(|fault| step.explain(fault, 0))
}

/// Like [`run_loop`], without the end of the step: more operations follow.
///
/// With a clock that is not quick, steps of all types share one loop.
pub(crate) fn run_part<S: Step, C: Clock>(
    step: &mut S,
    length: LoopLength,
    clock: &C,
    recorder: &mut Recorder,
    halt: &impl Halt,
) -> Result<LoopOutcome, EngineError> {
    if C::IS_QUICK {
        run_compiled(step, length, clock, recorder, halt)
    } else {
        run_compiled::<dyn Step, _>(step, length, clock, recorder, halt)
    }
}

#[inline(never)]
fn run_compiled<S: Step + ?Sized, C: Clock>(
    step: &mut S,
    length: LoopLength,
    clock: &C,
    recorder: &mut Recorder,
    halt: &impl Halt,
) -> Result<LoopOutcome, EngineError> {
    let ended = if length.batch <= 1 {
        run_single::<_, _, false>(step, length, clock, recorder, halt)
    } else {
        run_batches(step, length, clock, recorder, halt)
    };
    ended.map_err(|failure| step.explain(failure.fault, failure.slot))
}

/// One operation after another. In a round, each has its own slot, and the untimed work is done
/// elsewhere.
#[inline(always)]
pub(crate) fn run_single<S: Step + ?Sized, C: Clock, const IN_ROUND: bool>(
    step: &mut S,
    LoopLength { first, operations, .. }: LoopLength,
    clock: &C,
    recorder: &mut Recorder,
    halt: &impl Halt,
) -> Result<LoopOutcome, StepFailure> {
    let mut outcome = LoopOutcome::default();
    // Each operation is recorded after the clock readings of the next one, which do not depend on
    // it: the dependency chain from a reading to its bucket then overlaps with the clock instead of
    // delaying it.
    let mut last: Option<(u64, u64)> = None;
    for (number, index) in (first..first + operations).enumerate() {
        let slot = if IN_ROUND { number } else { 0 };
        let at_slot = |fault| StepFailure { fault, slot };
        if !IN_ROUND {
            step.before(index, slot).map_err(at_slot)?;
        }
        let start_ticks = clock.start();
        let moved = step.timed(index, slot);
        let end_ticks = clock.end();
        outcome.bytes += moved.map_err(at_slot)?;
        if !IN_ROUND {
            step.after(index, slot).map_err(at_slot)?;
        }
        outcome.operations += 1;
        if let Some((start_ticks, end_ticks)) = last.replace((start_ticks, end_ticks))
            && recorder.record(start_ticks, end_ticks, clock)
            && halt.at_slice()
        {
            outcome.interrupted = outcome.operations < operations;
            break;
        }
        if halt.at_interval() {
            break;
        }
    }
    if let Some((start_ticks, end_ticks)) = last {
        recorder.record(start_ticks, end_ticks, clock);
    }
    Ok(outcome)
}

fn run_batches<S: Step + ?Sized, C: Clock>(
    step: &mut S,
    length: LoopLength,
    clock: &C,
    recorder: &mut Recorder,
    halt: &impl Halt,
) -> Result<LoopOutcome, StepFailure> {
    let mut outcome = LoopOutcome::default();
    while outcome.operations < length.operations {
        let first = length.first + outcome.operations;
        let count = (length.operations - outcome.operations).min(length.batch as u64);
        each_slot(first, count, |index, slot| step.before(index, slot))?;
        let start_ticks = clock.start();
        let moved = each_slot(first, count, |index, slot| {
            outcome.bytes += step.timed(index, slot)?;
            Ok(())
        });
        let end_ticks = clock.end();
        moved?;
        each_slot(first, count, |index, slot| step.after(index, slot))?;
        outcome.operations += count;
        if recorder.record_batch(start_ticks, end_ticks, count, clock) && halt.at_slice() {
            outcome.interrupted = outcome.operations < length.operations;
            break;
        }
        if halt.at_interval() {
            break;
        }
    }
    Ok(outcome)
}

/// Calls `act` for `count` operations from `first` on, each with its own slot.
#[inline(always)]
pub(crate) fn each_slot(
    first: u64,
    count: u64,
    mut act: impl FnMut(u64, usize) -> Result<(), Fault>,
) -> Result<(), StepFailure> {
    for (slot, index) in (first..first + count).enumerate() {
        act(index, slot).map_err(|fault| StepFailure { fault, slot })?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use measure::ManualClock;

    use super::*;

    /// Records the calls made, and fails at one index if asked to.
    #[derive(Default)]
    pub(crate) struct Diary {
        pub(crate) lines: Vec<(char, u64, usize)>,
        pub(crate) fails_at: Option<u64>,
    }

    impl Step for Diary {
        fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
            self.lines.push(('b', index, slot));
            Ok(())
        }

        fn timed(&mut self, index: u64, slot: usize) -> Result<u64, Fault> {
            self.lines.push(('t', index, slot));
            match self.fails_at {
                Some(at) if at == index => Err(Fault::errno("call", rustix::io::Errno::IO)),
                _ => Ok(10),
            }
        }

        fn after(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
            self.lines.push(('a', index, slot));
            Ok(())
        }

        fn explain(&self, fault: Fault, slot: usize) -> EngineError {
            fault.into_error(format!("slot {slot}").as_ref())
        }
    }

    const SLICE_TICKS: u64 = 1000;

    fn run(
        diary: &mut Diary,
        length: LoopLength,
        step_ns: u64,
        halt: &impl Halt,
    ) -> (Result<LoopOutcome, EngineError>, Recorder) {
        let clock = ManualClock::with_step(step_ns);
        let mut recorder = Recorder::new(0, SLICE_TICKS);
        let outcome = run_loop(diary, length, &clock, &mut recorder, halt);
        (outcome, recorder)
    }

    #[test]
    fn each_operation_has_its_hooks_around_it_and_is_recorded() {
        let mut diary = Diary::default();
        let length = LoopLength { first: 0, operations: 2, batch: 1 };
        let (outcome, recorder) = run(&mut diary, length, 7, &|| false);
        let expected = LoopOutcome { operations: 2, bytes: 20, interrupted: false };
        assert_eq!(outcome.expect("the diary does not fail"), expected);
        assert_eq!((recorder.operations(), recorder.busy_ns()), (2, 14));
        let once = |index| [('b', index, 0), ('t', index, 0), ('a', index, 0)];
        assert_eq!(diary.lines, [once(0), once(1)].concat());
    }

    #[test]
    fn a_batch_times_its_calls_together_and_nothing_else() {
        let mut diary = Diary::default();
        let length = LoopLength { first: 0, operations: 3, batch: 2 };
        let (outcome, recorder) = run(&mut diary, length, 7, &|| false);
        let outcome = outcome.expect("the diary does not fail");
        assert_eq!((outcome.operations, outcome.bytes), (3, 30));
        assert_eq!((recorder.operations(), recorder.busy_ns()), (3, 14));
        let order: String = diary.lines.iter().map(|line| line.0).collect();
        assert_eq!(order, "bbttaabta");
        assert_eq!(diary.lines[3], ('t', 1, 1));
        assert_eq!(diary.lines[7], ('t', 2, 0));
    }

    #[test]
    fn the_halt_is_asked_for_at_each_new_slice_only() {
        for batch in [1, 10] {
            let asked = Cell::new(0);
            let length = LoopLength { first: 0, operations: 10_000, batch };
            let (outcome, _) = run(&mut Diary::default(), length, 50, &|| {
                asked.set(asked.get() + 1);
                asked.get() == 3
            });
            let outcome = outcome.expect("the diary does not fail");
            assert!(outcome.interrupted);
            assert_eq!(asked.get(), 3);
            // Each interval and each pause is 50 ns long, each slice 1000 ns.
            let most = 50 * batch as u64;
            assert!((20..=most).contains(&outcome.operations), "{}", outcome.operations);
        }
    }

    /// Ends a loop after this many intervals.
    struct After(Cell<u64>);

    impl Halt for After {
        fn at_slice(&self) -> bool {
            false
        }

        fn at_interval(&self) -> bool {
            self.0.set(self.0.get() - 1);
            self.0.get() == 0
        }
    }

    #[test]
    fn who_asks_for_it_is_asked_after_each_interval() {
        for batch in [1, 10] {
            let length = LoopLength { first: 0, operations: 1000, batch };
            let halt = After(Cell::new(7));
            let (outcome, _) = run(&mut Diary::default(), length, 1, &halt);
            let outcome = outcome.expect("the diary does not fail");
            assert_eq!((outcome.operations, outcome.interrupted), (7 * batch as u64, false));
        }
    }

    #[test]
    fn a_fault_ends_the_loop_and_is_explained_with_its_slot() {
        let mut diary = Diary { fails_at: Some(4), ..Diary::default() };
        let length = LoopLength { first: 0, operations: 10, batch: 3 };
        let (outcome, _) = run(&mut diary, length, 1, &|| false);
        let error = outcome.expect_err("operation 4 fails");
        assert!(matches!(&error, EngineError::DeviceFailed { path, .. }
            if path.to_str() == Some("slot 1")));
        assert_eq!(diary.lines.last(), Some(&('t', 4, 1)));
    }
}
