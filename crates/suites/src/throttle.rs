//! What a throttled device means for the length of a replicate.
//!
//! The kernel's throttle grants all that a slice of time allows at once: up to that amount, a
//! throttled device is as fast as an unthrottled one. A replicate only shows the throttle if it
//! asks for several slices' worth; a pilot, which asks for less, does not see it at all.
//!
//! A device whose every request is delayed (`delay=`) needs nothing of the kind: it is as slow to a
//! pilot as it is later.

use record::CacheState;
use targets::{Conditions, Target};
use workload::{DataOperation, GrowingOperation, Subject};

use crate::operations::Operations;

/// Slices of 100 ms (block/blk-throttle.c, `DFL_THROTL_SLICE`): enough to make the first one a
/// small part.
const SLICES_S: f64 = 0.3;

/// What the target's throttle requires of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Throttle {
    /// Operations that ask for several slices' worth; 1 without a throttle.
    pub(crate) operations_min: u64,
    /// The least time per operation once the first slice is used up; 0 without a throttle.
    pub(crate) time_per_operation_ns: f64,
}

impl Throttle {
    /// How `target`'s throttle affects these operations in this cache state.
    pub(crate) fn for_target(target: &Target, operations: &Operations, state: CacheState) -> Self {
        Self::from_limits(&target.facts().conditions.limits, operations, state)
    }

    fn from_limits(limits: &Conditions, of: &Operations, state: CacheState) -> Self {
        let (bps, iops) = match of.workload.operation.subject() {
            Subject::Data(DataOperation::Read) if state.is_cold() => {
                (limits.read_bps, limits.read_iops)
            }
            Subject::Data(DataOperation::Write) if of.is_direct() => {
                (limits.write_bps, limits.write_iops)
            }
            Subject::Growing(
                GrowingOperation::AppendFsync
                | GrowingOperation::Fsync
                | GrowingOperation::Fdatasync,
            ) => (limits.write_bps, limits.write_iops),
            // Served from memory, entirely or to an unknown extent.
            Subject::Data(
                DataOperation::Read | DataOperation::Write | DataOperation::Mixed { .. },
            )
            | Subject::Growing(GrowingOperation::Append | GrowingOperation::Truncate)
            | Subject::Names(..) => (None, None),
        };
        let by_bytes = bps.map(|bps| bps as f64 / of.workload.request_bytes as f64);
        let rates_per_s = by_bytes.into_iter().chain(iops.map(|iops| iops as f64));
        let rate_per_s = rates_per_s.fold(f64::INFINITY, f64::min);
        if rate_per_s.is_infinite() {
            return Self { operations_min: 1, time_per_operation_ns: 0.0 };
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let operations_min = (rate_per_s * SLICES_S).ceil().max(1.0) as u64;
        Self { operations_min, time_per_operation_ns: 1e9 / rate_per_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites;

    fn throttle_of(limits: &Conditions, name: &str) -> Throttle {
        let survey = suites().into_iter().next().expect("the survey comes first");
        let found = survey
            .benchmarks
            .iter()
            .find(|benchmark| benchmark.name == name)
            .expect("the survey has it");
        let operations = found.operations().expect("it is one of operations");
        Throttle::from_limits(limits, operations, found.cache_state)
    }

    #[test]
    fn a_throttled_cold_read_takes_its_time_and_enough_operations() {
        let limits = Conditions { read_bps: Some(4096 * 1000), ..Conditions::default() };
        let throttle = throttle_of(&limits, "random-read-4k-cold");
        assert_eq!(throttle, Throttle { operations_min: 300, time_per_operation_ns: 1e6 });
        let both = Conditions { read_iops: Some(100), ..limits };
        let throttle = throttle_of(&both, "random-read-4k-cold");
        assert_eq!(throttle, Throttle { operations_min: 30, time_per_operation_ns: 1e7 });
    }

    #[test]
    fn what_does_not_meet_the_throttle_is_left_alone() {
        let limits = Conditions { read_bps: Some(4096), ..Conditions::default() };
        let free = Throttle { operations_min: 1, time_per_operation_ns: 0.0 };
        assert_eq!(throttle_of(&limits, "random-read-4k-warm"), free);
        assert_eq!(throttle_of(&limits, "append-fsync-4k"), free);
        assert_eq!(throttle_of(&limits, "create-100"), free);
    }
}
