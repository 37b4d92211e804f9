//! The buffers of a job: one piece of memory, a part of it for each operation that may be in
//! flight.
//!
//! The kernel reads from and writes into a part while its operation is in flight. The worker looks
//! at the bytes of an operation only when it is not, and the memory is freed only after the engine,
//! which waits for what is in flight when it is dropped.
#![expect(unsafe_code, reason = "the kernel accesses the memory while we hold it")]

use std::ptr::{self, NonNull};
use std::slice;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap_anonymous, munmap};

use super::calls::last_error;
use crate::plan::BufferPages;

/// Memory for all operations of a job. It begins on a page, and is resident.
#[derive(Debug)]
pub(crate) struct IoMemory {
    area: Area,
    part_bytes: usize,
    first: usize,
}

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
    pub(crate) fn new(
        pages: BufferPages,
        parts: usize,
        part_bytes: usize,
        first: usize,
    ) -> Result<Self, Errno> {
        let length = parts.checked_mul(part_bytes).and_then(|all| all.checked_add(first));
        let length = length.ok_or(Errno::NOMEM)?.max(1);
        Ok(Self { area: Area::new(pages, length)?, part_bytes, first })
    }

    /// The first `length` bytes of a part.
    pub(crate) fn span(&self, part: usize, length: usize) -> Span {
        let from = self.first + part * self.part_bytes;
        assert!(length <= self.part_bytes, "an operation fits into its part");
        assert!(from + length <= self.area.length, "there are so many parts");
        // SAFETY: the range is within the mapping, by the assertions.
        Span { start: unsafe { self.area.start.add(from) }, length }
    }

    /// So many bytes for an operation that moves none: only the number counts.
    pub(crate) fn unbacked(&self, length: usize) -> Span {
        Span { start: self.area.start, length }
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

/// Memory that stays where it is, and is locked, so that nobody else can have it.
#[derive(Debug)]
pub(crate) struct LockedMemory {
    _area: Area,
}

impl LockedMemory {
    pub(crate) fn new(bytes: usize) -> Result<Self, Errno> {
        let area = Area::mapped(bytes, MapFlags::PRIVATE)?;
        // SAFETY: the range is the area's.
        unsafe { mlock(area.start.as_ptr().cast(), area.length) }?;
        Ok(Self { _area: area })
    }
}

/// Memory from the kernel, given back when it is dropped.
#[derive(Debug)]
struct Area {
    start: NonNull<u8>,
    length: usize,
    /// Whether it is shared memory of System V.
    is_shared: bool,
}

// SAFETY: the memory belongs to the process, not to a thread, and `start` has one owner.
unsafe impl Send for Area {}

/// From which bit on flags say which size of huge pages is meant, by its binary logarithm.
const SIZE_SHIFT: u32 = 26;

impl Area {
    fn new(pages: BufferPages, length: usize) -> Result<Self, Errno> {
        let page = usize::try_from(pages.huge_bytes().unwrap_or(1)).map_err(|_| Errno::NOMEM)?;
        let length = length.checked_next_multiple_of(page).ok_or(Errno::NOMEM)?;
        let size_bits = page.trailing_zeros() << SIZE_SHIFT;
        match pages {
            BufferPages::Private => Self::mapped(length, MapFlags::PRIVATE | MapFlags::POPULATE),
            BufferPages::Huge(_) => {
                let size = MapFlags::HUGETLB | MapFlags::from_bits_retain(size_bits);
                Self::mapped(length, MapFlags::PRIVATE | MapFlags::POPULATE | size)
            }
            BufferPages::Shared => Self::shared(length, 0),
            BufferPages::SharedHuge(_) => {
                Self::shared(length, libc::SHM_HUGETLB | size_bits.cast_signed())
            }
        }
    }

    fn mapped(length: usize, flags: MapFlags) -> Result<Self, Errno> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address chosen by the kernel touches no memory of ours.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), length, access, flags) }?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at address 0");
        Ok(Self { start, length, is_shared: false })
    }

    /// Memory that goes with its last user, whatever becomes of the process.
    fn shared(length: usize, flags: i32) -> Result<Self, Errno> {
        // SAFETY: the call takes numbers alone.
        let id =
            unsafe { libc::shmget(libc::IPC_PRIVATE, length, libc::IPC_CREAT | 0o600 | flags) };
        if id < 0 {
            return Err(last_error());
        }
        // SAFETY: attached at an address chosen by the kernel, which touches no memory of ours.
        let start = unsafe { libc::shmat(id, ptr::null(), 0) };
        let attached = if start.addr() == usize::MAX { Err(last_error()) } else { Ok(start) };
        // SAFETY: the command takes no memory of ours. It is removed when nobody is attached.
        unsafe { libc::shmctl(id, libc::IPC_RMID, ptr::null_mut()) };
        let start = NonNull::new(attached?.cast()).expect("the kernel maps nothing at address 0");
        // SAFETY: the range was attached above; writing makes it resident.
        unsafe { start.write_bytes(0, length) };
        Ok(Self { start, length, is_shared: true })
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        let start = self.start.as_ptr();
        let is_gone = if self.is_shared {
            // SAFETY: attached by `shared`, and this is its only owner.
            (unsafe { libc::shmdt(start.cast()) }) == 0
        } else {
            // SAFETY: mapped by `mapped`, and this is its only owner.
            unsafe { munmap(start.cast(), self.length) }.is_ok()
        };
        debug_assert!(is_gone, "memory of ours can be given back");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_side_by_side() {
        let mut memory = IoMemory::new(BufferPages::Private, 3, 512, 0).expect("memory");
        assert_eq!(memory.span(0, 512).address().addr() % 4096, 0);
        memory.bytes_mut(1, 512).fill(7);
        assert!(memory.bytes(0, 512).iter().all(|byte| *byte == 0));
        assert!(memory.bytes(1, 512).iter().all(|byte| *byte == 7));
        let rest = memory.span(1, 512).after(500);
        assert_eq!((rest.length(), rest.address().addr() % 512), (12, 500));
        let shifted = IoMemory::new(BufferPages::Private, 1, 512, 64).expect("memory");
        assert_eq!(shifted.span(0, 1).address().addr() % 4096, 64);
    }
    #[test]
    fn buffers_may_be_in_shared_memory() {
        let mut memory = IoMemory::new(BufferPages::Shared, 2, 5000, 0).expect("memory");
        assert_eq!(memory.span(0, 5000).address().addr() % 4096, 0);
        memory.bytes_mut(1, 5000).fill(7);
        assert!(memory.bytes(1, 5000).iter().all(|byte| *byte == 7));
        assert!(memory.bytes(0, 5000).iter().all(|byte| *byte == 0));
    }

    #[test]
    fn huge_pages_are_had_or_refused() {
        for pages in [BufferPages::Huge(2 << 20), BufferPages::SharedHuge(2 << 20)] {
            // Most machines have none reserved; those that do give whole pages.
            match IoMemory::new(pages, 1, 4096, 0) {
                Ok(memory) => assert_eq!(memory.area.length, 2 << 20),
                Err(why) => assert!(matches!(why, Errno::NOMEM | Errno::INVAL | Errno::PERM)),
            }
        }
    }
}
