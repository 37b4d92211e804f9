//! Archives for the kernel's initramfs, in the "new ASCII" format of cpio.
//!
//! The format is that of the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.
//! Times are fixed, entries sorted and inodes numbered in order, so the same files give the same
//! bytes.

use std::collections::BTreeMap;
use std::io::Write;

/// Modification time of everything: the first second of 2020, UTC.
const MODIFIED: u32 = 1_577_836_800;
const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_777;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ArchiveEntry {
    Directory,
    /// A file that everyone may read and execute.
    File(Vec<u8>),
    Link(String),
}

/// Files by their path from the root, without a leading slash.
#[derive(Clone, Debug, Default)]
pub(crate) struct Archive {
    entries: BTreeMap<String, ArchiveEntry>,
}

impl Archive {
    /// Adds a directory and its parents.
    pub(crate) fn directory(&mut self, path: &str) {
        self.entry(path, ArchiveEntry::Directory);
    }

    /// Adds a file and its parent directories.
    pub(crate) fn file(&mut self, path: &str, content: Vec<u8>) {
        self.entry(path, ArchiveEntry::File(content));
    }

    /// Adds a symbolic link and its parent directories, unless the path is taken.
    pub(crate) fn link(&mut self, path: &str, to: &str) {
        if !self.has(path) {
            self.entry(path, ArchiveEntry::Link(to.to_owned()));
        }
    }

    /// Whether there is anything at a path.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.entries.contains_key(path.trim_start_matches('/'))
    }

    fn entry(&mut self, path: &str, entry: ArchiveEntry) {
        let path = path.trim_start_matches('/');
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        for directory in above {
            self.entries.entry(directory.to_owned()).or_insert(ArchiveEntry::Directory);
        }
        self.entries.insert(path.to_owned(), entry);
    }

    /// The archive's bytes. A file of 4 GiB or more fits neither the format nor a guest.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (inode, (path, entry)) in (1..).zip(&self.entries) {
            let (mode, content) = match entry {
                ArchiveEntry::Directory => (DIRECTORY, &[][..]),
                ArchiveEntry::File(content) => (PROGRAM, content.as_slice()),
                ArchiveEntry::Link(to) => (LINK, to.as_bytes()),
            };
            append(&mut bytes, &Head { inode, mode, path }, content);
        }
        append(&mut bytes, &Head { inode: 0, mode: 0, path: "TRAILER!!!" }, &[]);
        bytes
    }
}

struct Head<'a> {
    inode: u32,
    mode: u32,
    path: &'a str,
}

fn append(bytes: &mut Vec<u8>, head: &Head<'_>, content: &[u8]) {
    let Head { inode, mode, path } = *head;
    let links = if mode == DIRECTORY { 2 } else { 1 };
    let (size, name) = (content.len(), path.len() + 1);
    let _infallible = write!(
        bytes,
        "070701{inode:08x}{mode:08x}{:08x}{:08x}{links:08x}{MODIFIED:08x}{size:08x}\
         {:08x}{:08x}{:08x}{:08x}{name:08x}{:08x}{path}\0",
        0, 0, 0, 0, 0, 0, 0
    );
    pad(bytes);
    bytes.extend(content);
    pad(bytes);
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::Archive;

    #[test]
    fn an_archive_is_what_the_format_says() {
        let mut archive = Archive::default();
        archive.file("/a/b", b"hello".to_vec());
        let bytes = archive.bytes();
        let head = "07070100000001000041ed0000000000000000000000025e0be10000000000\
                    0000000000000000000000000000000000000002"
            .to_owned()
            + "00000000a\0";
        assert_eq!(std::str::from_utf8(&bytes[..head.len()]).unwrap(), head);
        assert_eq!(bytes.len() % 4, 0);
        assert!(bytes.windows(5).any(|window| window == b"hello"));
    }

    #[test]
    fn the_order_of_adding_makes_no_difference() {
        let mut first = Archive::default();
        first.file("b", vec![1]);
        first.link("a/x", "b");
        let mut second = Archive::default();
        second.link("/a/x", "b");
        second.directory("a");
        second.file("b", vec![1]);
        assert_eq!(first.bytes(), second.bytes());
    }
}
