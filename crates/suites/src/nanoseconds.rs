//! Durations as whole nanoseconds, the unit in which a run records them.

use std::time::Duration;

/// A time in nanoseconds.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
