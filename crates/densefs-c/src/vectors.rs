//! Reading into several buffers, and writing from several, in one call.

use std::ffi::c_int;
use std::slice;

use densefs_process::{Errno, flags};

use crate::answer::length;
use crate::arguments::{LENGTH_MAX, bytes, bytes_mut, non_negative, number};
use crate::attached::attached;

/// Most buffers in one call, as on Linux.
const PARTS_MAX: usize = 1024;

/// The flags that change nothing here: what was written is where it stays.
const WITHOUT_EFFECT: c_int = libc::RWF_HIPRI | libc::RWF_DSYNC | libc::RWF_SYNC;
const PLACING: c_int = libc::RWF_APPEND | libc::RWF_NOAPPEND;

/// Where a call reads or writes.
#[derive(Clone, Copy)]
enum Place {
    /// At the descriptor's offset, which advances.
    Current,
    /// At an offset; or at the descriptor's, if it is -1 and `or_current` is set.
    At { offset: libc::off_t, or_current: bool },
}

impl Place {
    /// The offset; none for the descriptor's own.
    fn offset(self) -> Result<Option<u64>, Errno> {
        match self {
            Self::Current | Self::At { offset: -1, or_current: true } => Ok(None),
            Self::At { offset, .. } => non_negative(offset).map(Some),
        }
    }
}

/// The buffers of a call, and how many bytes they have together, at most as many as one call may
/// take.
struct Parts<'a> {
    all: &'a [libc::iovec],
    bytes: usize,
}

impl<'a> Parts<'a> {
    /// # Safety
    /// There must be `count` of them at `first`, which do not change during `'a`.
    unsafe fn new(first: *const libc::iovec, count: c_int) -> Result<Self, Errno> {
        let count = usize::try_from(count).ok().filter(|&count| count <= PARTS_MAX);
        let count = count.ok_or(Errno::INVAL)?;
        if count == 0 {
            return Ok(Self { all: &[], bytes: 0 });
        }
        if first.is_null() {
            return Err(Errno::FAULT);
        }
        // SAFETY: guaranteed by the caller.
        let all = unsafe { slice::from_raw_parts(first, count) };
        if all.iter().any(|part| part.iov_len > isize::MAX.cast_unsigned()) {
            return Err(Errno::INVAL);
        }
        let bytes = all.iter().fold(0, |sum: usize, part| sum.saturating_add(part.iov_len));
        Ok(Self { all, bytes: bytes.min(LENGTH_MAX) })
    }

    /// The only buffer that is not empty.
    fn only(&self) -> Option<&libc::iovec> {
        let mut filled = self.all.iter().filter(|part| part.iov_len > 0);
        filled.next().filter(|_| filled.next().is_none())
    }

    /// The content of all buffers, one after another.
    ///
    /// # Safety
    /// They must be valid for reading.
    unsafe fn gathered(&self) -> Result<Vec<u8>, Errno> {
        let mut content = reserved(self.bytes)?;
        for part in self.all {
            let count = part.iov_len.min(self.bytes - content.len());
            // SAFETY: guaranteed by the caller.
            content.extend_from_slice(unsafe { bytes(part.iov_base, count) }?);
        }
        Ok(content)
    }

    /// Copies what was read to the buffers, one after another.
    ///
    /// # Safety
    /// They must be valid for writing.
    unsafe fn scatter(&self, mut content: &[u8]) -> Result<(), Errno> {
        for part in self.all {
            let (here, rest) = content.split_at(part.iov_len.min(content.len()));
            // SAFETY: guaranteed by the caller.
            unsafe { bytes_mut(part.iov_base, here.len()) }?.copy_from_slice(here);
            content = rest;
        }
        Ok(())
    }
}

/// An empty buffer with room.
fn reserved(bytes: usize) -> Result<Vec<u8>, Errno> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes).map_err(|_| Errno(libc::ENOMEM))?;
    Ok(buffer)
}

fn read_once(file: u32, at: Option<u64>, into: &mut [u8]) -> Result<usize, Errno> {
    match at {
        Some(at) => attached()?.read_from(file, at, into),
        None => attached()?.read(file, into),
    }
}

