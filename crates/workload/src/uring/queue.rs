//! What the loop of operations in flight requires of a ring, so that tests can substitute another.

use rustix::io::Errno;

/// The direction of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// What one entry asks for: the request of a slot, from `done_bytes` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// The slot, whose buffer is used.
    pub(super) slot: u32,
    /// The number of the registered file.
    pub(super) file: u32,
    /// Where in the file the request begins.
    pub(super) offset_bytes: u64,
    /// How much of it has already been moved.
    pub(super) done_bytes: u32,
}

/// The completion of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Completion {
    /// The slot.
    pub(super) slot: u32,
    /// The bytes moved or, if negative, an error number.
    pub(super) result: i32,
}

/// Slots, each with a buffer for one request, and a kernel that works on them.
pub(super) trait Queue: Send {
    /// Writes an entry. No more may be pushed or in flight than the depth of the queue.
    fn push(&mut self, direction: Direction, request: Request);

    /// Hands all entries to the kernel.
    fn submit(&mut self) -> Result<(), Errno>;

    /// The number of completions that can be seen.
    fn ready(&mut self) -> usize;

    /// Waits until at least `least` completions can be seen, or a signal arrives.
    fn wait(&mut self, least: usize) -> Result<(), Errno>;

    /// Takes `count` completions, all of which must have been seen.
    fn reap(&mut self, count: usize, landed: &mut Vec<Completion>);

    /// The buffer of a slot.
    ///
    /// # Panics
    /// If its request is in flight.
    fn bytes_mut(&mut self, slot: u32) -> &mut [u8];
}
