//! Putting a file set back as it was.
//!
//! What an operation left behind is found by listing, not by book-keeping: names say what they are.
//! So it does not matter how far a run came, or why it ended.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, renameat, unlinkat};
use rustix::io::Errno;

use crate::error::EngineError;
use crate::file_set::{DirectorySet, FileSet, open_directory};
use crate::names::Kind;
use crate::operation::{Operation, Subject};
use crate::steps::{LISTING_BYTES, for_each_entry};

/// Removes growing files, and puts right the directories that the operation changes.
pub(super) fn put_back(
    operation: Operation,
    file_set: &FileSet,
    touched: &[PathBuf],
) -> Result<(), EngineError> {
    if matches!(operation.subject(), Subject::Growing(_)) {
        return touched.iter().try_for_each(|path| remove_if_there(path));
    }
    if operation.changes_directories() {
        let directories = file_set.spec().directories;
        return touched.iter().try_for_each(|path| put_directory_right(path, directories));
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> Result<(), EngineError> {
    match unlinkat(CWD, path, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(EngineError::from_errno("unlinkat", path, errno)),
    }
}

/// What a directory holds.
#[derive(Debug, Default)]
struct Contents {
    /// Entries under their own name, and names that are not ours.
    settled: u64,
    /// What is to be removed or given its name back.
    strays: Vec<(Kind, CString)>,
}

impl Contents {
    fn note(&mut self, name: &CStr, name_bytes: usize) {
        match Kind::of(name, name_bytes) {
            _ if name == c"." || name == c".." => {}
            None | Some(Kind::Entry) => self.settled += 1,
            Some(stray) => self.strays.push((stray, name.to_owned())),
        }
    }
}

fn put_directory_right(path: &Path, set: DirectorySet) -> Result<(), EngineError> {
    let DirectorySet { entries, name_bytes, .. } = set;
    let directory = open_directory(path)?;
    let mut contents = Contents::default();
    let mut buffer = vec![MaybeUninit::uninit(); LISTING_BYTES];
    for_each_entry(&directory, &mut buffer, |entry| contents.note(entry.file_name(), name_bytes))
        .map_err(|errno| EngineError::from_errno("getdents64", path, errno))?;
    let mut found = contents.settled;
    for (kind, name) in &contents.strays {
        put_right(&directory, *kind, name)
            .map_err(|errno| EngineError::from_errno("restore", path, errno))?;
        found += u64::from(*kind == Kind::Renamed);
    }
    if found == entries {
        return Ok(());
    }
    Err(EngineError::WrongEntryCount { path: path.to_path_buf(), expected: entries, found })
}

fn put_right(directory: &OwnedFd, kind: Kind, name: &CStr) -> Result<(), Errno> {
    match kind {
        Kind::Renamed => {
            let mut own_name = name.to_bytes().to_vec();
            own_name[0] = Kind::Entry as u8;
            renameat(directory, name, directory, own_name)
        }
        Kind::Directory => unlinkat(directory, name, AtFlags::REMOVEDIR),
        Kind::Entry | Kind::Missing | Kind::File | Kind::Link | Kind::Symlink => {
            unlinkat(directory, name, AtFlags::empty())
        }
    }
}
