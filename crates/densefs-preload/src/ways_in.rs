//! Ways into the arena by relative paths, from a directory above the prefix.
//!
//! Only the kernel knows that directory, so it has to be asked. Most relative paths lead elsewhere,
//! which their first letter tells.
#![expect(unsafe_code, reason = "strings of C programs are read, and system calls")]

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::inside::{Inside, Place};
use crate::links::strip_loosely;
use crate::{arena, prefix, raw};

/// The first letters of the prefix's names, a bit each.
static LETTERS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// Notes the first letters of the prefix's names.
pub(crate) fn note(prefix: &[u8]) {
    for name in prefix.split(|&byte| byte == b'/') {
        if let Some(&first) = name.first() {
            LETTERS[usize::from(first / 64)].fetch_or(1 << (first % 64), Ordering::Relaxed);
        }
    }
}

/// The place of a path that is relative to a directory elsewhere, or to the working directory.
///
/// # Safety
/// It must be a C string.
#[inline(always)]
pub(crate) unsafe fn place_of_relative(directory: c_int, path: *const c_char) -> Place {
    // SAFETY: guaranteed by the caller.
    let first = unsafe { *path }.cast_unsigned();
    let is_noted = LETTERS[usize::from(first / 64)].load(Ordering::Relaxed) & 1 << (first % 64);
    if is_noted == 0 && first != b'.' {
        return Place::Outside;
    }
    // SAFETY: guaranteed by the caller.
    look(directory, unsafe { CStr::from_ptr(path) }).map_or(Place::Outside, Place::Inside)
}

/// What is left of a path after `.` and `..`, and how many of the latter there are.
fn after_dots(mut path: &[u8]) -> (&[u8], usize) {
    let mut ups = 0;
    loop {
        let end = path.iter().position(|&byte| byte == b'/').unwrap_or(path.len());
        match &path[..end] {
            b".." => ups += 1,
            b"." => {}
            b"" if end < path.len() => {}
            _ => return (path, ups),
        }
        path = path.get(end + 1..).unwrap_or_default();
    }
}

#[cold]
#[inline(never)]
fn look(directory: c_int, path: &CStr) -> Option<Inside> {
    let (rest, ups) = after_dots(path.to_bytes());
    let first = rest.split(|&byte| byte == b'/').next()?;
    // It must be one of the prefix's names.
    if first.is_empty() || !prefix::get().split(|&byte| byte == b'/').any(|name| name == first) {
        return None;
    }
    let mut text = [0; libc::PATH_MAX as usize];
    let mut above = path_of(directory, &mut text)?;
    // The kernel tells it without symbolic links.
    for _ in 0..ups {
        above = &above[..above.iter().rposition(|&byte| byte == b'/')?];
    }
    let whole = [above, b"/", rest].concat();
    // If the directory itself is in the arena, that is by the kernel's own way.
    let left = whole.len().checked_sub(strip_loosely(&whole)?).filter(|&left| left < rest.len())?;
    if !arena::attach() {
        return None;
    }
    let bytes = path.to_bytes_with_nul();
    let path = match bytes.get(bytes.len() - 1 - left..) {
        Some(rest) if left > 0 => rest.as_ptr().cast(),
        _ => c"/".as_ptr(),
    };
    Some(Inside { directory: libc::AT_FDCWD, path })
}

/// The path of a directory elsewhere, without a final slash.
fn path_of(directory: c_int, text: &mut [u8]) -> Option<&[u8]> {
    let (into, room) = (text.as_mut_ptr().expose_provenance(), text.len());
    let length = if directory == libc::AT_FDCWD {
        // SAFETY: there is room.
        unsafe { raw::system_call(libc::SYS_getcwd, [into, room, 0, 0, 0, 0]) - 1 }
    } else {
        let link = std::ffi::CString::new(format!("/proc/self/fd/{directory}")).ok()?;
        let link = link.as_ptr().expose_provenance();
        // SAFETY: as above.
        unsafe { raw::system_call(libc::SYS_readlink, [link, into, room, 0, 0, 0]) }
    };
    let path = text.get(..usize::try_from(length).ok()?)?;
    (path.first() == Some(&b'/')).then(|| path.strip_suffix(b"/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::after_dots;

    #[test]
    fn dots_are_skipped_and_counted() {
        assert_eq!(after_dots(b"a/../b"), (&b"a/../b"[..], 0));
        assert_eq!(after_dots(b"./a"), (&b"a"[..], 0));
        assert_eq!(after_dots(b".././/../a/b"), (&b"a/b"[..], 2));
        assert_eq!(after_dots(b".."), (&b""[..], 1));
        assert_eq!(after_dots(b".a/b"), (&b".a/b"[..], 0));
        assert_eq!(after_dots(b""), (&b""[..], 0));
    }
}
