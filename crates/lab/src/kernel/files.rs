//! Where the parts of a kernel are below a root, which is this machine's or that of unpacked
//! packages.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::error::LabError;
use crate::handover::Sum;

/// Directories that contain the modules of all kernels.
const MODULES: [&str; 2] = ["lib/modules", "usr/lib/modules"];

/// The parts of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KernelFiles {
    /// Its release.
    pub(super) release: String,
    /// The image that a boot loader would start.
    pub(super) kernel: PathBuf,
    /// Its configuration, if present.
    pub(super) configuration: Option<PathBuf>,
    /// Its directory of modules, if present.
    pub(super) modules: Option<PathBuf>,
}

impl KernelFiles {
    /// Finds the kernel of a release.
    pub(super) fn find(root: &Path, release: &str) -> Option<Self> {
        let beside = |name: &str| MODULES.map(|path| root.join(path).join(release).join(name));
        // Debian's newer packages have the kernel next to its modules, and copy it to /boot.
        let either = |name: &str, there: &str| {
            let boot = root.join("boot").join(format!("{name}-{release}"));
            [boot].into_iter().chain(beside(there)).find(|path| path.is_file())
        };
        let modules = beside("kernel").into_iter().find(|path| path.is_dir());
        Some(Self {
            release: release.to_owned(),
            kernel: either("vmlinuz", "vmlinuz")?,
            configuration: either("config", "config"),
            modules: modules.and_then(|path| path.parent().map(Path::to_owned)),
        })
    }

    /// The kernels below a root, by release.
    pub(super) fn all(root: &Path) -> Vec<Self> {
        let names = |directory: PathBuf| {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        let boot = names(root.join("boot"));
        let boot = boot.filter_map(|name| name.strip_prefix("vmlinuz-").map(str::to_owned));
        let beside = MODULES.into_iter().flat_map(|path| names(root.join(path)));
        let mut releases: Vec<String> = boot.chain(beside).collect();
        releases.sort();
        releases.dedup();
        releases.iter().filter_map(|release| Self::find(root, release)).collect()
    }

    /// A hash of paths, lengths and modification times, which changes when any part is reinstalled.
    pub(super) fn state(&self) -> Result<String, LabError> {
        let mut sum = Sum::new();
        let mut paths = vec![self.kernel.clone()];
        paths.extend(self.configuration.clone());
        if let Some(modules) = &self.modules {
            walk(modules, &mut paths)?;
        }
        paths.sort();
        for path in paths {
            let metadata = fs::metadata(&path).map_err(LabError::at(&path))?;
            sum.add(path.as_os_str().as_encoded_bytes());
            sum.add(&metadata.len().to_le_bytes());
            sum.add(&changed(&metadata).to_le_bytes());
        }
        Ok(format!("{:016x}", sum.finish()))
    }
}

/// Modification time in nanoseconds since 1970.
fn changed(metadata: &Metadata) -> u128 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos())
}

fn walk(directory: &Path, paths: &mut Vec<PathBuf>) -> Result<(), LabError> {
    for entry in fs::read_dir(directory).map_err(LabError::at(directory))? {
        let entry = entry.map_err(LabError::at(directory))?;
        let kind = entry.file_type().map_err(LabError::at(directory))?;
        // Symbolic links point to the source that a kernel was built from.
        if kind.is_dir() {
            walk(&entry.path(), paths)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(paths: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for path in paths {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        root
    }

    #[test]
    fn kernels_are_found_in_boot_and_with_their_modules() {
        let root = root(&[
            "boot/vmlinuz-6.1.0-9-amd64",
            "boot/config-6.1.0-9-amd64",
            "lib/modules/6.1.0-9-amd64/kernel/fs/xfs.ko",
            "usr/lib/modules/7.2+deb/vmlinuz",
            "usr/lib/modules/7.2+deb/config",
            "usr/lib/modules/7.2+deb/kernel/fs/xfs.ko.xz",
            "usr/lib/modules/5.10/kernel/fs/xfs.ko",
            "boot/vmlinuz-6.9-alone",
        ]);
        let all = KernelFiles::all(root.path());
        let releases: Vec<&str> = all.iter().map(|files| files.release.as_str()).collect();
        assert_eq!(releases, ["6.1.0-9-amd64", "6.9-alone", "7.2+deb"]);
        let within = |path: &Path| path.strip_prefix(root.path()).unwrap().to_owned();
        assert_eq!(
            within(all[0].modules.as_ref().unwrap()),
            Path::new("lib/modules/6.1.0-9-amd64")
        );
        assert_eq!((&all[1].configuration, &all[1].modules), (&None, &None));
        assert_eq!(within(&all[2].kernel), Path::new("usr/lib/modules/7.2+deb/vmlinuz"));
        assert!(all[2].configuration.is_some() && all[2].modules.is_some());
        assert!(KernelFiles::find(root.path(), "5.10").is_none());
    }

    #[test]
    fn a_module_that_is_made_anew_is_another_kernel() {
        let root = root(&["boot/vmlinuz-6.1", "lib/modules/6.1/kernel/fs/xfs.ko"]);
        let files = KernelFiles::find(root.path(), "6.1").unwrap();
        let before = files.state().unwrap();
        assert_eq!(before, files.state().unwrap());
        fs::write(root.path().join("lib/modules/6.1/kernel/fs/xfs.ko"), "another").unwrap();
        assert_ne!(before, files.state().unwrap());
    }
}
