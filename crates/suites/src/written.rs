//! What the device writes for operations, until it has nothing left to write.
//!
//! A sync leaves work behind: a journal or a log has been written, and most of the blocks that it
//! is about have not. Which of them come before the sync returns differs between file systems and
//! is an accident within one. So writes are counted from a file system that was just mounted to one
//! that is unmounted, whose device owes nothing at either end. What an unmount writes by itself
//! (the superblock, the end of the log) is measured once on each instance and taken off.

use runner::Failure;
use workload::Outcome;

use crate::counters::{Counters, Happened, Reading};
use crate::live_target::LiveTarget;
use crate::place::Place;
use crate::replicate::failed;
use crate::state;

/// What a device wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeviceWork {
    pub(crate) bytes: u64,
    pub(crate) writes: u64,
}

impl DeviceWork {
    fn of(happened: &Happened) -> Option<Self> {
        let (bytes, writes) = happened.device_written_bytes.zip(happened.device_writes)?;
        Some(Self { bytes, writes })
    }

    /// What is left of it without what was written in any case.
    pub(crate) fn without(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            writes: self.writes.saturating_sub(other.writes),
        }
    }
}

/// What a sync after the operations took and what the device wrote for them, per operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Written {
    pub(crate) synced_time_ns: f64,
    pub(crate) bytes: f64,
    pub(crate) writes: f64,
}

impl Written {
    pub(crate) fn new(outcome: &Outcome, sync_ns: f64, device: DeviceWork) -> Self {
        let operations = outcome.recorder.operations().max(1) as f64;
        Self {
            synced_time_ns: (outcome.recorder.busy_ns() as f64 + sync_ns) / operations,
            bytes: device.bytes as f64 / operations,
            writes: device.writes as f64 / operations,
        }
    }
}

/// What unmounting the target writes if nothing was changed since it was mounted.
pub(crate) fn idle_unmount(live: &mut LiveTarget, place: Place) -> Result<DeviceWork, Failure> {
    if let Some(known) = live.idle_unmount {
        return Ok(known);
    }
    live.remount().map_err(|error| failed(&error))?;
    let (Some(file_set), Some(counters)) = (live.file_sets.get(&place), live.counters.as_ref())
    else {
        return Err(Failure::Cell { why: "its file set could not be made".to_owned() });
    };
    state::warm_file_set(&live.target, file_set).map_err(|error| failed(&error))?;
    live.target.sync().map_err(|error| failed(&error))?;
    let before = counters.read().map_err(|error| failed(&error))?;
    let idle = until_unmounted(live, &before)?;
    live.idle_unmount = Some(idle);
    Ok(idle)
}

/// Unmounts and mounts the target: what its device wrote since `before` until it was unmounted.
pub(crate) fn until_unmounted(
    live: &mut LiveTarget,
    before: &Reading,
) -> Result<DeviceWork, Failure> {
    let uncounted = || Failure::Cell { why: "its device writes are not counted".to_owned() };
    let reading = live.remount_with(|counters| counters.map(Counters::read));
    let reading = reading.map_err(|error| failed(&error))?.ok_or_else(uncounted)?;
    let happened = reading.map_err(|error| failed(&error))?.since(before);
    DeviceWork::of(&happened).ok_or_else(uncounted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_unmount_writes_by_itself_is_taken_off() {
        let work = |bytes, writes| DeviceWork { bytes, writes };
        assert_eq!(work(9000, 7).without(work(4096, 2)), work(4904, 5));
        assert_eq!(work(100, 1).without(work(4096, 2)), work(0, 0));
        let happened = |device_written_bytes| Happened {
            device_written_bytes,
            device_writes: Some(3),
            ..Happened::default()
        };
        assert_eq!(DeviceWork::of(&happened(Some(512))), Some(work(512, 3)));
        assert_eq!(DeviceWork::of(&happened(None)), None);
    }
}
