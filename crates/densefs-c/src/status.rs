//! The attributes of a file in the form of statx(2), and those of the file system.

use std::ffi::{c_char, c_int, c_uint};

use densefs_process::{Base, Errno, Stat, Usage, time};

use crate::answer::{fail, result};
use crate::arguments::{base, follow, is_itself, itself, number, path};
use crate::attached::{attached, device};

/// The attributes of a file. The time of its creation is not kept.
///
/// # Safety
/// `name` must be a C string, and `into` valid for writing.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_statx(
    directory: c_int,
    name: *const c_char,
    how: c_int,
    mask: c_uint,
    into: *mut libc::statx,
) -> c_int {
    const SYNC: c_int = libc::AT_STATX_SYNC_TYPE;
    const FLAGS: c_int =
        libc::AT_SYMLINK_NOFOLLOW | libc::AT_NO_AUTOMOUNT | libc::AT_EMPTY_PATH | SYNC;
    let is_reserved = mask & libc::STATX__RESERVED.cast_unsigned() != 0;
    if is_reserved || how & SYNC == SYNC || how & !FLAGS != 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    result(name.and_then(|name| {
        let stat = if is_itself(name, how) {
            attached()?.stat_of(itself(directory)?)?
        } else {
            attached()?.stat_from(base(directory, name)?, name, follow(how))?
        };
        if into.is_null() {
            return Err(Errno::FAULT);
        }
        // SAFETY: guaranteed by the caller.
        unsafe { into.write(extended(&stat)) };
        Ok(())
    }))
}

fn extended(stat: &Stat) -> libc::statx {
    // SAFETY: all zeros is a valid value.
    let mut answer: libc::statx = unsafe { std::mem::zeroed() };
    answer.stx_mask = libc::STATX_BASIC_STATS;
    answer.stx_blksize = 4096;
    answer.stx_nlink = stat.links;
    answer.stx_uid = stat.mode.uid;
    answer.stx_gid = stat.mode.gid;
    answer.stx_mode = u16::try_from(stat.mode.mode).unwrap_or(0);
    answer.stx_ino = stat.ino;
    answer.stx_size = stat.size;
    answer.stx_blocks = stat.blocks;
    answer.stx_atime = timestamp(stat.atime_ns);
    answer.stx_mtime = timestamp(stat.mtime_ns);
    answer.stx_ctime = timestamp(stat.ctime_ns);
    let (own, within) = (stat.device.into(), device());
    (answer.stx_rdev_major, answer.stx_rdev_minor) = (libc::major(own), libc::minor(own));
    (answer.stx_dev_major, answer.stx_dev_minor) = (libc::major(within), libc::minor(within));
    answer
}

fn timestamp(ns: i64) -> libc::statx_timestamp {
    // SAFETY: all zeros is a valid value.
    let mut answer: libc::statx_timestamp = unsafe { std::mem::zeroed() };
    (answer.tv_sec, answer.tv_nsec) = time::parts(ns);
    answer
}

/// How full the arena is.
///
/// # Safety
/// `name` must be a C string, and `into` valid for writing.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_statvfs(name: *const c_char, into: *mut libc::statvfs) -> c_int {
    // SAFETY: guaranteed by the caller.
    let found = unsafe { path(name) }.and_then(|name| attached()?.stat(name));
    // SAFETY: guaranteed by the caller.
    result(found.and_then(|_| unsafe { write_usage(into) }))
}

/// Like [`dfs_statvfs`], for an open file.
///
/// # Safety
/// `into` must be valid for writing.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fstatvfs(file: c_int, into: *mut libc::statvfs) -> c_int {
    let found = number(file).and_then(|file| attached()?.stat_of(Base::Descriptor(file)));
    // SAFETY: guaranteed by the caller.
    result(found.and_then(|_| unsafe { write_usage(into) }))
}

/// # Safety
/// `into` must be null or valid for writing.
unsafe fn write_usage(into: *mut libc::statvfs) -> Result<(), Errno> {
    const BLOCK: u64 = 4096;
    let Usage { bytes, free_bytes, .. } = attached()?.usage()?;
    if into.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: all zeros is a valid value.
    let mut answer: libc::statvfs = unsafe { std::mem::zeroed() };
    (answer.f_bsize, answer.f_frsize) = (BLOCK, BLOCK);
    answer.f_blocks = bytes / BLOCK;
    (answer.f_bfree, answer.f_bavail) = (free_bytes / BLOCK, free_bytes / BLOCK);
    // An inode takes 64 bytes, and up to as much again in a directory's table.
    (answer.f_files, answer.f_ffree) = (bytes / 128, free_bytes / 128);
    answer.f_favail = answer.f_ffree;
    answer.f_namemax = 255;
    // SAFETY: guaranteed by the caller.
    unsafe { into.write(answer) };
    Ok(())
}
