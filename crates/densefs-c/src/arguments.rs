//! Arguments from C: strings, descriptors, numbers and buffers.

use std::arch::asm;
use std::ffi::{OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

use densefs_process::{Base, Errno, Follow};

/// Most bytes in one call, as on Linux.
pub(crate) const LENGTH_MAX: usize = 0x7fff_f000;

/// A path from C.
///
/// # Safety
/// It must be null, or a C string that does not change during `'a`.
#[inline]
pub(crate) unsafe fn path<'a>(text: *const c_char) -> Result<&'a Path, Errno> {
    if text.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: guaranteed by the caller.
    let bytes: &[u8] = unsafe { slice::from_raw_parts(text.cast(), length(text)) };
    if bytes.len() >= LONG {
        check_length(bytes)?;
    }
    Ok(Path::new(OsStr::from_bytes(bytes)))
}

/// The longest path, in bytes, and a length up to which none is too long, with any prefix.
const PATH_MAX: usize = 4095;
const LONG: usize = PATH_MAX - PREFIX_MAX;
const PREFIX_MAX: usize = 255;

/// How many bytes programs put before absolute paths.
static PREFIX: AtomicUsize = AtomicUsize::new(0);

/// Says how many bytes, up to 255, programs put before the absolute paths that they mean, so that
/// paths are too long for this library if they are for the programs.
pub fn set_prefix_length(bytes: usize) {
    PREFIX.store(bytes.min(PREFIX_MAX), Ordering::Relaxed);
}

#[cold]
fn check_length(path: &[u8]) -> Result<(), Errno> {
    let before = if path.first() == Some(&b'/') { PREFIX.load(Ordering::Relaxed) } else { 0 };
    if before + path.len() > PATH_MAX { Err(Errno::NAMETOOLONG) } else { Ok(()) }
}

/// The length of a C string. Not libc's, as a call to that touches more cache lines.
///
/// # Safety
/// It must be a C string.
#[inline(always)]
unsafe fn length(text: *const c_char) -> usize {
    const BLOCK: usize = 16;
    // An aligned block does not cross a page boundary, so it is readable if one of its bytes is.
    let within = text.addr() % BLOCK;
    let mut block = text.wrapping_sub(within);
    // SAFETY: the string's first byte is in the block.
    let mut zeros = unsafe { zeros_in(block) } >> within << within;
    while zeros == 0 {
        block = block.wrapping_add(BLOCK);
        // SAFETY: the string has not ended yet, so its next byte is in this block.
        zeros = unsafe { zeros_in(block) };
    }
    block.addr() + zeros.trailing_zeros() as usize - text.addr()
}

/// Which of 16 bytes are zero, one bit each.
///
/// # Safety
/// They must be readable, and 16-byte aligned.
#[inline(always)]
unsafe fn zeros_in(block: *const c_char) -> u32 {
    let zeros;
    // SAFETY: guaranteed by the caller.
    unsafe {
        asm!(
            "pxor {bytes}, {bytes}",
            "pcmpeqb {bytes}, xmmword ptr [{block}]",
            "pmovmskb {zeros:e}, {bytes}",
            bytes = out(xmm_reg) _,
            block = in(reg) block,
            zeros = out(reg) zeros,
            options(readonly, nostack, preserves_flags),
        );
    }
    zeros
}

/// Where a path starts, from the `dirfd` argument of a call, which an absolute path ignores.
#[inline]
pub(crate) fn base(descriptor: c_int, path: &Path) -> Result<Base, Errno> {
    match path.as_os_str().as_bytes() {
        [] => Err(Errno::NOENT),
        [b'/', ..] => Ok(Base::Working),
        _ if descriptor == libc::AT_FDCWD => Ok(Base::Working),
        _ => number(descriptor).map(Base::Descriptor),
    }
}

/// A descriptor, which must not be negative.
#[inline]
pub(crate) fn number(descriptor: c_int) -> Result<u32, Errno> {
    u32::try_from(descriptor).map_err(|_| Errno::BADF)
}

/// What an empty path names, from the `dirfd` argument of a call.
pub(crate) fn itself(descriptor: c_int) -> Result<Base, Errno> {
    match descriptor {
        libc::AT_FDCWD => Ok(Base::Working),
        file => number(file).map(Base::Descriptor),
    }
}

/// Whether a path and the flags of a call name what the call's `dirfd` refers to.
#[inline]
pub(crate) fn is_itself(path: &Path, how: c_int) -> bool {
    how & libc::AT_EMPTY_PATH != 0 && path.as_os_str().is_empty()
}

/// Follows symbolic links unless the flags of a call say otherwise.
#[inline]
pub(crate) fn follow(how: c_int) -> Follow {
    if how & libc::AT_SYMLINK_NOFOLLOW == 0 { Follow::Yes } else { Follow::No }
}

/// An offset or a length, which must not be negative.
pub(crate) fn non_negative(at: libc::off_t) -> Result<u64, Errno> {
    u64::try_from(at).map_err(|_| Errno::INVAL)
}

/// The buffer that a call reads into.
///
/// # Safety
/// For `'a`, nobody else may access it.
pub(crate) unsafe fn bytes_mut<'a>(
    start: *mut c_void,
    count: usize,
) -> Result<&'a mut [u8], Errno> {
    match count.min(LENGTH_MAX) {
        0 => Ok(&mut []),
        _ if start.is_null() => Err(Errno::FAULT),
        // SAFETY: guaranteed by the caller.
        count => Ok(unsafe { slice::from_raw_parts_mut(start.cast(), count) }),
    }
}

/// The buffer that a call writes from.
///
/// # Safety
/// For `'a`, nobody may change it.
pub(crate) unsafe fn bytes<'a>(start: *const c_void, count: usize) -> Result<&'a [u8], Errno> {
    match count.min(LENGTH_MAX) {
        0 => Ok(&[]),
        _ if start.is_null() => Err(Errno::FAULT),
        // SAFETY: guaranteed by the caller.
        count => Ok(unsafe { slice::from_raw_parts(start.cast(), count) }),
    }
}
