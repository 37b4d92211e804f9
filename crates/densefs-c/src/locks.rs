//! File locks.

use std::ffi::c_int;

use densefs_process::{Errno, LockHolder, LockRange, Whence};

use crate::answer::{fail, result};
use crate::arguments::number;
use crate::attached::attached;

/// Locks a whole file.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_flock(file: c_int, how: c_int) -> c_int {
    let exclusive = match how & !libc::LOCK_NB {
        libc::LOCK_SH => Some(false),
        libc::LOCK_EX => Some(true),
        libc::LOCK_UN => None,
        _ => return fail(libc::EINVAL),
    };
    let waits = how & libc::LOCK_NB == 0;
    result(number(file).and_then(|file| attached()?.lock(file, exclusive, waits)))
}

/// The commands of fcntl(2) on locks of byte ranges.
pub(crate) fn change(file: c_int, command: c_int, lock: &mut libc::flock) -> Result<(), Errno> {
    let (files, file) = (attached()?, number(file)?);
    let is_of_process = matches!(command, libc::F_GETLK | libc::F_SETLK | libc::F_SETLKW);
    if !is_of_process && lock.l_pid != 0 {
        return Err(Errno::INVAL);
    }
    let exclusive = match c_int::from(lock.l_type) {
        libc::F_RDLCK => Some(false),
        libc::F_WRLCK => Some(true),
        libc::F_UNLCK => None,
        _ => return Err(Errno::INVAL),
    };
    let holder = if is_of_process { LockHolder::Process } else { LockHolder::Description };
    let range = LockRange { holder, ..range(&files, file, lock)? };
    match command {
        libc::F_GETLK | libc::F_OFD_GETLK => {
            let exclusive = exclusive.ok_or(Errno::INVAL)?;
            match files.conflicting_lock_of_range(file, range, exclusive)? {
                None => lock.l_type = short(libc::F_UNLCK),
                Some(other) => {
                    let kind = if other.is_exclusive { libc::F_WRLCK } else { libc::F_RDLCK };
                    lock.l_type = short(kind);
                    lock.l_whence = short(libc::SEEK_SET);
                    lock.l_start = other.start.cast_signed();
                    let length = if other.end == u64::MAX { 0 } else { other.end - other.start };
                    lock.l_len = length.cast_signed();
                    lock.l_pid = other.pid.cast_signed();
                }
            }
            Ok(())
        }
        _ => {
            let waits = matches!(command, libc::F_SETLKW | libc::F_OFD_SETLKW);
            files.lock_range(file, range, exclusive, waits)
        }
    }
}

/// The range of bytes of a lock.
fn range(
    files: &densefs_process::DenseFs,
    file: u32,
    lock: &libc::flock,
) -> Result<LockRange, Errno> {
    let from = match c_int::from(lock.l_whence) {
        libc::SEEK_SET => 0,
        libc::SEEK_CUR => files.seek(file, 0, Whence::Current)?.cast_signed(),
        libc::SEEK_END => files.stat_descriptor(file)?.size.cast_signed(),
        _ => return Err(Errno::INVAL),
    };
    let start = from.checked_add(lock.l_start).ok_or(Errno::OVERFLOW)?;
    let end = match lock.l_len {
        0 => i64::MAX,
        length => start.checked_add(length).ok_or(Errno::OVERFLOW)?,
    };
    // A negative length means the bytes before the start.
    let (start, end) = if lock.l_len < 0 { (end, start) } else { (start, end) };
    let start = u64::try_from(start).map_err(|_| Errno::INVAL)?;
    let end = if lock.l_len == 0 { u64::MAX } else { end.cast_unsigned() };
    Ok(LockRange { start, end, holder: LockHolder::Process })
}

#[expect(clippy::cast_possible_truncation, reason = "they are numbers below 4")]
fn short(kind: c_int) -> libc::c_short {
    kind as libc::c_short
}
