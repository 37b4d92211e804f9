//! A block device named by the user: is it one, is it free, and may it be formatted?
//!
//! It may be formatted only if `--destroy-data` names it too, even if it looks blank. Its content
//! is examined only to describe it in the refusal.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::device_numbers::DeviceNumbers;

/// How much is searched for data that `blkid` does not know, at either end. File systems, partition
/// tables and RAID or volume managers keep their signatures there.
const HEAD_BYTES: u64 = 1 << 20;
const TAIL_BYTES: u64 = 64 << 10;
/// The unit in which sysfs gives device sizes.
const SECTOR_BYTES: u64 = 512;

/// Why a device is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// It cannot be opened or examined.
    #[error("device={path} cannot be opened ({source}); name another device",
        path = path.display())]
    Unreadable {
        /// The device.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is a file, a directory or a character device.
    #[error("device={path} is not a block device; give a directory without device=",
        path = path.display())]
    NotABlockDevice {
        /// The path.
        path: PathBuf,
    },
    /// It is mounted, or part of something that is in use.
    #[error("device={path} is in use (mounted, swap, or part of another device); \
        unmount it or name another device", path = path.display())]
    InUse {
        /// The device.
        path: PathBuf,
    },
    /// It was not named as a device that may be destroyed.
    #[error("device={path} {content}; to destroy everything on it, add --destroy-data {path}",
        path = path.display())]
    NotToBeDestroyed {
        /// The device.
        path: PathBuf,
        /// What is on it.
        content: DeviceContent,
    },
    /// The path leads to another device than when it was checked.
    #[error("device={path} is no longer the device that was checked and was left alone; run again \
        to check it anew", path = path.display())]
    Changed {
        /// The path.
        path: PathBuf,
    },
}

/// What is on a device, as far as can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceContent {
    /// A signature, as `blkid` describes it.
    Signature(String),
    /// No signature, but nonzero bytes.
    Unknown,
    /// Zeros where data would begin and end.
    Blank,
}

impl std::fmt::Display for DeviceContent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Signature(signature) => write!(formatter, "holds data ({signature})"),
            Self::Unknown => formatter.write_str("holds data of an unknown kind"),
            Self::Blank => {
                formatter.write_str("looks blank, but fsprism formats only what you name")
            }
        }
    }
}

/// A device that may be formatted.
#[derive(Debug)]
pub(crate) struct NamedDevice {
    /// The path as given by the user.
    path: PathBuf,
    /// Its node with all links resolved, since a link may lead elsewhere the next time.
    node: PathBuf,
    /// Held open, so that its number cannot be reused for another device.
    file: File,
    number: u64,
}

impl NamedDevice {
    /// Checks that `path` may be formatted: that it is a block device, that nobody uses it, and
    /// that it is among those that the user has named for destruction.
    pub(crate) fn check(path: &Path, destroy: &[PathBuf]) -> Result<Self, DeviceError> {
        let owned = || path.to_owned();
        let unreadable = |source| DeviceError::Unreadable { path: owned(), source };
        let node = path.canonicalize().map_err(unreadable)?;
        let metadata = fs::metadata(&node).map_err(unreadable)?;
        if !metadata.file_type().is_block_device() {
            return Err(DeviceError::NotABlockDevice { path: owned() });
        }
        drop(open_exclusively(&node, path)?);
        let mut file = File::open(&node).map_err(unreadable)?;
        let number = block_device_number(&file.metadata().map_err(unreadable)?);
        let number = number.ok_or_else(|| DeviceError::Changed { path: owned() })?;
        // Whoever can write to the node's directory can replace the node.
        let node = DeviceNumbers::from_raw(number).node().unwrap_or(node);
        let is_used = is_below_a_loop_device(number)
            || shares_its_image(number)
            || shows_what_is_used(number);
        if is_used {
            return Err(DeviceError::InUse { path: owned() });
        }
        let named = |allowed: &PathBuf| {
            fs::metadata(allowed).is_ok_and(|other| block_device_number(&other) == Some(number))
        };
        if destroy.iter().any(named) {
            return Ok(Self { path: owned(), node, file, number });
        }
        let content = content(&node, &mut file).map_err(unreadable)?;
        Err(DeviceError::NotToBeDestroyed { path: owned(), content })
    }

    /// Checks it again; call this each time before it is written to by its path.
    pub(crate) fn check_again(&self) -> Result<(), DeviceError> {
        let changed = || DeviceError::Changed { path: self.path.clone() };
        let exclusive = open_exclusively(&self.node, &self.path)?;
        let metadata = exclusive.metadata().map_err(|_| changed())?;
        (block_device_number(&metadata) == Some(self.number)).then_some(()).ok_or_else(changed)
    }

    /// Its node, which is not a link.
    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    pub(crate) fn size_bytes(&self) -> io::Result<u64> {
        system_calls::block_device_size_bytes(&self.file)
    }
}

