//! Rounds of a program's own code with operations between them: what an operation costs the code
//! around it.
//!
//! A round of code is timed, then what comes after it. That is nothing, an empty system call, or
//! the operation, in stretches that take turns, so that all of them meet the same moments. In a
//! further kind of stretch there is no code, which shows what the readings of the clock take, and
//! getting to the code and back.
//!
//! An operation's untimed work is done before a stretch and after it, never in it. The first rounds
//! of each stretch are not kept: they meet what the one before has left.

use std::sync::atomic::{AtomicBool, Ordering};

use measure::{Clock, CountersError, SystemClock, UserCounters, UserCounts};
use rustix::process::getppid;
use user_code::UserCode;

use crate::error::EngineError;
use crate::fault::Fault;
use crate::run_loop::{Step, each_slot};

/// How rounds and operations take turns.
#[derive(Debug)]
pub struct Interleaving<'a> {
    /// The code of a round.
    pub code: &'a UserCode,
    /// Code that does nothing.
    pub no_code: &'a UserCode,
    /// How often each kind of stretch takes its turn.
    pub turns: u64,
    /// How many rounds a stretch has that are kept.
    pub rounds: u64,
    /// How many come before them.
    pub warming_rounds: u64,
    /// Whether the processor counts what is done in user space.
    pub counts: bool,
}

impl Interleaving<'_> {
    /// The rounds of a stretch.
    #[must_use]
    pub fn rounds_of_stretch(&self) -> u64 {
        self.warming_rounds + self.rounds
    }
}

/// The time of one round, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTicks {
    /// What the code took.
    pub code: u32,
    /// What came after it.
    pub call: u32,
}

/// What the processor has counted in user space, in all stretches of a kind together. Counters are
/// read before a stretch and after it, so that no round is disturbed: the rounds that are not kept
/// are counted too, and in stretches with operations what those do in user space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CountedStretches {
    /// Without code, and with nothing after it.
    pub nothing: UserCounts,
    /// The code alone.
    pub alone: UserCounts,
    /// With an operation after each round.
    pub with_operation: UserCounts,
}

/// The rounds that were kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interleaved {
    /// Without code, and with nothing after it: what it takes to read the clock.
    pub nothing: Vec<RoundTicks>,
    /// The code alone.
    pub alone: Vec<RoundTicks>,
    /// With an empty system call after each round (`getppid`).
    pub with_empty_call: Vec<RoundTicks>,
    /// With an operation after each round.
    pub with_operation: Vec<RoundTicks>,
    /// What the processor has counted; none if it was not asked to.
    pub counted: Option<CountedStretches>,
    /// How long all of it took, in ticks.
    pub elapsed_ticks: u64,
}

/// A step whose operations are put between rounds of code. Only a stretch of these is compiled for
/// each type of step.
pub(crate) trait Interposed: Step {
    /// One stretch of operations, from a number on.
    fn stretch(
        &mut self,
        plan: &Interleaving<'_>,
        clock: &SystemClock,
        first: u64,
        kept: &mut Vec<RoundTicks>,
    ) -> Result<(), (Fault, usize)>;
}

impl<S: Step> Interposed for S {
    fn stretch(
        &mut self,
        plan: &Interleaving<'_>,
        clock: &SystemClock,
        first: u64,
        kept: &mut Vec<RoundTicks>,
    ) -> Result<(), (Fault, usize)> {
        stretch(plan, plan.code, clock, kept, |round| {
            self.timed(first + round, slot_of(round)).map(drop)
        })
    }
}

