//! What the loop of operations in flight wants of a ring, so that tests can put another in its
//! place.

use rustix::io::Errno;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// What one entry asks for: the slot's request from `done_bytes` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// The slot, whose buffer it is about.
    pub(super) slot: u32,
    /// The number of the registered file.
    pub(super) file: u32,
    /// Where in the file the request begins.
    pub(super) offset_bytes: u64,
    /// What of it has been moved already.
    pub(super) done_bytes: u32,
}

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Completion {
    /// The slot.
    pub(super) slot: u32,
    /// The bytes moved or, below 0, an error number.
    pub(super) result: i32,
}

/// Slots, each with a buffer for one request, and a kernel that works on them.
pub(super) trait Queue: Send {
    /// Writes an entry; at most so many may be pushed or in flight as the queue is deep.
    fn push(&mut self, direction: Direction, request: Request);

    /// Hands all entries to the kernel.
    fn submit(&mut self) -> Result<(), Errno>;

    /// Completions that can be seen.
    fn ready(&mut self) -> usize;

    /// Waits until `least` completions can be seen, or some signal comes in.
    fn wait(&mut self, least: usize) -> Result<(), Errno>;

    /// Takes `count` completions, all of which have been seen.
    fn reap(&mut self, count: usize, landed: &mut Vec<Completion>);

    /// The buffer of a slot.
    ///
    /// # Panics
    /// If its request is in flight.
    fn bytes_mut(&mut self, slot: u32) -> &mut [u8];
}
