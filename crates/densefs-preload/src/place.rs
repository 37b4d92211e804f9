//! Where a path leads: into the arena, or elsewhere.
#![expect(unsafe_code, reason = "strings of C programs are read")]

use std::ffi::{c_char, c_int};

use crate::inside::{Inside, Place};
use crate::{arena, links, numbers, prefix, ways_in};

/// Where a path leads.
///
/// # Safety
/// It must be null or a C string.
#[inline(always)]
pub(crate) unsafe fn place(directory: c_int, path: *const c_char) -> Place {
    if path.is_null() {
        return place_of_itself(directory);
    }
    // SAFETY: a C string has a first byte.
    if unsafe { *path }.cast_unsigned() == b'/' {
        // SAFETY: guaranteed by the caller.
        return match unsafe { prefix::strip(path) } {
            Some(path) if arena::attach() => {
                Place::Inside(Inside { directory: libc::AT_FDCWD, path })
            }
            Some(_) => Place::Outside,
            // SAFETY: guaranteed by the caller.
            None => unsafe { unusual(path) },
        };
    }
    if directory == libc::AT_FDCWD {
        if prefix::is_working_inside() {
            return Place::Inside(Inside { directory, path });
        }
        // SAFETY: guaranteed by the caller.
        return unsafe { ways_in::place_of_relative(directory, path) };
    }
    match numbers::inside(directory) {
        Some(directory) => Place::Inside(Inside { directory, path }),
        None if numbers::is_kept(directory) => Place::Closed,
        // SAFETY: guaranteed by the caller.
        None => unsafe { ways_in::place_of_relative(directory, path) },
    }
}

/// The place of what is relative to a number that does not stand for a file in the arena.
#[inline(always)]
fn not_inside(number: c_int) -> Place {
    if numbers::is_kept(number) { Place::Closed } else { Place::Outside }
}

/// The place of an open file, for calls that take a descriptor and no path.
fn place_of_itself(descriptor: c_int) -> Place {
    let path = std::ptr::null();
    if descriptor == libc::AT_FDCWD {
        let inside = Inside { directory: descriptor, path };
        return if prefix::is_working_inside() { Place::Inside(inside) } else { Place::Outside };
    }
    match numbers::inside(descriptor) {
        Some(directory) => Place::Inside(Inside { directory, path }),
        None => not_inside(descriptor),
    }
}

/// The place of an absolute path that does not begin with the prefix.
///
/// # Safety
/// It must be a C string.
#[inline(always)]
unsafe fn unusual(path: *const c_char) -> Place {
    // SAFETY: the first byte is a slash, so there is a second one.
    // It may name an open file, or spell the prefix in a way that the text does not show.
    let is_usual = match unsafe { *path.add(1) }.cast_unsigned() {
        // SAFETY: guaranteed by the caller.
        b'p' | b'd' if unsafe { may_name_open_file(path) } => false,
        // SAFETY: guaranteed by the caller.
        _ => unsafe { !prefix::may_be_spelled_by(path) },
    };
    if is_usual {
        return Place::Outside;
    }
    // SAFETY: guaranteed by the caller.
    links::place_of_unusual(unsafe { std::ffi::CStr::from_ptr(path) })
}

/// Whether a path begins as the names of open files do: `/dev/fd/3`, `/dev/stdin`,
/// `/proc/self/fd/3` and so on.
///
/// # Safety
/// It must be a C string.
#[inline(always)]
unsafe fn may_name_open_file(path: *const c_char) -> bool {
    let begins = |name: &[u8]| {
        // SAFETY: all bytes before this one were equal, so that the string has not ended.
        (0..name.len()).all(|at| unsafe { *path.add(at) }.cast_unsigned() == name[at])
    };
    begins(b"/proc/") || begins(b"/dev/fd") || begins(b"/dev/std")
}
