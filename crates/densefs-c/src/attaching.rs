//! Attaching an arena, and detaching it.

use std::ffi::{c_char, c_int};

use densefs_process::DenseFs;

use crate::answer::{fail, result};
use crate::arguments::path;
use crate::attached::{attach, attached, detach};

/// Attaches an arena.
///
/// # Safety
/// `arena` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_attach(arena: *const c_char, flags: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    let arena = match unsafe { path(arena) } {
        Ok(arena) if flags == 0 => arena,
        Ok(_) => return fail(libc::EINVAL),
        Err(why) => return fail(why.0),
    };
    if attached().is_ok() {
        return fail(libc::EBUSY);
    }
    match DenseFs::attach(arena) {
        // Another thread may have been faster.
        Ok(files) => result(attach(files)),
        Err(why) => fail(why.errno()),
    }
}

/// Closes everything that is open, and detaches the arena.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_detach() -> c_int {
    result(detach())
}
