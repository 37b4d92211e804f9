//! The directory that is made inside a directory target, and removed with everything in it.
//!
//! At its top lie a marker, which says that we made it, and the directory that is handed out,
//! which is empty like any new file system. Nothing is removed as a tree without the marker: a
//! name alone may also be a user's.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::owner::lock_as_owner;
use super::removal;

/// An empty file that nobody makes by chance.
const MARKER: &str = ".made-by-fsprism-and-removed-with-all-that-lies-here";
/// The directory that is handed out.
const ROOT: &str = "work";

/// A work directory of ours.
#[derive(Debug)]
pub(super) struct WorkDirectory {
    top: PathBuf,
    root: PathBuf,
    /// Shows others that the owner lives.
    _lock: Option<OwnedFd>,
}

impl WorkDirectory {
    /// Makes it at `top`, which the guardian knows already.
    pub(super) fn make(top: &Path) -> io::Result<Self> {
        fs::create_dir(top)?;
        let lock = lock_as_owner(top).ok();
        let made = File::create_new(top.join(MARKER)).and_then(|_| fs::create_dir(top.join(ROOT)));
        if let Err(error) = made {
            let _guardian_tries_again = remove(top);
            return Err(error);
        }
        Ok(Self { top: top.to_owned(), root: top.join(ROOT), _lock: lock })
    }

    /// The whole of it.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// The directory to work in.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Gives it a new directory to work in.
    pub(super) fn remake(&self) -> io::Result<()> {
        removal::remove_tree(&self.root)?;
        fs::create_dir(&self.root)
    }
}

/// Removes a work directory that bears the marker; without one, only what is empty. One that is
/// gone already is removed.
pub(super) fn remove(top: &Path) -> io::Result<()> {
    let marker = top.join(MARKER);
    if !fs::symlink_metadata(&marker).is_ok_and(|metadata| metadata.is_file()) {
        return removal::remove_empty(top);
    }
    // The marker goes last, so that after a death on the way the rest can still be removed.
    removal::remove_tree(&top.join(ROOT))?;
    removal::remove_tree(top)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_the_marker_is_removed_only_if_empty() {
        let top = std::env::temp_dir().join(format!("work-directory-{}", std::process::id()));
        fs::create_dir_all(top.join(ROOT)).expect("temporary directory");
        fs::create_dir(top.join(MARKER)).expect("a directory is no marker");
        remove(&top).expect_err("it is not ours");
        assert!(top.join(ROOT).exists());
        fs::remove_dir(top.join(MARKER)).expect("just made");
        fs::remove_dir(top.join(ROOT)).expect("just made");
        remove(&top).expect("it is empty");
        assert!(!top.exists());
        remove(&top).expect("removing what is gone is no error");
    }

    #[test]
    fn it_looks_empty_and_is_made_anew() {
        let top = std::env::temp_dir().join(format!("work-directory-new-{}", std::process::id()));
        let work = WorkDirectory::make(&top).expect("temporary directory");
        let entries = || fs::read_dir(work.root()).expect("it is there").count();
        assert_eq!(entries(), 0);
        fs::create_dir(work.root().join("inner")).expect("it is ours");
        assert_eq!(entries(), 1);
        work.remake().expect("it is ours");
        assert_eq!(entries(), 0);
        WorkDirectory::make(&top).expect_err("it is there already");
        fs::create_dir(work.root().join("inner")).expect("the second attempt removed nothing");
        remove(&top).expect("it bears the marker");
        assert!(!top.exists());
    }
}
