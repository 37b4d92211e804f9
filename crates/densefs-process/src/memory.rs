//! The system calls that map memory.
#![expect(unsafe_code, reason = "the caller vouches for the memory")]

use std::os::fd::BorrowedFd;

use densefs::Errno;
use rustix::mm::{MapFlags, ProtFlags};

/// Where in memory a file is to be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Anywhere, at this address if it is not 0 and the system has no reason against it.
    Anywhere {
        /// The address.
        hint: usize,
    },
    /// At this address, in place of whatever is mapped there: `MAP_FIXED`.
    Exactly(usize),
    /// At this address, if nothing is mapped there: `MAP_FIXED_NOREPLACE`.
    ExactlyIfFree(usize),
}

/// What a program may do with mapped memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// Read it.
    pub reads: bool,
    /// Write to it.
    pub writes: bool,
    /// Execute it.
    pub executes: bool,
}

impl Protection {
    fn flags(self) -> ProtFlags {
        let mut flags = ProtFlags::empty();
        flags.set(ProtFlags::READ, self.reads);
        flags.set(ProtFlags::WRITE, self.writes);
        flags.set(ProtFlags::EXEC, self.executes);
        flags
    }
}

/// New memory, unmapped again unless it is kept.
#[derive(Debug)]
pub(crate) struct NewMemory {
    start: usize,
    length: usize,
}

impl NewMemory {
    /// Maps an empty file.
    ///
    /// # Safety
    /// [`Placement::Exactly`] replaces whatever is mapped there.
    pub(crate) unsafe fn new(
        placement: Placement,
        length: usize,
        protection: Protection,
        empty: BorrowedFd<'_>,
    ) -> Result<Self, Errno> {
        let (at, fixed) = match placement {
            Placement::Anywhere { hint } => (hint, MapFlags::empty()),
            Placement::Exactly(at) => (at, MapFlags::FIXED),
            Placement::ExactlyIfFree(at) => (at, MapFlags::FIXED_NOREPLACE),
        };
        let at = std::ptr::without_provenance_mut(at);
        let flags = MapFlags::SHARED | fixed;
        // SAFETY: guaranteed by the caller.
        let start = unsafe { rustix::mm::mmap(at, length, protection.flags(), flags, empty, 0) };
        Ok(Self { start: start.map_err(errno)?.addr(), length })
    }

    /// Maps bytes of a file from `at` on, which must be in this memory; zeros if there is no file.
    pub(crate) fn map(
        &self,
        at: usize,
        length: usize,
        protection: Protection,
        is_shared: bool,
        file: Option<(BorrowedFd<'_>, u64)>,
    ) -> Result<(), Errno> {
        if at.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(Errno::INVAL);
        }
        let start = std::ptr::without_provenance_mut(self.start + at);
        let how = if is_shared { MapFlags::SHARED } else { MapFlags::PRIVATE };
        let (protection, flags) = (protection.flags(), how | MapFlags::FIXED);
        // SAFETY: it replaces memory that is ours.
        let mapped = unsafe {
            match file {
                Some((file, offset)) => {
                    rustix::mm::mmap(start, length, protection, flags, file, offset)
                }
                None => rustix::mm::mmap_anonymous(start, length, protection, flags),
            }
        };
        mapped.map(drop).map_err(errno)
    }

    /// Keeps it; returns where it begins.
    pub(crate) fn keep(self) -> usize {
        let start = self.start;
        std::mem::forget(self);
        start
    }
}

impl Drop for NewMemory {
    fn drop(&mut self) {
        // SAFETY: nobody else has seen it yet.
        unsafe { unmap(self.start, self.length).ok() };
    }
}

/// Unmaps memory.
///
/// # Safety
/// Nobody may use it any more.
pub(crate) unsafe fn unmap(start: usize, length: usize) -> Result<(), Errno> {
    let start = std::ptr::without_provenance_mut(start);
    // SAFETY: guaranteed by the caller.
    unsafe { rustix::mm::munmap(start, length) }.map_err(errno)
}

fn errno(why: rustix::io::Errno) -> Errno {
    Errno(why.raw_os_error())
}
