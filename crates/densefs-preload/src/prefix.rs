//! Where programs find the arena: the prefix of its paths.
#![expect(unsafe_code, reason = "strings of C programs are read, and a value is set once")]

use std::cell::UnsafeCell;
use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The longest prefix, in bytes.
pub(crate) const PREFIX_MAX: usize = 255;

/// The prefix, and what else is needed to tell where a path leads, from the start of one cache line
/// on.
#[repr(C, align(64))]
struct Prefix {
    /// 0 until it is set: then no path leads inside.
    length: AtomicU32,
    /// Whether the working directory is in the arena.
    is_working_inside: AtomicBool,
    /// Whether calls do not take the short way of [`crate::symbols`].
    take_the_long_way: AtomicBool,
    text: UnsafeCell<[u8; PREFIX_MAX]>,
}

// SAFETY: the text is written once, before the length, and never changed after that.
unsafe impl Sync for Prefix {}

static PREFIX: Prefix = Prefix {
    length: AtomicU32::new(0),
    is_working_inside: AtomicBool::new(false),
    take_the_long_way: AtomicBool::new(false),
    text: UnsafeCell::new([0; PREFIX_MAX]),
};

/// Sets the prefix: absolute, without a final slash; once, while the program has one thread.
/// Returns whether it is one.
pub(crate) fn set(prefix: &[u8]) -> bool {
    let is_one = prefix.len() > 1
        && prefix.len() <= PREFIX_MAX
        && prefix.first() == Some(&b'/')
        && prefix.last() != Some(&b'/')
        && get().is_empty();
    if is_one {
        // SAFETY: as long as the length is 0, nobody reads it.
        unsafe { (&mut *PREFIX.text.get())[..prefix.len()].copy_from_slice(prefix) };
        PREFIX.length.store(u32::try_from(prefix.len()).unwrap_or(0), Ordering::Release);
    }
    is_one
}

/// The prefix; empty if it has not been set.
#[inline(always)]
pub(crate) fn get() -> &'static [u8] {
    let length = PREFIX.length.load(Ordering::Acquire) as usize;
    // SAFETY: up to its length, the text does not change any more.
    unsafe { (&*PREFIX.text.get()).get_unchecked(..length) }
}

/// The directory above the prefix, or above another of the directories above it.
pub(crate) fn parent(path: &'static [u8]) -> &'static [u8] {
    match path.iter().rposition(|&byte| byte == b'/') {
        None | Some(0) => b"/",
        Some(end) => &path[..end],
    }
}

/// Whether the working directory is in the arena.
#[inline(always)]
pub(crate) fn is_working_inside() -> bool {
    PREFIX.is_working_inside.load(Ordering::Relaxed)
}

/// Notes whether the working directory is in the arena.
pub(crate) fn set_working_inside(is_inside: bool) {
    PREFIX.is_working_inside.store(is_inside, Ordering::Relaxed);
}

/// Whether calls do not take the short way of [`crate::symbols`].
#[inline(always)]
pub(crate) fn take_the_long_way() -> bool {
    PREFIX.take_the_long_way.load(Ordering::Relaxed)
}

/// Has all calls take the long way.
pub(crate) fn close_the_short_way() {
    PREFIX.take_the_long_way.store(true, Ordering::Relaxed);
}

/// What follows the prefix in an absolute path: a path in the arena; none if the path does not
/// begin with it.
///
/// # Safety
/// It must be a C string.
#[inline(always)]
pub(crate) unsafe fn strip(path: *const c_char) -> Option<*const c_char> {
    // SAFETY: guaranteed by the caller.
    let at = unsafe { common(path) };
    if at <= 1 || at < get().len() {
        return None;
    }
    // SAFETY: all bytes before it were those of the prefix, so that the string has not ended.
    let rest = unsafe { path.add(at) };
    // SAFETY: as above.
    match unsafe { *rest }.cast_unsigned() {
        0 => Some(c"/".as_ptr()),
        b'/' => Some(rest),
        _ => None,
    }
}

/// How many bytes of an absolute path are those of the prefix.
///
/// # Safety
/// It must be a C string.
#[inline(always)]
unsafe fn common(path: *const c_char) -> usize {
    // The first byte is known to be a slash. Most other paths differ in the second one.
    let mut at = 1;
    // SAFETY: all bytes before it were those of the prefix, so that the string has not ended.
    while get().get(at).is_some_and(|&byte| unsafe { *path.add(at) }.cast_unsigned() == byte) {
        at += 1;
    }
    at
}

/// Whether an absolute path that does not begin with the prefix may spell it in another way: with
/// more slashes, or with dots.
///
/// # Safety
/// It must be a C string.
#[inline(always)]
pub(crate) unsafe fn may_be_spelled_by(path: *const c_char) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let at = common(path);
        // It has not ended before.
        let byte_at = |index: usize| (*path.add(index)).cast_unsigned();
        byte_at(at - 1) == b'/' && matches!(byte_at(at), b'/' | b'.')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_prefix_are_recognised() {
        assert!(!set(b"/") && !set(b"relative") && !set(b"/dense/") && !set(b""));
        // SAFETY: these are C strings.
        let strip = |path: &std::ffi::CStr| unsafe {
            strip(path.as_ptr()).map(|rest| std::ffi::CStr::from_ptr(rest).to_owned())
        };
        assert_eq!(strip(c"/dense/a"), None);
        assert!(set(b"/mnt/dense"));
        assert!(!set(b"/other"));
        assert_eq!((parent(get()), parent(parent(get()))), (&b"/mnt"[..], &b"/"[..]));
        assert_eq!(strip(c"/mnt/dense/a/b").as_deref(), Some(c"/a/b"));
        assert_eq!(strip(c"/mnt/dense").as_deref(), Some(c"/"));
        assert_eq!(strip(c"/mnt/dense/").as_deref(), Some(c"/"));
        assert_eq!(strip(c"/mnt/dense//a").as_deref(), Some(c"//a"));
        for outside in [c"/", c"/mnt", c"/mnt/dens", c"/mnt/dense1", c"/mnt/densE/a"] {
            assert_eq!(strip(outside), None, "{outside:?}");
        }
        // SAFETY: these are C strings.
        let may_be = |path: &std::ffi::CStr| unsafe { may_be_spelled_by(path.as_ptr()) };
        for loose in [c"//mnt/dense", c"/./mnt", c"/mnt//dense", c"/mnt/./dense", c"/mnt/../mnt"] {
            assert!(may_be(loose), "{loose:?}");
        }
        for other in [c"/", c"/mnt", c"/mnt/", c"/mnt/dense.a", c"/mn//t", c"/usr/./a"] {
            assert!(!may_be(other), "{other:?}");
        }
    }
}