/// Lets them take turns. Returns None if it was told to stop.
pub(crate) fn interleave(
    step: &mut dyn Interposed,
    plan: &Interleaving<'_>,
    clock: &SystemClock,
    stop: &AtomicBool,
) -> Result<Option<Interleaved>, EngineError> {
    let kept = usize::try_from(plan.turns * plan.rounds).unwrap_or(usize::MAX);
    let mut all = Interleaved {
        nothing: Vec::with_capacity(kept),
        alone: Vec::with_capacity(kept),
        with_empty_call: Vec::with_capacity(kept),
        with_operation: Vec::with_capacity(kept),
        counted: None,
        elapsed_ticks: 0,
    };
    let mut counters = if plan.counts { Some(UserCounters::open()?) } else { None };
    let mut counted = CountedStretches::default();
    let began = clock.ticks();
    let count = plan.rounds_of_stretch();
    for turn in 0..plan.turns {
        // Now one after the other, now the other way round, beginning with each.
        for place in 0..4 {
            match (if turn % 2 == 0 { turn / 2 + place } else { turn / 2 + 3 - place }) % 4 {
                0 => during(&mut counters, &mut counted.nothing, || {
                    stretch(plan, plan.no_code, clock, &mut all.nothing, |_| Ok(()))
                })?,
                1 => during(&mut counters, &mut counted.alone, || {
                    stretch(plan, plan.code, clock, &mut all.alone, |_| Ok(()))
                })?,
                2 => stretch(plan, plan.code, clock, &mut all.with_empty_call, |_| {
                    let _ = getppid();
                    Ok(())
                }),
                _ => {
                    let first = turn * count;
                    let before = each_slot(first, count, |index, slot| step.before(index, slot));
                    let done = match before.map_err(|failure| (failure.fault, failure.slot)) {
                        Ok(()) => during(&mut counters, &mut counted.with_operation, || {
                            step.stretch(plan, clock, first, &mut all.with_operation)
                        })?,
                        failed => failed,
                    };
                    done.and_then(|()| {
                        each_slot(first, count, |index, slot| step.after(index, slot))
                            .map_err(|failure| (failure.fault, failure.slot))
                    })
                }
            }
            .map_err(|(fault, slot)| step.explain(fault, slot))?;
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    step.end().map_err(|fault| step.explain(fault, 0))?;
    all.counted = plan.counts.then_some(counted);
    all.elapsed_ticks = clock.ticks() - began;
    Ok(Some(all))
}

/// Does something, and has the processor count meanwhile if there are counters.
#[inline(always)]
fn during<T>(
    counters: &mut Option<UserCounters>,
    sums: &mut UserCounts,
    act: impl FnOnce() -> T,
) -> Result<T, CountersError> {
    match counters {
        Some(counters) => counters.count(sums, act),
        None => Ok(act()),
    }
}

/// One stretch.
#[inline(always)]
fn stretch(
    plan: &Interleaving<'_>,
    code: &UserCode,
    clock: &SystemClock,
    kept: &mut Vec<RoundTicks>,
    mut call: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), (Fault, usize)> {
    for round in 0..plan.rounds_of_stretch() {
        let code_ticks = time_of(code, clock);
        let called = clock.start();
        call(round).map_err(|fault| (fault, slot_of(round)))?;
        let returned = clock.end();
        if round >= plan.warming_rounds {
            kept.push(RoundTicks { code: code_ticks, call: ticks(called, returned) });
        }
    }
    Ok(())
}

/// How long a round of code takes. Not inline: for all stretches, the same instructions lie at the
/// same places.
#[inline(never)]
fn time_of(code: &UserCode, clock: &SystemClock) -> u32 {
    let begun = clock.start();
    code.run();
    let ended = clock.end();
    ticks(begun, ended)
}

fn ticks(begun: u64, ended: u64) -> u32 {
    u32::try_from(ended.saturating_sub(begun)).unwrap_or(u32::MAX)
}

fn slot_of(round: u64) -> usize {
    usize::try_from(round).expect("a stretch is short")
}

#[cfg(test)]
mod tests {
    use user_code::{CodeShape, Loads, Order};

    use super::*;
    use crate::run_loop::tests::Diary;

    fn interleaved(step: &mut Diary, stop: bool) -> Result<Option<Interleaved>, EngineError> {
        interleaved_counting(step, stop, false)
    }

    fn interleaved_counting(
        step: &mut Diary,
        stop: bool,
        counts: bool,
    ) -> Result<Option<Interleaved>, EngineError> {
        let shape = CodeShape {
            code_lines: 3,
            data_lines: 5,
            order: Order::Random,
            loads: Loads::Dependent,
        };
        let code = UserCode::new(&shape, 1).expect("there is memory");
        let no_code = UserCode::nothing().expect("there is memory");
        let (code, no_code) = (&code, &no_code);
        let plan = Interleaving { code, no_code, turns: 3, rounds: 2, warming_rounds: 1, counts };
        let (clock, _) = SystemClock::calibrate();
        interleave(step, &plan, &clock, &AtomicBool::new(stop))
    }

    #[test]
    fn untimed_work_is_done_around_stretches() {
        let mut diary = Diary::default();
        let all = interleaved(&mut diary, false).expect("nothing fails").expect("it ends");
        let kept = [all.nothing, all.alone, all.with_empty_call, all.with_operation];
        assert_eq!(kept.map(|rounds| rounds.len()), [6; 4]);
        let letters: String = diary.lines.iter().map(|line| line.0).collect();
        assert_eq!(letters, "bbbtttaaa".repeat(3));
        let timed = diary.lines.iter().filter(|line| line.0 == 't');
        let places: Vec<(u64, usize)> = timed.map(|line| (line.1, line.2)).collect();
        let slots = [0, 1, 2].into_iter().cycle();
        assert_eq!(places, (0..9).zip(slots).collect::<Vec<_>>());
    }

    #[test]
    fn the_processor_counts_or_it_is_said_why_not() {
        match interleaved_counting(&mut Diary::default(), false, true) {
            Ok(all) => {
                let counted = all.and_then(|all| all.counted).expect("it was asked to");
                assert!(counted.alone.instructions > counted.nothing.instructions);
                assert!(counted.with_operation.cycles > 0);
            }
            Err(why) => assert!(matches!(why, EngineError::Counters(_)), "{why}"),
        }
        let all = interleaved(&mut Diary::default(), false).expect("nothing fails");
        assert_eq!(all.and_then(|all| all.counted), None);
    }

    #[test]
    fn a_fault_ends_it_and_so_does_a_stop() {
        let mut diary = Diary { fails_at: Some(4), ..Diary::default() };
        let error = interleaved(&mut diary, false).expect_err("an operation fails");
        assert!(error.to_string().contains("slot 1"), "{error}");
        assert_eq!(interleaved(&mut Diary::default(), true).expect("nothing fails"), None);
    }
}
