//! Directory entries as the kernel names them.

use std::ffi::{OsStr, OsString};

/// A name in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryAt<'n> {
    /// The kernel's number of the directory.
    pub(crate) parent: u64,
    pub(crate) name: &'n OsStr,
}

/// The same, to be kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KnownEntry {
    parent: u64,
    name: Box<OsStr>,
}

impl KnownEntry {
    pub(crate) fn at(&self) -> EntryAt<'_> {
        EntryAt { parent: self.parent, name: &self.name }
    }

    pub(crate) fn is(&self, at: EntryAt<'_>) -> bool {
        self.at() == at
    }
}

impl From<EntryAt<'_>> for KnownEntry {
    fn from(at: EntryAt<'_>) -> Self {
        Self { parent: at.parent, name: OsString::from(at.name).into_boxed_os_str() }
    }
}
