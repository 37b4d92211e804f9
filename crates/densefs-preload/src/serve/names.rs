//! Names: creating, linking, renaming and removing files.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::c_char;

use densefs_c::names as dfs;

use super::paths::{AT_FIRST, FIRST, PathArguments, with_path};
use crate::call::SystemCall;
use crate::decision::Decision::{self, Done, Pass};
use crate::links;
use crate::outcome::{call as calling, length};
use crate::raw::int;

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
