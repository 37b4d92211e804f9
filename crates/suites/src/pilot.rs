//! The pilot of a cell: how many operations it has, and what it tells about a whole turn.
//!
//! A turn is more than its timed operations. Some of the rest is needed once, however many
//! operations there are (mounting, reading files in); some grows with them: changes of names are
//! rehearsed and undone, and what was written is written back. How much that is differs between
//! file systems and machines, so it is taken from the pilot. The first few operations take several
//! times as long as later ones, so where operations are short, a pilot has an eighth as many as a
//! replicate.

use std::time::Duration;

use record::{CacheState, Spent};
use workload::{Outcome, Pinning};

use crate::need::{Need, QUEUES_IN_ALL};
use crate::operations::Operations;

/// Operations in a pilot that waits for a device, and bytes that it moves at most: few enough to be
/// quick.
const OPERATIONS: u64 = 32;
const BYTES: u64 = 4 << 20;
/// If operations wait for nothing, the pilot has one in this many of a replicate's; more in an
/// existing directory, whose surroundings are only read when first needed.
const SHARE: u64 = 8;
const SHARE_OF_PATHS: u64 = 4;
/// How often a pilot with several operations in flight fills its queue.
const QUEUES: u64 = QUEUES_IN_ALL / 4;
/// Part of the time around a pilot's operations that grows with their number; the rest of
/// rehearsing and undoing is needed however many there are.
const GROWING_PART: f64 = 0.75;

/// How many operations per thread the pilot has, given what a replicate needs.
pub(crate) fn operations(of: &Operations, state: CacheState, need: Need, is_scratch: bool) -> u64 {
    let of_bytes = (BYTES / of.workload.request_bytes as u64).max(1);
    if let Some(depth) = of.queue_depth().filter(|&depth| depth > 1) {
        return OPERATIONS.min(of_bytes).max(QUEUES * u64::from(depth));
    }
    let share = if is_scratch { SHARE } else { SHARE_OF_PATHS };
    let waits = of.pinning(state) == Pinning::Off;
    let wanted = if waits { OPERATIONS } else { OPERATIONS.max(need.operations / share) };
    wanted.min(of_bytes)
}

/// Length of a second, longer pilot, as a part of the length asked for and at most: the first one
/// is too short to predict a replicate a thousand times as long.
const LONGER_PART: f64 = 0.25;
const LONGER_MAX: Duration = Duration::from_secs(1);

/// A second, longer pilot, used if the user asked for a length.
pub(crate) struct LongerLook<'a> {
    pub(crate) of: &'a Operations,
    /// Operations per thread in the first pilot.
    pub(crate) operations: u64,
    /// The most operations per thread that there may be.
    pub(crate) operations_max: u64,
    /// Time of one operation in the first pilot, in nanoseconds.
    pub(crate) seen_ns: f64,
}

impl LongerLook<'_> {
    /// How many operations per thread it has; `None` if it is not needed or cannot be any longer.
    pub(crate) fn operations(&self) -> Option<u64> {
        let time = self.of.length.time?.mul_f64(LONGER_PART).min(LONGER_MAX);
        let wanted = time.as_secs_f64() * 1e9 / self.seen_ns.max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let operations = (wanted as u64).min(self.operations_max);
        (operations > self.operations).then_some(operations)
    }
}

/// Time from one operation of a thread to its next, including untimed work.
pub(crate) fn time_that_passed_ns(outcome: &Outcome) -> f64 {
    let threads = outcome.threads.len() as f64;
    outcome.elapsed_ns as f64 * threads / outcome.recorder.operations().max(1) as f64
}

/// What a turn takes in addition to its timed operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Around {
    /// Needed once, in nanoseconds.
    pub(crate) once_ns: u64,
    /// Time that comes with each timed operation, including itself, as a multiple of its own time.
    pub(crate) per_timed: f64,
}

/// What a turn takes, given the time `spent` on a pilot and `overhead_ns` around its operations.
pub(crate) fn around(
    of: &Operations,
    state: CacheState,
    spent: &Spent,
    overhead_ns: u64,
) -> Around {
    let waits = of.pinning(state) == Pinning::Off;
    if waits || !of.changes_anything() || spent.timed_ns == 0 {
        return Around { once_ns: overhead_ns, per_timed: 1.0 };
    }
    let changes_names = of.workload.operation.changes_directories();
    let rehearsed_ns = if changes_names { spent.state_ns } else { 0 };
    let growing_ns = GROWING_PART * (rehearsed_ns + spent.undo_ns) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times above 0")]
    let once_ns = overhead_ns.saturating_sub(growing_ns as u64);
    Around { once_ns, per_timed: 1.0 + growing_ns / spent.timed_ns as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::suites;

    fn operations_of(name: &str) -> (Operations, CacheState) {
        let all = suites().into_iter().flat_map(|suite| suite.benchmarks);
        let found = all.into_iter().find(|one| one.name == name).expect("it is declared");
        (found.operations().expect("it is one of operations").clone(), found.cache_state)
    }

    fn pilot_of(name: &str, is_scratch: bool) -> u64 {
        let (of, state) = operations_of(name);
        operations(&of, state, of.need(state, 64 << 20), is_scratch)
    }

    #[test]
    fn what_waits_for_nothing_has_an_eighth_of_a_replicate() {
        assert_eq!(pilot_of("create-100", true), 128);
        assert_eq!(pilot_of("create-100", false), 256);
        assert_eq!(pilot_of("stat-100", true), 1_024);
        assert_eq!(pilot_of("sequential-read-1m-warm", true), 4, "4 MiB");
        assert_eq!(pilot_of("append-fsync-4k", true), 32);
        assert_eq!(pilot_of("random-read-4k-cold", false), 32);
    }

    #[test]
    fn what_is_rehearsed_and_undone_grows_with_the_operations() {
        let spent = Spent { timed_ns: 10, state_ns: 40, undo_ns: 20, ..Spent::default() };
        let around_of = |name: &str| {
            let (of, state) = operations_of(name);
            around(&of, state, &spent, 100)
        };
        assert_eq!(around_of("create-100"), Around { once_ns: 55, per_timed: 5.5 });
        assert_eq!(around_of("random-write-4k-warm"), Around { once_ns: 85, per_timed: 2.5 });
        for name in ["stat-100", "random-read-4k-cold", "append-fsync-4k"] {
            assert_eq!(around_of(name), Around { once_ns: 100, per_timed: 1.0 }, "{name}");
        }
    }
}
