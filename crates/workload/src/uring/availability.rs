//! Whether io_uring can be used here, found out by trying.

use super::ring::{self, Ring, RingSpec};
use crate::error::UringRefusal;

/// Checks whether this process may use io_uring on this kernel, by setting up a small ring.
///
/// # Errors
/// Why it may not.
pub fn io_uring_availability() -> Result<(), UringRefusal> {
    ring::probe().map_err(|errno| UringRefusal::from_errno("io_uring_setup", errno, 0))
}

/// Checks whether this process can have a ring of this depth with this many buffers of this size,
/// by making one: buffers are locked in memory, and locked memory is usually limited.
///
/// # Errors
/// Why it cannot.
pub fn io_uring_buffers(
    queue_depth: u32,
    request_bytes: u32,
    buffers: u32,
) -> Result<(), UringRefusal> {
    let slots = buffers.max(queue_depth);
    Ring::new(RingSpec { queue_depth, slots, request_bytes }, &[-1]).map(drop)
}
