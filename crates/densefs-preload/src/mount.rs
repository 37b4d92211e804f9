//! The way through the kernel, where the arena is mounted at the prefix: for fifos, devices and
//! sockets, which are the kernel's.
#![expect(unsafe_code, reason = "system calls")]

use std::ffi::c_int;
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

/// Whether the kernel's working directory is one where it finds nothing.
static IS_NOWHERE: AtomicBool = AtomicBool::new(false);

/// Makes the kernel's working directory one where it finds nothing and makes nothing, as the
/// program's is in the arena now. A call on a relative path that does not come here would otherwise
/// find what is where the program was before. Following the program in the mount would take a
/// request for each part of the path.
pub(crate) fn leave_working_directory() {
    if IS_NOWHERE.swap(true, Ordering::Relaxed) {
        return;
    }
    let how = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let path = c"/proc/self/fdinfo".as_ptr().expose_provenance();
    let arguments = [raw::number(libc::AT_FDCWD), path, raw::number(how), 0, 0, 0];
    // SAFETY: the path is a C string.
    let opened = unsafe { raw::system_call(libc::SYS_openat, arguments) };
    if let Ok(opened @ 0..) = c_int::try_from(opened) {
        // SAFETY: it changes nothing else.
        unsafe { raw::system_call(libc::SYS_fchdir, [raw::number(opened), 0, 0, 0, 0, 0]) };
        raw::close(opened);
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
    if let Ok(path) = crate::links::working_directory()
        && let Ok(path) = std::ffi::CString::new(path)
    {
        let path = path.as_ptr().expose_provenance();
        // SAFETY: the path is a C string.
        unsafe { raw::system_call(libc::SYS_chdir, [path, 0, 0, 0, 0, 0]) };
        note_working_directory();
    }
}
