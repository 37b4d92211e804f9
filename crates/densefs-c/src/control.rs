//! fcntl(2).

use std::ffi::{c_int, c_uint};

use densefs_process::{Errno, flags};

use crate::answer::{descriptor, result};
use crate::arguments::number;
use crate::attached::{attached, usable};
use crate::locks;

/// The supported commands of fcntl(2).
///
/// # Safety
/// For commands on locks, the argument must be a pointer to a lock that is valid for reading and
/// writing.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fcntl(file: c_int, command: c_int, argument: usize) -> c_int {
    // It is passed as an int, so the upper half of the register is undefined.
    #[expect(clippy::cast_possible_truncation, reason = "an int is passed so")]
    let given = argument as c_int;
    match command {
        libc::F_DUPFD => descriptor(duplicate(file, given, 0)),
        libc::F_DUPFD_CLOEXEC => descriptor(duplicate(file, given, flags::CLOSE_ON_EXEC)),
        libc::F_GETFD => descriptor(number(file).and_then(|file| {
            let closes = attached()?.closes_on_exec(file)?;
            Ok(if closes { libc::FD_CLOEXEC.cast_unsigned() } else { 0 })
        })),
        libc::F_SETFD => {
            result(number(file).and_then(|file| {
                attached()?.set_closes_on_exec(file, given & libc::FD_CLOEXEC != 0)
            }))
        }
        libc::F_GETFL => descriptor(number(file).and_then(status_flags)),
        libc::F_SETFL => {
            result(number(file).and_then(|file| attached()?.set_flags(file, given.cast_unsigned())))
        }
        libc::F_GETLK
        | libc::F_SETLK
        | libc::F_SETLKW
        | libc::F_OFD_GETLK
        | libc::F_OFD_SETLK
        | libc::F_OFD_SETLKW => result(usable(file).and_then(|_| {
            // SAFETY: guaranteed by the caller.
            let lock = unsafe { (argument as *mut libc::flock).as_mut() };
            locks::change(file, command, lock.ok_or(Errno::FAULT)?)
        })),
        _ => result(usable(file).and(Err(Errno::INVAL))),
    }
}

fn duplicate(file: c_int, lowest: c_int, how: u32) -> Result<u32, Errno> {
    let file = number(file)?;
    attached()?.flags(file)?;
    attached()?.duplicate(file, u32::try_from(lowest).map_err(|_| Errno::INVAL)?, how)
}

/// The flags of an open file that `F_GETFL` shows.
fn status_flags(file: u32) -> Result<u32, Errno> {
    const MADE: c_uint = flags::CREATE | flags::EXCLUSIVE | flags::TRUNCATE | flags::CLOSE_ON_EXEC;
    let how = attached()?.flags(file)? & !MADE;
    let is_temporary = how & flags::TEMPORARY != 0;
    Ok(if is_temporary { how | flags::DIRECTORY } else { how })
}
