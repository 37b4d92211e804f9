//! Opening files, and what is done with open ones.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::{c_int, c_void};

use densefs_c::{files as dfs, locks, vectors};

use super::paths::{AT_FIRST, FIRST, PathArguments, with_path};
use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision::{self, Done, Pass};
use crate::inside::Inside;
use crate::outcome::{call as calling, error, length, restarted};
use crate::raw::int;
use crate::{limits, mount, numbers};

/// Opens a file in the arena, and gives it a number.
///
/// # Safety
/// The path must be a C string.
unsafe fn open_inside(inside: Inside, how: c_int, mode: libc::mode_t) -> Answer {
    // SAFETY: guaranteed by the caller.
    let opened = calling(|| unsafe { dfs::dfs_openat(inside.directory, inside.path, how, mode) });
    match c_int::try_from(opened) {
        Ok(descriptor @ 0..) => give_number(descriptor),
        Ok(why) => open_otherwise(inside, how, mode, -why).unwrap_or(opened),
        Err(_) => opened,
    }
}

/// Gives a descriptor that has just been opened a number.
#[inline(always)]
pub(crate) fn give_number(descriptor: c_int) -> Answer {
    let number = numbers::add(descriptor);
    if number < 0 {
        dfs::dfs_close(descriptor);
    }
    number
}

/// Opens in another way what the library cannot open, for this reason; none if there is no other.
pub(crate) fn open_otherwise(
    inside: Inside,
    how: c_int,
    mode: libc::mode_t,
    why: c_int,
) -> Option<Answer> {
    // Fifos and devices are the kernel's.
    if why == libc::ENXIO || why == libc::EOPNOTSUPP {
        mount::open(inside, how, mode)
    } else {
        None
    }
}

fn open_by(call: &mut SystemCall, which: PathArguments, how: c_int, mode: usize) -> Decision {
    let mode = int(mode).cast_unsigned();
    // SAFETY: the program vouches for its strings.
    let decision = with_path(call, which, |_, inside| unsafe { open_inside(inside, how, mode) });
    if decision == Pass {
        numbers::release();
    }
    decision
}

pub(super) fn open(call: &mut SystemCall) -> Decision {
    let [_, how, mode, ..] = call.arguments;
    open_by(call, FIRST, int(how), mode)
}

pub(super) fn creat(call: &mut SystemCall) -> Decision {
    let mode = call.arguments[1];
    open_by(call, FIRST, libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC, mode)
}

pub(super) fn openat(call: &mut SystemCall) -> Decision {
    let [_, _, how, mode, ..] = call.arguments;
    open_by(call, AT_FIRST, int(how), mode)
}

/// openat2(2). Restrictions of the way are not known to the arena.
pub(super) fn openat2(call: &mut SystemCall) -> Decision {
    let [_, _, request, size, ..] = call.arguments;
    let request = std::ptr::with_exposed_provenance::<libc::open_how>(request);
    if request.is_null() || size < size_of::<libc::open_how>() {
        return Pass;
    }
    // SAFETY: the program vouches for it.
    let request = unsafe { request.read_unaligned() };
    let (Ok(how), true) = (c_int::try_from(request.flags), request.resolve == 0) else {
        let decision = with_path(call, AT_FIRST, |_, _| error(libc::ENOSYS));
        numbers::release();
        return decision;
    };
    let mode = usize::try_from(request.mode).unwrap_or(0);
    open_by(call, AT_FIRST, how, mode)
}

/// Serves a call whose first argument is a descriptor.
#[inline(always)]
pub(super) fn with_number(
    call: &SystemCall,
    act: impl FnOnce(c_int, &[usize; 6]) -> Answer,
) -> Decision {
    match numbers::inside(int(call.arguments[0])) {
        Some(descriptor) => Done(act(descriptor, &call.arguments)),
        None if numbers::is_kept(int(call.arguments[0])) => Done(error(libc::EBADF)),
        None => Pass,
    }
}

fn pointer(argument: usize) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(argument)
}

