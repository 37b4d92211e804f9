//! Streams of stdio, as fopencookie(3) makes them.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use densefs_process::{Errno, flags};

use crate::answer::fail;
use crate::arguments::number;
use crate::attached::attached;
use crate::files::{dfs_close, dfs_lseek, dfs_open, dfs_read, dfs_write};

/// `cookie_io_functions_t`.
#[repr(C)]
struct CookieFunctions {
    read: unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> isize,
    write: unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize,
    seek: unsafe extern "C" fn(*mut c_void, *mut libc::off64_t, c_int) -> c_int,
    close: unsafe extern "C" fn(*mut c_void) -> c_int,
}

unsafe extern "C" {
    fn fopencookie(
        cookie: *mut c_void,
        mode: *const c_char,
        functions: CookieFunctions,
    ) -> *mut libc::FILE;
}

/// The cookie of a stream is its descriptor.
fn file(cookie: *mut c_void) -> c_int {
    c_int::try_from(cookie.addr()).unwrap_or(-1)
}

unsafe extern "C" fn read(cookie: *mut c_void, into: *mut c_char, count: usize) -> isize {
    // SAFETY: stdio has the room.
    unsafe { dfs_read(file(cookie), into.cast(), count) }
}

/// Returns 0 on failure, never -1.
unsafe extern "C" fn write(cookie: *mut c_void, from: *const c_char, count: usize) -> isize {
    let mut done = 0;
    while done < count {
        // SAFETY: stdio has that many bytes.
        let written = unsafe { dfs_write(file(cookie), from.add(done).cast(), count - done) };
        match usize::try_from(written) {
            Ok(written @ 1..) => done += written,
            Ok(0) | Err(_) => break,
        }
    }
    done.cast_signed()
}

unsafe extern "C" fn seek(cookie: *mut c_void, at: *mut libc::off64_t, whence: c_int) -> c_int {
    // SAFETY: stdio has a position there, and nobody else uses it.
    let at = unsafe { &mut *at };
    match dfs_lseek(file(cookie), *at, whence) {
        -1 => -1,
        reached => {
            *at = reached;
            0
        }
    }
}

unsafe extern "C" fn close(cookie: *mut c_void) -> c_int {
    dfs_close(file(cookie))
}

/// The flags of open(2) for a mode of fopen(3).
fn open_flags(mode: &[u8]) -> Result<u32, Errno> {
    let (access, how) = match mode.first() {
        Some(b'r') => (0, 0),
        Some(b'w') => (flags::WRITE, flags::CREATE | flags::TRUNCATE),
        Some(b'a') => (flags::WRITE, flags::CREATE | flags::APPEND),
        _ => return Err(Errno::INVAL),
    };
    let mut how = access | how;
    // What follows a comma is the name of an encoding.
    for letter in mode[1..].iter().take_while(|&&letter| letter != b',') {
        match letter {
            b'+' => how = how & !flags::ACCESS | flags::READ_WRITE,
            b'x' => how |= flags::EXCLUSIVE,
            b'e' => how |= flags::CLOSE_ON_EXEC,
            _ => {}
        }
    }
    Ok(how)
}

/// # Safety
/// `mode` must be a C string, which [`open_flags`] accepts.
unsafe fn stream(descriptor: c_int, mode: *const c_char) -> *mut libc::FILE {
    let functions = CookieFunctions { read, write, seek, close };
    let cookie = ptr::without_provenance_mut(descriptor.cast_unsigned() as usize);
    // SAFETY: the functions are what it expects.
    unsafe { fopencookie(cookie, mode, functions) }
}

/// Opens a file as a stream.
///
/// # Safety
/// Both must be C strings.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fopen(name: *const c_char, mode: *const c_char) -> *mut libc::FILE {
    // SAFETY: guaranteed by the caller.
    let how = match open_flags(unsafe { CStr::from_ptr(mode) }.to_bytes()) {
        Ok(how) => how,
        Err(why) => return refuse(why),
    };
    // SAFETY: guaranteed by the caller.
    let descriptor = unsafe { dfs_open(name, how.cast_signed(), 0o666) };
    if descriptor < 0 {
        return ptr::null_mut();
    }
    // SAFETY: guaranteed by the caller.
    let made = unsafe { stream(descriptor, mode) };
    if made.is_null() {
        dfs_close(descriptor);
    }
    made
}

/// Makes a stream of an open file, which is closed with it.
///
/// # Safety
/// `mode` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fdopen(descriptor: c_int, mode: *const c_char) -> *mut libc::FILE {
    // SAFETY: guaranteed by the caller.
    let how = open_flags(unsafe { CStr::from_ptr(mode) }.to_bytes());
    match how.and_then(|how| prepare(descriptor, how)) {
        // SAFETY: guaranteed by the caller.
        Ok(()) => unsafe { stream(descriptor, mode) },
        Err(why) => refuse(why),
    }
}

/// Checks that a file was opened for what a stream is to do, and makes its writes go to the end of
/// the file, if they are to.
fn prepare(descriptor: c_int, how: u32) -> Result<(), Errno> {
    let file = number(descriptor)?;
    let opened = attached()?.flags(file)?;
    let is_enough = match opened & flags::ACCESS {
        flags::READ_WRITE => true,
        access => access == how & flags::ACCESS,
    };
    if !is_enough {
        return Err(Errno::INVAL);
    }
    if how & !opened & flags::APPEND != 0 {
        attached()?.set_flags(file, opened | flags::APPEND)?;
    }
    Ok(())
}

fn refuse(why: Errno) -> *mut libc::FILE {
    fail(why.0);
    ptr::null_mut()
}
