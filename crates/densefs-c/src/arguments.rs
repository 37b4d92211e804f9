//! What functions get from C: texts, descriptors, numbers and buffers.

use std::arch::asm;
use std::ffi::{OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::slice;

use densefs_process::{Base, Errno};

/// Most bytes of one call, as on Linux.
pub(crate) const LENGTH_MOST: usize = 0x7fff_f000;

/// A path from C.
///
/// # Safety
/// It must be null, or a text that stays as it is for `'a`.
#[inline]
pub(crate) unsafe fn path<'a>(text: *const c_char) -> Result<&'a Path, Errno> {
    if text.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: the caller vouches for it.
    let bytes = unsafe { slice::from_raw_parts(text.cast(), length(text)) };
    Ok(Path::new(OsStr::from_bytes(bytes)))
}

/// Bytes of a text. Here and not in libc, as a call there touches more lines of the caches.
///
/// # Safety
/// It must be a text.
#[inline(always)]
unsafe fn length(text: *const c_char) -> usize {
    const BLOCK: usize = 16;
    // A block that begins at a multiple of its length lies on one page, as a byte of the text does.
    let within = text.addr() % BLOCK;
    let mut block = text.wrapping_sub(within);
    // SAFETY: the text's first byte is in the block.
    let mut zeros = unsafe { zeros_in(block) } >> within << within;
    while zeros == 0 {
        block = block.wrapping_add(BLOCK);
        // SAFETY: as all before have been read, the text's next byte is in this one.
        zeros = unsafe { zeros_in(block) };
    }
    block.addr() + zeros.trailing_zeros() as usize - text.addr()
}

/// Which of 16 bytes are zero, a bit for each.
///
/// # Safety
/// They must be readable, and begin at a multiple of 16.
#[inline(always)]
unsafe fn zeros_in(block: *const c_char) -> u32 {
    let zeros;
    // SAFETY: the caller vouches for it.
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

/// Where a path starts, from a descriptor of a call that takes one.
#[inline]
pub(crate) fn base(descriptor: c_int) -> Result<Base, Errno> {
    if descriptor == libc::AT_FDCWD {
        return Ok(Base::Working);
    }
    number(descriptor).map(Base::Descriptor)
}

/// A descriptor.
#[inline]
pub(crate) fn number(descriptor: c_int) -> Result<u32, Errno> {
    u32::try_from(descriptor).map_err(|_| Errno::BADF)
}

/// An offset or a length, which is not negative.
pub(crate) fn place(at: libc::off_t) -> Result<u64, Errno> {
    u64::try_from(at).map_err(|_| Errno::INVAL)
}

/// The bytes that a call reads into.
///
/// # Safety
/// They must be the caller's alone, for so long.
pub(crate) unsafe fn bytes_mut<'a>(
    start: *mut c_void,
    count: usize,
) -> Result<&'a mut [u8], Errno> {
    match count.min(LENGTH_MOST) {
        0 => Ok(&mut []),
        _ if start.is_null() => Err(Errno::FAULT),
        // SAFETY: the caller vouches for it.
        count => Ok(unsafe { slice::from_raw_parts_mut(start.cast(), count) }),
    }
}

/// The bytes that a call writes.
///
/// # Safety
/// Nobody must change them, for so long.
pub(crate) unsafe fn bytes<'a>(start: *const c_void, count: usize) -> Result<&'a [u8], Errno> {
    match count.min(LENGTH_MOST) {
        0 => Ok(&[]),
        _ if start.is_null() => Err(Errno::FAULT),
        // SAFETY: the caller vouches for it.
        count => Ok(unsafe { slice::from_raw_parts(start.cast(), count) }),
    }
}
