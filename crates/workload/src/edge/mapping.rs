//! The beginning of a file, mapped shared.
//!
//! References into mapped memory are never created, because others may change the file at any time:
//! bytes are copied out and in. Accessing a page past the end of the file, or one that the device
//! cannot deliver, raises SIGBUS; the caller must make sure that the file is long enough.
#![expect(unsafe_code, reason = "mapped memory is reached through pointers alone")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use rustix::fd::OwnedFd;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use crate::fault::Fault;
use crate::io_path::{MapAdvice, MapOptions, Populate};

/// What a mapping is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapAccess {
    /// Copying out; the file is open for reading.
    Read,
    /// Copying in and out; the file is open for reading and writing.
    Write,
}

/// The first bytes of a file, mapped until dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
    access: MapAccess,
}

// SAFETY: a mapping belongs to the process, not to a thread, and `start` has one owner.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `length` bytes; `length` must not be 0.
    pub(crate) fn new(
        file: &OwnedFd,
        length: usize,
        access: MapAccess,
        options: MapOptions,
    ) -> Result<Self, Fault> {
        let protection = match access {
            MapAccess::Read => ProtFlags::READ,
            MapAccess::Write => ProtFlags::READ | ProtFlags::WRITE,
        };
        let flags = match options.populate {
            Populate::OnAccess => MapFlags::SHARED,
            Populate::AtPrepare => MapFlags::SHARED | MapFlags::POPULATE,
        };
        // SAFETY: a new mapping at an address chosen by the kernel touches no memory of ours.
        let start = unsafe { mmap(ptr::null_mut(), length, protection, flags, file, 0) }
            .map_err(|errno| Fault::errno("mmap", errno))?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at address 0");
        let mapping = Self { start, length, access };
        let advice = match options.advice {
            MapAdvice::Normal => Advice::Normal,
            MapAdvice::Random => Advice::Random,
            MapAdvice::Sequential => Advice::Sequential,
        };
        // SAFETY: the range is the mapping made above; none of the three kinds changes its content.
        unsafe { madvise(mapping.address(), length, advice) }
            .map_err(|errno| Fault::errno("madvise", errno))?;
        Ok(mapping)
    }

    fn address(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }

    /// Whether `length` bytes from `offset` on are within the mapping.
    #[inline(always)]
    fn holds(&self, offset: usize, length: usize) -> bool {
        offset <= self.length && length <= self.length - offset
    }

    /// Copies the bytes from `offset` on into `buffer`.
    #[inline(always)]
    pub(crate) fn copy_out(&self, offset: usize, buffer: &mut [u8]) {
        assert!(self.holds(offset, buffer.len()), "requests lie in the span that is mapped");
        // SAFETY: the source is within the mapping by the assertion, and the mapping lives as long
        // as `self`; `buffer` is our own memory, so the two do not overlap.
        unsafe {
            let from = self.start.as_ptr().add(offset);
            ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), buffer.len());
        }
    }

    /// Copies `bytes` to `offset`. The mapping must be writable.
    #[inline(always)]
    pub(crate) fn copy_in(&mut self, offset: usize, bytes: &[u8]) {
        assert!(self.holds(offset, bytes.len()), "requests lie in the span that is mapped");
        assert_eq!(self.access, MapAccess::Write, "what is written to is mapped for writing");
        // SAFETY: the destination is within the mapping by the first assertion and writable by the
        // second; the mapping lives as long as `self`, and `bytes` is our own memory.
        unsafe {
            let to = self.start.as_ptr().add(offset);
            ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and this is its only owner.
        let unmapped = unsafe { munmap(self.address(), self.length) };
        debug_assert!(unmapped.is_ok(), "a mapping of ours can be unmapped");
    }
}
