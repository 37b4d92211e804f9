//! A file set: what workloads act on. It is made once and survives a remount.
//!
//! Below its root are `read/` and `write/` (data files with checkable content), `entries/` (the
//! directory set: K directories of N files, each at the requested depth) and `growing/` (empty;
//! files that operations append to are kept there during a session), and `sources/`, if it has any
//! (a tree for whole programs). Read files are never written after they are made, so they remain
//! checkable whatever has run.

mod create;
mod sources;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rustix::fs::OFlags;

pub(crate) use create::Maker;
pub use create::create_empty_files;
pub use sources::SourceTree;

use crate::calls::{Calls, Kernel, Library, ReachedBy};
use crate::content::Content;
use crate::error::{EngineError, WorkloadError};
use crate::names::{NAME_BYTES, NAME_BYTES_MAX, NAME_BYTES_MIN, NameForm, STEP_NAME};
use crate::role::Role;

/// The most files or directories of one role: their numbers must fit in 32 bits.
const FILES: u64 = 1 << 32;

/// Data files of one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataFiles {
    /// How many.
    pub count: usize,
    /// The size of each.
    pub size_bytes: u64,
}

/// The directory set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectorySet {
    /// How many directories.
    pub count: usize,
    /// Entries (files) in each.
    pub entries: u64,
    /// The size of each entry.
    pub entry_bytes: u64,
    /// The number of path components that operations on its names resolve, 1 to 64: 1 is just the
    /// name in an open directory, and each further one is a directory on the way.
    pub depth: usize,
    /// Bytes of each name, 5 to 255. Names shorter than 12 bytes allow only 36^(bytes - 1) numbers,
    /// which limits the entries of a directory and the new names of a session, all threads
    /// together.
    pub name_bytes: usize,
}

impl Default for DirectorySet {
    /// No directories; the defaults are empty files, resolved in an open directory, with the
    /// shortest names that can represent every number.
    fn default() -> Self {
        Self { count: 0, entries: 0, entry_bytes: 0, depth: 1, name_bytes: NAME_BYTES }
    }
}

impl DirectorySet {
    /// The most components of a path, far fewer than the longest possible path has.
    const DEPTH_MAX: usize = 64;

    fn check(&self) -> Result<(), WorkloadError> {
        let bounds = [
            ("the depth of a directory set", self.depth, 1, Self::DEPTH_MAX),
            ("the bytes of a name", self.name_bytes, NAME_BYTES_MIN, NAME_BYTES_MAX),
        ];
        match bounds.into_iter().find(|(_, value, least, most)| value < least || value > most) {
            Some((what, _, least, most)) => Err(WorkloadError::OutOfBounds { what, least, most }),
            None => Ok(()),
        }
    }

    /// The form of names as operations resolve them.
    pub(crate) fn path_form(&self) -> NameForm {
        NameForm { name_bytes: self.name_bytes, steps: self.depth - 1 }
    }

    /// The form of names within their directory.
    pub(crate) fn name_form(&self) -> NameForm {
        NameForm { name_bytes: self.name_bytes, steps: 0 }
    }
}

/// What a file set consists of; by default nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileSetSpec {
    /// Files for reads.
    pub read_files: DataFiles,
    /// Files for writes.
    pub write_files: DataFiles,
    /// Directories for all operations on names.
    pub directories: DirectorySet,
    /// A tree for programs that search it.
    pub sources: SourceTree,
}

impl FileSetSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        self.directories.check()?;
        let numbers = self.directories.name_form().numbers();
        let counts = [
            ("read files", self.read_files.count as u64, FILES),
            ("write files", self.write_files.count as u64, FILES),
            ("directories", self.directories.count as u64, FILES),
            ("entries in a directory", self.directories.entries, numbers),
        ];
        match counts.into_iter().find(|(_, count, most)| count > most) {
            Some((what, _, most)) => Err(WorkloadError::FileSetTooLarge { what, most }),
            None => Ok(()),
        }
    }
}

/// A file set that exists.
#[derive(Debug, Clone)]
pub struct FileSet {
    reached: ReachedBy,
    root: PathBuf,
    spec: FileSetSpec,
    seed: u64,
}

