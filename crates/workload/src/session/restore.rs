//! Puts a file set back as it was.
//!
//! What an operation left behind is found by listing, not by bookkeeping: the names say what they
//! are. So it does not matter how far a run got, or why it ended.

use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::calls::{Calls, Kernel, LISTING_BYTES, Library, ReachedBy};
use crate::error::EngineError;
use crate::file_set::{DirectorySet, FileSet, open_directory};
use crate::names::{EntryName, NameKind};
use crate::operation::{Operation, Subject};

/// Removes growing files, and restores the directories that the operation changes.
pub(super) fn put_back(
    operation: Operation,
    file_set: &FileSet,
    touched: &[PathBuf],
) -> Result<(), EngineError> {
    match file_set.reached() {
        ReachedBy::BySystemCalls => put_back_by(&Kernel, operation, file_set, touched),
        ReachedBy::ByLibrary(files) => {
            put_back_by(&Library::new(files), operation, file_set, touched)
        }
    }
}

fn put_back_by<K: Calls>(
    calls: &K,
    operation: Operation,
    file_set: &FileSet,
    touched: &[PathBuf],
) -> Result<(), EngineError> {
    if matches!(operation.subject(), Subject::Growing(_)) {
        return touched.iter().try_for_each(|path| remove_if_there(calls, path));
    }
    if operation.changes_directories() {
        let directories = file_set.spec().directories;
        let put_right = |path: &PathBuf| put_directory_right(calls, path, directories);
        return touched.iter().try_for_each(put_right);
    }
    Ok(())
}

fn remove_if_there(calls: &impl Calls, path: &Path) -> Result<(), EngineError> {
    match calls.unlink(path) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(EngineError::from_errno("unlinkat", path, errno)),
    }
}

/// The content of a directory.
#[derive(Debug, Default)]
struct Contents {
    /// Entries under their own name, and names that are not ours.
    settled: u64,
    /// What must be removed or renamed back.
    strays: Vec<(NameKind, Vec<u8>)>,
}

impl Contents {
    fn note(&mut self, name: &[u8], name_bytes: usize) {
        match NameKind::parse(name, name_bytes) {
            _ if matches!(name, b"." | b"..") => {}
            None | Some(NameKind::Entry) => self.settled += 1,
            Some(stray) => self.strays.push((stray, name.to_owned())),
        }
    }
}

fn put_directory_right<K: Calls>(
    calls: &K,
    path: &Path,
    set: DirectorySet,
) -> Result<(), EngineError> {
    let DirectorySet { entries, name_bytes, .. } = set;
    let directory = open_directory(calls, path)?;
    let mut contents = Contents::default();
    let mut buffer = vec![MaybeUninit::uninit(); LISTING_BYTES];
    calls
        .for_each_name(&directory, &mut buffer, |name| contents.note(name, name_bytes))
        .map_err(|errno| EngineError::from_errno("getdents64", path, errno))?;
    let mut found = contents.settled;
    for (kind, name) in &contents.strays {
        put_right(calls, &directory, *kind, &EntryName::listed(name))
            .map_err(|errno| EngineError::from_errno("restore", path, errno))?;
        found += u64::from(*kind == NameKind::Renamed);
    }
    if found == entries {
        return Ok(());
    }
    Err(EngineError::WrongEntryCount { path: path.to_path_buf(), expected: entries, found })
}

fn put_right<K: Calls>(
    calls: &K,
    directory: &K::Open,
    kind: NameKind,
    name: &EntryName,
) -> Result<(), Errno> {
    match kind {
        NameKind::Renamed => calls.renameat(directory, name, &name.with_kind(NameKind::Entry)),
        NameKind::Directory => calls.rmdirat(directory, name),
        NameKind::Entry
        | NameKind::Missing
        | NameKind::File
        | NameKind::Link
        | NameKind::Symlink => calls.unlinkat(directory, name),
    }
}
