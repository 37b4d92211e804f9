//! The way through the kernel, where the arena is mounted at the prefix: for fifos, devices and
//! sockets, which are the kernel's.
#![expect(unsafe_code, reason = "system calls")]

use std::ffi::{CStr, CString, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

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

/// A directory in which nobody, not even root, can make or remove anything.
const NOWHERE: &CStr = c"/proc/fs";
/// Whether that is the kernel's working directory.
static IS_NOWHERE: AtomicBool = AtomicBool::new(false);

/// Makes the kernel's working directory one where it finds nothing, as the program's is in the
/// arena now. A call on a relative path that does not come here would otherwise find what is where
/// the program was before. Following the program in the mount would take a request for each part of
/// the path.
pub(crate) fn leave_working_directory() {
    if !IS_NOWHERE.swap(true, Ordering::Relaxed) {
        enter(NOWHERE);
    }
}

/// Notes that the kernel has changed its working directory.
pub(crate) fn note_working_directory() {
    IS_NOWHERE.store(false, Ordering::Relaxed);
}

/// Makes the kernel's working directory the one that the program has, as far as the kernel can get
/// there: for what it does with relative paths, and for programs that are not preloaded.
pub(crate) fn enter_working_directory() {
    if !prefix::is_working_inside() {
        return;
    }
    let path = crate::links::working_directory().ok();
    let path = path.and_then(|path| CString::new(path).ok());
    if path.is_some_and(|path| enter(&path)) {
        note_working_directory();
    } else {
        leave_working_directory();
    }
}

/// Whether the kernel's working directory could be changed.
fn enter(path: &CStr) -> bool {
    let path = path.as_ptr().expose_provenance();
    // SAFETY: the path is a C string.
    unsafe { raw::system_call(libc::SYS_chdir, [path, 0, 0, 0, 0, 0]) == 0 }
}
