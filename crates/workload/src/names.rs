//! Names of directory entries, all of the same length within a directory set, and the paths to
//! them, written into a reused buffer.
//!
//! The first letter says what an entry is, so a listing alone shows what does not belong in a
//! directory set and how to put it right. Eleven hexadecimal digits follow. A longer name has more
//! leading zeros; a shorter one has fewer digits, in base 36.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::arithmetic::index;

const DIGITS: usize = 11;
/// Bytes of the shortest name that can represent every number: a letter and the digits.
pub(crate) const NAME_BYTES: usize = 1 + DIGITS;
/// Bytes of the shortest allowed name. It has 1.7 million numbers, so many more than a session uses
/// that two sessions in the same directories hardly ever collide.
pub(crate) const NAME_BYTES_MIN: usize = 5;
/// Bytes of the longest possible file name (`NAME_MAX`, limits.h).
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// Missing names per entry: enough that looking up each of them once takes a while.
pub const MISSING_PER_ENTRY: u64 = 4;
/// The name of every directory on the way to a directory of the set.
pub(crate) const STEP_NAME: &str = "p";

/// The largest number in a name of full length, plus one.
pub(crate) const NUMBERS: u64 = 1 << (4 * DIGITS);
/// How many names each thread has to itself with the most threads and names of full length.
pub(crate) const NUMBERS_PER_THREAD: u64 = 1 << 32;

const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// What an entry is, according to its first letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum NameKind {
    /// One of the N entries of a directory set: a file.
    Entry = b'e',
    /// A name that no operation ever creates.
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

impl NameKind {
    /// What the first letter of a listed name says; `None` if it is not one of our names of this
    /// length.
    pub(crate) fn parse(bytes: &[u8], name_bytes: usize) -> Option<Self> {
        let kinds = [
            Self::Entry,
            Self::Missing,
            Self::Renamed,
            Self::File,
            Self::Link,
            Self::Symlink,
            Self::Directory,
        ];
        let kinds_of_digits = if name_bytes < NAME_BYTES { LETTERS.len() } else { 16 };
        let is_digit = |byte: &u8| LETTERS[..kinds_of_digits].contains(byte);
        let ours = bytes.len() == name_bytes && bytes[1..].iter().all(is_digit);
        kinds.into_iter().find(|kind| ours && bytes[0] == *kind as u8)
    }
}

/// What the names of a directory set have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameForm {
    /// Bytes of each name, at least [`NAME_BYTES_MIN`].
    pub(crate) name_bytes: usize,
    /// The number of directories in the path to a name.
    pub(crate) steps: usize,
}

impl NameForm {
    /// How many different numbers the names can represent.
    pub(crate) fn numbers(self) -> u64 {
        if self.name_bytes >= NAME_BYTES {
            return NUMBERS;
        }
        let digits = self.name_bytes.saturating_sub(1);
        (0..digits).fold(1, |numbers, _| numbers * LETTERS.len() as u64).min(NUMBERS)
    }
}

/// One name and the path to it, with its NUL. Changing the number takes no allocation and no
/// formatting machinery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryName {
    path: Vec<u8>,
    /// Where the name itself begins in the path.
    name_at: usize,
}

impl EntryName {
    pub(crate) fn new(form: NameForm) -> Self {
        let step = format!("{STEP_NAME}/");
        let mut path = step.repeat(form.steps).into_bytes();
        let name_at = path.len();
        path.resize(name_at + form.name_bytes, b'0');
        path.push(0);
        let mut name = Self { path, name_at };
        name.set(NameKind::Missing, 0);
        name
    }

    /// A name from a listing.
    pub(crate) fn listed(name: &[u8]) -> Self {
        Self { path: [name, b"\0"].concat(), name_at: 0 }
    }

    /// The name of another kind with the same number.
    pub(crate) fn with_kind(&self, kind: NameKind) -> Self {
        let mut other = self.clone();
        other.path[self.name_at] = kind as u8;
        other
    }

