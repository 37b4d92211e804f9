//! Where the lab is.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::LabError;

/// The lab's directory: kernels, images, and what these are made from.
#[derive(Clone, Debug)]
pub struct Lab {
    directory: PathBuf,
}

impl Lab {
    /// The user's lab: `$FSPRISM_LAB`, else `$XDG_CACHE_HOME/fsprism/lab`, else
    /// `~/.cache/fsprism/lab`. Nothing is created yet.
    ///
    /// # Errors
    /// If none of these variables is set.
    pub fn for_user() -> Result<Self, LabError> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let directory = set("FSPRISM_LAB")
            .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("fsprism/lab")))
            .or_else(|| set("HOME").map(|home| home.join(".cache/fsprism/lab")));
        Ok(Self::at(directory.ok_or(LabError::NoPlace)?))
    }

    /// A lab in this directory.
    #[must_use]
    pub fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The lab's directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A subdirectory, created if missing.
    pub(crate) fn within(&self, name: &str) -> Result<PathBuf, LabError> {
        let path = self.directory.join(name);
        fs::create_dir_all(&path).map_err(LabError::at(&path))?;
        Ok(path)
    }

    /// Returns an error if there is not enough disk space.
    pub(crate) fn check_room(&self, needed_bytes: u64) -> Result<(), LabError> {
        let directory = self.directory.clone();
        fs::create_dir_all(&directory).map_err(LabError::at(&directory))?;
        let room = rustix::fs::statvfs(&directory).map_err(std::io::Error::from);
        let room = room.map_err(LabError::at(&directory))?;
        let free_bytes = room.f_bavail.saturating_mul(room.f_frsize);
        match needed_bytes > free_bytes {
            true => Err(LabError::NoRoom { directory, needed_bytes, free_bytes }),
            false => Ok(()),
        }
    }

    /// A temporary directory on the lab's file system, so that its contents can be moved into place
    /// by renaming.
    pub(crate) fn temporary(&self) -> Result<tempfile::TempDir, LabError> {
        let parent = self.within("unfinished")?;
        sweep(&parent);
        let prefix = format!("{}-", std::process::id());
        let made = tempfile::Builder::new().prefix(&prefix).tempdir_in(&parent);
        made.map_err(LabError::at(&parent))
    }
}

/// Removes what killed processes have left behind; names start with the process ID.
fn sweep(unfinished: &Path) {
    for entry in fs::read_dir(unfinished).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.split_once('-')).map(|(number, _)| number);
        let is_dead = process.is_some_and(|number| !Path::new("/proc").join(number).exists());
        if is_dead {
            let _another_was_faster = fs::remove_dir_all(entry.path());
        }
    }
}

/// Sixteen hex digits that identify `parts`, as a name for what is made from them.
pub(crate) fn name_of(parts: &[&[u8]]) -> String {
    let mut sum = crate::handover::Sum::new();
    for part in parts {
        sum.add(&(part.len() as u64).to_le_bytes());
        sum.add(part);
    }
    format!("{:016x}", sum.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_disk_cannot_hold_is_not_begun() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let lab = Lab::at(place.path().join("lab"));
        lab.check_room(1).expect("there is room for a byte");
        let refused = lab.check_room(u64::MAX).expect_err("no disk is so large");
        assert!(matches!(refused, LabError::NoRoom { .. }), "{refused}");
        assert!(refused.to_string().contains("set FSPRISM_LAB to a directory"), "{refused}");
    }
}
