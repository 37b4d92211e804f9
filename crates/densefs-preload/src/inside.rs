//! Paths in the arena, and where else paths may lead.

use std::ffi::{c_char, c_int};

/// Where a path leads, as far as its text says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Elsewhere. The kernel finds it, also if it goes on into the arena by a detour, such as a
    /// symbolic link that is elsewhere: the arena is mounted at the prefix.
    Outside,
    /// Into the arena.
    Inside(Inside),
    /// Nowhere: it is relative to a number that the program has closed.
    Closed,
    /// To a file that is open with this descriptor of the arena, by a name that the system gives to
    /// open files.
    OpenFile(c_int),
}

/// A path in the arena, as arguments of the library's calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inside {
    /// The arena's descriptor of the directory where a relative path begins; `AT_FDCWD` for the
    /// working directory.
    pub(crate) directory: c_int,
    pub(crate) path: *const c_char,
}
