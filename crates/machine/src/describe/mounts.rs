//! Mounts, from `/proc/self/mountinfo`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use record::machine::Mount;
use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::error::DescribeError;
use super::sources::Sources;

/// The mounts of this process, as the kernel lists them.
pub const MOUNTINFO: &str = "/proc/self/mountinfo";

/// One line of `mountinfo`, with its paths unescaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountEntry {
    /// The mount ID.
    pub id: u64,
    /// The directory of the file system that is mounted; `/` if all of it is.
    pub root: PathBuf,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Options of the mount.
    pub options: Vec<String>,
    /// The file system's name.
    pub file_system: String,
    /// What is mounted: a device, or an arbitrary word.
    pub source: PathBuf,
    /// Options of the file system.
    pub super_options: Vec<String>,
}

impl MountEntry {
    fn to_record(&self) -> Mount {
        Mount {
            source: self.source.display().to_string(),
            mount_point: self.mount_point.display().to_string(),
            file_system: self.file_system.clone(),
            options: self.options.clone(),
            super_options: self.super_options.clone(),
        }
    }

    /// The mount's options, then the file system's, without duplicates.
    #[must_use]
    pub fn all_options(&self) -> Vec<&str> {
        let mut options: Vec<&str> = Vec::new();
        for option in self.options.iter().chain(&self.super_options) {
            if !options.contains(&option.as_str()) {
                options.push(option);
            }
        }
        options
    }

    /// The value of a super option such as `upperdir=/a`.
    #[must_use]
    pub(crate) fn super_option(&self, name: &str) -> Option<&str> {
        self.super_options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// The mount that holds `path`, which must exist.
pub(crate) fn mount_of(sources: &Sources, path: &Path) -> Result<Mount, DescribeError> {
    entry_of(sources, path).map(|entry| entry.to_record())
}

/// The `mountinfo` entry that holds `path`, which must exist.
///
/// # Errors
/// If the list cannot be read, or no mount holds the path.
pub fn entry_of(sources: &Sources, path: &Path) -> Result<MountEntry, DescribeError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| DescribeError::Read { path, source }
    };
    let entries = entries(&sources.read(MOUNTINFO).map_err(unreadable(Path::new(MOUNTINFO)))?);
    let no_mount = || DescribeError::NoMount { path: path.to_owned() };
    if !sources.is_this_machine() {
        return holding(&entries, path).cloned().ok_or_else(no_mount);
    }
    // Only the kernel knows whether a later mount hides an earlier one further down, or which mount
    // a relative path starts in.
    let known = mount_id(path).and_then(|id| entries.iter().find(|entry| entry.id == id));
    if let Some(known) = known {
        return Ok(known.clone());
    }
    // A path on a hidden mount cannot be reached by name.
    let path = path.canonicalize().map_err(unreadable(path))?;
    holding(&entries, &path).cloned().ok_or_else(no_mount)
}

/// The ID of the mount that holds `path`; `None` before Linux 5.8.
fn mount_id(path: &Path) -> Option<u64> {
    let wanted = StatxFlags::MNT_ID;
    let statx = rustix::fs::statx(CWD, path, AtFlags::empty(), wanted).ok()?;
    (statx.stx_mask & wanted.bits() != 0).then_some(statx.stx_mnt_id)
}

/// The entry with the longest mount point above `path`; the last one if several share it.
fn holding<'a>(entries: &'a [MountEntry], path: &Path) -> Option<&'a MountEntry> {
    entries
        .iter()
        .filter(|entry| path.starts_with(&entry.mount_point))
        .max_by_key(|entry| entry.mount_point.components().count())
}

/// All mounts, in the kernel's order; malformed lines are left out.
#[must_use]
pub fn entries(mountinfo: &str) -> Vec<MountEntry> {
    mountinfo.lines().filter_map(entry).collect()
}

