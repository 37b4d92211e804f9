//! Calls that are complete when they return.
#![expect(unsafe_code, reason = "memory that the kernel also accesses is given by its address")]

use std::io::{IoSlice, IoSliceMut};
use std::slice;

use rustix::fd::{AsRawFd, BorrowedFd};
use rustix::io::{Errno, ReadWriteFlags};
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};

use super::memory::Span;

/// What a call did: bytes, or an error.
pub(crate) type Moved = Result<usize, Errno>;

const BLKDISCARD: libc::Ioctl = 0x1277;

fn into<'a>(span: Span) -> &'a mut [u8] {
    // SAFETY: a span is initialised memory of an `IoMemory`, whose operation is about to begin, so
    // that nothing else accesses it; the slice is used for one call.
    unsafe { slice::from_raw_parts_mut(span.address(), span.length()) }
}

fn from<'a>(span: Span) -> &'a [u8] {
    // SAFETY: as above.
    unsafe { slice::from_raw_parts(span.address(), span.length()) }
}

pub(crate) fn read(file: BorrowedFd<'_>, span: Span) -> Moved {
    rustix::io::read(file, into(span))
}

pub(crate) fn write(file: BorrowedFd<'_>, span: Span) -> Moved {
    rustix::io::write(file, from(span))
}

pub(crate) fn pread(file: BorrowedFd<'_>, span: Span, offset: u64) -> Moved {
    rustix::io::pread(file, into(span), offset)
}

pub(crate) fn pwrite(file: BorrowedFd<'_>, span: Span, offset: u64) -> Moved {
    rustix::io::pwrite(file, from(span), offset)
}

pub(crate) fn preadv(file: BorrowedFd<'_>, span: Span, offset: u64) -> Moved {
    rustix::io::preadv(file, &mut [IoSliceMut::new(into(span))], offset)
}

pub(crate) fn pwritev(file: BorrowedFd<'_>, span: Span, offset: u64) -> Moved {
    rustix::io::pwritev(file, &[IoSlice::new(from(span))], offset)
}

pub(crate) fn preadv2(file: BorrowedFd<'_>, span: Span, offset: u64, flags: u32) -> Moved {
    let flags = ReadWriteFlags::from_bits_retain(flags);
    rustix::io::preadv2(file, &mut [IoSliceMut::new(into(span))], offset, flags)
}

pub(crate) fn pwritev2(file: BorrowedFd<'_>, span: Span, offset: u64, flags: u32) -> Moved {
    let flags = ReadWriteFlags::from_bits_retain(flags);
    rustix::io::pwritev2(file, &[IoSlice::new(from(span))], offset, flags)
}

/// Reads into several spans from the file's position.
pub(crate) fn readv(file: BorrowedFd<'_>, spans: &[Span]) -> Moved {
    let mut slices: Vec<IoSliceMut<'_>> =
        spans.iter().map(|span| IoSliceMut::new(into(*span))).collect();
    rustix::io::readv(file, &mut slices)
}

/// Writes from several spans at the file's position.
pub(crate) fn writev(file: BorrowedFd<'_>, spans: &[Span]) -> Moved {
    let slices: Vec<IoSlice<'_>> = spans.iter().map(|span| IoSlice::new(from(*span))).collect();
    rustix::io::writev(file, &slices)
}

/// Reads at most so many bytes into a span.
pub(crate) fn read_at_most(file: BorrowedFd<'_>, span: Span, most: usize) -> Moved {
    rustix::io::read(file, &mut into(span)[..most])
}

/// Gives a pipe the pages of a span, as many as it holds, without copying them.
pub(crate) fn lend_pages(pipe: BorrowedFd<'_>, span: Span) -> Moved {
    let slice = [IoSliceRaw::from_slice(from(span))];
    // SAFETY: the pages are memory of an `IoMemory`, which stays as it is while its operation is in
    // flight: until what was lent has gone into the file.
    unsafe { vmsplice(pipe, &slice, SpliceFlags::empty()) }
}

/// Discards a range of a block device.
pub(crate) fn discard(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), Errno> {
    let range = [offset, length];
    // SAFETY: the request reads two numbers from `range`, which outlives the call.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, range.as_ptr()) };
    if answer == 0 { Ok(()) } else { Err(last_error()) }
}

/// Writes back a range of a file.
pub(crate) fn sync_file_range(
    file: BorrowedFd<'_>,
    offset: u64,
    bytes: u64,
    flags: u32,
) -> Result<(), Errno> {
    let (offset, bytes) = (offset.cast_signed(), bytes.cast_signed());
    // SAFETY: the call takes numbers alone.
    let answer = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, bytes, flags) };
    if answer == 0 { Ok(()) } else { Err(last_error()) }
}

/// Says how long what is written to a file will live: to its inode, or to the descriptor alone, as
/// far as the kernel knows that.
pub(crate) fn set_write_hint(
    file: BorrowedFd<'_>,
    hint: u64,
    of_descriptor: bool,
) -> Result<(), Errno> {
    const OF_INODE: libc::c_int = 1036;
    const OF_DESCRIPTOR: libc::c_int = 1038;
    let set = |command| {
        // SAFETY: the command reads a number from `hint`, which outlives the call.
        let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const hint) };
        if answer == 0 { Ok(()) } else { Err(last_error()) }
    };
    if of_descriptor && set(OF_DESCRIPTOR).is_ok() { Ok(()) } else { set(OF_INODE) }
}

pub(crate) fn last_error() -> Errno {
    let error = std::io::Error::last_os_error();
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
