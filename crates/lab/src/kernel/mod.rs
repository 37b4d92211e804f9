//! Kernels for guests: one directory each, made whole or not at all.
//!
//! A kernel's directory holds `kernel` (ELF, as QEMU starts it), `release`, `config`, `modules`
//! (those that the lab may need, plain) with `modules.list` (which, in what order), and, if it was
//! built here, `vmlinux` with its debug information.

mod files;
mod modules;
mod packaged;
mod requirements;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use packaged::{Plan, Request, build, plan};

use crate::error::LabError;
use crate::place::Lab;

/// Raised when what lies in a kernel's directory changes, so that it is made again.
const RECIPE: &str = "2";
/// The directory of all kernels, within the lab's.
const KERNELS: &str = "kernels";

/// A kernel that can be booted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kernel {
    /// Its release, as `uname -r` prints it: `6.1.0-50-amd64`.
    pub release: String,
    /// Its directory.
    pub directory: PathBuf,
    /// Whether it was built here, with debug information in [`Self::debug_file`].
    pub is_from_source: bool,
}

impl Kernel {
    /// What QEMU starts.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.directory.join("kernel")
    }

    /// The kernel with its debug information, if it was built here.
    #[must_use]
    pub fn debug_file(&self) -> Option<PathBuf> {
        self.is_from_source.then(|| self.directory.join("vmlinux"))
    }

    /// The kernel's configuration.
    #[must_use]
    pub fn configuration_file(&self) -> PathBuf {
        self.directory.join("config")
    }

    /// The directory of its modules, plain files without debug information of their own.
    #[must_use]
    pub fn modules_directory(&self) -> PathBuf {
        self.directory.join("modules")
    }

    /// Which modules a file system needs, in order: the file that the guest gets.
    #[must_use]
    pub(crate) fn modules_list(&self) -> PathBuf {
        self.directory.join("modules.list")
    }

    /// File systems and devices that it knows: the names in its list of modules.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn knows(&self) -> Result<Vec<String>, LabError> {
        let path = self.modules_list();
        let list = fs::read_to_string(&path).map_err(LabError::at(&path))?;
        let names = list.lines().filter_map(|line| line.split_once(':'));
        Ok(names.map(|(name, _)| name.to_owned()).filter(|name| name != "base").collect())
    }

    /// Reads what is in a kernel's directory; none if it is not one.
    fn at(directory: &Path) -> Option<Self> {
        let release = fs::read_to_string(directory.join("release")).ok()?;
        let is_from_source = directory.join("vmlinux").is_file();
        let release = release.trim().to_owned();
        Some(Self { release, directory: directory.to_owned(), is_from_source })
    }
}

/// The kernels that are in the lab, the newest build first.
///
/// # Errors
/// The lab's directory cannot be read.
pub fn kernels(lab: &Lab) -> Result<Vec<Kernel>, LabError> {
    let directory = lab.directory().join(KERNELS);
    let entries = match fs::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(LabError::at(&directory))?,
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let suffix = format!("-{RECIPE}");
    let current = paths.filter(|path| path.to_string_lossy().ends_with(&suffix));
    let mut kernels: Vec<Kernel> = current.filter_map(|path| Kernel::at(&path)).collect();
    let made = |kernel: &Kernel| kernel.directory.metadata().and_then(|data| data.modified()).ok();
    kernels.sort_by_key(|kernel| (std::cmp::Reverse(made(kernel)), kernel.release.clone()));
    Ok(kernels)
}

/// The kernel of a release, or, where none is named, the one that was built last.
///
/// # Errors
/// The lab's directory cannot be read, or no such kernel is in it.
pub fn find(lab: &Lab, release: Option<&str>) -> Result<Kernel, LabError> {
    let is_asked = |kernel: &Kernel| release.is_none_or(|release| kernel.release == release);
    kernels(lab)?.into_iter().find(is_asked).ok_or_else(|| LabError::NotBuilt {
        asked: release.map(|release| format!(" {release}")).unwrap_or_default(),
        option: release.map(|release| format!(" --kernel {release}")).unwrap_or_default(),
    })
}
