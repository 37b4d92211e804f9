//! The numbers of a block device, and what sysfs and `/dev` show for them.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};
use serde::{Deserialize, Serialize};

/// A block device's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceNumbers {
    /// The driver's number.
    pub major: u32,
    /// The number among the driver's devices.
    pub minor: u32,
}

impl DeviceNumbers {
    /// The disk that a partition is on, since only whole disks can be throttled; a disk itself.
    pub(crate) fn whole_disk(self) -> Self {
        let directory = format!("/sys/dev/block/{}:{}", self.major, self.minor);
        if !Path::new(&directory).join("partition").exists() {
            return self;
        }
        let numbers = fs::read_to_string(Path::new(&directory).join("../dev"));
        numbers.ok().and_then(|text| Self::parse(text.trim())).unwrap_or(self)
    }

    /// Its node in `/dev`, by the name that the kernel gives it, if it exists.
    pub(crate) fn node(self) -> Option<PathBuf> {
        let event = fs::read_to_string(format!("/sys/dev/block/{self}/uevent")).ok()?;
        let name = event.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
        let node = Path::new("/dev").join(name);
        // A node of that name may belong to another device.
        (Self::from_file(&node) == Some(self)).then_some(node)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    pub(crate) fn from_file(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        metadata.file_type().is_block_device().then(|| Self::from_raw(metadata.rdev()))
    }

    pub(crate) fn from_raw(device: u64) -> Self {
        Self { major: major(device), minor: minor(device) }
    }
}

impl std::fmt::Display for DeviceNumbers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_its_own_and_a_character_device_is_none() {
        let nothing_there = DeviceNumbers { major: 4095, minor: 3 };
        assert_eq!(nothing_there.whole_disk(), nothing_there);
        assert_eq!(DeviceNumbers::parse("254:16").map(|n| (n.major, n.minor)), Some((254, 16)));
        assert_eq!(DeviceNumbers::from_file(Path::new("/dev/null")), None);
    }
}
