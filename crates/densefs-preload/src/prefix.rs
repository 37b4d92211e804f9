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
    text: UnsafeCell<[u8; PREFIX_MAX]>,
}

// SAFETY: the text is written once, before the length, and never changed after that.
unsafe impl Sync for Prefix {}

static PREFIX: Prefix = Prefix {
    length: AtomicU32::new(0),
    is_working_inside: AtomicBool::new(false),
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

/// The directory above the prefix.
pub(crate) fn parent() -> &'static [u8] {
    let prefix = get();
    match prefix.iter().rposition(|&byte| byte == b'/') {
        None | Some(0) => b"/",
        Some(end) => &prefix[..end],
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

/// What follows the prefix in an absolute path: a path in the arena; none if the path does not
/// begin with it.
///
/// # Safety
/// It must be a C string.
#[inline(always)]
pub(crate) unsafe fn strip(path: *const c_char) -> Option<*const c_char> {
    let prefix = get();
    let path = path.cast::<u8>();
    // The first byte is known to be a slash. Most other paths differ in the second one.
    let mut at = 1;
    while let Some(&byte) = prefix.get(at) {
        // SAFETY: all bytes before it were those of the prefix, so that the string has not ended.
        if unsafe { *path.add(at) } != byte {
            return None;
        }
        at += 1;
    }
    if at == 1 {
        return None;
    }
    // SAFETY: as above.
    match unsafe { *path.add(at) } {
        0 => Some(c"/".as_ptr()),
        // SAFETY: as above.
        b'/' => Some(unsafe { path.add(at) }.cast()),
        _ => None,
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
        assert_eq!(parent(), b"/mnt");
        assert_eq!(strip(c"/mnt/dense/a/b").as_deref(), Some(c"/a/b"));
        assert_eq!(strip(c"/mnt/dense").as_deref(), Some(c"/"));
        assert_eq!(strip(c"/mnt/dense/").as_deref(), Some(c"/"));
        assert_eq!(strip(c"/mnt/dense//a").as_deref(), Some(c"//a"));
        for outside in [c"/", c"/mnt", c"/mnt/dens", c"/mnt/dense1", c"/mnt/densE/a"] {
            assert_eq!(strip(outside), None, "{outside:?}");
        }
    }
}
