//! Names: creating, linking, renaming and removing files.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::{c_char, c_int, c_long};

use densefs_c::names as dfs;

use super::paths::{AT_FIRST, Ended, FIRST, OUTSIDE, PathArguments, outside, with_path};
use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision::{self, Done, Pass};
use crate::inside::{Inside, Place};
use crate::links;
use crate::outcome::{call as calling, error, length};
use crate::place::place;
use crate::raw::{self, int};

fn mode(argument: usize) -> libc::mode_t {
    int(argument).cast_unsigned()
}

macro_rules! with_paths {
    ($($name:ident, $which:expr, |$inside:ident, $arguments:pat_param| $act:expr;)*) => {
        $(
            pub(super) fn $name(call: &mut SystemCall) -> Decision {
                with_path(call, $which, |call, $inside| {
                    let $arguments = call.arguments;
                    // SAFETY: the program vouches for its strings.
                    calling(|| unsafe { $act })
                })
            }
        )*
    };
}

with_paths! {
    mkdir, FIRST, |inside, [_, given, ..]|
        dfs::dfs_mkdirat(inside.directory, inside.path, mode(given));
    mkdirat, AT_FIRST, |inside, [_, _, given, ..]|
        dfs::dfs_mkdirat(inside.directory, inside.path, mode(given));
    mknod, FIRST, |inside, [_, given, device, ..]|
        dfs::dfs_mknodat(inside.directory, inside.path, mode(given), device as libc::dev_t);
    mknodat, AT_FIRST, |inside, [_, _, given, device, ..]|
        dfs::dfs_mknodat(inside.directory, inside.path, mode(given), device as libc::dev_t);
    rmdir, FIRST, |inside, _|
        dfs::dfs_unlinkat(inside.directory, inside.path, libc::AT_REMOVEDIR);
    unlink, FIRST, |inside, _| dfs::dfs_unlinkat(inside.directory, inside.path, 0);
    unlinkat, AT_FIRST, |inside, [_, _, how, ..]|
        dfs::dfs_unlinkat(inside.directory, inside.path, int(how));
    symlink, PathArguments { directory: None, path: 1 }, |inside, [target, ..]|
        dfs::dfs_symlinkat(text(target), inside.directory, inside.path);
    symlinkat, PathArguments { directory: Some(1), path: 2 }, |inside, [target, ..]|
        dfs::dfs_symlinkat(text(target), inside.directory, inside.path);
}

fn text(argument: usize) -> *const c_char {
    std::ptr::with_exposed_provenance(argument)
}

pub(super) fn readlink(call: &mut SystemCall) -> Decision {
    let [_, into, room, ..] = call.arguments;
    read_link(call, FIRST, into, room)
}

pub(super) fn readlinkat(call: &mut SystemCall) -> Decision {
    let [_, _, into, room, ..] = call.arguments;
    read_link(call, AT_FIRST, into, room)
}

fn read_link(call: &mut SystemCall, which: PathArguments, into: usize, room: usize) -> Decision {
    let into = std::ptr::with_exposed_provenance_mut::<c_char>(into);
    if int(room) <= 0 {
        return Pass;
    }
    // SAFETY: the program vouches for its strings.
    if let Some(answer) = unsafe { links::read_magic(which.path(call), into, room) } {
        return Done(answer);
    }
    with_path(call, which, |_, inside| {
        // SAFETY: the program vouches for its pointers.
        length(|| unsafe { dfs::dfs_readlinkat(inside.directory, inside.path, into, room) })
    })
}

/// A call with two paths.
struct TwoPaths {
    old: PathArguments,
    new: PathArguments,
}

const BOTH: TwoPaths = TwoPaths { old: FIRST, new: PathArguments { directory: None, path: 1 } };
const BOTH_AT: TwoPaths =
    TwoPaths { old: AT_FIRST, new: PathArguments { directory: Some(2), path: 3 } };

