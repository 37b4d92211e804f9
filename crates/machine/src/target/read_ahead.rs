//! How far the kernel reads ahead in the files of a file system, and setting that.
//!
//! A file takes its read-ahead, when it is opened, from the backing device information of its
//! super block (`file_ra_state_init` in mm/readahead.c). For file systems on one block device that
//! is the disk's, `/sys/class/bdi/MAJOR:MINOR`, a partition's disk's too (`setup_bdev_super` in
//! fs/super.c). Btrfs makes one of its own for every mounted file system (`btrfs_fill_super`), to
//! which `/sys/fs/btrfs/UUID/bdi` leads; FUSE on a block device does (`MAJOR:MINOR-fuseblk`), and
//! so do FUSE and NFS without one, under the anonymous number of the file system.
//!
//! A disk's setting stays after the file system is gone. Kernels that clear a loop device set its
//! limits anew and with them the read-ahead (seen on Linux 6.18); that is not relied on: what was
//! there is restored before the file system is unmounted, and by the guardian should we die.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::facts::DeviceNumbers;
use super::guardian::{Guardian, Kind};
use crate::describe::Sources;
use crate::describe::mounts::entry_of;

const SETTINGS: &str = "/sys/class/bdi";
const BTRFS: &str = "/sys/fs/btrfs";
const FILE: &str = "read_ahead_kb";

/// The setting that governs a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadAhead {
    /// Holds a number of KiB.
    file: PathBuf,
}

impl ReadAhead {
    /// The setting that governs the file system at `root`, if there is one that can be seen.
    pub(super) fn of(root: &Path) -> io::Result<Option<Self>> {
        let shown = DeviceNumbers::of(fs::metadata(root)?.dev());
        let disk = shown.whole_disk();
        let by_number = [format!("{shown}-fuseblk"), shown.to_string(), disk.to_string()];
        for name in by_number {
            let file = Path::new(SETTINGS).join(name).join(FILE);
            if file.exists() {
                return Ok(Some(Self { file }));
            }
        }
        let mount = entry_of(&Sources::default(), root).map_err(io::Error::other)?;
        if mount.file_system != "btrfs" {
            return Ok(None);
        }
        Ok(DeviceNumbers::of_file(&mount.source).and_then(Self::of_btrfs))
    }

    /// That of the btrfs of which `device` is one.
    fn of_btrfs(device: DeviceNumbers) -> Option<Self> {
        let (directory, _) = mounted_btrfs(device)?;
        // The link goes when the file system does; its end is another's never.
        let file = directory.join("bdi").canonicalize().ok()?.join(FILE);
        Some(Self { file })
    }

    /// How far, in bytes.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        let text = fs::read_to_string(&self.file)?;
        let kib = text.trim().parse::<u64>().ok().and_then(|kib| kib.checked_mul(1024));
        kib.ok_or_else(|| self.failure(&format!("it holds {:?}", text.trim())))
    }

    fn set(&self, bytes: u64) -> io::Result<()> {
        fs::write(&self.file, (bytes / 1024).to_string())
            .map_err(|error| self.failure(&error.to_string()))
    }

    fn failure(&self, why: &str) -> io::Error {
        io::Error::other(format!("{}: {why}", self.file.display()))
    }

    /// What the guardian is told: the setting, and the value to give it.
    fn former_value(&self, bytes: u64) -> PathBuf {
        self.file.join((bytes / 1024).to_string())
    }
}

/// On how many devices the mounted btrfs lies of which `device` is one.
pub(super) fn btrfs_devices(device: DeviceNumbers) -> Option<usize> {
    mounted_btrfs(device).map(|(_, devices)| devices.len())
}

/// The directory of sysfs and the devices of the mounted btrfs of which `device` is one.
fn mounted_btrfs(device: DeviceNumbers) -> Option<(PathBuf, Vec<DeviceNumbers>)> {
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

/// A setting that is ours until it is restored.
#[derive(Debug)]
pub(super) struct ReadAheadInForce {
    setting: ReadAhead,
    bytes: u64,
    before_bytes: u64,
}

impl ReadAheadInForce {
    /// Sets the read-ahead of the file system at `root` and reads it back.
    pub(super) fn set(root: &Path, bytes: u64, guardian: &Guardian) -> io::Result<Self> {
        let setting = ReadAhead::of(root)?.ok_or_else(|| {
            io::Error::other(format!(
                "no setting in {SETTINGS} governs this file system; leave read_ahead= out"
            ))
        })?;
        let before_bytes = setting.bytes()?;
        guardian.add(Kind::ReadAhead, &setting.former_value(before_bytes))?;
        let in_force = Self { setting, bytes, before_bytes };
        let set = in_force.setting.set(bytes).and_then(|()| in_force.setting.bytes());
        let refusal = match set {
            Ok(read_back) if read_back == bytes => return Ok(in_force),
            Ok(read_back) => in_force.setting.failure(&format!(
                "the kernel made {read_back} bytes of the read_ahead={bytes} that was asked for"
            )),
            Err(error) => error,
        };
        let _already_failing = in_force.restore(guardian);
        Err(refusal)
    }

    /// What is in force, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts back what was there.
    pub(super) fn restore(self, guardian: &Guardian) -> io::Result<()> {
        self.setting.set(self.before_bytes)?;
        guardian.remove(Kind::ReadAhead, &self.setting.former_value(self.before_bytes))
    }
}

/// Whether a path is one that [`ReadAhead::former_value`] gives.
pub(super) fn is_a_former_value(path: &Path) -> bool {
    let (Some(setting), Some(value)) = (path.parent(), path.file_name()) else { return false };
    let plain = path.components().all(|part| !matches!(part, Component::ParentDir));
    // The one below SETTINGS is a link to the other.
    let is_setting = setting.starts_with(SETTINGS) || setting.starts_with("/sys/devices");
    let is_number = value.to_str().is_some_and(|value| value.parse::<u64>().is_ok());
    plain && is_setting && setting.ends_with(FILE) && is_number
}

/// Gives the setting that the path names its former value; one that is gone needs none.
pub(super) fn restore_former_value(path: &Path) -> io::Result<()> {
    let (Some(setting), Some(value)) = (path.parent(), path.file_name()) else { return Ok(()) };
    if !setting.exists() {
        return Ok(());
    }
    fs::write(setting, value.as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_have_no_setting() {
        assert_eq!(ReadAhead::of(Path::new("/proc")).expect("/proc is mounted"), None);
    }

    #[test]
    fn what_the_guardian_is_told_it_takes() {
        for directory in ["/sys/class/bdi/7:0", "/sys/devices/virtual/bdi/btrfs-1"] {
            let setting = ReadAhead { file: Path::new(directory).join(FILE) };
            assert!(is_a_former_value(&setting.former_value(131_072)), "{directory}");
        }
        assert!(restore_former_value(Path::new("/sys/class/bdi/none/read_ahead_kb/4")).is_ok());
    }
}
