//! A directory for several runs of one command, held open while they are measured one after
//! another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, unlinkat};

use crate::error::RecordError;
use crate::open_directory::OpenDirectory;

/// A new directory, in which directories are made for runs that other processes measure.
///
/// It is held by its descriptor. Otherwise, anyone with write access to its parent could replace it
/// by a link, and further runs would be written wherever that leads.
#[derive(Debug)]
pub struct GroupDirectory(OpenDirectory);

/// A directory in a group, made for a run that another process will measure.
#[derive(Debug)]
pub struct GroupMember<'a> {
    group: &'a GroupDirectory,
    name: String,
    held: OpenDirectory,
}

impl GroupDirectory {
    /// Makes the directory `path`, which must be absent or empty.
    ///
    /// # Errors
    /// If it is not empty or cannot be made.
    pub fn make(path: &Path) -> Result<Self, RecordError> {
        fs::create_dir_all(path).map_err(RecordError::io("make", path))?;
        let held = OpenDirectory::open(path).map_err(RecordError::io("open", path))?;
        if held.names().map_err(RecordError::io("read", path))?.is_empty() {
            Ok(Self(held))
        } else {
            Err(RecordError::NotEmpty { path: path.to_owned() })
        }
    }

    /// Makes `name` in the directory `parent`, which is made if it does not exist; none if `name`
    /// already exists.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make_in(parent: &Path, name: &str) -> Result<Option<Self>, RecordError> {
        Ok(OpenDirectory::make_new_in(parent, name)?.map(Self))
    }

    /// The path where it was made, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes the directory of a run in it.
    ///
    /// # Errors
    /// If the name is taken, or it cannot be made.
    pub fn add(&self, name: &str) -> Result<GroupMember<'_>, RecordError> {
        let made = self.0.make_new_below(name);
        let held = made.map_err(RecordError::io("make", self.0.path_of(name)))?;
        Ok(GroupMember { group: self, name: name.to_owned(), held })
    }

    /// Removes it if no run has begun in it.
    pub fn give_up_if_empty(self) {
        if self.0.names().is_ok_and(|names| names.is_empty()) {
            let _is_another_by_now = fs::remove_dir(self.path());
        }
    }
}

impl GroupMember<'_> {
    /// The path where it was made, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.held.path()
    }

    /// A path that leads another process to it even if something else takes its place at its own
    /// path, for as long as this process holds it open.
    ///
    /// # Errors
    /// If `/proc` is not that of this process.
    pub fn route(&self) -> Result<PathBuf, RecordError> {
        self.held.route().map_err(RecordError::io("reach", self.path()))
    }

    /// Removes it if no run has begun in it.
    pub fn give_up_if_empty(&self) {
        let removed = unlinkat(&self.group.0, self.name.as_str(), AtFlags::REMOVEDIR);
        let _holds_a_run = removed.map_err(io::Error::from);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::directory::ReservedDirectory;

    #[test]
    fn runs_lie_where_their_group_was_made_whatever_comes_to_stand_at_its_path() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("theirs")).expect("ours");
        let group = GroupDirectory::make(&path("group")).expect("it is new");
        fs::rename(path("group"), path("moved")).expect("ours");
        symlink(path("theirs"), path("group")).expect("ours");
        let one = group.add("run-1").expect("it is held");
        assert_eq!(one.path(), path("group/run-1"));
        fs::rename(path("moved/run-1"), path("moved/away")).expect("ours");
        symlink(path("theirs"), path("moved/run-1")).expect("ours");
        let route = one.route().expect("/proc is ours");
        let run = ReservedDirectory::make_at(&route, one.path()).expect("it is empty");
        assert_eq!(run.path(), one.path());
        assert_eq!(fs::read_dir(path("moved/away")).expect("ours").count(), 1);
        assert_eq!(fs::read_dir(path("theirs")).expect("theirs").count(), 0);
    }

    #[test]
    fn a_group_is_new_and_is_left_only_where_a_run_began() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("group");
        let group = GroupDirectory::make(&path).expect("it is new");
        let one = group.add("run-1").expect("it is new");
        group.add("run-1").expect_err("it is there");
        let full = GroupDirectory::make(&path).expect_err("it holds a run");
        assert!(full.to_string().contains("is not empty"), "{full}");
        one.give_up_if_empty();
        assert!(!path.join("run-1").exists());
        let one = group.add("run-1").expect("it is new");
        fs::write(path.join("run-1/manifest.json"), "{}").expect("ours");
        one.give_up_if_empty();
        group.give_up_if_empty();
        assert!(path.join("run-1/manifest.json").exists());
        assert!(GroupDirectory::make_in(place.path(), "group").expect("it is seen").is_none());
        let other = GroupDirectory::make_in(place.path(), "other").expect("it can be made");
        other.expect("it is new").give_up_if_empty();
        assert!(!place.path().join("other").exists());
    }
}
