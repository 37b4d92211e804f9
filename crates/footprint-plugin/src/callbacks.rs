//! Decides whether translated code has callbacks: from the first region on, until nothing has been
//! recorded for a while. Not sooner, because retranslating everything costs as much as many blocks
//! with idle callbacks.
//!
//! With concurrent vCPUs, none of this is exact, and it does not need to be.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

/// Number of unrecorded blocks after which callbacks are removed from the code. They cost 5 to 10
/// ms, less than translating a kernel's code twice.
const PATIENCE: u32 = 1_000_000;

/// Number of vCPUs within a marked region.
static RECORDING: AtomicUsize = AtomicUsize::new(0);

/// Whether all code has callbacks. Code that contains a mark always has them.
static ARE_THERE: AtomicBool = AtomicBool::new(false);

/// Set once callbacks should be removed at a safe point.
static ARE_UNWANTED: AtomicBool = AtomicBool::new(false);

/// Set once there is a second vCPU. From then on, no point is safe for all of them.
static ARE_VCPUS_SEVERAL: AtomicBool = AtomicBool::new(false);

/// Number of unrecorded blocks executed since a region ended.
static IDLE: AtomicU32 = AtomicU32::new(0);

/// When QEMU may be told to translate everything again without callbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// At any time.
    Always,
    /// At a safe point.
    AtSafePoint,
}

/// Whether code translated now gets callbacks.
pub(crate) fn are_there() -> bool {
    ARE_THERE.load(Relaxed)
}

/// Notes that there is a second vCPU.
pub(crate) fn vcpus_are_several() {
    ARE_VCPUS_SEVERAL.store(true, Relaxed);
}

/// A vCPU begins to record. Returns whether everything must be translated again.
pub(crate) fn begin() -> bool {
    RECORDING.fetch_add(1, Relaxed);
    ARE_UNWANTED.store(false, Relaxed);
    !ARE_THERE.swap(true, Relaxed)
}

/// A vCPU stops recording.
pub(crate) fn end() {
    RECORDING.fetch_sub(1, Relaxed);
    IDLE.store(0, Relaxed);
}

/// A vCPU that is not recording executes a block. Returns whether everything must be translated
/// again.
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

/// A vCPU is at a safe point. Returns whether everything must be translated again.
pub(crate) fn safe_point() -> bool {
    !ARE_VCPUS_SEVERAL.load(Relaxed)
        && ARE_UNWANTED.swap(false, Relaxed)
        && ARE_THERE.swap(false, Relaxed)
}
