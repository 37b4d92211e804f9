//! Counts what the device writes for operations, until it has nothing left to write.
//!
//! A sync leaves work behind: the journal or log has been written, but most of the blocks it
//! describes have not. Which of them are written before the sync returns differs between file
//! systems, and is chance within one. So writes are counted from a freshly mounted file system to
//! an unmounted one, when the device owes nothing at either end. What an unmount writes by itself
//! (the superblock, the end of the log) is measured once per instance and subtracted.

use runner::Failure;

use crate::counters::{Counters, Reading};
use crate::device_work::DeviceWork;
use crate::failure::failed;
use crate::file_set_kind::FileSetKind;
use crate::live_target::LiveTarget;
use crate::state;

/// What unmounting the target writes if nothing has changed since it was mounted.
pub(crate) fn idle_unmount(
    live: &mut LiveTarget,
    kind: FileSetKind,
) -> Result<DeviceWork, Failure> {
    if let Some(known) = live.idle_unmount {
        return Ok(known);
    }
    live.remount().map_err(|error| failed(&error))?;
    let (Some(file_set), Some(counters)) = (live.file_sets.get(&kind), live.counters.as_ref())
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

/// Remounts the target and returns what its device wrote from `before` until it was unmounted.
pub(crate) fn until_unmounted(
    live: &mut LiveTarget,
    before: &Reading,
) -> Result<DeviceWork, Failure> {
    let uncounted = || Failure::Cell { why: "its device writes are not counted".to_owned() };
    let reading = live.remount_with(|counters| counters.map(Counters::read));
    let reading = reading.map_err(|error| failed(&error))?.ok_or_else(uncounted)?;
    let deltas = reading.map_err(|error| failed(&error))?.since(before);
    DeviceWork::from_deltas(&deltas).ok_or_else(uncounted)
}
