//! Results in the form that C expects.

use std::cell::Cell;
use std::ffi::c_int;
use std::mem::offset_of;

use densefs_process::{Errno, Stat, time};

use crate::attached::device;

thread_local! {
    /// `errno` before the last path that led out of the arena.
    static BEFORE_OUTSIDE: Cell<c_int> = const { Cell::new(0) };
}

/// Sets `errno`; returns the -1 of a call that fails.
#[cold]
#[inline(never)]
pub(crate) fn fail(errno: c_int) -> c_int {
    // SAFETY: the location is this thread's own.
    let place = unsafe { &mut *libc::__errno_location() };
    if errno == Errno::OUTSIDE.0 {
        BEFORE_OUTSIDE.set(*place);
    }
    *place = errno;
    -1
}

/// Whether the call that has just failed has done so because its path leads out of the arena. Then
/// it has not happened as far as the program knows: `errno` is again what it was before.
#[cold]
pub fn has_led_outside() -> bool {
    // SAFETY: the location is this thread's own.
    let place = unsafe { &mut *libc::__errno_location() };
    let is_outside = *place == Errno::OUTSIDE.0;
    if is_outside {
        *place = BEFORE_OUTSIDE.get();
    }
    is_outside
}

/// 0, or -1 and `errno`.
#[inline]
pub(crate) fn result(done: Result<(), Errno>) -> c_int {
    match done {
        Ok(()) => 0,
        Err(why) => fail(why.0),
    }
}

/// A descriptor, or -1 and `errno`.
#[inline]
pub(crate) fn descriptor(opened: Result<u32, Errno>) -> c_int {
    match opened.map(c_int::try_from) {
        Ok(Ok(descriptor)) => descriptor,
        Ok(Err(_)) => fail(libc::EMFILE),
        Err(why) => fail(why.0),
    }
}

/// A number of bytes, or -1 and `errno`.
#[inline]
pub(crate) fn length(done: Result<usize, Errno>) -> isize {
    match done {
        Ok(bytes) => bytes.cast_signed(),
        Err(why) => fail(why.0) as isize,
    }
}

/// An offset, or -1 and `errno`.
#[inline]
pub(crate) fn offset(done: Result<u64, Errno>) -> i64 {
    match done {
        Ok(offset) => offset.cast_signed(),
        Err(why) => fail(why.0).into(),
    }
}

/// Writes the attributes of an inode.
///
/// # Safety
/// `into` must be valid for writing.
#[inline]
pub(crate) unsafe fn write_stat(stat: &Stat, into: *mut libc::stat) {
    let seconds = |ns| time::parts(ns).0;
    let within = |ns| time::parts(ns).1.into();
    const PADDING: usize = offset_of!(libc::stat, st_gid) + size_of::<libc::gid_t>();
    const BEHIND: usize = offset_of!(libc::stat, st_ctime_nsec) + size_of::<i64>();
    // SAFETY: guaranteed by the caller. The bytes that no field covers are after the group and at
    // the end.
    unsafe {
        let bytes = into.cast::<u8>();
        bytes.add(PADDING).write_bytes(0, offset_of!(libc::stat, st_rdev) - PADDING);
        bytes.add(BEHIND).write_bytes(0, size_of::<libc::stat>() - BEHIND);
        (*into).st_dev = device();
        (*into).st_ino = stat.ino;
        (*into).st_nlink = stat.links.into();
        (*into).st_mode = stat.mode.mode;
        (*into).st_uid = stat.mode.uid;
        (*into).st_gid = stat.mode.gid;
        (*into).st_rdev = stat.device.into();
        (*into).st_size = stat.size.cast_signed();
        (*into).st_blksize = 4096;
        (*into).st_blocks = stat.blocks.cast_signed();
        (*into).st_atime = seconds(stat.atime_ns);
        (*into).st_atime_nsec = within(stat.atime_ns);
        (*into).st_mtime = seconds(stat.mtime_ns);
        (*into).st_mtime_nsec = within(stat.mtime_ns);
        (*into).st_ctime = seconds(stat.ctime_ns);
        (*into).st_ctime_nsec = within(stat.ctime_ns);
    }
}
