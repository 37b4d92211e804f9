//! Paths: how they come apart, and what a walk along one arrives at.

use super::{EntryName, PATH_MAX};
use crate::member::Node;
use crate::name::{self, NAME_MAX, word_of};

/// What a symbolic link at the end of a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// What it refers to.
    Yes,
    /// The link itself.
    No,
}

/// The last name of a path, and its directory, whether or not the name exists.
#[derive(Clone, Copy, Debug)]
pub struct LastName<'p> {
    /// The directory.
    pub directory: Node,
    /// The name; empty if the path is that of the root, or of the directory from which it starts.
    pub name: &'p [u8],
    /// Whether slashes follow, so that it must be a directory.
    pub is_directory: bool,
}

impl LastName<'_> {
    /// No name yet: what a walk fills in.
    #[inline(always)]
    #[must_use]
    pub fn unknown() -> Self {
        Self { directory: Node::NOWHERE, name: b"", is_directory: false }
    }

    /// The entry that has the name, or would have it.
    #[inline(always)]
    #[must_use]
    pub fn entry(&self) -> EntryName<'_> {
        EntryName { directory: &self.directory, name: self.name }
    }
}

/// How far a walk got: an inode, and the directory in which it was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    pub(crate) directory: Node,
    pub(crate) node: Node,
}

/// A name at the end of a symbolic link's target that does not exist, so that a file can be created
/// there.
#[derive(Debug)]
pub(crate) struct MissingName {
    pub(crate) directory: Option<Node>,
    name: [u8; NAME_MAX],
    length: usize,
}

impl MissingName {
    pub(crate) fn new() -> Self {
        Self { directory: None, name: [0; NAME_MAX], length: 0 }
    }

    pub(crate) fn name(&self) -> &[u8] {
        self.name.get(..self.length).unwrap_or_default()
    }

    pub(super) fn note(&mut self, directory: Node, name: &[u8]) {
        if let Some(into) = self.name.get_mut(..name.len()) {
            into.copy_from_slice(name);
            (self.directory, self.length) = (Some(directory), name.len());
        }
    }
}

/// Splits off the first name of a path: the name, empty if there is none, and the rest.
#[inline(always)]
pub(super) fn split_first(path: &[u8]) -> (&[u8], &[u8]) {
    let mut path = path;
    while let [b'/', rest @ ..] = path {
        path = rest;
    }
    path.split_at(first_slash(path))
}

/// Whether a path is a single name, which needs no walk.
#[inline(always)]
#[must_use]
pub fn is_only_name(path: &[u8]) -> bool {
    !path.is_empty() && first_slash(path) == path.len() && path.len() <= PATH_MAX
}

/// The position of the first slash; the length if there is none.
#[inline(always)]
pub(super) fn first_slash(path: &[u8]) -> usize {
    let (mut at, mut rest) = (0, path);
    while let Some((eight, behind)) = rest.split_first_chunk() {
        if let Some(slash) = name::first_slash(u64::from_le_bytes(*eight)) {
            return at + slash;
        }
        (at, rest) = (at + 8, behind);
    }
    // The zeros after the end are not slashes.
    name::first_slash(word_of(rest)).map_or(path.len(), |slash| at + slash)
}

/// The position of the last slash.
#[inline(always)]
pub(super) fn last_slash(path: &[u8]) -> Option<usize> {
    path.iter().rposition(|&byte| byte == b'/')
}

/// Splits off the last name of a path: what comes before, the name, and whether slashes follow it.
#[inline]
pub(super) fn split_last(path: &[u8]) -> (&[u8], &[u8], bool) {
    let to = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    let (whole, slashes) = path.split_at(to);
    let from = whole.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let (before, name) = whole.split_at(from);
    (before, name, !slashes.is_empty())
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::{split_first, split_last};

    #[test]
    fn paths_come_apart_whatever_their_slashes() {
        assert_eq!(split_first(b"//a/b/"), (&b"a"[..], &b"/b/"[..]));
        assert_eq!(split_first(b"//"), (&b""[..], &b""[..]));
        for length in 0..30 {
            let name = vec![b'.'; length];
            assert_eq!(split_first(&name), (&name[..], &b""[..]));
            for rest in [&b"/"[..], b"/b", b"/0/0/0/0/0/0/0/0"] {
                let path = [&name[..], rest].concat();
                assert!(length == 0 || split_first(&path) == (&name[..], rest), "{length}");
            }
        }
        assert_eq!(split_last(b"/a//b//"), (&b"/a//"[..], &b"b"[..], true));
        assert_eq!(split_last(b"b"), (&b""[..], &b"b"[..], false));
        assert_eq!(split_last(b"///"), (&b""[..], &b""[..], true));
    }
}
