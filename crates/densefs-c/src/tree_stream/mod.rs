//! Reading a tree one file at a time: fts(3), as glibc has it, with `FTS_NOCHDIR` always.
//!
//! All entries share the buffer of the path. An entry lives until the call after the one that
//! returned it, a directory until its visit afterwards.

mod entry;
mod stream;

use std::ffi::{CStr, c_char, c_int, c_ushort};
use std::ptr;

use densefs_process::Errno;

use crate::answer::fail;
use entry::{AGAIN, Entry, FOLLOW, NO_INSTRUCTION, Node, SKIP};
use stream::{ALL_OPTIONS, Asks, Compare, NAMES_ONLY, Stream};

/// The answer to a program: the entry, or null, and `errno` if that is known.
fn answer(found: Result<Option<Node>, Errno>) -> *mut Entry {
    match found {
        Ok(Some(node)) => node.as_ptr(),
        Ok(None) => refuse(0),
        Err(why) => refuse(why.0),
    }
}

/// Sets `errno`; returns null.
fn refuse<T>(errno: c_int) -> *mut T {
    fail(errno);
    ptr::null_mut()
}

/// Opens a stream of the files below these paths, of which the last is followed by null.
///
/// # Safety
/// `paths` must be such an array of C strings, and `compare` callable with pointers to two pointers
/// to entries.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fts_open(
    paths: *const *const c_char,
    options: c_int,
    compare: Option<Compare>,
) -> *mut Stream {
    if options & !ALL_OPTIONS != 0 {
        return refuse(libc::EINVAL);
    }
    let mut arguments = Vec::new();
    // SAFETY: guaranteed by the caller.
    unsafe {
        while let path = *paths.add(arguments.len())
            && !path.is_null()
        {
            arguments.push(CStr::from_ptr(path).to_bytes());
        }
    }
    match Stream::new(&arguments, options, compare) {
        Ok(stream) => Box::into_raw(Box::new(stream)),
        Err(why) => refuse(why.0),
    }
}

/// The next file; null at the end, with an `errno` of 0, or on failure.
///
/// # Safety
/// `stream` must be open, and no other thread may use it.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fts_read(stream: *mut Stream) -> *mut Entry {
    // SAFETY: guaranteed by the caller.
    answer(unsafe { &mut *stream }.read())
}

/// A list of what is in the directory that was read last, before anything was read: of the
/// arguments.
///
/// # Safety
/// As for [`dfs_fts_read`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fts_children(stream: *mut Stream, how: c_int) -> *mut Entry {
    // SAFETY: guaranteed by the caller.
    let stream = unsafe { &mut *stream };
    answer(match how {
        0 => stream.children(Asks::Children),
        NAMES_ONLY => stream.children(Asks::Names),
        _ => Err(Errno::INVAL),
    })
}

/// Says what is to be done with a file; returns 1 if there is no such instruction.
///
/// # Safety
/// `entry` must be one that the stream has returned and not freed.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fts_set(
    _stream: *mut Stream,
    entry: *mut Entry,
    instruction: c_int,
) -> c_int {
    match c_ushort::try_from(instruction) {
        Ok(instruction @ (0 | AGAIN | FOLLOW | NO_INSTRUCTION | SKIP)) => {
            // SAFETY: guaranteed by the caller.
            unsafe { (*entry).instruction = instruction };
            0
        }
        _ => {
            fail(libc::EINVAL);
            1
        }
    }
}

/// Closes the stream.
///
/// # Safety
/// As for [`dfs_fts_read`]; neither the stream nor its entries must be used again.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fts_close(stream: *mut Stream) -> c_int {
    // SAFETY: guaranteed by the caller.
    drop(unsafe { Box::from_raw(stream) });
    0
}
