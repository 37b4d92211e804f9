//! The limit of a file's size (`RLIMIT_FSIZE`), which is the kernel's and not the arena's.
//!
//! It is read when the program starts and when it changes its limits. Where there is one, writes
//! take the long way.
#![expect(unsafe_code, reason = "system calls")]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use densefs_c::{control, files as dfs};

use crate::decision::Answer;
use crate::outcome::{call, error};
use crate::{numbers, raw};

/// In bytes; the largest number if there is none.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Reads the limit.
pub(crate) fn read() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    LIMIT.store(limit.unwrap_or(u64::MAX), Ordering::Relaxed);
    if limit.is_some() {
        numbers::close_the_short_way();
    }
}

#[inline(always)]
fn limit() -> Option<u64> {
    let limit = LIMIT.load(Ordering::Relaxed);
    (limit != u64::MAX).then_some(limit)
}

/// Refuses something that goes beyond the limit, as the kernel does: by a signal, too.
fn refuse() -> Answer {
    let (process, thread) = (rustix::process::getpid(), rustix::thread::gettid());
    let [process, thread] = [process, thread].map(|id| raw::number(id.as_raw_nonzero().get()));
    let arguments = [process, thread, raw::number(libc::SIGXFSZ), 0, 0, 0];
    // SAFETY: it is a signal to this thread.
    unsafe { raw::system_call(libc::SYS_tgkill, arguments) };
    error(libc::EFBIG)
}

/// Makes a file of the arena this large, unless that is more than it may be and than it is.
pub(crate) fn sized(
    size: i64,
    current: impl FnOnce(&mut libc::stat) -> c_int,
    act: impl FnOnce() -> Answer,
) -> Answer {
    let is_beyond = limit().is_some_and(|limit| u64::try_from(size).is_ok_and(|size| size > limit));
    if !is_beyond {
        return act();
    }
    // SAFETY: all zeros is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    let known = call(|| current(&mut stat));
    if known == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFREG && size > stat.st_size {
        refuse()
    } else {
        act()
    }
}

/// Writes up to `count` bytes to a file of the arena, at its offset or another place, as far as its
/// size is limited; `act` gets the count.
#[inline(always)]
pub(crate) fn written(
    file: c_int,
    at: Option<i64>,
    count: usize,
    act: impl FnOnce(usize) -> Answer,
) -> Answer {
    match limit() {
        None => act(count),
        Some(limit) => match room(file, at, limit) {
            Some(0) if count > 0 => refuse(),
            room => act(room.map_or(count, |room| count.min(room))),
        },
    }
}

/// The same with the bytes of several parts; `act` gets the parts, and how many.
pub(crate) fn written_from(
    file: c_int,
    at: Option<i64>,
    parts: *const libc::iovec,
    count: c_int,
    act: impl Fn(*const libc::iovec, c_int) -> Answer,
) -> Answer {
    const PARTS_MAX: c_int = 1024;
    if limit().is_none() || parts.is_null() || !(1..=PARTS_MAX).contains(&count) {
        return act(parts, count);
    }
    // SAFETY: the program vouches for its parts.
    let parts = unsafe { std::slice::from_raw_parts(parts, count.unsigned_abs() as usize) };
    let whole = parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.iov_len));
    written(file, at, whole, |count| {
        let mut left = count;
        let mut shorter = parts.to_vec();
        for part in &mut shorter {
            part.iov_len = part.iov_len.min(left);
            left -= part.iov_len;
        }
        act(shorter.as_ptr(), shorter.len() as c_int)
    })
}

/// How many bytes may be written to a file from where that would be; none if that is not limited.
#[cold]
#[inline(never)]
fn room(file: c_int, at: Option<i64>, limit: u64) -> Option<usize> {
    // SAFETY: all zeros is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: there is room.
    let known = call(|| unsafe { dfs::dfs_fstat(file, &raw mut stat) });
    if known != 0 || stat.st_mode & libc::S_IFMT != libc::S_IFREG {
        return None;
    }
    // SAFETY: the command has no pointer.
    let how = call(|| unsafe { control::dfs_fcntl(file, libc::F_GETFL, 0) });
    let appends = how > 0 && how.cast_unsigned() & libc::O_APPEND as usize != 0;
    let at = match at {
        _ if appends => stat.st_size,
        Some(at) => at,
        None => call(|| dfs::dfs_lseek(file, 0, libc::SEEK_CUR)) as i64,
    };
    let room = limit.saturating_sub(u64::try_from(at).ok()?);
    Some(usize::try_from(room).unwrap_or(usize::MAX))
}

/// Writes plainly, for callers with a buffer of their own.
///
/// # Safety
/// There must be that many bytes.
pub(crate) unsafe fn write(
    file: c_int,
    at: Option<i64>,
    from: *const c_void,
    count: usize,
) -> Answer {
    written(file, at, count, |count| {
        call(|| {
            // SAFETY: guaranteed by the caller.
            let done = unsafe {
                match at {
                    None => dfs::dfs_write(file, from, count),
                    Some(at) => dfs::dfs_pwrite(file, from, count, at),
                }
            };
            done as i64
        })
    })
}
