//! Counters that advance while something is measured: stolen and throttled time, and I/O done.
//!
//! Two readings are subtracted, later minus earlier; a counter that ran backwards gives zero.

use std::ops::Sub;

use serde::{Deserialize, Serialize};

/// Processor time of the whole machine since boot (the line `cpu` of `/proc/stat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// Time during which a virtual CPU was runnable but the hypervisor ran something else.
    pub steal_ns: u64,
    /// Time of all online CPUs together, including idle and stolen time.
    pub total_ns: u64,
}

/// How often and for how long CPU quotas throttled this process's control groups, summed over the
/// groups along its path (`cpu.stat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrottleCounters {
    /// Periods in which a group used up its quota (`nr_throttled`).
    pub throttled: u64,
    /// How long the groups' CPUs were throttled, summed over CPUs (`throttled_usec`;
    /// `throttled_time` in version 1).
    pub throttled_ns: u64,
}

/// Time during which tasks anywhere on the machine waited for a resource (`/proc/pressure/*`):
/// `some` while at least one waited, `full` while none could make progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PressureCounters {
    /// At least one task waited for a CPU.
    pub cpu_some_ns: u64,
    /// At least one task waited for memory.
    pub memory_some_ns: u64,
    /// All tasks waited for memory.
    pub memory_full_ns: u64,
    /// At least one task waited for I/O.
    pub io_some_ns: u64,
    /// All tasks waited for I/O.
    pub io_full_ns: u64,
}

/// What a block device did since it appeared (`/sys/dev/block/MAJOR:MINOR/stat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCounters {
    /// Read requests completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Discard requests completed; `None` before Linux 4.18.
    pub discards: Option<u64>,
    /// Flush requests completed, which the kernel counts for whole disks only; `None` before
    /// Linux 5.5.
    pub flushes: Option<u64>,
    /// Time during which at least one request was in flight, in milliseconds. The kernel counts it
    /// modulo 2^32, so a difference is right if the readings are less than 49 days apart.
    pub io_ms: u64,
}

/// Storage I/O caused by this process, all threads together (`/proc/self/io`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessCounters {
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes sent towards storage; a page counts when it is dirtied.
    pub write_bytes: u64,
    /// The part of [`ProcessCounters::write_bytes`] that was never written because the file was
    /// truncated or removed first.
    pub cancelled_write_bytes: u64,
}

impl Sub for CpuTimes {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
            total_ns: self.total_ns.saturating_sub(earlier.total_ns),
        }
    }
}

impl Sub for ThrottleCounters {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            throttled: self.throttled.saturating_sub(earlier.throttled),
            throttled_ns: self.throttled_ns.saturating_sub(earlier.throttled_ns),
        }
    }
}

impl Sub for PressureCounters {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            cpu_some_ns: self.cpu_some_ns.saturating_sub(earlier.cpu_some_ns),
            memory_some_ns: self.memory_some_ns.saturating_sub(earlier.memory_some_ns),
            memory_full_ns: self.memory_full_ns.saturating_sub(earlier.memory_full_ns),
            io_some_ns: self.io_some_ns.saturating_sub(earlier.io_some_ns),
            io_full_ns: self.io_full_ns.saturating_sub(earlier.io_full_ns),
        }
    }
}

impl Sub for DeviceCounters {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        let both = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        // The kernel keeps this one in 32 bits.
        let wrapped = if self.io_ms < earlier.io_ms { 1 << 32 } else { 0 };
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            writes: self.writes.saturating_sub(earlier.writes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
            discards: both(self.discards, earlier.discards),
            flushes: both(self.flushes, earlier.flushes),
            io_ms: (self.io_ms.saturating_add(wrapped)).saturating_sub(earlier.io_ms),
        }
    }
}

impl Sub for ProcessCounters {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        let cancelled = self.cancelled_write_bytes.saturating_sub(earlier.cancelled_write_bytes);
        Self {
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
            cancelled_write_bytes: cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_later_minus_earlier_and_never_below_zero() {
        let earlier = CpuTimes { steal_ns: 10, total_ns: 100 };
        let later = CpuTimes { steal_ns: 25, total_ns: 160 };
        assert_eq!(later - earlier, CpuTimes { steal_ns: 15, total_ns: 60 });
        assert_eq!(earlier - later, CpuTimes::default());
    }

    #[test]
    fn the_devices_busy_time_wraps_at_32_bits() {
        let at = |io_ms| DeviceCounters { io_ms, ..DeviceCounters::default() };
        assert_eq!((at(5) - at(u64::from(u32::MAX) - 4)).io_ms, 10);
        assert_eq!((at(7) - at(5)).io_ms, 2);
    }

    #[test]
    fn a_count_that_one_reading_lacks_has_no_difference() {
        let without = DeviceCounters { reads: 1, ..DeviceCounters::default() };
        let with = DeviceCounters { reads: 5, discards: Some(9), flushes: Some(3), ..without };
        let earlier = DeviceCounters { discards: Some(7), ..without };
        let difference = with - earlier;
        assert_eq!((difference.reads, difference.discards, difference.flushes), (4, Some(2), None));
    }
}