/// Reads in one step, so that no other call comes between.
///
/// # Safety
/// As for [`dfs_preadv2`].
unsafe fn read(
    file: c_int,
    first: *const libc::iovec,
    count: c_int,
    place: Place,
    how: c_int,
) -> Result<usize, Errno> {
    let (at, file) = (place.offset()?, number(file)?);
    if attached()?.flags(file)? & (flags::WRITE | flags::PATH) != 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: guaranteed by the caller.
    let parts = unsafe { Parts::new(first, count) }?;
    if parts.bytes == 0 {
        return Ok(0);
    }
    let stat = attached()?.stat_descriptor(file)?;
    let known = if stat.mode.is_directory() { libc::RWF_HIPRI } else { WITHOUT_EFFECT | PLACING };
    check_flags(how, known)?;
    if let Some(part) = parts.only() {
        // SAFETY: guaranteed by the caller.
        let into = unsafe { bytes_mut(part.iov_base, part.iov_len) }?;
        return read_once(file, at, into);
    }
    // There is no more than that, so the buffer does not need more room.
    let most = parts.bytes.min(usize::try_from(stat.size).unwrap_or(usize::MAX));
    let mut content = reserved(most)?;
    content.resize(most, 0);
    let read = read_once(file, at, &mut content)?;
    // SAFETY: guaranteed by the caller.
    unsafe { parts.scatter(&content[..read]) }?;
    Ok(read)
}

fn check_flags(how: c_int, known: c_int) -> Result<(), Errno> {
    if how & !known != 0 {
        return Err(Errno::OPNOTSUPP);
    }
    if how & PLACING == PLACING { Err(Errno::INVAL) } else { Ok(()) }
}

/// Writes in one step, so that no other call comes between.
///
/// # Safety
/// As for [`dfs_pwritev2`].
unsafe fn write(
    file: c_int,
    first: *const libc::iovec,
    count: c_int,
    place: Place,
    how: c_int,
) -> Result<usize, Errno> {
    let (at, file) = (place.offset()?, number(file)?);
    let opened = attached()?.flags(file)?;
    let is_writable = matches!(opened & flags::ACCESS, flags::WRITE | flags::READ_WRITE);
    if !is_writable || opened & flags::PATH != 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: guaranteed by the caller.
    let parts = unsafe { Parts::new(first, count) }?;
    if parts.bytes == 0 {
        return Ok(0);
    }
    check_flags(how, WITHOUT_EFFECT | PLACING)?;
    let gathered;
    let content = match parts.only() {
        // SAFETY: guaranteed by the caller.
        Some(part) => unsafe { bytes(part.iov_base, part.iov_len) }?,
        None => {
            // SAFETY: guaranteed by the caller.
            gathered = unsafe { parts.gathered() }?;
            &gathered
        }
    };
    if how & PLACING != 0 {
        return attached()?.write_placed(file, at, how & libc::RWF_APPEND != 0, content);
    }
    match at {
        Some(at) => attached()?.write_to(file, at, content),
        None => attached()?.write(file, content),
    }
}

/// Reads into several buffers.
///
/// # Safety
/// There must be `count` buffers at `parts`, each with the room that it says.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_readv(file: c_int, parts: *const libc::iovec, count: c_int) -> isize {
    // SAFETY: guaranteed by the caller.
    length(unsafe { read(file, parts, count, Place::Current, 0) })
}

/// Writes from several buffers.
///
/// # Safety
/// There must be `count` buffers at `parts`, each with the bytes that it says.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_writev(file: c_int, parts: *const libc::iovec, count: c_int) -> isize {
    // SAFETY: guaranteed by the caller.
    length(unsafe { write(file, parts, count, Place::Current, 0) })
}

/// Like [`dfs_readv`], at an offset.
///
/// # Safety
/// As for [`dfs_readv`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_preadv(
    file: c_int,
    parts: *const libc::iovec,
    count: c_int,
    offset: libc::off_t,
) -> isize {
    // SAFETY: guaranteed by the caller.
    length(unsafe { read(file, parts, count, Place::At { offset, or_current: false }, 0) })
}

/// Like [`dfs_writev`], at an offset.
///
/// # Safety
/// As for [`dfs_writev`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_pwritev(
    file: c_int,
    parts: *const libc::iovec,
    count: c_int,
    offset: libc::off_t,
) -> isize {
    // SAFETY: guaranteed by the caller.
    length(unsafe { write(file, parts, count, Place::At { offset, or_current: false }, 0) })
}

/// Like [`dfs_preadv`], with flags; the offset -1 stands for the descriptor's own.
///
/// # Safety
/// As for [`dfs_readv`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_preadv2(
    file: c_int,
    parts: *const libc::iovec,
    count: c_int,
    offset: libc::off_t,
    how: c_int,
) -> isize {
    // SAFETY: guaranteed by the caller.
    length(unsafe { read(file, parts, count, Place::At { offset, or_current: true }, how) })
}

/// Like [`dfs_pwritev`], with flags; the offset -1 stands for the descriptor's own.
///
/// # Safety
/// As for [`dfs_writev`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_pwritev2(
    file: c_int,
    parts: *const libc::iovec,
    count: c_int,
    offset: libc::off_t,
    how: c_int,
) -> isize {
    // SAFETY: guaranteed by the caller.
    length(unsafe { write(file, parts, count, Place::At { offset, or_current: true }, how) })
}