/// A line: `36 35 98:0 /root /mount/point rw,noatime shared:1 ... - ext4 /dev/sda1 rw,errors=x`.
fn entry(line: &str) -> Option<MountEntry> {
    // Spaces within a field are escaped, so the lone dash is the separator.
    let (mount, file_system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ');
    let mut file_system = file_system.split(' ');
    Some(MountEntry {
        id: mount.next()?.parse().ok()?,
        root: unescaped_path(mount.nth(2)?),
        mount_point: unescaped_path(mount.next()?),
        options: options(mount.next()?),
        file_system: file_system.next()?.to_owned(),
        source: unescaped_path(file_system.next()?),
        super_options: options(file_system.next().unwrap_or_default()),
    })
}

/// The options, split before unescaping: a comma inside a value is escaped.
fn options(text: &str) -> Vec<String> {
    text.split(',')
        .filter(|option| !option.is_empty())
        .map(|option| String::from_utf8_lossy(&unescaped(option)).into_owned())
        .collect()
}

fn unescaped_path(text: &str) -> PathBuf {
    OsString::from_vec(unescaped(text)).into()
}

/// Undoes the kernel's escapes: a backslash and three octal digits stand for a byte.
fn unescaped(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = bytes.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        let byte =
            escape.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        plain.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 4 } else { 1 };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::fixture::Fixture;

    const MOUNTS: &str = "\
        27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
        30 27 0:30 /sub /mnt/my\\040data rw,noatime shared:1 master:2 - btrfs /dev/sdb1 rw,ssd\n\
        25 27 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=1k\n\
        31 25 0:27 / /dev/shm rw,nosuid - tmpfs shm\\0112 rw\n\
        damaged line\n\
        40 27 0:40 / /o rw - overlay overlay rw,lowerdir=/l,upperdir=/with\\054comma\n\
        x 27 0:40 / /bad rw - a b c\n\
        41 27\n";

    #[test]
    fn the_longest_mount_point_wins_and_of_equals_the_last() {
        let machine = Fixture::new(&[("proc/self/mountinfo", MOUNTS)]);
        let sources = machine.sources();
        let mount = |path: &str| mount_of(&sources, Path::new(path)).unwrap();
        assert_eq!(mount("/mnt").source, "/dev/vda");
        assert_eq!(mount("/dev/shmem").source, "/dev/vda");
        assert_eq!(mount("/dev/shm/x").source, "shm\t2");
        let data = mount("/mnt/my data/file");
        assert_eq!(data.mount_point, "/mnt/my data");
        assert_eq!((data.source.as_str(), data.file_system.as_str()), ("/dev/sdb1", "btrfs"));
        assert_eq!(data.options, ["rw", "noatime"]);
        assert_eq!(data.super_options, ["rw", "ssd"]);
    }

    #[test]
    fn malformed_lines_are_left_out_and_escaped_commas_kept_together() {
        let entries = entries(MOUNTS);
        assert_eq!(entries.len(), 5);
        assert_eq!(entries[4].super_option("upperdir"), Some("/with,comma"));
        assert_eq!(entries[1].root, Path::new("/sub"));
        assert_eq!(entries[1].all_options(), ["rw", "noatime", "ssd"]);
    }

    #[test]
    fn an_escape_needs_three_octal_digits() {
        assert_eq!(unescaped("a\\134b"), b"a\\b");
        assert_eq!(unescaped("\\04"), b"\\04");
        assert_eq!(unescaped("\\999\\"), b"\\999\\");
        assert_eq!(unescaped("\\777"), b"\\777");
    }

    #[test]
    fn no_mounts_is_an_error_that_names_the_path() {
        let machine = Fixture::new(&[("proc/self/mountinfo", "")]);
        let error = mount_of(&machine.sources(), Path::new("/a")).unwrap_err();
        assert!(matches!(error, DescribeError::NoMount { .. }));
        assert!(error.to_string().contains("/a"), "{error}");
    }

    #[test]
    fn this_machine_tells_where_proc_is_mounted() {
        let mount = mount_of(&Sources::default(), Path::new("/proc/self/status")).unwrap();
        assert_eq!((mount.file_system.as_str(), mount.mount_point.as_str()), ("proc", "/proc"));
        let missing = mount_of(&Sources::default(), Path::new("/no/such/path"));
        assert!(matches!(missing, Err(DescribeError::Read { .. })));
    }
}
