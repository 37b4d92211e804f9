//! Storage: block devices, mounts, and what is underneath a directory.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of a block device, as in the directory `/sys/dev/block`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct DeviceNumber {
    /// The driver's number.
    pub major: u32,
    /// The device's number within its driver.
    pub minor: u32,
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Whether a device keeps written data in a volatile cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteCache {
    /// It does: data is durable only after a flush.
    WriteBack,
    /// It does not.
    WriteThrough,
}

/// A block device or partition, from `/sys/dev/block/MAJOR:MINOR`. A partition has its own name,
/// number and size, and everything else from the disk it is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BlockDevice {
    /// The kernel's name, such as `nvme0n1p2`.
    pub name: String,
    /// Its device number.
    pub major_minor: DeviceNumber,
    /// Its size, in bytes.
    pub size_bytes: Option<u64>,
    /// The model, as the disk reports it.
    pub model: Option<String>,
    /// Whether it is a spinning disk, or says that it behaves like one.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use, such as `mq-deadline` or `none`.
    pub scheduler: Option<String>,
    /// Maximum read-ahead of the kernel, in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// The write cache, as far as the kernel knows.
    pub write_cache: Option<WriteCache>,
    /// The smallest addressable unit, in bytes.
    pub logical_block_bytes: Option<u32>,
    /// The smallest unit that can be written without reading first, in bytes.
    pub physical_block_bytes: Option<u32>,
    /// Whether it supports discard (trim).
    pub discard: Option<bool>,
    /// For a loop device, what it is backed by.
    pub backing: Option<Box<LoopBacking>>,
    /// For a device-mapper or RAID device, the devices it is made of.
    pub slaves: Vec<BlockDevice>,
}

/// What backs a loop device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LoopBacking {
    /// The backing file; the kernel appends ` (deleted)` once it has been deleted.
    pub file: String,
    /// Whether the loop device bypasses the backing file's page cache (`loop/dio`).
    pub direct_io: Option<bool>,
    /// The device that holds the backing file; `None` if the file is in memory or on a network, or
    /// cannot be found under its name.
    pub device: Option<BlockDevice>,
}

/// One mounted file system, from `/proc/self/mountinfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Mount {
    /// What is mounted: the path of a device, or a word that is specific to the file system.
    pub source: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// The file system's type, such as `ext4` or `fuse.sshfs`.
    pub file_system: String,
    /// The options of this mount, such as `noatime`.
    pub options: Vec<String>,
    /// The options of the file system, which all its mounts share, such as `discard`.
    pub super_options: Vec<String>,
}

/// The storage below a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Storage {
    /// The directory, as it was given.
    pub path: String,
    /// The mount that it is in.
    pub mount: Option<Mount>,
    /// The underlying device; `None` if the files are in memory or on another machine.
    pub device: Option<BlockDevice>,
}