fn offset(argument: usize) -> libc::off_t {
    argument.cast_signed() as libc::off_t
}

macro_rules! with_numbers {
    ($($(#[$about:meta])* $name:ident: |$file:ident, $arguments:pat_param| $act:expr;)*) => {
        $(
            $(#[$about])*
            pub(super) fn $name(call: &mut SystemCall) -> Decision {
                with_number(call, |$file, &$arguments| {
                    // SAFETY: the program vouches for its pointers.
                    #[allow(unused_unsafe, reason = "some calls have no pointers")]
                    unsafe { $act }
                })
            }
        )*
    };
}

with_numbers! {
    read: |file, [_, to, count, ..]| length(|| dfs::dfs_read(file, pointer(to), count));
    write: |file, [_, from, count, ..]| limits::write(file, None, pointer(from), count);
    pread: |file, [_, to, count, at, ..]|
        length(|| dfs::dfs_pread(file, pointer(to), count, offset(at)));
    pwrite: |file, [_, from, count, at, ..]|
        limits::write(file, Some(offset(at)), pointer(from), count);
    readv: |file, [_, parts, count, ..]|
        length(|| vectors::dfs_readv(file, pointer(parts).cast(), int(count)));
    writev: |file, [_, parts, count, ..]|
        limits::written_from(file, None, pointer(parts).cast(), int(count), |parts, count| {
            length(|| vectors::dfs_writev(file, parts, count))
        });
    preadv: |file, [_, parts, count, at, ..]|
        length(|| vectors::dfs_preadv(file, pointer(parts).cast(), int(count), offset(at)));
    pwritev: |file, [_, parts, count, at, ..]| {
        let at = offset(at);
        limits::written_from(file, Some(at), pointer(parts).cast(), int(count), |parts, count| {
            length(|| vectors::dfs_pwritev(file, parts, count, at))
        })
    };
    preadv2: |file, [_, parts, count, at, _, how]| length(|| {
        vectors::dfs_preadv2(file, pointer(parts).cast(), int(count), offset(at), int(how))
    });
    pwritev2: |file, [_, parts, count, at, _, how]| {
        let at = offset(at);
        // -1 stands for the file's own offset.
        let place = Some(at).filter(|&at| at != -1);
        limits::written_from(file, place, pointer(parts).cast(), int(count), |parts, count| {
            length(|| vectors::dfs_pwritev2(file, parts, count, at, int(how)))
        })
    };
    lseek: |file, [_, by, whence, ..]| calling(|| dfs::dfs_lseek(file, offset(by), int(whence)));
    ftruncate: |file, [_, size, ..]|
        limits::sized(offset(size), |stat| dfs::dfs_fstat(file, stat), || {
            calling(|| dfs::dfs_ftruncate(file, offset(size)))
        });
    fallocate: |file, [_, how, at, count, ..]| {
        // A tmpfs asks for the limit also if the size stays as it is.
        let size = offset(at).saturating_add(offset(count));
        limits::sized(size, |stat| dfs::dfs_fstat(file, stat), || {
            calling(|| dfs::dfs_fallocate(file, int(how), offset(at), offset(count)))
        })
    };
    fsync: |file, _| calling(|| dfs::dfs_fsync(file));
    /// Advice, which memory does not need.
    advise: |file, _| calling(|| dfs::dfs_fsync(file));
    flock: |file, [_, how, ..]|
        restarted(|| calling(|| locks::dfs_flock(file, int(how))));
}

pub(super) fn truncate(call: &mut SystemCall) -> Decision {
    with_path(call, FIRST, |call, inside| {
        let size = offset(call.arguments[1]);
        // SAFETY: the program vouches for its strings.
        let current = |stat: &mut libc::stat| unsafe {
            densefs_c::attributes::dfs_fstatat(inside.directory, inside.path, stat, 0)
        };
        limits::sized(size, current, || {
            calling(|| {
                // SAFETY: the program vouches for its strings.
                unsafe { dfs::dfs_truncate(inside.path, size) }
            })
        })
    })
}
