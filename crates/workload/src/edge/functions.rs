//! Functions of the C library as programs call them, by name, so that a library that is loaded
//! before it may serve them. rustix and, in part, std enter the kernel by themselves.
#![expect(unsafe_code, reason = "functions of the C library")]

use std::ffi::{CStr, c_int};
use std::hint::black_box;
use std::io;
use std::mem::MaybeUninit;

use rustix::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

#[cold]
fn errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[inline(always)]
fn done(answer: c_int) -> Result<(), Errno> {
    if answer == 0 { Ok(()) } else { Err(errno()) }
}

#[inline(always)]
fn moved(answer: isize) -> Result<usize, Errno> {
    usize::try_from(answer).map_err(|_| errno())
}

#[inline(always)]
fn number(descriptor: &impl AsFd) -> c_int {
    descriptor.as_fd().as_raw_fd()
}

/// An offset in a file. One that is too large for the kernel is negative, which it refuses.
#[inline(always)]
fn offset(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(-1)
}

#[inline(always)]
pub(crate) fn openat(
    within: &impl AsFd,
    name: &CStr,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let flags = flags.bits().cast_signed();
    // SAFETY: the name is a C string.
    let opened = unsafe { libc::openat(number(within), name.as_ptr(), flags, mode.bits()) };
    if opened < 0 {
        return Err(errno());
    }
    // SAFETY: it was just opened, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(opened) })
}

#[inline(always)]
pub(crate) fn pread(file: &impl AsFd, into: &mut [u8], bytes: u64) -> Result<usize, Errno> {
    let (start, length) = (into.as_mut_ptr().cast(), into.len());
    // SAFETY: the buffer has this length.
    moved(unsafe { libc::pread(number(file), start, length, offset(bytes)) })
}

#[inline(always)]
pub(crate) fn pwrite(file: &impl AsFd, from: &[u8], bytes: u64) -> Result<usize, Errno> {
    let (start, length) = (from.as_ptr().cast(), from.len());
    // SAFETY: as above.
    moved(unsafe { libc::pwrite(number(file), start, length, offset(bytes)) })
}

#[inline(always)]
pub(crate) fn read(file: &impl AsFd, into: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: as above.
    moved(unsafe { libc::read(number(file), into.as_mut_ptr().cast(), into.len()) })
}

#[inline(always)]
pub(crate) fn write(file: &impl AsFd, from: &[u8]) -> Result<usize, Errno> {
    // SAFETY: as above.
    moved(unsafe { libc::write(number(file), from.as_ptr().cast(), from.len()) })
}

#[inline(always)]
pub(crate) fn ftruncate(file: &impl AsFd, bytes: u64) -> Result<(), Errno> {
    // SAFETY: it takes numbers.
    done(unsafe { libc::ftruncate(number(file), offset(bytes)) })
}

#[inline(always)]
pub(crate) fn fsync(file: &impl AsFd) -> Result<(), Errno> {
    // SAFETY: it takes a number.
    done(unsafe { libc::fsync(number(file)) })
}

#[inline(always)]
pub(crate) fn fdatasync(file: &impl AsFd) -> Result<(), Errno> {
    // SAFETY: it takes a number.
    done(unsafe { libc::fdatasync(number(file)) })
}

pub(crate) fn fadvise_random(file: &impl AsFd) -> Result<(), Errno> {
    // SAFETY: it takes numbers. The answer is an error number, without the variable.
    match unsafe { libc::posix_fadvise(number(file), 0, 0, libc::POSIX_FADV_RANDOM) } {
        0 => Ok(()),
        why => Err(Errno::from_raw_os_error(why)),
    }
}

pub(crate) fn rewind(directory: &impl AsFd) -> Result<(), Errno> {
    // SAFETY: it takes numbers.
    let at = unsafe { libc::lseek(number(directory), 0, libc::SEEK_SET) };
    if at == 0 { Ok(()) } else { Err(errno()) }
}

#[inline(always)]
pub(crate) fn mknodat(within: &impl AsFd, name: &CStr, mode: u32) -> Result<(), Errno> {
    // SAFETY: the name is a C string.
    done(unsafe { libc::mknodat(number(within), name.as_ptr(), mode, 0) })
}

#[inline(always)]
pub(crate) fn mkdirat(within: &impl AsFd, name: &CStr, mode: Mode) -> Result<(), Errno> {
    // SAFETY: as above.
    done(unsafe { libc::mkdirat(number(within), name.as_ptr(), mode.bits()) })
}

#[inline(always)]
pub(crate) fn fstatat(within: &impl AsFd, name: &CStr) -> Result<(), Errno> {
    let mut told = MaybeUninit::<libc::stat>::uninit();
    let flags = AtFlags::SYMLINK_NOFOLLOW.bits().cast_signed();
    // SAFETY: the name is a C string, and there is room.
    let answer = unsafe { libc::fstatat(number(within), name.as_ptr(), told.as_mut_ptr(), flags) };
    // Pretend that somebody uses the result.
    black_box(&mut told);
    done(answer)
}

#[inline(always)]
pub(crate) fn faccessat(within: &impl AsFd, name: &CStr) -> Result<(), Errno> {
    // SAFETY: the name is a C string.
    done(unsafe { libc::faccessat(number(within), name.as_ptr(), libc::R_OK, 0) })
}

#[inline(always)]
pub(crate) fn linkat(within: &impl AsFd, old: &CStr, new: &CStr) -> Result<(), Errno> {
    let at = number(within);
    // SAFETY: the names are C strings.
    done(unsafe { libc::linkat(at, old.as_ptr(), at, new.as_ptr(), 0) })
}

#[inline(always)]
pub(crate) fn symlinkat(old: &CStr, within: &impl AsFd, new: &CStr) -> Result<(), Errno> {
    // SAFETY: as above.
    done(unsafe { libc::symlinkat(old.as_ptr(), number(within), new.as_ptr()) })
}

#[inline(always)]
pub(crate) fn renameat(within: &impl AsFd, old: &CStr, new: &CStr) -> Result<(), Errno> {
    let at = number(within);
    // SAFETY: as above.
    done(unsafe { libc::renameat(at, old.as_ptr(), at, new.as_ptr()) })
}

#[inline(always)]
pub(crate) fn unlinkat(within: &impl AsFd, name: &CStr, flags: AtFlags) -> Result<(), Errno> {
    // SAFETY: the name is a C string.
    done(unsafe { libc::unlinkat(number(within), name.as_ptr(), flags.bits().cast_signed()) })
}
