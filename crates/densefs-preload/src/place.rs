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
    let may_name_open_file = matches!(unsafe { *path.add(1) }.cast_unsigned(), b'p' | b'd');
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !may_name_open_file && !prefix::may_be_spelled_by(path) {
            return Place::Outside;
        }
        links::place_of_unusual(std::ffi::CStr::from_ptr(path))
    }
}
