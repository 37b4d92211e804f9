//! Part of a file, mapped. Bytes are copied in and out; no reference into it is made.
#![expect(unsafe_code, reason = "mapped memory is reached through pointers alone")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags, madvise, mmap, msync, munmap};

use super::memory::Span;

/// How a file is mapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MappingKind {
    pub(crate) access: ProtFlags,
    pub(crate) advice: Option<Advice>,
    /// Whether the kernel is asked for huge pages.
    pub(crate) has_huge_pages: bool,
    /// Whether what is written stays with the process.
    pub(crate) is_private: bool,
}

/// A mapping, undone when it is dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    /// Where in the file it begins.
    offset: u64,
    length: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread, and `start` has one owner.
unsafe impl Send for Mapping {}

impl Mapping {
    pub(crate) fn new(
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
        how: MappingKind,
    ) -> Result<Self, Errno> {
        let flags = if how.is_private { MapFlags::PRIVATE } else { MapFlags::SHARED };
        // SAFETY: a new mapping at an address chosen by the kernel touches no memory of ours.
        let start = unsafe { mmap(ptr::null_mut(), length, how.access, flags, file, offset) }?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at address 0");
        let mapping = Self { start, offset, length };
        if how.has_huge_pages {
            // SAFETY: as below. The kernel may have none, and then does without.
            let _advised = unsafe { madvise(mapping.at(0), length, Advice::LinuxHugepage) };
        }
        if let Some(advice) = how.advice {
            // SAFETY: the range is the mapping; such advice changes no content.
            unsafe { madvise(mapping.at(0), length, advice) }?;
        }
        Ok(mapping)
    }

    fn at(&self, from: usize) -> *mut c_void {
        assert!(from <= self.length, "an address within the mapping");
        // SAFETY: within the mapping, by the assertion.
        unsafe { self.start.as_ptr().add(from) }.cast()
    }

    /// Where in the mapping a range of the file is, if it is there.
    pub(crate) fn place(&self, offset: u64, length: usize) -> Option<usize> {
        let from = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        (from <= self.length && length <= self.length - from).then_some(from)
    }

    /// Copies from the mapping. The file must be long enough.
    pub(crate) fn copy_out(&self, from: usize, span: Span) {
        assert!(from + span.length() <= self.length, "`place` said so");
        // SAFETY: the source is within the mapping; the two do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(self.at(from).cast(), span.address(), span.length());
        }
    }

    /// Copies into the mapping, which must be writable.
    pub(crate) fn copy_in(&self, from: usize, span: Span) {
        assert!(from + span.length() <= self.length, "`place` said so");
        // SAFETY: the destination is within the mapping; the two do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(span.address(), self.at(from).cast(), span.length());
        }
    }

    /// Writes a range back, or all.
    pub(crate) fn sync(&self, range: Option<(usize, usize)>) -> Result<(), Errno> {
        let (from, length) = range.unwrap_or((0, self.length));
        // SAFETY: the range is within the mapping.
        unsafe { msync(self.at(from), length, MsyncFlags::SYNC) }
    }

    /// Takes a range out of the page table.
    pub(crate) fn drop_pages(&self, from: usize, length: usize) -> Result<(), Errno> {
        // SAFETY: pages of a shared mapping keep their content in the file.
        unsafe { madvise(self.at(from), length, Advice::LinuxDontNeed) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and this is its only owner.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert!(unmapped.is_ok(), "a mapping of ours can be unmapped");
    }
}
