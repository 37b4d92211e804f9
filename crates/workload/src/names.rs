//! Names of directory entries: fixed length, written into a reused buffer.
//!
//! The first letter says what an entry is, so that a listing alone tells what does not belong to a
//! directory set and how to put it right.

use std::ffi::CStr;

const DIGITS: usize = 11;
const LENGTH: usize = 1 + DIGITS;

/// The largest number a name can hold, plus one.
pub(crate) const NUMBERS: u64 = 1 << (4 * DIGITS);
/// How many names one thread has for itself.
pub(crate) const NUMBERS_PER_THREAD: u64 = 1 << 32;

/// What an entry is, told by its first letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// One of the N entries of a directory set: an empty file.
    Entry = b'e',
    /// A name that no operation ever gives to anything.
    Missing = b'm',
    /// An entry, renamed.
    Renamed = b'r',
    /// A file made by create, or by prepare for unlink.
    File = b'f',
    /// A hard link to an entry.
    Link = b'l',
    /// A symbolic link to an entry.
    Symlink = b's',
    /// A directory made by mkdir, or by prepare for rmdir.
    Directory = b'd',
}

impl Kind {
    /// What the first letter of a listed name says; `None` if no name of ours begins so.
    pub(crate) fn of(name: &CStr) -> Option<Self> {
        let kinds = [
            Self::Entry,
            Self::Missing,
            Self::Renamed,
            Self::File,
            Self::Link,
            Self::Symlink,
            Self::Directory,
        ];
        let bytes = name.to_bytes();
        let ours = bytes.len() == LENGTH && bytes[1..].iter().all(u8::is_ascii_hexdigit);
        kinds.into_iter().find(|kind| ours && bytes[0] == *kind as u8)
    }
}

/// One name, its NUL included. Writing a name costs no allocation and no formatting machinery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryName {
    bytes: [u8; LENGTH + 1],
}

impl EntryName {
    #[inline]
    pub(crate) fn new(kind: Kind, number: u64) -> Self {
        let mut name = Self { bytes: [b'0'; LENGTH + 1] };
        name.bytes[LENGTH] = 0;
        name.set(kind, number);
        name
    }

    #[inline]
    pub(crate) fn set(&mut self, kind: Kind, number: u64) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        self.bytes[0] = kind as u8;
        let mut rest = number;
        for digit in self.bytes[1..LENGTH].iter_mut().rev() {
            *digit = HEX[(rest & 0xf) as usize];
            rest >>= 4;
        }
    }

    #[inline]
    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.bytes)
            .expect("letters and digits hold no NUL and the last byte is one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_letter_and_eleven_digits() {
        let mut name = EntryName::new(Kind::Entry, 0);
        assert_eq!(name.as_c_str(), c"e00000000000");
        name.set(Kind::Renamed, 0x0012_3456_789a);
        assert_eq!(name.as_c_str(), c"r0123456789a");
        name.set(Kind::File, NUMBERS - 1);
        assert_eq!(name.as_c_str(), c"ffffffffffff");
    }

    #[test]
    fn kinds_are_read_back_and_foreign_names_are_not_ours() {
        for kind in [Kind::Entry, Kind::Renamed, Kind::Symlink, Kind::Directory] {
            assert_eq!(Kind::of(EntryName::new(kind, 77).as_c_str()), Some(kind));
        }
        for foreign in [c".", c"..", c"lost+found", c"e0", c"x00000000000", c"eggs and milk"] {
            assert_eq!(Kind::of(foreign), None);
        }
    }
}
