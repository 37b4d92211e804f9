//! Reads and changes file attributes.

use std::ffi::{c_char, c_int};

use densefs_process::{Base, Errno, Follow, NewTime, NewTimes, Owner, Stat, Usage};

use crate::answer::{fail, result, write_stat};
use crate::arguments::{base, number, path};
use crate::attached::attached;

/// The attributes of the file at a path.
///
/// # Safety
/// `name` must be a C string, and `into` valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_stat(name: *const c_char, into: *mut libc::stat) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { stat_from(Base::Working, name, into, Follow::Yes) }
}

/// Like [`dfs_stat`], but does not follow a final symbolic link.
///
/// # Safety
/// As for [`dfs_stat`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_lstat(name: *const c_char, into: *mut libc::stat) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { stat_from(Base::Working, name, into, Follow::No) }
}

/// Like [`dfs_stat`], relative to a directory, and with flags.
///
/// # Safety
/// As for [`dfs_stat`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_fstatat(
    directory: c_int,
    name: *const c_char,
    into: *mut libc::stat,
    how: c_int,
) -> c_int {
    const FLAGS: c_int = libc::AT_SYMLINK_NOFOLLOW | libc::AT_NO_AUTOMOUNT | libc::AT_EMPTY_PATH;
    if how & !FLAGS != 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: guaranteed by the caller.
    let given = unsafe { path(name) };
    if how & libc::AT_EMPTY_PATH != 0 && given.is_ok_and(|path| path.as_os_str().is_empty()) {
        return match itself(directory).and_then(|base| attached()?.stat_of(base)) {
            Ok(stat) => {
                // SAFETY: guaranteed by the caller.
                unsafe { write_stat(&stat, into) };
                0
            }
            Err(why) => fail(why.0),
        };
    }
    match given.and_then(|path| base(directory, path)) {
        // SAFETY: guaranteed by the caller.
        Ok(base) => unsafe { stat_from(base, name, into, follow(how, libc::AT_SYMLINK_NOFOLLOW)) },
        Err(why) => fail(why.0),
    }
}

/// What an empty path names, from the `dirfd` argument of a call.
fn itself(descriptor: c_int) -> Result<Base, Errno> {
    match descriptor {
        libc::AT_FDCWD => Ok(Base::Working),
        file => number(file).map(Base::Descriptor),
    }
}

/// Follows symbolic links unless the flag `not` is set.
fn follow(how: c_int, not: c_int) -> Follow {
    if how & not == 0 { Follow::Yes } else { Follow::No }
}

#[inline]
unsafe fn stat_from(
    base: Base,
    name: *const c_char,
    into: *mut libc::stat,
    follow: Follow,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    // SAFETY: guaranteed by the caller.
    let tell = |stat: &Stat| unsafe { write_stat(stat, into) };
    result(name.and_then(|name| attached()?.tell_stat(base, name, follow, tell)))
}

/// Checks whether the process may read, write or execute a file.
///
/// # Safety
/// `name` must be a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_access(name: *const c_char, wanted: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    let wanted = wanted.cast_unsigned();
    if wanted > 7 {
        return fail(libc::EINVAL);
    }
    result(name.and_then(|name| attached()?.check_access(Base::Working, name, wanted)))
}

/// How full the arena is.
///
/// # Safety
/// `name` must be a C string, and `into` valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_statvfs(name: *const c_char, into: *mut libc::statvfs) -> c_int {
    const BLOCK: u64 = 4096;
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    let usage = name.and_then(|name| {
        let files = attached()?;
        files.stat(name)?;
        files.usage()
    });
    match usage {
        Ok(Usage { bytes, free_bytes, .. }) => {
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
            0
        }
        Err(why) => fail(why.0),
    }
}

/// Changes permissions.
///
/// # Safety
/// `name` must be a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_chmod(name: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    result(name.and_then(|name| attached()?.set_mode(Base::Working, name, mode)))
}

/// Like [`dfs_chmod`], for an open file.
#[unsafe(no_mangle)]
pub extern "C" fn dfs_fchmod(file: c_int, mode: libc::mode_t) -> c_int {
    result(number(file).and_then(|file| attached()?.set_mode_of(file, mode)))
}

/// Changes owner and group.
///
/// # Safety
/// `name` must be a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_chown(
    name: *const c_char,
    uid: libc::uid_t,
    gid: libc::gid_t,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { chown(name, uid, gid, Follow::Yes) }
}

/// Like [`dfs_chown`], but does not follow a final symbolic link.
///
/// # Safety
/// `name` must be a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_lchown(
    name: *const c_char,
    uid: libc::uid_t,
    gid: libc::gid_t,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { chown(name, uid, gid, Follow::No) }
}

unsafe fn chown(name: *const c_char, uid: u32, gid: u32, follow: Follow) -> c_int {
    let given = |id: u32| (id != u32::MAX).then_some(id);
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    let owner = Owner { uid: given(uid), gid: given(gid) };
    result(name.and_then(|name| attached()?.set_owner(Base::Working, name, follow, owner)))
}

/// Sets the access and modification times.
///
/// # Safety
/// `name` must be a C string, and `times` must be null or point to two of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_utimensat(
    directory: c_int,
    name: *const c_char,
    times: *const libc::timespec,
    how: c_int,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    // SAFETY: guaranteed by the caller.
    let times = unsafe { times.cast::<[libc::timespec; 2]>().as_ref() };
    let follow = follow(how, libc::AT_SYMLINK_NOFOLLOW);
    result((|| {
        let [accessed, changed] = match times {
            None => [Ok(NewTime::Now); 2],
            Some(times) => times.each_ref().map(new_time),
        };
        if accessed == Ok(NewTime::Same) && changed == Ok(NewTime::Same) {
            return Ok(());
        }
        if how & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
            return Err(Errno::INVAL);
        }
        let (files, name) = (attached()?, name.map_err(|_| Errno::INVAL)?);
        if how & libc::AT_EMPTY_PATH != 0 && name.as_os_str().is_empty() {
            let times = NewTimes { accessed: accessed?, changed: changed? };
            return files.set_times_of(itself(directory)?, times);
        }
        let base = base(directory, name)?;
        let (Ok(accessed), Ok(changed)) = (accessed, changed) else {
            // That the file is not there comes first.
            files.stat_from(base, name, follow)?;
            return Err(Errno::INVAL);
        };
        files.set_times(base, name, follow, NewTimes { accessed, changed })
    })())
}

fn new_time(time: &libc::timespec) -> Result<NewTime, Errno> {
    match time.tv_nsec {
        libc::UTIME_NOW => Ok(NewTime::Now),
        libc::UTIME_OMIT => Ok(NewTime::Same),
        within @ 0..1_000_000_000 => {
            let seconds = u64::try_from(time.tv_sec).map_err(|_| Errno::INVAL)?;
            Ok(NewTime::At(seconds.saturating_mul(1_000_000_000) + within.cast_unsigned()))
        }
        _ => Err(Errno::INVAL),
    }
}

/// Sets the umask for new files; returns the old one.
#[unsafe(no_mangle)]
pub extern "C" fn dfs_umask(mask: libc::mode_t) -> libc::mode_t {
    attached().map_or(mask, |files| files.set_umask(mask))
}
