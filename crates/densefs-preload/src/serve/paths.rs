//! System calls with a path: where it leads, and what happens when it leads out of the arena on the
//! way.
#![expect(unsafe_code, reason = "strings of C programs are read")]

use std::ffi::{CString, c_char, c_int, c_long};

use super::open_files;
use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision::{self, Done, Executed, Pass, Refused};
use crate::inside::{Inside, Place};
use crate::links::{self, LeadsTo};
use crate::outcome::error;
use crate::place::place;
use crate::{mount, numbers, prefix, raw};

/// The library's error number for a path that leads out of the arena.
pub(crate) const OUTSIDE: Answer = error(densefs_process::Errno::OUTSIDE.0);
/// How often a path may lead in and out.
const DETOURS_MAX: u32 = 40;

/// Which arguments of a system call are its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathArguments {
    /// The directory where a relative path begins; none if that is the working directory.
    pub(super) directory: Option<usize>,
    pub(super) path: usize,
}

/// A path that is the first argument.
pub(super) const FIRST: PathArguments = PathArguments { directory: None, path: 0 };
/// A directory and a path that are the first two arguments.
pub(super) const AT_FIRST: PathArguments = PathArguments { directory: Some(0), path: 1 };

impl PathArguments {
    pub(super) fn directory(self, call: &SystemCall) -> c_int {
        self.directory.map_or(libc::AT_FDCWD, |index| raw::int(call.arguments[index]))
    }

    pub(super) fn path(self, call: &SystemCall) -> *const c_char {
        std::ptr::with_exposed_provenance(call.arguments[self.path])
    }
}

/// Serves a call with one path. The closure makes the library's call; what it returns is the
/// answer, unless the path leads out of the arena.
#[inline]
pub(super) fn with_path(
    call: &mut SystemCall,
    which: PathArguments,
    act: impl Fn(&SystemCall, Inside) -> Answer,
) -> Decision {
    // SAFETY: the program vouches for its strings.
    let place = unsafe { place(which.directory(call), which.path(call)) };
    match place {
        Place::Outside => Pass,
        Place::OpenFile(file) => open_files::serve(call, file),
        Place::Closed => Done(error(libc::EBADF)),
        Place::Inside(inside) => match act(call, inside) {
            OUTSIDE => lead_out(call, which, inside, &act),
            done => Done(done),
        },
    }
}

/// Continues a call whose path leads out of the arena.
#[cold]
#[inline(never)]
fn lead_out(
    call: &mut SystemCall,
    which: PathArguments,
    inside: Inside,
    act: &dyn Fn(&SystemCall, Inside) -> Answer,
) -> Decision {
    match outside(inside, &mut |inside| act(call, inside)) {
        Ended::Inside(arrival) => Done(arrival.answer),
        Ended::Outside(path) => {
            let mut arguments = call.arguments;
            arguments[which.path] = path.as_ptr().expose_provenance();
            if makes_number(call.number) {
                numbers::release();
            }
            // SAFETY: the program has asked for this call, and the path is a C string.
            Executed(unsafe { raw::system_call(call.number as c_long, arguments) })
        }
    }
}

fn makes_number(number: usize) -> bool {
    [libc::SYS_open, libc::SYS_openat, libc::SYS_openat2, libc::SYS_creat]
        .contains(&(number as c_long))
}

/// Where the way of a path has ended.
pub(super) enum Ended {
    /// In the arena.
    Inside(Arrival),
    /// At this path elsewhere.
    Outside(CString),
}

/// A path in the arena to which another has led, and what a call has answered there.
pub(super) struct Arrival {
    pub(super) answer: Answer,
    pub(super) at: Inside,
    /// What `at` points to, unless that is the program's.
    pub(super) path: Option<CString>,
}

/// Follows a path out of the arena, and in again if it leads there.
pub(super) fn outside(inside: Inside, act: &mut dyn FnMut(Inside) -> Answer) -> Ended {
    let mut at = inside;
    let mut held = None;
    for _ in 0..DETOURS_MAX {
        let answer = match links::way_out(at) {
            Ok(LeadsTo::Elsewhere(path)) => {
                // SAFETY: it is a C string.
                match unsafe { place(libc::AT_FDCWD, path.as_ptr()) } {
                    Place::Outside | Place::OpenFile(_) | Place::Closed => {
                        return Ended::Outside(path);
                    }
                    Place::Inside(next) => {
                        (at, held) = (next, Some(path));
                        act(at)
                    }
                }
            }
            // It was changed meanwhile.
            Ok(LeadsTo::Inside) => act(at),
            Err(why) => error(why),
        };
        if answer != OUTSIDE {
            return Ended::Inside(Arrival { answer, at, path: held });
        }
    }
    Ended::Inside(Arrival { answer: error(libc::ELOOP), at, path: held })
}

/// Serves calls on the address of a socket, which may be a path: such files are the kernel's.
pub(super) fn address(call: &mut SystemCall) -> Decision {
    const FAMILY: usize = size_of::<libc::sa_family_t>();
    let [_, address, length, ..] = call.arguments;
    let address = std::ptr::with_exposed_provenance::<u8>(address);
    if prefix::is_working_inside() && !address.is_null() && length > FAMILY {
        // SAFETY: the program vouches for its address.
        let (family, first) = unsafe {
            (address.cast::<libc::sa_family_t>().read_unaligned(), address.add(FAMILY).read())
        };
        if c_int::from(family) == libc::AF_UNIX && !b"\0/".contains(&first) {
            mount::enter_working_directory();
        }
    }
    Pass
}

/// Refuses a call on a path in the arena.
fn refuse(call: &mut SystemCall, which: PathArguments, why: c_int) -> Decision {
    let decision = with_path(call, which, |_, _| error(why));
    if decision == Done(error(why)) { Refused(why) } else { decision }
}

/// The kernel cannot tell of changes that it does not see.
pub(super) fn refuse_watch(call: &mut SystemCall) -> Decision {
    let which = PathArguments { directory: None, path: 1 };
    refuse(call, which, libc::ENOSYS)
}

/// The arena's files have no handles.
pub(super) fn refuse_handle(call: &mut SystemCall) -> Decision {
    refuse(call, AT_FIRST, libc::EOPNOTSUPP)
}
