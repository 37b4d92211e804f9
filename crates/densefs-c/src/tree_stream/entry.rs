//! Entries: what a stream returns.

use std::ffi::{CStr, OsStr, c_char, c_int, c_long, c_short, c_ushort, c_void};
use std::mem::offset_of;
use std::ops::{Deref, DerefMut};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

use densefs_process::Stat;

use crate::answer::write_stat;

/// Instructions, which `fts_set` takes.
pub(super) const AGAIN: c_ushort = 1;
pub(super) const FOLLOW: c_ushort = 2;
pub(super) const NO_INSTRUCTION: c_ushort = 3;
pub(super) const SKIP: c_ushort = 4;

/// What an entry is: `fts_info`.
pub(super) mod kind {
    use std::ffi::c_ushort;

    pub(in super::super) const DIRECTORY: c_ushort = 1;
    pub(in super::super) const CYCLE: c_ushort = 2;
    pub(in super::super) const OTHER: c_ushort = 3;
    pub(in super::super) const UNREADABLE: c_ushort = 4;
    pub(in super::super) const DOT: c_ushort = 5;
    pub(in super::super) const DIRECTORY_AFTER: c_ushort = 6;
    pub(in super::super) const ERROR: c_ushort = 7;
    pub(in super::super) const FILE: c_ushort = 8;
    pub(in super::super) const START: c_ushort = 9;
    pub(in super::super) const WITHOUT_STAT: c_ushort = 10;
    pub(in super::super) const UNASKED: c_ushort = 11;
    pub(in super::super) const LINK: c_ushort = 12;
    pub(in super::super) const DANGLING_LINK: c_ushort = 13;
}

/// The level of the arguments, and of what is above them.
pub(super) const ROOT: c_short = 0;
pub(super) const ABOVE: c_short = -1;

/// `FTSENT`.
#[repr(C)]
pub struct Entry {
    pub(super) cycle: Option<Node>,
    pub(super) parent: Option<Node>,
    pub(super) next: Option<Node>,
    pub(super) number: c_long,
    pub(super) pointer: *mut c_void,
    pub(super) access_path: *mut c_char,
    pub(super) path: *mut c_char,
    pub(super) errno: c_int,
    pub(super) descriptor: c_int,
    pub(super) path_length: c_ushort,
    pub(super) name_length: c_ushort,
    pub(super) ino: libc::ino_t,
    pub(super) device: libc::dev_t,
    pub(super) links: libc::nlink_t,
    pub(super) level: c_short,
    pub(super) kind: c_ushort,
    pub(super) flags: c_ushort,
    pub(super) instruction: c_ushort,
    pub(super) stat: *mut libc::stat,
    /// As many bytes as the name has, and a zero.
    pub(super) name: [c_char; 1],
}

/// What is allocated for an entry.
#[repr(C)]
struct Allocated {
    stat: libc::stat,
    entry: Entry,
}

/// An entry, which nobody has freed.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Node(NonNull<Entry>);

impl Deref for Node {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        // SAFETY: it is not freed, and the caller of the library uses no stream in two threads.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for Node {
    fn deref_mut(&mut self) -> &mut Entry {
        // SAFETY: as above.
        unsafe { self.0.as_mut() }
    }
}

impl Node {
    /// An entry with this name; none if there is no memory.
    pub(super) fn new(name: &[u8]) -> Option<Self> {
        let length = c_ushort::try_from(name.len()).ok()?;
        // SAFETY: all zeros is an entry without anything.
        let made = unsafe { libc::calloc(1, size_of::<Allocated>() + name.len()) };
        let made = NonNull::new(made.cast::<Allocated>())?;
        // SAFETY: there is room for an entry with this name, which ends in a zero.
        let mut node = unsafe {
            let node = Self(NonNull::new_unchecked(&raw mut (*made.as_ptr()).entry));
            node.name_bytes().copy_from_nonoverlapping(name.as_ptr(), name.len());
            node
        };
        node.name_length = length;
        node.instruction = NO_INSTRUCTION;
        Some(node)
    }

    /// Where its attributes go.
    pub(super) fn room_for_stat(self) -> *mut libc::stat {
        // SAFETY: this is where they are in what was allocated.
        unsafe { self.0.as_ptr().byte_sub(offset_of!(Allocated, entry)).cast() }
    }

    /// Writes its attributes, if there is room for them, or zeros.
    pub(super) fn write_stat(self, stat: Option<&Stat>) {
        if self.stat.is_null() {
            return;
        }
        // SAFETY: it is null or `room_for_stat`.
        unsafe {
            match stat {
                Some(stat) => write_stat(stat, self.stat),
                None => self.stat.write_bytes(0, 1),
            }
        }
    }

    /// Keeps only the end of its name.
    pub(super) fn shorten_name(&mut self, end: &[u8]) {
        // SAFETY: it is shorter than the name, and a zero follows.
        unsafe {
            self.name_bytes().copy_from_nonoverlapping(end.as_ptr(), end.len());
            self.name_bytes().add(end.len()).write(0);
        }
        self.name_length = c_ushort::try_from(end.len()).unwrap_or(0);
    }

    /// As a program gets it.
    pub(super) fn as_ptr(self) -> *mut Entry {
        self.0.as_ptr()
    }

    pub(super) fn name_bytes(self) -> *mut u8 {
        // SAFETY: it is within the entry.
        unsafe { (&raw mut (*self.0.as_ptr()).name).cast() }
    }

    pub(super) fn name(&self) -> &[u8] {
        // SAFETY: the name has so many bytes.
        unsafe { std::slice::from_raw_parts(self.name_bytes(), self.name_length.into()) }
    }

    pub(super) fn is_dot(&self) -> bool {
        matches!(self.name(), b"." | b"..")
    }

    /// The path by which calls reach it.
    pub(super) fn access_path(&self) -> &Path {
        // SAFETY: whoever has made the entry has set it to a C string.
        Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(self.access_path) }.to_bytes()))
    }

    pub(super) fn free(self) {
        // SAFETY: it is what `new` allocated, which begins with the attributes.
        unsafe { libc::free(self.room_for_stat().cast()) };
    }
}

/// Frees a list.
pub(super) fn free_all(first: Option<Node>) {
    let mut rest = first;
    while let Some(node) = rest {
        rest = node.next;
        node.free();
    }
}
