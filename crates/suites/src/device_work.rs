//! What a device wrote between two readings of its counters, in total and per operation.

use workload::Outcome;

use crate::counters::CounterDeltas;

/// What a device wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeviceWork {
    pub(crate) bytes: u64,
    pub(crate) writes: u64,
}

impl DeviceWork {
    pub(crate) fn from_deltas(deltas: &CounterDeltas) -> Option<Self> {
        let (bytes, writes) = deltas.device_written_bytes.zip(deltas.device_writes)?;
        Some(Self { bytes, writes })
    }

    /// The rest, after subtracting what would have been written anyway.
    pub(crate) fn without(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            writes: self.writes.saturating_sub(other.writes),
        }
    }
}

/// Time including a final sync, and what the device wrote, per operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WorkPerOperation {
    pub(crate) synced_time_ns: f64,
    pub(crate) bytes: f64,
    pub(crate) writes: f64,
}

impl WorkPerOperation {
    pub(crate) fn new(outcome: &Outcome, sync_ns: f64, device: DeviceWork) -> Self {
        let operations = outcome.recorder.operations().max(1) as f64;
        Self {
            synced_time_ns: (outcome.recorder.busy_ns() as f64 + sync_ns) / operations,
            bytes: device.bytes as f64 / operations,
            writes: device.writes as f64 / operations,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_unmount_writes_by_itself_is_taken_off() {
        let work = |bytes, writes| DeviceWork { bytes, writes };
        assert_eq!(work(9000, 7).without(work(4096, 2)), work(4904, 5));
        assert_eq!(work(100, 1).without(work(4096, 2)), work(0, 0));
        let deltas = |device_written_bytes| CounterDeltas {
            device_written_bytes,
            device_writes: Some(3),
            ..CounterDeltas::default()
        };
        assert_eq!(DeviceWork::from_deltas(&deltas(Some(512))), Some(work(512, 3)));
        assert_eq!(DeviceWork::from_deltas(&deltas(None)), None);
    }
}
