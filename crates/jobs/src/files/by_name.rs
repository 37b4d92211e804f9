//! What engines do to files and directories by their names.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, StatxFlags, lstat, stat, statx};

use super::{FileError, JobFile};
use crate::engines::ByName;
use crate::plan::{JobPlan, StatCall};

/// What the names of renamed files end with.
const RENAMED: &str = ".renamed";

/// The name that a file is renamed to, or from which it has been: a job that does its files again
/// gives them their first names back.
pub(super) fn other_name(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|last| last == &RENAMED[1..]) {
        return path.with_extension("");
    }
    let mut name = OsString::from(path);
    name.push(RENAMED);
    PathBuf::from(name)
}

/// Does to a file what its engine does; `other` is the name for one that is renamed.
pub(super) fn act(
    by_name: ByName,
    path: &Path,
    other: &Path,
) -> Result<Option<OwnedFd>, FileError> {
    let wrong = |what| move |source: io::Error| FileError::new(path, what, source);
    let done = match by_name {
        ByName::Create => {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            return options.open(path).map(|made| Some(made.into())).map_err(wrong("open"));
        }
        ByName::Stat(call) => return asked(call, path).map(|()| None),
        ByName::Delete => fs::remove_file(path).map_err(wrong("unlink")),
        ByName::Rename => fs::rename(path, other).map_err(wrong("rename")),
        ByName::CreateDirectory => create_directory(path).map_err(wrong("mkdir")),
        ByName::DeleteDirectory => fs::remove_dir(path).map_err(wrong("rmdir")),
    };
    done.map(|()| None)
}

fn asked(call: StatCall, path: &Path) -> Result<(), FileError> {
    let wrong = |what| move |source: io::Error| FileError::new(path, what, source);
    match call {
        StatCall::Stat => stat(path).map(|_| ()).map_err(|error| wrong("stat")(error.into())),
        StatCall::Lstat => lstat(path).map(|_| ()).map_err(|error| wrong("lstat")(error.into())),
        StatCall::Statx => {
            let asked = fs::canonicalize(path)
                .and_then(|path| Ok(statx(CWD, path, AtFlags::empty(), StatxFlags::ALL)?));
            asked.map(|_| ()).map_err(wrong("statx"))
        }
    }
}

/// Makes a directory. fio's `dircreate` gives it a mode of 0, by which its owner could not use it.
fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes the directories that a job asks about or removes. Those that are there stay.
pub(super) fn make_directories(files: &[JobFile]) -> Result<(), FileError> {
    for file in files {
        match create_directory(&file.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(FileError::new(&file.path, "mkdir", source)),
        }
    }
    Ok(())
}

/// Removes what a job has worked on. What is not there, or cannot be removed, is left.
pub(crate) fn remove(plan: &JobPlan, files: &[JobFile]) {
    for file in files {
        let _removed = match plan.engine.is_of_directories() {
            true => fs::remove_dir(&file.path),
            false => fs::remove_file(&file.path),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_renamed_gets_its_name_back() {
        let renamed = other_name(Path::new("d/a.0.0"));
        assert_eq!(renamed, Path::new("d/a.0.0.renamed"));
        assert_eq!(other_name(&renamed), Path::new("d/a.0.0"));
    }
}
