//! A directory chosen by the user, in which other programs write.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, accessat};

use crate::open_directory::OpenDirectory;

/// A directory named by the user. It is held by its descriptor while other programs write files in
/// it, since anyone with write access to its parent could replace it by a link.
#[derive(Debug)]
pub struct OutputDirectory {
    held: OpenDirectory,
    route: PathBuf,
}

impl OutputDirectory {
    /// Opens it, or makes it if it does not exist.
    ///
    /// # Errors
    /// If it is not a directory, files cannot be made in it, or `/proc` is not that of this
    /// process.
    pub fn make(path: &Path) -> io::Result<Self> {
        match fs::create_dir_all(path) {
            // Whether it is a directory will show when it is opened.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let held = OpenDirectory::open(path)?;
        accessat(&held, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
        Ok(Self { route: held.route()?, held })
    }

    /// The path where it was found, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.held.path()
    }

    /// A path that leads to it, in other processes too, even if something else takes its place at
    /// its own path, for as long as this object exists.
    #[must_use]
    pub fn route(&self) -> &Path {
        &self.route
    }

    /// The names in it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        self.held.names()
    }

    /// Replaces the route in a message by the usual path.
    #[must_use]
    pub fn shown(&self, message: &str) -> String {
        self.held.shown(message)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_lie_where_it_was_whatever_comes_to_stand_at_its_path() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("theirs")).expect("ours");
        let out = OutputDirectory::make(&path("made/out")).expect("it can be made");
        fs::rename(path("made/out"), path("moved")).expect("ours");
        symlink(path("theirs"), path("made/out")).expect("ours");
        fs::write(out.route().join("file"), "ours").expect("it is held");
        assert_eq!(out.names().expect("it is held"), ["file"]);
        assert_eq!(fs::read(path("moved/file")).expect("ours"), b"ours");
        assert_eq!(fs::read_dir(path("theirs")).expect("theirs").count(), 0);
        let message = out.shown(&format!("{}: no space", out.route().join("file").display()));
        assert_eq!(message, format!("{}: no space", path("made/out/file").display()));
    }

    #[test]
    fn what_takes_no_files_is_refused() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let file = place.path().join("file");
        fs::write(&file, "").expect("ours");
        for path in [&file, &file.join("below")] {
            let why = OutputDirectory::make(path).expect_err("it is a file");
            assert_eq!(why.kind(), io::ErrorKind::NotADirectory);
        }
        // Not even root can make files there.
        OutputDirectory::make(Path::new("/proc/self")).expect_err("it takes no files");
    }
}
