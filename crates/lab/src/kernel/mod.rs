//! Kernels for guests: one directory each, which is either complete or does not exist.
//!
//! A kernel's directory contains `kernel` (ELF, as started by QEMU), `release`, `config`, `modules`
//! (the ones that the lab may need, uncompressed), `modules.list` (what needs which of them, in
//! loading order) and, if the kernel was built here, `vmlinux` with its debug information and
//! `build`, from which further modules can be built.

mod files;
mod for_modules;
mod modules;
mod packaged;
mod requirements;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use packaged::{Plan, Request, build, plan};
pub use source::SourceRequest;

use crate::error::LabError;
use crate::place::Lab;

/// Incremented when the contents of a kernel's directory change, so that kernels are made again.
const RECIPE: &str = "2";
/// The directory of all kernels, within the lab.
const KERNELS: &str = "kernels";
/// What modules are built from, within the directory of a kernel that was built here.
const FOR_MODULES: &str = "build";

/// A kernel that can be booted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kernel {
    /// Its release, as printed by `uname -r`: `6.1.0-50-amd64`.
    pub release: String,
    /// Its directory.
    pub directory: PathBuf,
    /// Whether it was built here, with debug information in [`Self::debug_file`].
    pub is_from_source: bool,
}

impl Kernel {
    /// The file that QEMU starts.
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

    /// Whether it checks accesses of memory, also of its modules (KASAN).
    ///
    /// # Errors
    /// If its configuration cannot be read.
    pub(crate) fn checks_memory(&self) -> Result<bool, LabError> {
        let path = self.configuration_file();
        let configuration = fs::read_to_string(&path).map_err(LabError::at(&path))?;
        Ok(configuration.lines().any(|line| line == "CONFIG_KASAN=y"))
    }

    /// What further modules are built from, if the kernel was built here.
    #[must_use]
    pub(crate) fn headers_directory(&self) -> Option<PathBuf> {
        self.is_from_source.then(|| self.directory.join(FOR_MODULES))
    }

    /// Its directory of modules, uncompressed and without debug information.
    #[must_use]
    pub fn modules_directory(&self) -> PathBuf {
        self.directory.join("modules")
    }

    /// The list, which the guest gets, of the modules that each file system needs, in order.
    #[must_use]
    pub(crate) fn modules_list(&self) -> PathBuf {
        self.directory.join("modules.list")
    }

    /// The file systems and devices that it supports: the names in its list of modules.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn knows(&self) -> Result<Vec<String>, LabError> {
        let path = self.modules_list();
        let list = fs::read_to_string(&path).map_err(LabError::at(&path))?;
        let names = list.lines().filter_map(|line| line.split_once(':'));
        Ok(names.map(|(name, _)| name.to_owned()).filter(|name| name != "base").collect())
    }

    /// Reads a kernel's directory; `None` if it is not one.
    fn read(directory: &Path) -> Option<Self> {
        let release = fs::read_to_string(directory.join("release")).ok()?;
        let is_from_source = directory.join("vmlinux").is_file();
        let release = release.trim().to_owned();
        Some(Self { release, directory: directory.to_owned(), is_from_source })
    }
}

/// The kernels in the lab, most recently built first.
///
/// # Errors
/// If the lab's directory cannot be read.
pub fn kernels(lab: &Lab) -> Result<Vec<Kernel>, LabError> {
    let directory = lab.directory().join(KERNELS);
    let entries = match fs::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(LabError::at(&directory))?,
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let suffix = format!("-{RECIPE}");
    let current = paths.filter(|path| path.to_string_lossy().ends_with(&suffix));
    let mut kernels: Vec<Kernel> = current.filter_map(|path| Kernel::read(&path)).collect();
    let made = |kernel: &Kernel| kernel.directory.metadata().and_then(|data| data.modified()).ok();
    kernels.sort_by_key(|kernel| (std::cmp::Reverse(made(kernel)), kernel.release.clone()));
    Ok(kernels)
}

/// The kernel with this release or, if none is given, the one built last.
///
/// # Errors
/// If the lab's directory cannot be read, or does not contain such a kernel.
pub fn find(lab: &Lab, release: Option<&str>) -> Result<Kernel, LabError> {
    let is_asked = |kernel: &Kernel| release.is_none_or(|release| kernel.release == release);
    kernels(lab)?.into_iter().find(is_asked).ok_or_else(|| LabError::NotBuilt {
        asked: release.map(|release| format!(" {release}")).unwrap_or_default(),
        option: release.map(|release| format!(" --kernel {release}")).unwrap_or_default(),
    })
}