/// The kernel grants exclusive use only if nobody has it: no mount, swap, RAID or partition.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
fn open_exclusively(node: &Path, named: &Path) -> Result<File, DeviceError> {
    let exclusive = File::options().read(true).custom_flags(libc::O_EXCL).open(node);
    exclusive.map_err(|source| {
        let path = named.to_owned();
        match source.kind() {
            io::ErrorKind::ResourceBusy => DeviceError::InUse { path },
            _ => DeviceError::Unreadable { path, source },
        }
    })
}

/// Whether a loop device is on this device, on a partition of it, or on the disk that this is a
/// partition of: a loop device does not claim what it is on exclusively.
fn is_below_a_loop_device(number: u64) -> bool {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut images = devices.filter_map(|device| {
        let image = fs::read_to_string(device.path().join("loop/backing_file")).ok()?;
        DeviceNumbers::from_file(Path::new(image.trim_end_matches('\n')))
    });
    let ours = DeviceNumbers::from_raw(number);
    images.any(|image| image == ours || image.whole_disk() == ours || image == ours.whole_disk())
}

/// Whether another loop device shows some of the same bytes of this one's image: nothing keeps both
/// from being written.
fn shares_its_image(number: u64) -> bool {
    let ours = DeviceNumbers::from_raw(number).whole_disk().to_string();
    let ours = Path::new("/sys/dev/block").join(ours);
    let Ok(ours) = ours.canonicalize() else { return false };
    let Some((image, range)) = image_of(&ours) else { return false };
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    devices.map(|device| device.path()).any(|device| {
        let is_other = device.canonicalize().is_ok_and(|device| device != ours);
        let of_other = image_of(&device).filter(|_| is_other);
        of_other.is_some_and(|(other, its)| {
            is_one_file(&image, &other) && its.start < range.end && range.start < its.end
        })
    })
}

/// Whether this is a loop device on a device, or on a swap file, that is in use: a loop device does
/// not claim what it is on exclusively.
fn shows_what_is_used(number: u64) -> bool {
    let ours = DeviceNumbers::from_raw(number).whole_disk().to_string();
    let ours = Path::new("/sys/dev/block").join(ours);
    let Some((image, _)) = image_of(&ours) else { return false };
    let Some(below) = DeviceNumbers::from_file(&image) else { return is_swapped_on(&image) };
    let node = below.node().unwrap_or_else(|| image.clone());
    let Ok(metadata) = fs::metadata(&node) else { return true };
    open_exclusively(&node, &image).is_err()
        || block_device_number(&metadata).is_none_or(|below| {
            // Each step goes one device further down.
            below == number || shares_its_image(below) || shows_what_is_used(below)
        })
}

/// Whether a file is in use as swap (`proc_swaps`(5)).
fn is_swapped_on(file: &Path) -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let mut used = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    used.any(|used| is_one_file(Path::new(used), file))
}

/// The image of a loop device in `/sys/block`, and the range of its bytes that the device shows.
fn image_of(device: &Path) -> Option<(PathBuf, Range<u64>)> {
    let read = |name: &str| fs::read_to_string(device.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let image = read("loop/backing_file")?.trim_end_matches('\n').into();
    let start = number("loop/offset")?;
    Some((image, start..start.saturating_add(number("size")?.saturating_mul(SECTOR_BYTES))))
}

fn is_one_file(one: &Path, other: &Path) -> bool {
    let inode = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    one == other || inode(one).is_some_and(|found| inode(other) == Some(found))
}

fn block_device_number(metadata: &fs::Metadata) -> Option<u64> {
    metadata.file_type().is_block_device().then(|| metadata.rdev())
}

fn content(path: &Path, device: &mut File) -> io::Result<DeviceContent> {
    if let Some(signature) = signature(path) {
        return Ok(DeviceContent::Signature(signature));
    }
    let size_bytes = system_calls::block_device_size_bytes(&*device)?;
    let tail_start = size_bytes.saturating_sub(TAIL_BYTES);
    let blank = is_zero(device, 0, HEAD_BYTES)? && is_zero(device, tail_start, TAIL_BYTES)?;
    Ok(if blank { DeviceContent::Blank } else { DeviceContent::Unknown })
}

fn is_zero(device: &mut File, start: u64, length_bytes: u64) -> io::Result<bool> {
    let mut bytes = Vec::new();
    device.seek(SeekFrom::Start(start))?;
    device.take(length_bytes).read_to_end(&mut bytes)?;
    Ok(bytes.iter().all(|&byte| byte == 0))
}

/// What `blkid` finds by probing the device itself; `None` also if it is not installed.
fn signature(path: &Path) -> Option<String> {
    /// blkid's exit status for several conflicting signatures.
    const AMBIVALENT: i32 = 8;
    let output = Command::new(programs::find("blkid")?)
        .args(["-p", "-o", "export"])
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    if output.status.code() == Some(AMBIVALENT) {
        return Some("several signatures".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let telling = ["TYPE=", "PTTYPE=", "LABEL=", "UUID="];
    let lines = text.lines().filter(|line| telling.iter().any(|key| line.starts_with(key)));
    let found: Vec<&str> = lines.collect();
    (output.status.success() && !found.is_empty()).then(|| found.join(", "))
}
