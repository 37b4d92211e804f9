//! Reads and changes file attributes.

use std::ffi::{c_char, c_int};

use densefs_process::{Base, Errno, Follow, NewTime, NewTimes, Stat, time};

use crate::answer::{fail, result, write_stat};
use crate::arguments::{base, follow, is_itself, itself, number, path};
use crate::attached::{attached, usable};

/// The attributes of the file at a path.
///
/// # Safety
/// `name` must be a C string, and `into` valid for writing.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_stat(name: *const c_char, into: *mut libc::stat) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { stat_from(Base::Working, name, into, Follow::Yes) }
}

/// Like [`dfs_stat`], but does not follow a final symbolic link.
///
/// # Safety
/// As for [`dfs_stat`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_lstat(name: *const c_char, into: *mut libc::stat) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { stat_from(Base::Working, name, into, Follow::No) }
}

/// Like [`dfs_stat`], relative to a directory, and with flags.
///
/// # Safety
/// As for [`dfs_stat`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
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
    if given.is_ok_and(|path| is_itself(path, how)) {
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
        Ok(base) => unsafe { stat_from(base, name, into, follow(how)) },
        Err(why) => fail(why.0),
    }
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

/// Sets the access and modification times.
///
/// # Safety
/// `name` must be a C string, and `times` must be null or point to two of them.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
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
    let follow = follow(how);
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
        if is_itself(name, how) {
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

/// Like [`dfs_utimensat`], for an open file.
///
/// # Safety
/// `times` must be null or point to two of them.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_futimens(file: c_int, times: *const libc::timespec) -> c_int {
    // SAFETY: guaranteed by the caller.
    let times = unsafe { times.cast::<[libc::timespec; 2]>().as_ref() };
    let [accessed, changed] = match times {
        None => [Ok(NewTime::Now); 2],
        Some(times) => times.each_ref().map(new_time),
    };
    result(number(file).and_then(|_| {
        if accessed == Ok(NewTime::Same) && changed == Ok(NewTime::Same) {
            return Ok(());
        }
        let file = usable(file)?;
        let times = NewTimes { accessed: accessed?, changed: changed? };
        attached()?.set_times_of(Base::Descriptor(file), times)
    }))
}

fn new_time(new: &libc::timespec) -> Result<NewTime, Errno> {
    match new.tv_nsec {
        libc::UTIME_NOW => Ok(NewTime::Now),
        libc::UTIME_OMIT => Ok(NewTime::Same),
        within => match u32::try_from(within) {
            Ok(within @ 0..1_000_000_000) => Ok(NewTime::At(time::from_parts(new.tv_sec, within))),
            Ok(_) | Err(_) => Err(Errno::INVAL),
        },
    }
}

/// Sets the umask for new files; returns the old one.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_umask(mask: libc::mode_t) -> libc::mode_t {
    attached().map_or(mask, |files| files.set_umask(mask))
}
