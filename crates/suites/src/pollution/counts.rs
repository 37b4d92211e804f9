//! What the processor counts during rounds: how fast it executes the code, and what that misses in
//! the first-level caches.
//!
//! As for other counts, no event is trusted by its name: it is first counted during code whose
//! instructions and lines are known. Counters are read per stretch, in user space only. Where
//! operations are calls of a library, what they do there cannot be told from what the code does, so
//! that such targets have no counts.

use std::sync::OnceLock;

use measure::{CountersError, UserCounters, UserCounts};
use record::{Better, MetricDefinition};
use user_code::{CodeShape, Loads, Order, UserCode};
use workload::CountedStretches;

use super::{ROUNDS, TURNS, WARMING_ROUNDS};

/// Rounds of each kind that are counted.
const COUNTED: u64 = TURNS * (ROUNDS + WARMING_ROUNDS);

/// Names of the metrics, and what is better.
const METRICS: [(&str, &str, Better); 6] = [
    ("code_instructions_per_cycle", "instructions", Better::Higher),
    ("code_instructions_per_cycle_alone", "instructions", Better::Neither),
    ("code_l1i_misses", "count", Better::Lower),
    ("code_l1i_misses_alone", "count", Better::Neither),
    ("code_l1d_misses", "count", Better::Lower),
    ("code_l1d_misses_alone", "count", Better::Neither),
];

pub(super) fn metrics() -> impl Iterator<Item = MetricDefinition> {
    METRICS.into_iter().map(|(name, unit, better)| MetricDefinition::new(name, unit, better))
}

/// The values of the [metrics], per round, less what reading the clock takes.
pub(super) fn values(counted: &CountedStretches) -> [f64; METRICS.len()] {
    let less = |of: &UserCounts, which: fn(&UserCounts) -> u64| {
        which(of).saturating_sub(which(&counted.nothing)) as f64
    };
    let both = |which: fn(&UserCounts) -> u64| {
        [&counted.with_operation, &counted.alone].map(|of| less(of, which) / COUNTED as f64)
    };
    let per_cycle = |of: &UserCounts| {
        less(of, |counts| counts.instructions) / less(of, |counts| counts.cycles).max(1.0)
    };
    let [l1i, l1i_alone] = both(|counts| counts.l1i_misses);
    let [l1d, l1d_alone] = both(|counts| counts.l1d_misses);
    let [with_operation, alone] = [&counted.with_operation, &counted.alone].map(per_cycle);
    [with_operation, alone, l1i, l1i_alone, l1d, l1d_alone]
}

/// Whether this processor has counters that count what they should. Tried once in a process.
pub(super) fn are_there() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| agree(|code, rounds| counted(code, rounds).ok()))
}

/// What is counted during so many rounds of code.
fn counted(code: &UserCode, rounds: u64) -> Result<UserCounts, CountersError> {
    let mut sums = UserCounts::default();
    UserCounters::open()?.count(&mut sums, || (0..rounds).for_each(|_| code.run()))?;
    Ok(sums)
}

/// Whether counts agree with what code does that fits into every first-level cache, and code that
/// fits into none.
fn agree(count: impl Fn(&UserCode, u64) -> Option<UserCounts>) -> bool {
    /// Lines of 4 KiB, and of 1 MiB.
    const FEW: u32 = 64;
    const MANY: u32 = 16_384;
    const TIMES: u64 = 20;
    let of = |lines: u32| {
        let (order, loads) = (Order::Random, Loads::Dependent);
        let shape = CodeShape { code_lines: lines, data_lines: lines, order, loads };
        let code = UserCode::new(&shape, 1).ok()?;
        count(&code, 1)?;
        let counts = count(&code, TIMES)?;
        let is_near = |counted: u64, known: u64| {
            (0.9..=1.2).contains(&(counted as f64 / (TIMES * known) as f64))
        };
        (is_near(counts.instructions, code.work().instructions) && counts.cycles > 0)
            .then_some([counts.l1i_misses, counts.l1d_misses])
    };
    let (Some(few), Some(many)) = (of(FEW), of(MANY)) else { return false };
    // Hardly any miss, and nearly all do. A line may be fetched ahead, or twice.
    few.iter().all(|&misses| misses < TIMES * u64::from(FEW) / 4)
        && many.iter().all(|&misses| {
            let all = (TIMES * u64::from(MANY)) as f64;
            (0.5..=2.0).contains(&(misses as f64 / all))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(instructions: u64, cycles: u64, l1i_misses: u64, l1d_misses: u64) -> UserCounts {
        UserCounts { instructions, cycles, l1i_misses, l1d_misses }
    }

    #[test]
    fn values_are_per_round_and_without_what_the_clock_takes() {
        let counted = CountedStretches {
            nothing: counts(100, 50, 2, 3),
            alone: counts(100 + 400, 50 + 100, 2, 3 + COUNTED),
            with_operation: counts(100 + 400, 50 + 200, 2 + 2 * COUNTED, 3 + 4 * COUNTED),
        };
        assert_eq!(values(&counted), [2.0, 4.0, 2.0, 0.0, 4.0, 1.0]);
        assert_eq!(metrics().count(), METRICS.len());
        assert_eq!(values(&CountedStretches::default()), [0.0; METRICS.len()]);
    }

    #[test]
    fn counters_that_count_something_else_are_not_used() {
        let right = |code: &UserCode, rounds: u64| {
            let work = code.work();
            let misses = if work.loads > 1_000 { rounds * 16_000 } else { rounds };
            Some(counts(rounds * work.instructions, rounds * 100, misses, misses))
        };
        assert!(agree(right));
        assert!(!agree(|_, _| None));
        let with = |change: fn(UserCounts) -> UserCounts| {
            agree(move |code, rounds| right(code, rounds).map(change))
        };
        assert!(!with(|all| UserCounts { instructions: all.instructions / 2, ..all }));
        assert!(!with(|all| UserCounts { cycles: 0, ..all }));
        assert!(!with(|all| UserCounts { l1i_misses: 0, ..all }));
        assert!(!with(|all| UserCounts { l1d_misses: all.instructions, ..all }));
        // Whatever this machine has, it is found out.
        let _there_or_not = are_there();
    }
}
