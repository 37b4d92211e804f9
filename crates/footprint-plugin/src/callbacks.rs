//! Whether translated code has callbacks: from the first region on until nothing was recorded for
//! a while, as translating everything again costs as much as many blocks with idle callbacks.
//!
//! Nothing here is exact where vCPUs run at a time, and nothing has to be.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

/// Blocks that are executed in vain before callbacks are taken out of the code: what they cost, 5
/// to 10 ms, is less than to translate a kernel's code twice.
const PATIENCE: u32 = 1_000_000;

/// vCPUs within a marked region.
static RECORDING: AtomicUsize = AtomicUsize::new(0);

/// Whether all code has callbacks. Code that holds a mark has them always.
static ARE_THERE: AtomicBool = AtomicBool::new(false);

/// Set once they should be taken out at a safe point.
static ARE_UNWANTED: AtomicBool = AtomicBool::new(false);

/// Set once there is a second vCPU. No point is safe for all of them then.
static ARE_VCPUS_SEVERAL: AtomicBool = AtomicBool::new(false);

/// Blocks executed in vain since a region ended.
static IDLE: AtomicU32 = AtomicU32::new(0);

/// When QEMU can be told to translate everything again without callbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// At any time.
    Always,
    /// At a safe point.
    AtSafePoint,
}

/// Whether code that is translated now gets callbacks.
pub(crate) fn are_there() -> bool {
    ARE_THERE.load(Relaxed)
}

/// There is a second vCPU.
pub(crate) fn vcpus_are_several() {
    ARE_VCPUS_SEVERAL.store(true, Relaxed);
}

/// A vCPU begins to record. Whether everything is to be translated again.
pub(crate) fn begin() -> bool {
    RECORDING.fetch_add(1, Relaxed);
    ARE_UNWANTED.store(false, Relaxed);
    !ARE_THERE.swap(true, Relaxed)
}

/// A vCPU records no more.
pub(crate) fn end() {
    RECORDING.fetch_sub(1, Relaxed);
    IDLE.store(0, Relaxed);
}

/// A vCPU that does not record executes a block. Whether everything is to be translated again.
#[inline]
pub(crate) fn idle(removal: Removal) -> bool {
    let blocks = IDLE.load(Relaxed).saturating_add(1);
    IDLE.store(blocks, Relaxed);
    if blocks < PATIENCE || RECORDING.load(Relaxed) > 0 {
        return false;
    }
    match removal {
        Removal::Always => ARE_THERE.swap(false, Relaxed),
        Removal::AtSafePoint => {
            ARE_UNWANTED.store(true, Relaxed);
            false
        }
    }
}

/// A vCPU is at a safe point. Whether everything is to be translated again.
pub(crate) fn safe_point() -> bool {
    !ARE_VCPUS_SEVERAL.load(Relaxed)
        && ARE_UNWANTED.swap(false, Relaxed)
        && ARE_THERE.swap(false, Relaxed)
}
