//! The way through the kernel, where the arena is mounted at the prefix: for fifos, devices and
//! sockets, which are the kernel's.
#![expect(unsafe_code, reason = "system calls")]

use std::ffi::c_int;

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

/// Makes the kernel's working directory the one that the program has, as far as the kernel can get
/// there: for what it does with relative paths, and for programs that are not preloaded.
pub(crate) fn enter_working_directory() {
    if !prefix::is_working_inside() {
        return;
    }
    if let Ok(path) = crate::links::working_directory()
        && let Ok(path) = std::ffi::CString::new(path)
    {
        let path = path.as_ptr().expose_provenance();
        // SAFETY: the path is a C string.
        unsafe { raw::system_call(libc::SYS_chdir, [path, 0, 0, 0, 0, 0]) };
    }
}
