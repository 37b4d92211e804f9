//! The block device below a target, opened beside its file system.
//!
//! Reads and writes bypass the page cache (`O_DIRECT`), so offsets, lengths and addresses of
//! buffers must be multiples of [`OpenDevice::logical_block_bytes`]. It is opened read-only, unless
//! writing is asked for and everything on it is ours.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::btrfs::btrfs_devices;
use crate::device_numbers::DeviceNumbers;
use crate::facts::TargetFacts;
use file_system::{Devices, FileSystem};

/// Why the device below a target cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenDeviceError {
    /// The files are in memory, on another machine, or on another file system.
    #[error("{label} is not on a block device; choose a target on a device, such as ext4")]
    NoDevice {
        /// The target's label.
        label: String,
    },
    /// The file system spreads its files over several devices.
    #[error("{label} spans several devices; choose a target on one device")]
    SeveralDevices {
        /// The target's label.
        label: String,
    },
    /// There is no node through which the device could be opened.
    #[error("the block device {device} of {label} has no node in /dev; mount a devtmpfs there")]
    NoNode {
        /// The target's label.
        label: String,
        /// The device.
        device: DeviceNumbers,
    },
    /// The file system there was made by somebody else.
    #[error(
        "fsprism did not make the file system of {label} and does not write to its device; give a \
        scratch target, such as ext4"
    )]
    NotOurs {
        /// The target's label.
        label: String,
    },
    /// The kernel does not allow writing to it while it is mounted.
    #[error("{path} cannot be written while its file system is mounted: {source}; run as root, on \
        a kernel that allows writes to mounted devices (bdev_allow_write_mounted)",
        path = path.display())]
    NotWritable {
        /// The device's node.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel refused.
    #[error("{path} cannot be read with direct I/O: {source}; run as root",
        path = path.display())]
    Io {
        /// The device's node.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
}

/// The block device below a target. A loop device stays bound while this is open, so drop it before
/// closing the target.
#[derive(Debug)]
pub struct OpenDevice {
    file: File,
    path: PathBuf,
    size_bytes: u64,
    logical_block_bytes: u32,
    physical_block_bytes: u32,
}

impl OpenDevice {
    /// The device, for direct reads, and for direct writes if opened for them.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The node through which it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The smallest unit that can be read.
    #[must_use]
    pub fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// The smallest unit that the device writes without reading first.
    #[must_use]
    pub fn physical_block_bytes(&self) -> u32 {
        self.physical_block_bytes
    }

    /// Opens the device below the target that `facts` describe.
    pub(crate) fn below(facts: &TargetFacts) -> Result<Self, OpenDeviceError> {
        let path = Self::path_below(facts)?;
        Self::open(File::options().read(true), &path)
            .map_err(|source| OpenDeviceError::Io { path, source })
    }

    /// Like [`OpenDevice::below`], but also for writes. `made_on` is what the file system was made
    /// on, which must still be what is mounted.
    pub(crate) fn below_for_writes(
        facts: &TargetFacts,
        made_on: &Path,
    ) -> Result<Self, OpenDeviceError> {
        let path = Self::path_below(facts)?;
        if DeviceNumbers::from_file(made_on) != facts.device {
            return Err(OpenDeviceError::NotOurs { label: facts.label.clone() });
        }
        Self::open(File::options().read(true).write(true), &path)
            .map_err(|source| OpenDeviceError::NotWritable { path, source })
    }

    /// The node of the device below, which must be the only one.
    fn path_below(facts: &TargetFacts) -> Result<PathBuf, OpenDeviceError> {
        let label = || facts.label.clone();
        let device = facts.device.ok_or_else(|| OpenDeviceError::NoDevice { label: label() })?;
        let known = FileSystem::named(&facts.file_system);
        let several = match known.map_or(Devices::One, |known| known.devices) {
            Devices::One => false,
            Devices::Pool => btrfs_devices(device).is_none_or(|devices| devices != 1),
            Devices::Named(by) => {
                facts.mount_options.split(',').any(|option| option.starts_with(by))
            }
        };
        if several {
            return Err(OpenDeviceError::SeveralDevices { label: label() });
        }
        node_of(device, Path::new(&facts.source))
            .ok_or_else(|| OpenDeviceError::NoNode { label: label(), device })
    }

    fn open(options: &mut OpenOptions, path: &Path) -> io::Result<Self> {
        let file = options.custom_flags(libc::O_DIRECT).open(path)?;
        let (logical_block_bytes, physical_block_bytes) = system_calls::block_bytes(&file)?;
        Ok(Self {
            size_bytes: system_calls::block_device_size_bytes(&file)?,
            path: path.to_owned(),
            file,
            logical_block_bytes,
            physical_block_bytes,
        })
    }
}

/// A node of the device: what is mounted, or else the one that the kernel names.
fn node_of(device: DeviceNumbers, mounted: &Path) -> Option<PathBuf> {
    match DeviceNumbers::from_file(mounted) == Some(device) {
        true => Some(mounted.to_owned()),
        false => device.node(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_on_no_device_is_refused() {
        let facts = TargetFacts { label: "memory".to_owned(), ..TargetFacts::default() };
        let error = OpenDevice::below(&facts).expect_err("no device");
        assert!(matches!(error, OpenDeviceError::NoDevice { .. }), "{error}");
        let device = Some(DeviceNumbers { major: 4095, minor: 3 });
        let facts = TargetFacts { device, source: "/dev/null".to_owned(), ..facts };
        let error = OpenDevice::below(&facts).expect_err("no such device");
        assert!(matches!(error, OpenDeviceError::NoNode { .. }), "{error}");
    }
}
