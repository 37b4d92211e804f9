//! Whether io_uring can be used here, found by trying.

use super::ring::{self, Ring, RingSpec};
use crate::error::UringRefusal;

/// Whether this process may use io_uring on this kernel, found by setting up a small ring.
///
/// # Errors
/// Why not.
pub fn io_uring_availability() -> Result<(), UringRefusal> {
    ring::probe().map_err(|errno| UringRefusal::of("io_uring_setup", errno, 0))
}

/// Whether this process may have a ring of this depth with so many buffers of this size, found by
/// making one: buffers are locked in memory, and not everybody may lock as much as they like.
///
/// # Errors
/// Why not.
pub fn io_uring_buffers(
    queue_depth: u32,
    request_bytes: u32,
    buffers: u32,
) -> Result<(), UringRefusal> {
    let slots = buffers.max(queue_depth);
    Ring::new(RingSpec { queue_depth, slots, request_bytes }, &[-1]).map(drop)
}
