//! The pilot of a cell: how many operations it has, and what it tells of a whole turn.
//!
//! A turn is more than its timed operations. Some of the rest is there once, however many
//! operations there are (mounting, reading files in); some grows with them: what changes names is
//! rehearsed and undone, what was written is written back. How much that is differs from file
//! system to file system and from machine to machine, so it is taken from the pilot. The first few
//! operations take several times as long as later ones, so where operations are short, a pilot has
//! an eighth of what a replicate has.

use std::time::Duration;

use record::{CacheState, Spent};
use workload::{Outcome, Pinning};

use crate::need::{Need, QUEUES_IN_ALL};
use crate::operations::Operations;

/// Operations of a pilot that waits for a device, and bytes that one moves: few enough to be quick.
const OPERATIONS: u64 = 32;
const BYTES: u64 = 4 << 20;
/// One of so many operations of a replicate is in the pilot of what waits for nothing; more of them
/// in a directory that was there before, where what lies around is read when it is needed first.
const SHARE: u64 = 8;
const SHARE_OF_PATHS: u64 = 4;
/// Operations of a pilot that keeps several in flight, in queues full of them.
const QUEUES: u64 = QUEUES_IN_ALL / 4;
/// Part of the time around a pilot's operations that grows with them: the rest of rehearsing and
/// undoing is there with any number of them.
const GROWING_PART: f64 = 0.75;

/// How many operations of each thread the pilot has where a replicate has what is needed.
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

/// Part of the length that was asked for which a second, longer look takes, and its most: the first
/// look is too short to foretell a replicate that is a thousand times as long.
const LONGER_PART: f64 = 0.25;
const LONGER_MOST: Duration = Duration::from_secs(1);

/// A second look, where replicates are to have a length.
pub(crate) struct LongerLook<'a> {
    pub(crate) of: &'a Operations,
    /// Operations of each thread in the first look.
    pub(crate) operations: u64,
    /// Most that there may be.
    pub(crate) operations_max: u64,
    /// The time of one in the first look, in nanoseconds.
    pub(crate) seen_ns: f64,
}

impl LongerLook<'_> {
    /// Operations of each thread in it; none where it is not needed, or can be no longer.
    pub(crate) fn operations(&self) -> Option<u64> {
        let time = self.of.length.time?.mul_f64(LONGER_PART).min(LONGER_MOST);
        let wanted = time.as_secs_f64() * 1e9 / self.seen_ns.max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let operations = (wanted as u64).min(self.operations_max);
        (operations > self.operations).then_some(operations)
    }
}

/// The time that passes from one operation of a thread to its next, untimed parts and all.
pub(crate) fn time_that_passed_ns(outcome: &Outcome) -> f64 {
    let threads = outcome.threads.len() as f64;
    outcome.elapsed_ns as f64 * threads / outcome.recorder.operations().max(1) as f64
}

/// What a turn takes beside its timed operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Around {
    /// Once, in nanoseconds.
    pub(crate) once_ns: u64,
    /// With each timed operation, itself included, as a multiple of its time.
    pub(crate) per_timed: f64,
}

/// The same as `spent` on a pilot and `overhead_ns` around its operations show it.
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
