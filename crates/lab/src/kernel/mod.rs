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
        self.has_option("CONFIG_KASAN")
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

    /// Whether an option of its configuration is set, as `y` or `m`.
    ///
    /// # Errors
    /// If its configuration cannot be read.
    pub fn has_option(&self, name: &str) -> Result<bool, LabError> {
        let path = self.configuration_file();
        let configuration = fs::read_to_string(&path).map_err(LabError::at(&path))?;
        let is_set =
            |line: &str| line.strip_prefix(name).is_some_and(|rest| matches!(rest, "=y" | "=m"));
        Ok(configuration.lines().any(is_set))
    }

    /// Whether one of its modules, or the kernel itself if that is built in, contains a text, such
    /// as the format of a line that it writes.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn contains(&self, module: &str, text: &str) -> Result<bool, LabError> {
        let path = self.modules_directory().join(format!("{module}.ko"));
        let path = if path.is_file() { path } else { self.file() };
        let bytes = fs::read(&path).map_err(LabError::at(&path))?;
        Ok(bytes.windows(text.len()).any(|window| window == text.as_bytes()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_has_is_in_its_files() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        fs::create_dir(directory.path().join("modules")).unwrap();
        write("config", "CONFIG_KASAN=y\nCONFIG_NFS=m\n# CONFIG_KASAN_INLINE is not set\n");
        write("kernel", "in the kernel");
        write("modules/netfs.ko", "in the module");
        let path = directory.path().to_owned();
        let kernel = Kernel { release: "6.1".to_owned(), directory: path, is_from_source: false };
        let has = |name| kernel.has_option(name).unwrap();
        assert!(has("CONFIG_KASAN") && has("CONFIG_NFS") && kernel.checks_memory().unwrap());
        assert!(!has("CONFIG_KASAN_INLINE") && !has("CONFIG_NF"));
        assert!(kernel.contains("netfs", "module").unwrap());
        assert!(!kernel.contains("netfs", "kernel").unwrap(), "it is not built in");
        assert!(kernel.contains("ext4", "the kernel").unwrap(), "it is built in");
    }
}
