//! How far the kernel reads ahead in the files of a file system, and how to set that.
//!
//! When a file is opened, it takes its read-ahead from the backing device information of its super
//! block (`file_ra_state_init` in mm/readahead.c). For file systems on one block device that is the
//! disk's, `/sys/class/bdi/MAJOR:MINOR`, even on a partition (`setup_bdev_super` in fs/super.c).
//! Btrfs makes one for every mounted file system (`btrfs_fill_super`), to which
//! `/sys/fs/btrfs/UUID/bdi` links. So do FUSE on a block device (`MAJOR:MINOR-fuseblk`), and FUSE
//! and NFS without one, under the anonymous number of the file system.

use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, readlinkat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;

use file_system::{Devices, FileSystem};

use crate::btrfs::mounted_btrfs;
use crate::device_numbers::DeviceNumbers;
use crate::removal;
use machine::describe::Sources;
use machine::describe::mounts::entry_of;

pub(crate) const SETTINGS: &str = "/sys/class/bdi";
const FILE: &str = "read_ahead_kb";

/// The setting that applies to a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadAhead {
    /// Contains a number of KiB.
    file: PathBuf,
}

impl ReadAhead {
    /// The setting that applies to the file system at `root`, if one is visible.
    pub(crate) fn for_root(root: &Path) -> io::Result<Option<Self>> {
        let shown = DeviceNumbers::from_raw(fs::metadata(root)?.dev());
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
        Ok(DeviceNumbers::from_file(&mount.source).and_then(Self::for_btrfs))
    }

    /// The setting of the btrfs that `device` belongs to.
    fn for_btrfs(device: DeviceNumbers) -> Option<Self> {
        let (directory, _) = mounted_btrfs(device)?;
        // The link disappears with the file system; what it leads to never becomes another's.
        let file = directory.join("bdi").canonicalize().ok()?.join(FILE);
        Some(Self { file })
    }

    /// The read-ahead, in bytes.
    pub(crate) fn bytes(&self) -> io::Result<u64> {
        let text = fs::read_to_string(&self.file)?;
        let kib = text.trim().parse::<u64>().ok().and_then(|kib| kib.checked_mul(1024));
        kib.ok_or_else(|| self.failure(&format!("it contains {:?}", text.trim())))
    }

    pub(crate) fn set(&self, bytes: u64) -> io::Result<()> {
        fs::write(&self.file, (bytes / 1024).to_string())
            .map_err(|error| self.failure(&error.to_string()))
    }

    pub(crate) fn failure(&self, why: &str) -> io::Error {
        io::Error::other(format!("{}: {why}", self.file.display()))
    }

    /// What a note contains: the setting, our value, and the value to restore.
    pub(crate) fn noted(&self, ours_bytes: u64, before_bytes: u64) -> PathBuf {
        let kib = |bytes: u64| (bytes / 1024).to_string();
        self.file.join(kib(ours_bytes)).join(kib(before_bytes))
    }
}

/// What a note says.
#[derive(Debug, PartialEq, Eq)]
struct Note<'a> {
    /// The setting's file.
    file: &'a Path,
    /// The value that was set.
    ours_kib: u64,
    /// The value to restore.
    before_kib: u64,
}

impl<'a> Note<'a> {
    /// Parses what [`ReadAhead::noted`] makes.
    fn parse(path: &'a Path) -> Option<Self> {
        let number = |path: &Path| path.file_name()?.to_str()?.parse::<u64>().ok();
        let with_ours = path.parent()?;
        let file = with_ours.parent()?;
        let plain = path.components().all(|part| !matches!(part, Component::ParentDir));
        // The file below SETTINGS is reached by a link to the one below /sys/devices.
        let is_setting = file.starts_with(SETTINGS) || file.starts_with("/sys/devices");
        let is_one = plain && is_setting && file.ends_with(FILE);
        is_one.then_some(Self { file, ours_kib: number(with_ours)?, before_kib: number(path)? })
    }

    /// Restores the former value if the setting still has ours. Does nothing if it is gone.
    fn restore(&self) -> io::Result<()> {
        match fs::read_to_string(self.file) {
            Ok(now) if now.trim() == self.ours_kib.to_string() => {
                fs::write(self.file, self.before_kib.to_string())
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            // Somebody else has changed it since, or it is gone.
            _ => Ok(()),
        }
    }
}

/// Restores the setting that the note of this name in `parent` describes, if the note belongs to
/// this user, and removes the note. Does nothing if it is already gone.
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
    if let Some(note) = Note::parse(Path::new(OsStr::from_bytes(noted.to_bytes()))) {
        note.restore()?;
    }
    removal::unlink_in(&parent, name, AtFlags::empty())
}

/// Like [`put_back`], for a note at this path.
pub(crate) fn put_back_at(note: &Path) -> io::Result<()> {
    let (parent, name) = removal::parent_of(note)?;
    put_back(parent, &name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_in_memory_have_no_setting() {
        assert_eq!(ReadAhead::for_root(Path::new("/proc")).expect("/proc is mounted"), None);
    }

    #[test]
    fn of_settings_only_read_ahead_is_put_back() {
        for directory in ["/sys/class/bdi/7:0", "/sys/devices/virtual/bdi/btrfs-1"] {
            let file = Path::new(directory).join(FILE);
            let noted = ReadAhead { file: file.clone() }.noted(65_536, 131_072);
            let note = Note { file: &file, ours_kib: 64, before_kib: 128 };
            assert_eq!(Note::parse(&noted), Some(note), "{directory}");
        }
        for path in [
            "/etc/passwd/1/2",
            "/sys/class/bdi/7:0/max_ratio/1/2",
            "/sys/class/bdi/../x/read_ahead_kb/1/2",
            "/sys/class/bdi/7:0/read_ahead_kb/1",
            "/sys/class/bdi/7:0/read_ahead_kb/x/1",
        ] {
            assert_eq!(Note::parse(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn what_somebody_has_set_since_stays() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let setting = place.path().join("setting");
        let restore = |file| Note { file, ours_kib: 64, before_kib: 128 }.restore();
        for (now, then) in [("64\n", "128"), ("256\n", "256\n")] {
            fs::write(&setting, now).expect("it is ours");
            restore(&setting).expect("it can be written");
            assert_eq!(fs::read_to_string(&setting).expect("it is there"), then);
        }
        restore(&place.path().join("gone")).expect("it needs nothing");
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
