//! What is known of files: told, and changed.

use std::ffi::{c_char, c_int};

use densefs_process::{Base, Errno, Follow, NewTime, NewTimes, Stat, Usage};

use crate::answer::{fail, result, write_stat};
use crate::arguments::{base, number, path};
use crate::attached::attached;

/// What is known of what a path names.
///
/// # Safety
/// `name` must be a text, and `into` valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_stat(name: *const c_char, into: *mut libc::stat) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { stat_from(Base::Working, name, into, Follow::Yes) }
}

/// The same, of a symbolic link itself.
///
/// # Safety
/// As for [`dfs_stat`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_lstat(name: *const c_char, into: *mut libc::stat) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { stat_from(Base::Working, name, into, Follow::No) }
}

/// The same, from a directory on.
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
    // SAFETY: the caller vouches for it.
    let is_empty = unsafe { path(name) }.is_ok_and(|name| name.as_os_str().is_empty());
    if how & libc::AT_EMPTY_PATH != 0 && is_empty && directory >= 0 {
        // SAFETY: the caller vouches for it.
        return unsafe { crate::files::dfs_fstat(directory, into) };
    }
    match base(directory) {
        // SAFETY: the caller vouches for it.
        Ok(base) => unsafe { stat_from(base, name, into, follow(how, libc::AT_SYMLINK_NOFOLLOW)) },
        Err(why) => fail(why.0),
    }
}

/// Whether a symbolic link is followed, where a flag says that it is not.
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
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    // SAFETY: the caller vouches for it.
    let tell = |stat: &Stat| unsafe { write_stat(stat, into) };
    result(name.and_then(|name| attached()?.tell_stat(base, name, follow, tell)))
}

/// Whether the process may read, write or execute something.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_access(name: *const c_char, wanted: c_int) -> c_int {
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    let wanted = wanted.cast_unsigned();
    result(name.and_then(|name| attached()?.check_access(Base::Working, name, wanted)))
}

/// How full the arena is.
///
/// # Safety
/// `name` must be a text, and `into` valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_statvfs(name: *const c_char, into: *mut libc::statvfs) -> c_int {
    const BLOCK: u64 = 4096;
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    let usage = name.and_then(|name| {
        let files = attached()?;
        files.stat(name)?;
        files.usage()
    });
    match usage {
        Ok(Usage { bytes, free_bytes }) => {
            // SAFETY: all zeros is a value of it.
            let mut answer: libc::statvfs = unsafe { std::mem::zeroed() };
            (answer.f_bsize, answer.f_frsize) = (BLOCK, BLOCK);
            answer.f_blocks = bytes / BLOCK;
            (answer.f_bfree, answer.f_bavail) = (free_bytes / BLOCK, free_bytes / BLOCK);
            // An inode takes 64 bytes, and perhaps as much as that in a directory's table.
            (answer.f_files, answer.f_ffree) = (bytes / 128, free_bytes / 128);
            answer.f_favail = answer.f_ffree;
            answer.f_namemax = 255;
            // SAFETY: the caller vouches for it.
            unsafe { into.write(answer) };
            0
        }
        Err(why) => fail(why.0),
    }
}

/// Changes permissions.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_chmod(name: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    result(name.and_then(|name| attached()?.set_mode(Base::Working, name, mode)))
}

/// The same, of what is open.
#[unsafe(no_mangle)]
pub extern "C" fn dfs_fchmod(file: c_int, mode: libc::mode_t) -> c_int {
    result(number(file).and_then(|file| attached()?.set_mode_of(file, mode)))
}

/// Changes owner and group.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_chown(
    name: *const c_char,
    uid: libc::uid_t,
    gid: libc::gid_t,
) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { chown(name, (uid, gid), Follow::Yes) }
}

/// The same, of a symbolic link itself.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_lchown(
    name: *const c_char,
    uid: libc::uid_t,
    gid: libc::gid_t,
) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { chown(name, (uid, gid), Follow::No) }
}

unsafe fn chown(name: *const c_char, (uid, gid): (u32, u32), follow: Follow) -> c_int {
    let given = |id: u32| (id != u32::MAX).then_some(id);
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    result(name.and_then(|name| {
        attached()?.set_owner(Base::Working, name, follow, (given(uid), given(gid)))
    }))
}

/// Sets when it was last accessed, and when the content last changed.
///
/// # Safety
/// `name` must be a text, and `times` null or two of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_utimensat(
    directory: c_int,
    name: *const c_char,
    times: *const libc::timespec,
    how: c_int,
) -> c_int {
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    // SAFETY: likewise.
    let times = unsafe { times.cast::<[libc::timespec; 2]>().as_ref() };
    let follow = follow(how, libc::AT_SYMLINK_NOFOLLOW);
    result((|| {
        let [accessed, changed] = match times {
            None => [NewTime::Now; 2],
            Some([accessed, changed]) => [new_time(accessed)?, new_time(changed)?],
        };
        let times = NewTimes { accessed, changed };
        attached()?.set_times(base(directory)?, name?, follow, times)
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

/// Sets the mask of permissions that new files do not get; the one before.
#[unsafe(no_mangle)]
pub extern "C" fn dfs_umask(mask: libc::mode_t) -> libc::mode_t {
    attached().map_or(mask, |files| files.set_umask(mask))
}
