//! Which devices a mounted btrfs uses, according to sysfs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::device_numbers::DeviceNumbers;

const BTRFS: &str = "/sys/fs/btrfs";

/// The number of devices of the mounted btrfs that `device` belongs to.
pub(crate) fn btrfs_devices(device: DeviceNumbers) -> Option<usize> {
    mounted_btrfs(device).map(|(_, devices)| devices.len())
}

/// The sysfs directory and the devices of the mounted btrfs that `device` belongs to.
pub(crate) fn mounted_btrfs(device: DeviceNumbers) -> Option<(PathBuf, Vec<DeviceNumbers>)> {
    let devices_of = |directory: &Path| -> Vec<DeviceNumbers> {
        let entries = fs::read_dir(directory.join("devices")).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| fs::read_to_string(entry.path().join("dev")).ok());
        numbers.filter_map(|text| DeviceNumbers::parse(text.trim())).collect()
    };
    let mounted = fs::read_dir(BTRFS).ok()?.flatten().map(|entry| entry.path());
    mounted
        .map(|directory| (devices_of(&directory), directory))
        .find_map(|(devices, directory)| devices.contains(&device).then_some((directory, devices)))
}