/// Serves a call with two paths, both of which must be in the arena or elsewhere.
fn with_two_paths(
    call: &mut SystemCall,
    which: &TwoPaths,
    act: impl Fn(&SystemCall, Inside, Inside) -> Answer,
) -> Decision {
    // SAFETY: the program vouches for its strings.
    let (old, new) = unsafe {
        (
            place(which.old.directory(call), which.old.path(call)),
            place(which.new.directory(call), which.new.path(call)),
        )
    };
    let is_missing = which.old.path(call).is_null() || which.new.path(call).is_null();
    match (old, new) {
        (Place::Outside, Place::Outside) => Pass,
        _ if is_missing => Done(error(libc::EFAULT)),
        (Place::Closed, _) | (_, Place::Closed) => Done(error(libc::EBADF)),
        (Place::OpenFile(file), to) => link_open(call, file, to),
        (Place::Inside(from), Place::Inside(to)) => match act(call, from, to) {
            OUTSIDE => lead_out(call, which, from, to, &act),
            done => Done(done),
        },
        (Place::Inside(_), _) | (_, Place::Inside(_) | Place::OpenFile(_)) => {
            Done(across(call, old, new))
        }
    }
}

/// Gives an open file without a name its first one, by the name that the system gives to open
/// files.
fn link_open(call: &SystemCall, file: c_int, to: Place) -> Decision {
    let follows = call.number as c_long == libc::SYS_linkat
        && int(call.arguments[4]) & libc::AT_SYMLINK_FOLLOW != 0;
    Done(match to {
        Place::Inside(to) if follows => calling(|| {
            // SAFETY: the program vouches for its strings.
            unsafe {
                dfs::dfs_linkat(file, c"".as_ptr(), to.directory, to.path, libc::AT_EMPTY_PATH)
            }
        }),
        Place::Outside | Place::Inside(_) | Place::Closed | Place::OpenFile(_) => {
            error(libc::EXDEV)
        }
    })
}

/// Between the arena and elsewhere, nothing can be linked or renamed.
#[cold]
fn across(_: &SystemCall, old: Place, new: Place) -> Answer {
    for one in [old, new] {
        if let Place::Inside(inside) = one {
            let known = links::check_directory(inside);
            if known < 0 && known != OUTSIDE {
                return known;
            }
        }
    }
    error(libc::EXDEV)
}

/// Continues a call of which at least one path leads out of the arena.
#[cold]
#[inline(never)]
fn lead_out(
    call: &mut SystemCall,
    which: &TwoPaths,
    from: Inside,
    to: Inside,
    act: &dyn Fn(&SystemCall, Inside, Inside) -> Answer,
) -> Decision {
    // Where does the directory of each last name lead?
    let end_of = |inside: Inside| outside(inside, &mut links::check_directory);
    let (from_end, to_end) = (end_of(from), end_of(to));
    match (from_end, to_end) {
        (Ended::Outside(old), Ended::Outside(new)) => {
            let mut arguments = call.arguments;
            arguments[which.old.path] = old.as_ptr().expose_provenance();
            arguments[which.new.path] = new.as_ptr().expose_provenance();
            // SAFETY: the program has asked for this, and the paths are C strings.
            Done(unsafe { raw::system_call(call.number as c_long, arguments) })
        }
        (Ended::Inside(why), _) | (_, Ended::Inside(why)) if why < 0 => Done(why),
        (Ended::Inside(_), Ended::Inside(_)) => Done(act(call, from, to)),
        _ => Done(error(libc::EXDEV)),
    }
}

macro_rules! with_both_paths {
    ($($name:ident, $which:expr, |$from:ident, $to:ident, $arguments:pat_param| $act:expr;)*) => {
        $(
            pub(super) fn $name(call: &mut SystemCall) -> Decision {
                with_two_paths(call, $which, |call, $from, $to| {
                    let $arguments = call.arguments;
                    // SAFETY: the program vouches for its strings.
                    calling(|| unsafe { $act })
                })
            }
        )*
    };
}

with_both_paths! {
    link, &BOTH, |from, to, _|
        dfs::dfs_linkat(from.directory, from.path, to.directory, to.path, 0);
    linkat, &BOTH_AT, |from, to, [_, _, _, _, how, _]|
        dfs::dfs_linkat(from.directory, from.path, to.directory, to.path, int(how));
    rename, &BOTH, |from, to, _|
        dfs::dfs_renameat(from.directory, from.path, to.directory, to.path);
    renameat, &BOTH_AT, |from, to, _|
        dfs::dfs_renameat(from.directory, from.path, to.directory, to.path);
    renameat2, &BOTH_AT, |from, to, [_, _, _, _, how, _]|
        dfs::dfs_renameat2(from.directory, from.path, to.directory, to.path, how_to_rename(how));
}

fn how_to_rename(argument: usize) -> u32 {
    let how: c_int = int(argument);
    how.cast_unsigned()
}
