//! Results as C has them.

use std::ffi::c_int;

use densefs_process::{Errno, Stat};

/// Sets `errno`; the -1 of a call that fails.
#[cold]
#[inline(never)]
pub(crate) fn fail(errno: c_int) -> c_int {
    // SAFETY: it is this thread's.
    unsafe { *libc::__errno_location() = errno };
    -1
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

/// The device that files of an arena say they are on: no other has this number.
const DEVICE: u64 = 0xdf5;

/// Writes what is known of an inode.
///
/// # Safety
/// `into` must be valid for writing.
#[inline]
pub(crate) unsafe fn write_stat(stat: &Stat, into: *mut libc::stat) {
    const SECOND_NS: u64 = 1_000_000_000;
    let seconds = |ns: u64| (ns / SECOND_NS).cast_signed();
    let within = |ns: u64| (ns % SECOND_NS).cast_signed();
    // SAFETY: the caller vouches for it, and all zeros is a value of it.
    let answer = unsafe {
        into.write_bytes(0, 1);
        &mut *into
    };
    answer.st_dev = DEVICE;
    answer.st_ino = stat.ino;
    answer.st_nlink = stat.links.into();
    answer.st_mode = stat.mode.mode;
    answer.st_uid = stat.mode.uid;
    answer.st_gid = stat.mode.gid;
    answer.st_rdev = stat.device.into();
    answer.st_size = stat.size.cast_signed();
    answer.st_blksize = 4096;
    answer.st_blocks = stat.blocks.cast_signed();
    (answer.st_atime, answer.st_atime_nsec) = (seconds(stat.atime_ns), within(stat.atime_ns));
    (answer.st_mtime, answer.st_mtime_nsec) = (seconds(stat.mtime_ns), within(stat.mtime_ns));
    (answer.st_ctime, answer.st_ctime_nsec) = (seconds(stat.ctime_ns), within(stat.ctime_ns));
}