impl FileSet {
    /// Makes a file set below `root`, an existing directory that has no file set yet. The caller
    /// has to write back dirty pages afterwards.
    ///
    /// # Errors
    /// The first call that failed, or [`EngineError::Stopped`] when `stop` was raised. Whatever was
    /// made until then is left for the caller to remove along with the root.
    pub fn create(
        root: &Path,
        spec: &FileSetSpec,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Self, EngineError> {
        Self::create_by(&ReachedBy::BySystemCalls, root, spec, seed, stop)
    }

    /// A file set that another process has made with this specification and seed, and that this
    /// one sees below `root`.
    #[must_use]
    pub fn seen_at(root: &Path, spec: &FileSetSpec, seed: u64) -> Self {
        let (reached, root) = (ReachedBy::BySystemCalls, root.to_path_buf());
        Self { reached, root, spec: *spec, seed }
    }

    /// Like [`FileSet::create`], with the given kind of access.
    ///
    /// # Errors
    /// As for [`FileSet::create`].
    pub fn create_by(
        reached: &ReachedBy,
        root: &Path,
        spec: &FileSetSpec,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Self, EngineError> {
        spec.check()?;
        let (reached, root) = (reached.clone(), root.to_path_buf());
        let file_set = Self { reached, root, spec: *spec, seed };
        match &file_set.reached {
            ReachedBy::BySystemCalls => create::create(&Kernel, &file_set, stop)?,
            ReachedBy::ByLibrary(files) => create::create(&Library::new(files), &file_set, stop)?,
        }
        Ok(file_set)
    }

    /// How operations access it.
    #[must_use]
    pub fn reached(&self) -> &ReachedBy {
        &self.reached
    }

    /// The directory that contains it.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What it consists of.
    #[must_use]
    pub fn spec(&self) -> &FileSetSpec {
        &self.spec
    }

    /// What its content was drawn from.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Count and size of the files of a role.
    #[must_use]
    pub fn data_files(&self, role: Role) -> DataFiles {
        match role {
            Role::Read => self.spec.read_files,
            Role::Write => self.spec.write_files,
        }
    }

    /// The path of a data file, counted from 0.
    #[must_use]
    pub fn data_file(&self, role: Role, number: usize) -> PathBuf {
        self.root.join(folder_of(role)).join(number.to_string())
    }

    /// The path of a directory of the directory set, counted from 0: the one with the entries.
    #[must_use]
    pub fn directory(&self, number: usize) -> PathBuf {
        let steps = std::iter::repeat_n(STEP_NAME, self.spec.directories.depth - 1);
        self.directory_start(number).join(steps.collect::<PathBuf>())
    }

    /// Where paths into that directory begin.
    pub(crate) fn directory_start(&self, number: usize) -> PathBuf {
        self.root.join("entries").join(number.to_string())
    }

    /// The directory of the tree like a program's sources, if it has one.
    #[must_use]
    pub fn sources(&self) -> PathBuf {
        self.root.join(SOURCES)
    }

    pub(crate) fn growing_file(&self, number: usize) -> PathBuf {
        self.root.join("growing").join(number.to_string())
    }

    /// The content of a data file.
    #[must_use]
    pub fn content(&self, role: Role, number: usize) -> Content {
        let role_number = match role {
            Role::Read => 0,
            Role::Write => 1,
        };
        Content::new(self.seed, (role_number << 32) + number as u64)
    }

    /// Removes the file set but not its root.
    ///
    /// # Errors
    /// The first removal that failed.
    pub fn remove(self) -> Result<(), EngineError> {
        let sources = (self.spec.sources.files > 0).then_some(SOURCES);
        for part in create::PARTS.into_iter().chain(sources) {
            let path = self.root.join(part);
            let removed = match &self.reached {
                ReachedBy::BySystemCalls => Kernel.remove_tree(&path),
                ReachedBy::ByLibrary(files) => Library::new(files).remove_tree(&path),
            };
            removed.map_err(|errno| EngineError::from_errno("remove", path, errno))?;
        }
        Ok(())
    }
}

/// The folder for the tree like a program's sources.
const SOURCES: &str = "sources";

/// The folder for the data files of a role.
fn folder_of(role: Role) -> &'static str {
    match role {
        Role::Read => "read",
        Role::Write => "write",
    }
}

pub(crate) fn open_directory<K: Calls>(calls: &K, path: &Path) -> Result<K::Open, EngineError> {
    calls
        .open(path, OFlags::RDONLY | OFlags::DIRECTORY)
        .map_err(|errno| EngineError::from_errno("openat", path, errno))
}
