//! The buffers of a job: one piece of memory, a part of it for each operation that may be in
//! flight.
//!
//! The kernel reads from and writes into a part while its operation is in flight. The worker looks
//! at the bytes of an operation only when it is not, and the memory is freed only after the engine,
//! which waits for what is in flight when it is dropped.
#![expect(unsafe_code, reason = "the kernel accesses the memory while we hold it")]

use std::io;
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Memory for all operations of a job. It begins on a page, and is resident.
#[derive(Debug)]
pub(crate) struct IoMemory {
    start: NonNull<u8>,
    mapped: usize,
    part_bytes: usize,
    first: usize,
}

// SAFETY: the memory belongs to the process, not to a thread, and `start` has one owner.
unsafe impl Send for IoMemory {}

/// Bytes of an [`IoMemory`] that an operation moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a span is an address; what is done with it is the caller's duty.
unsafe impl Send for Span {}

impl Span {
    pub(crate) fn address(self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn length(self) -> usize {
        self.length
    }

    /// The rest of it, after `bytes`.
    pub(crate) fn after(self, bytes: usize) -> Self {
        assert!(bytes <= self.length, "no more was moved than there is");
        // SAFETY: the result is within the span, by the assertion.
        Self { start: unsafe { self.start.add(bytes) }, length: self.length - bytes }
    }
}

impl IoMemory {
    /// Memory for `parts` operations of at most `part_bytes` each; the first begins `first` bytes
    /// after a page.
    pub(crate) fn new(parts: usize, part_bytes: usize, first: usize) -> io::Result<Self> {
        let length = parts.checked_mul(part_bytes).and_then(|all| all.checked_add(first));
        let mapped = length.ok_or(io::ErrorKind::OutOfMemory)?.max(1);
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address chosen by the kernel touches no memory of ours.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), mapped, access, flags) }?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at address 0");
        Ok(Self { start, mapped, part_bytes, first })
    }

    /// The first `length` bytes of a part.
    pub(crate) fn span(&self, part: usize, length: usize) -> Span {
        let from = self.first + part * self.part_bytes;
        assert!(length <= self.part_bytes, "an operation fits into its part");
        assert!(from + length <= self.mapped, "there are so many parts");
        // SAFETY: the range is within the mapping, by the assertions.
        Span { start: unsafe { self.start.add(from) }, length }
    }

    /// So many bytes for an operation that moves none: only the number counts.
    pub(crate) fn unbacked(&self, length: usize) -> Span {
        Span { start: self.start, length }
    }

    /// The bytes of a part whose operation is not in flight.
    pub(crate) fn bytes(&self, part: usize, length: usize) -> &[u8] {
        let span = self.span(part, length);
        // SAFETY: the range is initialised memory of this mapping, which nothing writes into while
        // its operation is not in flight.
        unsafe { slice::from_raw_parts(span.address(), length) }
    }

    /// The same, to be changed.
    pub(crate) fn bytes_mut(&mut self, part: usize, length: usize) -> &mut [u8] {
        let span = self.span(part, length);
        // SAFETY: as above, and `self` is borrowed alone.
        unsafe { slice::from_raw_parts_mut(span.address(), length) }
    }
}

impl Drop for IoMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and this is its only owner.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.mapped) };
        debug_assert!(unmapped.is_ok(), "a mapping of ours can be unmapped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_side_by_side() {
        let mut memory = IoMemory::new(3, 512, 0).expect("memory");
        assert_eq!(memory.span(0, 512).address().addr() % 4096, 0);
        memory.bytes_mut(1, 512).fill(7);
        assert!(memory.bytes(0, 512).iter().all(|byte| *byte == 0));
        assert!(memory.bytes(1, 512).iter().all(|byte| *byte == 7));
        let rest = memory.span(1, 512).after(500);
        assert_eq!((rest.length(), rest.address().addr() % 512), (12, 500));
        let shifted = IoMemory::new(1, 512, 64).expect("memory");
        assert_eq!(shifted.span(0, 1).address().addr() % 4096, 64);
    }
}