    #[inline]
    pub(crate) fn set(&mut self, kind: NameKind, number: u64) {
        self.path[self.name_at] = kind as u8;
        let end = self.path.len() - 1;
        let mut rest = number;
        if end - self.name_at < NAME_BYTES {
            for digit in self.path[self.name_at + 1..end].iter_mut().rev() {
                *digit = LETTERS[index(rest % LETTERS.len() as u64)];
                rest /= LETTERS.len() as u64;
            }
            return;
        }
        for digit in self.path[end - DIGITS..end].iter_mut().rev() {
            *digit = LETTERS[(rest & 0xf) as usize];
            rest >>= 4;
        }
    }

    /// The path, relative to the directory where it starts.
    #[inline]
    pub(crate) fn as_c_str(&self) -> &CStr {
        Self::c_str(&self.path)
    }

    /// The name alone.
    #[inline]
    pub(crate) fn name(&self) -> &CStr {
        Self::c_str(&self.path[self.name_at..])
    }

    /// The path, for callers that do not need the NUL.
    #[inline]
    pub(crate) fn as_path(&self) -> &Path {
        Self::path(&self.path)
    }

    /// The name alone, for callers that do not need the NUL.
    #[inline]
    pub(crate) fn name_as_path(&self) -> &Path {
        Self::path(&self.path[self.name_at..])
    }

    #[inline]
    fn path(bytes: &[u8]) -> &Path {
        Path::new(OsStr::from_bytes(&bytes[..bytes.len() - 1]))
    }

    #[inline]
    fn c_str(bytes: &[u8]) -> &CStr {
        CStr::from_bytes_with_nul(bytes)
            .expect("letters and digits hold no NUL and the last byte is one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: NameForm = NameForm { name_bytes: NAME_BYTES, steps: 0 };

    #[test]
    fn names_are_a_letter_and_eleven_digits() {
        let mut name = EntryName::new(USUAL);
        name.set(NameKind::Entry, 0);
        assert_eq!(name.as_c_str(), c"e00000000000");
        name.set(NameKind::Renamed, 0x0012_3456_789a);
        assert_eq!(name.as_c_str(), c"r0123456789a");
        name.set(NameKind::File, NUMBERS - 1);
        assert_eq!(name.as_c_str(), c"ffffffffffff");
    }

    #[test]
    fn shorter_names_have_digits_of_36_kinds_and_hold_fewer_numbers() {
        let form = NameForm { name_bytes: NAME_BYTES_MIN, steps: 1 };
        assert_eq!(form.numbers(), 36 * 36 * 36 * 36);
        let mut name = EntryName::new(form);
        name.set(NameKind::Entry, 0);
        assert_eq!(name.as_c_str(), c"p/e0000");
        name.set(NameKind::Link, 35 * 36 + 10);
        assert_eq!(name.name(), c"l00za");
        name.set(NameKind::File, form.numbers() - 1);
        assert_eq!(name.name(), c"fzzzz");
        assert_eq!(USUAL.numbers(), NUMBERS);
        let most = NameForm { name_bytes: NAME_BYTES - 1, steps: 0 };
        assert_eq!(most.numbers(), NUMBERS);
    }

    #[test]
    fn longer_names_have_more_zeros_and_a_path_leads_through_its_steps() {
        let mut name = EntryName::new(NameForm { name_bytes: 16, steps: 2 });
        name.set(NameKind::Entry, 0xab);
        assert_eq!(name.as_c_str(), c"p/p/e0000000000000ab");
        assert_eq!(name.name(), c"e0000000000000ab");
        let longest = EntryName::new(NameForm { name_bytes: NAME_BYTES_MAX, steps: 0 });
        assert_eq!(longest.name().to_bytes().len(), 255);
    }

    #[test]
    fn kinds_are_read_back_and_foreign_names_are_not_ours() {
        for (kind, name_bytes) in [
            (NameKind::Entry, 12),
            (NameKind::Renamed, 5),
            (NameKind::Symlink, 64),
            (NameKind::Directory, 255),
        ] {
            let mut name = EntryName::new(NameForm { name_bytes, steps: 1 });
            name.set(kind, 33);
            let bytes = name.name().to_bytes();
            assert_eq!(NameKind::parse(bytes, name_bytes), Some(kind));
            assert_eq!(NameKind::parse(bytes, name_bytes + 1), None);
        }
        for foreign in [".", "..", "lost+found", "e0", "x00000000000", "eggs and milk"] {
            assert_eq!(NameKind::parse(foreign.as_bytes(), NAME_BYTES), None);
        }
    }
}
