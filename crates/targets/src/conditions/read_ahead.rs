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
//! there is restored before the file system is unmounted; by the guardian should we die; and by the
//! next run should it have died too, which finds a note of it beside our mount area.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, readlinkat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;

use file_system::{Devices, FileSystem};

use crate::facts::DeviceNumbers;
use crate::guardian::{Guardian, Kind};
use crate::guardian::{removal, work_directory};
use machine::describe::Sources;
use machine::describe::mounts::entry_of;

const SETTINGS: &str = "/sys/class/bdi";
const BTRFS: &str = "/sys/fs/btrfs";
const FILE: &str = "read_ahead_kb";

/// The setting that governs a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadAhead {
    /// Holds a number of KiB.
    file: PathBuf,
}

impl ReadAhead {
    /// The setting that governs the file system at `root`, if there is one that can be seen.
    pub(crate) fn of(root: &Path) -> io::Result<Option<Self>> {
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
        let known = FileSystem::named(&mount.file_system);
        if known.is_none_or(|known| known.devices != Devices::Pool) {
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
    pub(crate) fn bytes(&self) -> io::Result<u64> {
        let text = fs::read_to_string(&self.file)?;
        let kib = text.trim().parse::<u64>().ok().and_then(|kib| kib.checked_mul(1024));
        kib.ok_or_else(|| self.failure(&format!("it contains {:?}", text.trim())))
    }

    fn set(&self, bytes: u64) -> io::Result<()> {
        fs::write(&self.file, (bytes / 1024).to_string())
            .map_err(|error| self.failure(&error.to_string()))
    }

    fn failure(&self, why: &str) -> io::Error {
        io::Error::other(format!("{}: {why}", self.file.display()))
    }

    /// What a note leads to: the setting, our value, and the one to give it again.
    fn noted(&self, ours_bytes: u64, before_bytes: u64) -> PathBuf {
        let kib = |bytes: u64| (bytes / 1024).to_string();
        self.file.join(kib(ours_bytes)).join(kib(before_bytes))
    }
}

/// On how many devices the mounted btrfs lies of which `device` is one.
pub(crate) fn btrfs_devices(device: DeviceNumbers) -> Option<usize> {
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
pub(crate) struct ReadAheadInForce {
    setting: ReadAhead,
    bytes: u64,
    before_bytes: u64,
    /// Leads to the setting and its value before, for whoever finds that we have died.
    note: PathBuf,
}

impl ReadAheadInForce {
    /// Sets the read-ahead of the file system at `root` and reads it back. What it was is noted in
    /// `note` first, a path where nothing is.
    pub(crate) fn set(
        root: &Path,
        bytes: u64,
        guardian: &Guardian,
        note: PathBuf,
    ) -> io::Result<Self> {
        let setting = ReadAhead::of(root)?.ok_or_else(|| {
            io::Error::other(format!(
                "no setting in {SETTINGS} governs this file system; leave read_ahead= out"
            ))
        })?;
        let before_bytes = setting.bytes()?;
        guardian.add(Kind::ReadAhead, &note)?;
        symlink(setting.noted(bytes, before_bytes), &note)?;
        let in_force = Self { setting, bytes, before_bytes, note };
        let set = in_force.setting.set(bytes).and_then(|()| in_force.setting.bytes());
        let refusal = match set {
            Ok(read_back) if read_back == bytes => return Ok(in_force),
            Ok(read_back) => in_force.setting.failure(&format!(
                "the kernel set {read_back} bytes instead of read_ahead={bytes}"
            )),
            Err(error) => error,
        };
        let _already_failing = in_force.restore(guardian);
        Err(refusal)
    }

    /// What is in force, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts back what was there.
    pub(crate) fn restore(self, guardian: &Guardian) -> io::Result<()> {
        self.setting.set(self.before_bytes)?;
        fs::remove_file(&self.note)?;
        guardian.remove(Kind::ReadAhead, &self.note)
    }
}

/// What [`ReadAhead::noted`] says: the setting's file, our value, the one before.
fn of_note(path: &Path) -> Option<(&Path, u64, u64)> {
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u64>().ok();
    let with_ours = path.parent()?;
    let setting = with_ours.parent()?;
    let plain = path.components().all(|part| !matches!(part, Component::ParentDir));
    // The one below SETTINGS is a link to the other.
    let is_setting = setting.starts_with(SETTINGS) || setting.starts_with("/sys/devices");
    let is_one = plain && is_setting && setting.ends_with(FILE);
    is_one.then_some((setting, number(with_ours)?, number(path)?))
}

/// Puts back what a note of that name in `parent` leads to, if it is one of this user's, and takes
/// it away. One that is gone needs nothing.
pub(crate) fn put_back(parent: impl AsFd, name: &CStr) -> io::Result<()> {
    let stat = match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        stat => stat?,
    };
    let is_link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
    if !is_link || stat.st_uid != geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let noted = readlinkat(&parent, name, Vec::new())?;
    if let Some(noted) = of_note(Path::new(OsStr::from_bytes(noted.to_bytes()))) {
        restore(noted)?;
    }
    removal::unlink_in(&parent, name, AtFlags::empty())
}

/// As [`put_back`], of a note at that path.
pub(crate) fn put_back_at(note: &Path) -> io::Result<()> {
    let (parent, name) = work_directory::parent_of(note)?;
    put_back(parent, &name)
}

/// Gives a setting its former value, if it still has ours; one that is gone needs none.
fn restore((setting, ours, before): (&Path, u64, u64)) -> io::Result<()> {
    match fs::read_to_string(setting) {
        Ok(now) if now.trim() == ours.to_string() => fs::write(setting, before.to_string()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        // Somebody else has set it since.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_have_no_setting() {
        assert_eq!(ReadAhead::of(Path::new("/proc")).expect("/proc is mounted"), None);
    }

    #[test]
    fn of_settings_only_read_ahead_is_put_back() {
        for directory in ["/sys/class/bdi/7:0", "/sys/devices/virtual/bdi/btrfs-1"] {
            let file = Path::new(directory).join(FILE);
            let noted = ReadAhead { file: file.clone() }.noted(65_536, 131_072);
            assert_eq!(of_note(&noted), Some((&*file, 64, 128)), "{directory}");
        }
        for path in [
            "/etc/passwd/1/2",
            "/sys/class/bdi/7:0/max_ratio/1/2",
            "/sys/class/bdi/../x/read_ahead_kb/1/2",
            "/sys/class/bdi/7:0/read_ahead_kb/1",
            "/sys/class/bdi/7:0/read_ahead_kb/x/1",
        ] {
            assert_eq!(of_note(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn what_somebody_has_set_since_stays() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let setting = place.path().join("setting");
        for (now, then) in [("64\n", "128"), ("256\n", "256\n")] {
            fs::write(&setting, now).expect("it is ours");
            restore((&setting, 64, 128)).expect("it can be written");
            assert_eq!(fs::read_to_string(&setting).expect("it is there"), then);
        }
        restore((&place.path().join("gone"), 64, 128)).expect("it needs nothing");
    }

    #[test]
    fn notes_are_taken_away_and_what_is_none_stays() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let note = place.path().join("note");
        symlink("/sys/class/bdi/none/read_ahead_kb/4/8", &note).expect("it is new");
        put_back_at(&note).expect("a setting that is gone needs nothing");
        assert!(note.symlink_metadata().is_err());
        put_back_at(&note).expect("it is gone");
        fs::write(&note, "no link").expect("it is new");
        assert!(put_back_at(&note).is_err());
        assert!(note.exists());
    }
}
