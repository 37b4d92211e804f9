//! A directory for temporary files of a process. It is removed when dropped, or if the process was
//! killed before that, by the next process that makes one.

use std::io;
use std::path::Path;

use crate::guardian::owner::{Leftover, Owner, sweep};
use crate::guardian::work_directory::WorkDirectory;

/// An empty directory of this process for temporary files.
#[derive(Debug)]
pub struct TemporaryDirectory(WorkDirectory);

impl TemporaryDirectory {
    /// Makes it, after removing those that dead processes left behind.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make() -> io::Result<Self> {
        Self::make_in(&std::env::temp_dir().canonicalize()?)
    }

    fn make_in(parent: &Path) -> io::Result<Self> {
        sweep(parent, Leftover::WorkDirectory);
        let owner = Owner::this()?;
        // Targets, which may be made beside it, count up from 0.
        let mut number = u32::MAX;
        loop {
            match WorkDirectory::make(&parent.join(format!(".{owner}-{number}"))) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number -= 1,
                made => return made.map(Self),
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.root()
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let _next_one_sweeps = self.0.remove();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_goes_with_all_that_lies_in_it_and_so_does_what_dead_processes_left() {
        let place = tempfile::tempdir().expect("a temporary directory");
        // No process has this PID and start time.
        let left = WorkDirectory::make(&place.path().join(".fsprism-4194303-1-0")).expect("ours");
        fs::write(left.root().join("file"), "left").expect("ours");
        drop(left);
        let (one, two) = (
            TemporaryDirectory::make_in(place.path()).expect("it can be made"),
            TemporaryDirectory::make_in(place.path()).expect("another one"),
        );
        assert_ne!(one.path(), two.path());
        fs::write(one.path().join("file"), "passing").expect("ours");
        assert_eq!(fs::read_dir(place.path()).expect("ours").count(), 2, "the left one is gone");
        drop((one, two));
        assert_eq!(fs::read_dir(place.path()).expect("ours").count(), 0);
    }
}
