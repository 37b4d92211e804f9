//! Files and directories with names that nobody else has.

use std::ffi::{CStr, c_char, c_int};

use densefs_process::{Base, Errno, flags};

use crate::answer::{descriptor, fail};
use crate::arguments::path;
use crate::attached::attached;

/// The part of a template that is replaced.
const PLACE: [u8; 6] = *b"XXXXXX";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// How many names are tried, as in the C library.
const TRIES: u32 = 62 * 62 * 62;

/// Replaces the X of a template until `make` finds that the name is free.
///
/// # Safety
/// The template must be a C string that nobody else uses.
unsafe fn choose<T>(
    template: *mut c_char,
    suffix: c_int,
    mut make: impl FnMut(*const c_char) -> Result<T, Errno>,
) -> Result<T, Errno> {
    if template.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: guaranteed by the caller.
    let length = unsafe { CStr::from_ptr(template) }.count_bytes();
    let suffix = usize::try_from(suffix).map_err(|_| Errno::INVAL)?;
    let kept = PLACE.len().checked_add(suffix).and_then(|behind| length.checked_sub(behind));
    let start = kept.ok_or(Errno::INVAL)?;
    // SAFETY: that many bytes are before the end of the string.
    let place: *mut [u8; PLACE.len()] = unsafe { template.add(start) }.cast();
    // SAFETY: as before.
    if unsafe { place.read() } != PLACE {
        return Err(Errno::INVAL);
    }
    for tried in 0..TRIES {
        let mut rest = random().wrapping_add(tried.into());
        let chosen = [(); PLACE.len()].map(|()| {
            let which = rest % LETTERS.len() as u64;
            rest /= LETTERS.len() as u64;
            LETTERS[usize::try_from(which).unwrap_or(0)]
        });
        // SAFETY: as before.
        unsafe { place.write(chosen) };
        match make(template) {
            Err(Errno::EXIST) => {}
            made => return made,
        }
    }
    Err(Errno::EXIST)
}

fn random() -> u64 {
    let mut bytes = [0; 8];
    // If the kernel has no random numbers yet, the names are tried in order.
    // SAFETY: the buffer is that long.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), libc::GRND_NONBLOCK) };
    u64::from_ne_bytes(bytes)
}

/// Creates a file with a name of its own, and opens it.
///
/// # Safety
/// `template` must be a C string that nobody else uses.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mkstemp(template: *mut c_char) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_mkostemps(template, 0, 0) }
}

/// Like [`dfs_mkstemp`], with characters behind what is chosen.
///
/// # Safety
/// As for [`dfs_mkstemp`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mkstemps(template: *mut c_char, suffix: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_mkostemps(template, suffix, 0) }
}

/// Like [`dfs_mkstemp`], with flags of open(2).
///
/// # Safety
/// As for [`dfs_mkstemp`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mkostemp(template: *mut c_char, how: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_mkostemps(template, 0, how) }
}

/// Like [`dfs_mkostemp`], with characters behind what is chosen.
///
/// # Safety
/// As for [`dfs_mkstemp`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mkostemps(template: *mut c_char, suffix: c_int, how: c_int) -> c_int {
    const MADE: u32 = flags::READ_WRITE | flags::CREATE | flags::EXCLUSIVE;
    let how = how.cast_unsigned() & !flags::ACCESS | MADE;
    let open = |name: *const c_char| {
        // SAFETY: it is the template.
        attached()?.open_descriptor(Base::Working, unsafe { path(name) }?, how, 0o600)
    };
    // SAFETY: guaranteed by the caller.
    descriptor(unsafe { choose(template, suffix, open) })
}

/// Creates a directory with a name of its own; returns the template, or null.
///
/// # Safety
/// As for [`dfs_mkstemp`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mkdtemp(template: *mut c_char) -> *mut c_char {
    let make = |name: *const c_char| {
        // SAFETY: it is the template.
        attached()?.make_directory(unsafe { path(name) }?, 0o700)
    };
    // SAFETY: guaranteed by the caller.
    match unsafe { choose(template, 0, make) } {
        Ok(()) => template,
        Err(why) => {
            fail(why.0);
            std::ptr::null_mut()
        }
    }
}
