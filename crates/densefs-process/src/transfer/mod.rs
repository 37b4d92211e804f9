//! Copies whole trees into a DenseFS and out of it, with permissions, times, links, holes and
//! extended attributes.
//!
//! Holes are skipped, not read. What cannot be kept is counted. A copy out of a DenseFS continues
//! after what cannot be copied, even if the arena is damaged: each directory is entered once, and
//! no more is copied than an arena of that size can hold.

mod attributes;
mod export;
mod import;
mod pieces;

use std::io;
use std::path::{Path, PathBuf};

use densefs::Errno;

/// What has been copied, and what has not.
#[derive(Debug, Default)]
pub struct CopyTotals {
    /// Directories, except the one at the top.
    pub directories: u64,
    /// Regular files.
    pub files: u64,
    /// Symbolic links, fifos, sockets and devices.
    pub others: u64,
    /// Bytes of regular files, including holes.
    pub bytes: u64,
    /// Devices that could not be made, as only root may.
    pub devices: Lost,
    /// Extended attributes that could not be kept.
    pub attributes: Lost,
    /// Files whose times could not be kept: an arena has none before 1677 or after 2262.
    pub times: Lost,
    /// What else could not be copied, or only in part.
    pub failures: Failures,
}

/// What a copy lacks of one kind: how many there are, and one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// How many there are.
    pub count: u64,
    /// The first one: where it was, what it was, or why it could not be kept.
    pub first: String,
}

impl Lost {
    fn add(&mut self, one: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = one();
        }
        self.count += 1;
    }
}

/// Files that could not be copied.
#[derive(Debug, Default)]
pub struct Failures {
    /// How many there are.
    pub count: u64,
    /// The first ones.
    pub first: Vec<CopyError>,
}

impl Failures {
    /// How many are kept in full.
    const KEPT: usize = 10;

    fn add(&mut self, why: CopyError) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(why);
        }
    }
}

/// How far a copy has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Files, directories and others.
    pub inodes: u64,
    /// Bytes of content, without holes.
    pub bytes: u64,
}

/// Is told how far a copy has come.
pub trait Watch {
    /// Whether to count beforehand how much there is to copy.
    fn wants_total(&self) -> bool;

    /// How much there will be to copy, about.
    fn expect(&mut self, all: Copied);

    /// How much has been copied.
    fn copied(&mut self, so_far: Copied);
}

/// Nobody wants to know.
impl Watch for () {
    fn wants_total(&self) -> bool {
        false
    }

    fn expect(&mut self, _all: Copied) {}

    fn copied(&mut self, _so_far: Copied) {}
}

/// A copy's count of what it has done.
struct Tally<'w> {
    watch: &'w mut dyn Watch,
    so_far: Copied,
}

impl<'w> Tally<'w> {
    /// Nothing has been copied yet. How much there is, `count` finds out if somebody wants to know.
    fn new(watch: &'w mut dyn Watch, count: impl FnOnce() -> Copied) -> Self {
        if watch.wants_total() {
            watch.expect(count());
        }
        Self { watch, so_far: Copied::default() }
    }

    fn add_inode(&mut self) {
        self.so_far.inodes += 1;
        self.watch.copied(self.so_far);
    }

    fn add_bytes(&mut self, bytes: usize) {
        self.so_far.bytes += bytes as u64;
        self.watch.copied(self.so_far);
    }
}

/// Why a tree was not copied, or only in part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// A failure outside of the DenseFS.
    #[error("{path}: {why}")]
    Outside {
        /// The file.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
    /// A failure inside the DenseFS.
    #[error("in the DenseFS, /{path}: {why}")]
    Inside {
        /// The file, relative to the root.
        path: PathBuf,
        /// Why.
        why: Errno,
    },
    /// The DenseFS is damaged.
    #[error("in the DenseFS, /{path}: {what}")]
    Damaged {
        /// The file, relative to the root.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// A file is larger than the file system takes that it is copied to.
    #[error(
        "{path}: its {bytes} bytes are more than a file can have there; export to another file \
         system"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// The tree would be mixed with another.
    #[error("{path} is not empty; give a new directory, or an empty one")]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
}

impl CopyError {
    /// Whether nothing more can be copied after this.
    fn is_final(&self) -> bool {
        const FINAL: [i32; 3] = [libc::ENOSPC, libc::EDQUOT, libc::EROFS];
        matches!(self, Self::Outside { why, .. }
            if why.raw_os_error().is_some_and(|errno| FINAL.contains(&errno)))
    }
}

fn outside(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    move |why| CopyError::Outside { path: path.to_owned(), why }
}

fn inside(path: &Path) -> impl FnOnce(Errno) -> CopyError {
    move |why| CopyError::Inside { path: path.to_owned(), why }
}

fn damaged(path: &Path, what: &'static str) -> CopyError {
    CopyError::Damaged { path: path.to_owned(), what }
}

/// The path in a DenseFS of a path relative to its root.
fn at(path: &Path) -> PathBuf {
    Path::new("/").join(path)
}
