//! Calls whose path is a name that the system gives to an open file, as `/dev/stdin`.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::{c_int, c_long};

use densefs_c::{attached, attributes, files, permissions, status};

use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision::{self, Done, Pass};
use crate::numbers;
use crate::outcome::{answer, call as calling, error};
use crate::raw::int;

fn pointer<T>(argument: usize) -> *mut T {
    std::ptr::with_exposed_provenance_mut(argument)
}

/// Serves a call on an open file of the arena.
#[cold]
pub(super) fn serve(call: &SystemCall, file: c_int) -> Decision {
    let [first, second, third, fourth, ..] = call.arguments;
    let empty = c"".as_ptr();
    let follows = |how: usize| int(how) & libc::AT_SYMLINK_NOFOLLOW == 0;
    // SAFETY: the program vouches for its pointers.
    Done(unsafe {
        match call.number as c_long {
            libc::SYS_open => open(file, second),
            libc::SYS_openat => open(file, third),
            libc::SYS_creat => open(file, (libc::O_WRONLY | libc::O_TRUNC) as usize),
            libc::SYS_stat => calling(|| files::dfs_fstat(file, pointer(second))),
            libc::SYS_newfstatat if follows(fourth) => {
                calling(|| files::dfs_fstat(file, pointer(third)))
            }
            libc::SYS_statx if follows(third) => calling(|| {
                let how = int(third) | libc::AT_EMPTY_PATH;
                let mask = int(fourth).cast_unsigned();
                status::dfs_statx(file, empty, how, mask, pointer(call.arguments[4]))
            }),
            // The link itself is the kernel's.
            libc::SYS_lstat | libc::SYS_newfstatat | libc::SYS_statx => return Pass,
            libc::SYS_access => access(file, second),
            libc::SYS_faccessat | libc::SYS_faccessat2 => access(file, third),
            libc::SYS_chmod => change_mode(file, second),
            libc::SYS_fchmodat => change_mode(file, third),
            libc::SYS_chown => calling(|| {
                let how = libc::AT_EMPTY_PATH;
                permissions::dfs_fchownat(file, empty, mode(second), mode(third), how)
            }),
            libc::SYS_truncate => {
                calling(|| files::dfs_ftruncate(file, second.cast_signed() as i64))
            }
            libc::SYS_utimensat if follows(fourth) => {
                let how = libc::AT_EMPTY_PATH;
                calling(|| attributes::dfs_utimensat(file, empty, pointer(third), how))
            }
            _ if first == 0 => error(libc::EFAULT),
            _ => error(libc::EOPNOTSUPP),
        }
    })
}

fn mode(argument: usize) -> u32 {
    int(argument).cast_unsigned()
}

/// Also of a file that is open with `O_PATH`: the C library changes modes this way.
fn change_mode(file: c_int, argument: usize) -> Answer {
    // SAFETY: an empty string is a string.
    calling(|| unsafe {
        let how = libc::AT_EMPTY_PATH;
        permissions::dfs_fchmodat(file, c"".as_ptr(), mode(argument), how)
    })
}

fn access(file: c_int, wanted: usize) -> Answer {
    // SAFETY: an empty string is a string.
    calling(|| unsafe {
        permissions::dfs_faccessat(file, c"".as_ptr(), int(wanted), libc::AT_EMPTY_PATH)
    })
}

fn open(file: c_int, how: usize) -> Answer {
    let how = int(how).cast_unsigned();
    let opened = answer(|| {
        attached()?.open_again(file.cast_unsigned(), how).map(|descriptor| descriptor as usize)
    });
    let Ok(descriptor) = c_int::try_from(opened) else { return opened };
    if descriptor < 0 {
        return opened;
    }
    let number = numbers::add(descriptor);
    if number < 0 {
        files::dfs_close(descriptor);
    }
    number
}
