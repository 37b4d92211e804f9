//! The files of one job: their names, how they are made, opened and closed.

mod by_name;
mod layout;
mod names;
mod open;
mod setup;
mod table;

pub(crate) use by_name::remove;
pub(crate) use layout::LayoutContent;
pub(crate) use names::in_directory;
pub use names::paths;
pub(crate) use open::{Opening, open_to_size};
pub(crate) use setup::{SetUp, SetUpError, found, present, set_up};
pub(crate) use table::{Change, Table};

use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::engines::OpenFile;
use crate::pages::PageCounts;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Regular,
    BlockDevice,
    CharacterDevice,
    Pipe,
}

/// A file of a job.
#[derive(Debug)]
pub(crate) struct JobFile {
    pub(crate) path: PathBuf,
    pub(crate) kind: FileKind,
    /// How large it is; `None` where that cannot be known.
    pub(crate) bytes: Option<u64>,
    /// Where the job's part of it begins.
    pub(crate) offset: u64,
    /// How large that part is.
    pub(crate) io_bytes: u64,
    descriptor: Option<OwnedFd>,
    /// Engines that need no files have them open without a descriptor.
    is_open: bool,
    /// Operations that use it, and one while it is open and not about to be closed.
    pub(crate) users: u32,
    /// To be closed as soon as no operation uses it.
    pub(crate) is_closing: bool,
    /// From where to where it was written since it was last made durable.
    pub(crate) written: Option<(u64, u64)>,
    /// Pages in memory when it was first opened, and when it was last closed.
    pub(crate) pages: PageCounts,
}

/// Why something could not be done to a file.
#[derive(Debug)]
pub(crate) struct FileError {
    pub(crate) path: PathBuf,
    pub(crate) what: &'static str,
    pub(crate) source: io::Error,
}

impl FileError {
    pub(crate) fn new(path: &Path, what: &'static str, source: impl Into<io::Error>) -> Self {
        Self { path: path.to_owned(), what, source: source.into() }
    }
}

impl JobFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        let kind = kind_of(&path);
        Self {
            path,
            kind,
            bytes: Some(0),
            offset: 0,
            io_bytes: 0,
            descriptor: None,
            is_open: false,
            users: 0,
            is_closing: false,
            written: None,
            pages: PageCounts::default(),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    /// What engines are told about it.
    pub(crate) fn open_file(&self, index: usize) -> OpenFile<'_> {
        OpenFile {
            index,
            descriptor: self.descriptor(),
            bytes: self.bytes.unwrap_or(self.offset + self.io_bytes),
        }
    }

    /// Remembers that bytes were written.
    pub(crate) fn note_written(&mut self, from: u64, to: u64) {
        let (first, last) = self.written.unwrap_or((from, to));
        self.written = Some((first.min(from), last.max(to)));
    }
}

fn kind_of(path: &Path) -> FileKind {
    use std::os::unix::fs::FileTypeExt;
    if path.as_os_str() == "-" {
        return FileKind::Pipe;
    }
    let Ok(metadata) = path.metadata() else { return FileKind::Regular };
    let kind = metadata.file_type();
    if kind.is_block_device() {
        FileKind::BlockDevice
    } else if kind.is_char_device() {
        FileKind::CharacterDevice
    } else if kind.is_fifo() {
        FileKind::Pipe
    } else {
        FileKind::Regular
    }
}
