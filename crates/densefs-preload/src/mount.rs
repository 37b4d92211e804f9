//! The way through the kernel, where the arena is mounted at the prefix: for fifos, devices and
//! sockets, which are the kernel's.
#![expect(unsafe_code, reason = "system calls")]

use std::ffi::{CStr, CString, c_int};

use crate::decision::Answer;
use crate::inside::Inside;
use crate::links::mounted_path;
use crate::{numbers, prefix, raw};

/// Opens a file through the mount; none if there is no path to it.
pub(crate) fn open(inside: Inside, how: c_int, mode: libc::mode_t) -> Option<Answer> {
    let path = mounted_path(inside).ok()?;
    numbers::release();
    let path = path.as_ptr().expose_provenance();
    let arguments = [raw::number(libc::AT_FDCWD), path, raw::number(how), mode as usize, 0, 0];
    // SAFETY: the path is a C string.
    Some(unsafe { raw::system_call(libc::SYS_openat, arguments) })
}

/// Where the kernel's working directory is if it cannot get to the program's: a directory in which
/// nobody, not even root, can make or remove anything. What it does with relative paths would be
/// done elsewhere otherwise.
const NOWHERE: &CStr = c"/proc/fs";

/// Makes the kernel's working directory the one that the program has, as far as the kernel can get
/// there: for what it does with relative paths, and for programs that are not preloaded.
pub(crate) fn enter_working_directory() {
    if !prefix::is_working_inside() {
        return;
    }
    let path = crate::links::working_directory().ok();
    let path = path.and_then(|path| CString::new(path).ok());
    if !path.is_some_and(|path| enter(&path)) {
        enter(NOWHERE);
    }
}

/// Whether the kernel's working directory could be changed.
fn enter(path: &CStr) -> bool {
    let path = path.as_ptr().expose_provenance();
    // SAFETY: the path is a C string.
    unsafe { raw::system_call(libc::SYS_chdir, [path, 0, 0, 0, 0, 0]) == 0 }
}
