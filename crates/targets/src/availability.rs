//! Whether a target can be made here, determined before anything is made.
//!
//! In a default survey, unavailable targets are listed as skipped, with the reason. A target that
//! was asked for explicitly is an error instead.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use file_system::{Feature, FileSystem, Storage};
use rustix::fs::{Access, access, statvfs};
use rustix::io::Errno;
use rustix::process::geteuid;
use textual::size;

use crate::conditions::hierarchy::{Controller, Hierarchy};
use crate::memory::memory_available_bytes;
use crate::scratch::arena::{self, ARENAS};
use crate::scratch::device::{DeviceError, NamedDevice};
use crate::scratch::mkfs::try_modprobe;
use crate::spec::{Conditions, Location, ScratchSpec, TargetSpec};
use crate::surroundings::{Surroundings, largest_file};

/// A directory with less free space than this is not worth measuring in.
const FREE_BYTES_MIN: u64 = 64 << 20;
/// The number of `CAP_SYS_ADMIN`.
const SYS_ADMIN: u32 = 21;

/// Why a target cannot be made here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// Only root may mount.
    #[error(
        "making and mounting {file_system} needs root; run as root (sudo), or give a directory on \
        a mounted file system instead"
    )]
    NotRoot {
        /// The file system.
        file_system: FileSystem,
    },
    /// This root lacks the capability to mount, as in most containers.
    #[error(
        "{file_system} cannot be mounted here, because this process is root without CAP_SYS_ADMIN; \
        start its container with --cap-add SYS_ADMIN (file systems on devices also need \
        /dev/loop-control, which --privileged gives), or give a directory on a mounted file system \
        instead"
    )]
    NotPermitted {
        /// The file system.
        file_system: FileSystem,
    },
    /// The file system is on a device, and only root outside user namespaces may mount those.
    #[error(
        "{file_system} cannot be mounted here, because this process is root only in a user \
        namespace; run as root outside it, or give a directory on a mounted file system instead"
    )]
    UserNamespace {
        /// The file system.
        file_system: FileSystem,
    },
    /// The kernel cannot mount it.
    #[error(
        "the running kernel has no {file_system}; install a kernel that has it (Debian's \
        linux-image-amd64 package rather than a cloud kernel)"
    )]
    KernelLacks {
        /// The file system.
        file_system: FileSystem,
    },
    /// mkfs for it is not installed.
    #[error("{program} is not installed; install it with `apt install {package}`")]
    MkfsMissing {
        /// The program.
        program: String,
        /// Debian's package.
        package: &'static str,
    },
    /// The kernel has no loop devices.
    #[error("/dev/loop-control does not exist; load it with `modprobe loop`, or give device=")]
    NoLoopDevices,
    /// The kernel has no FUSE, by which a device is slowed down.
    #[error(
        "{} does not exist, by which delay= slows a device down; load it with `modprobe fuse`, or \
        leave delay= out",
        slow_device::DEVICE
    )]
    NoFuse,
    /// The scratch directory is not a writable directory.
    #[error("images cannot be made in {directory}: {source}; name another directory with \
        --scratch", directory = directory.display())]
    Scratch {
        /// The scratch directory.
        directory: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The image would not fit.
    #[error("an image that may take {needed_bytes} bytes does not fit in {directory}, which has \
        {free_bytes} bytes free beside the other images; give a smaller size= or another directory \
        with --scratch", directory = directory.display())]
    ScratchFull {
        /// The scratch directory.
        directory: PathBuf,
        /// The most that the image may take.
        needed_bytes: u64,
        /// What is free, less what other images may still take.
        free_bytes: u64,
    },
    /// What must be written to fill the image would not fit.
    #[error("{file_system} {why}, so an image with filled={percent}% may take {needed_bytes} \
        bytes, but {directory} has {free_bytes} bytes free beside the other images; give a smaller \
        filled= or size=, or another directory with --scratch", directory = directory.display())]
    NoRoomToFill {
        /// The file system.
        file_system: FileSystem,
        /// Why filling it means writing.
        why: &'static str,
        /// The share to fill.
        percent: u32,
        /// The most that the image may take.
        needed_bytes: u64,
        /// The scratch directory.
        directory: PathBuf,
        /// What is free, less what other images may still take.
        free_bytes: u64,
    },
    /// Even the smallest image would not fit.
    #[error("{file_system} does not fit in {directory}: it needs an image of at least \
        {least_bytes} bytes, but {room_bytes} bytes are left for each image there; name another \
        directory with --scratch", directory = directory.display())]
    NoRoomForLeast {
        /// The file system.
        file_system: FileSystem,
        /// The smallest image size.
        least_bytes: u64,
        /// The scratch directory.
        directory: PathBuf,
        /// How much of it each image may take.
        room_bytes: u64,
    },
    /// A file cannot be as large as the image.
    #[error("an image of {size_bytes} bytes is larger than a file in {directory} can be; give a \
        smaller size= or another directory with --scratch, or raise the file size limit \
        (ulimit -f)", directory = directory.display())]
    ImageTooLarge {
        /// The scratch directory.
        directory: PathBuf,
        /// The size that the image was to have.
        size_bytes: u64,
    },
    /// The tmpfs would not fit in memory.
    #[error(
        "a tmpfs of {needed_bytes} bytes does not fit in memory, which has {free_bytes} bytes \
        available; give a smaller size="
    )]
    MemoryFull {
        /// The tmpfs' size.
        needed_bytes: u64,
        /// What the kernel says is available.
        free_bytes: u64,
    },
    /// The arena would not fit in shared memory.
    #[error(
        "an arena of {needed_bytes} bytes does not fit in {ARENAS}, which has {free_bytes} bytes \
        available; give a smaller size="
    )]
    SharedMemoryFull {
        /// The arena's size.
        needed_bytes: u64,
        /// What is available.
        free_bytes: u64,
    },
    /// There is no shared memory in which an arena could be made.
    #[error("arenas cannot be made in {ARENAS}: {source}; mount a tmpfs there")]
    NoSharedMemory {
        /// The kernel's error.
        source: io::Error,
    },
    /// mkfs would refuse the size.
    #[error("{file_system} needs at least {}; give a larger size=", size(*least_bytes as f64, 3))]
    TooSmall {
        /// The file system.
        file_system: FileSystem,
        /// The smallest image size.
        least_bytes: u64,
    },
    /// The named device must not, or cannot, be formatted.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A limit was asked for, but there is no control group to set it.
    #[error(
        "{option} cannot be set: {source} (none is mounted there, or something is mounted over it, \
        as in some containers); leave {option} out"
    )]
    NoControlGroup {
        /// The option or options that ask for the limit.
        option: &'static str,
        /// What was found instead.
        source: io::Error,
    },
    /// There is nothing at the path.
    #[error("{path} does not exist; make it or give another directory", path = path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The path is a device, and no file system to make on it was named.
    #[error("{path} is a block device, not a directory; to make a file system on it, give \
        FS:device={path} (such as ext4:device={path}) with --destroy-data {path}, which destroys \
        its data; otherwise, give the directory where it is mounted", path = path.display())]
    BlockDevice {
        /// The path.
        path: PathBuf,
    },
    /// The path is not a directory.
    #[error("{path} is not a directory; give the directory it is in", path = path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Nothing can be written there.
    #[error("{path} cannot be written ({source}); give a directory that can be written, or run as \
        its owner", path = path.display())]
    NotWritable {
        /// The path.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The directory has too little free space.
    #[error("{path} has {free_bytes} bytes free, but {FREE_BYTES_MIN} are needed; give a \
        directory with more space", path = path.display())]
    Full {
        /// The path.
        path: PathBuf,
        /// What is free.
        free_bytes: u64,
    },
}

impl Unavailable {
    /// The Debian package that would add what is missing.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
    pub fn package(&self) -> Option<&'static str> {
        match self {
            Self::MkfsMissing { package, .. } => Some(package),
            Self::KernelLacks { .. } => Some("linux-image-amd64"),
            _ => None,
        }
    }
}

/// Whether `spec` can be made here. Loads the kernel module if it is missing; changes nothing else.
///
/// # Errors
/// The first obstacle found.
pub fn availability(spec: &TargetSpec, surroundings: &Surroundings) -> Result<(), Unavailable> {
    check(spec, surroundings, 0).map(drop)
}

/// Like [`availability`], when other images may still take `promised_bytes` of the scratch
/// directory. Returns the device that may be formatted, if one is named.
pub(crate) fn check(
    spec: &TargetSpec,
    surroundings: &Surroundings,
    promised_bytes: u64,
) -> Result<Option<NamedDevice>, Unavailable> {
    let scratch = match &spec.location {
        Location::Directory(path) => {
            check_directory(path)?;
            return check_conditions(&spec.conditions).map(|()| None);
        }
        Location::Scratch(scratch) => scratch,
    };
    let file_system = scratch.file_system;
    if file_system.is_called_as_library() {
        return check_shared_memory(surroundings.image_bytes_of(scratch)).map(|()| None);
    }
    if !may_mount() {
        return Err(match geteuid().is_root() {
            true => Unavailable::NotPermitted { file_system },
            false => Unavailable::NotRoot { file_system },
        });
    }
    if !file_system.lives_in_memory() && is_in_user_namespace() {
        return Err(Unavailable::UserNamespace { file_system });
    }
    if !kernel_has(file_system) {
        return Err(Unavailable::KernelLacks { file_system });
    }
    if let Some(mkfs) = &file_system.mkfs
        && programs::find(mkfs.program).is_none()
    {
        let (program, package) = (mkfs.program.to_owned(), mkfs.package);
        return Err(Unavailable::MkfsMissing { program, package });
    }
    check_conditions(&spec.conditions)?;
    if spec.conditions.delay_ns.is_some() && !Path::new(slow_device::DEVICE).exists() {
        try_modprobe("fuse");
        if !Path::new(slow_device::DEVICE).exists() {
            return Err(Unavailable::NoFuse);
        }
    }
    match &scratch.device {
        Some(path) => Ok(Some(NamedDevice::check(path, &surroundings.destroy)?)),
        None => check_room(scratch, surroundings, promised_bytes).map(|()| None),
    }
}

/// Checks that the control groups for the limits are visible. Whether they can be written turns out
/// when they are made.
fn check_conditions(wanted: &Conditions) -> Result<(), Unavailable> {
    let is_wanted = [
        (wanted.memory_bytes.is_some(), Controller::Memory, "memory="),
        (
            wanted.throttle_device(),
            Controller::Io,
            "read_bps=, write_bps=, read_iops= or write_iops=",
        ),
    ];
    for (_, controller, option) in is_wanted.into_iter().filter(|(is_wanted, ..)| *is_wanted) {
        Hierarchy::open(controller)
            .map_err(|source| Unavailable::NoControlGroup { option, source })?;
    }
    Ok(())
}

/// Whether this process may mount, which root in a container often may not.
pub(crate) fn may_mount() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = capabilities.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    capabilities.unwrap_or_default() >> SYS_ADMIN & 1 == 1
}

/// Whether the user IDs here are not those of the whole machine (`man 7 user_namespaces`).
fn is_in_user_namespace() -> bool {
    const ALL: [&str; 3] = ["0", "0", "4294967295"];
    let map = fs::read_to_string("/proc/self/uid_map");
    map.is_ok_and(|map| !map.split_whitespace().eq(ALL))
}

fn check_directory(path: &Path) -> Result<(), Unavailable> {
    let path_buf = || path.to_owned();
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Unavailable::Missing { path: path_buf() });
        }
        Err(source) => return Err(Unavailable::NotWritable { path: path_buf(), source }),
        Ok(metadata) if metadata.file_type().is_block_device() => {
            return Err(Unavailable::BlockDevice { path: path_buf() });
        }
        Ok(metadata) if !metadata.is_dir() => {
            return Err(Unavailable::NotADirectory { path: path_buf() });
        }
        Ok(_) => {}
    }
    let room = access(path, Access::WRITE_OK | Access::EXEC_OK).and_then(|()| statvfs(path));
    let room = room.map_err(|errno: Errno| Unavailable::NotWritable {
        path: path_buf(),
        source: errno.into(),
    })?;
    let free_bytes = room.f_bavail.saturating_mul(room.f_frsize);
    // ramfs does not count blocks.
    if room.f_blocks > 0 && free_bytes < FREE_BYTES_MIN {
        return Err(Unavailable::Full { path: path_buf(), free_bytes });
    }
    Ok(())
}

fn check_shared_memory(needed_bytes: u64) -> Result<(), Unavailable> {
    let writable = access(ARENAS, Access::WRITE_OK | Access::EXEC_OK).map_err(io::Error::from);
    let free_bytes = writable
        .and_then(|()| arena::free_bytes())
        .map_err(|source| Unavailable::NoSharedMemory { source })?
        .min(memory_available_bytes());
    if needed_bytes > free_bytes {
        return Err(Unavailable::SharedMemoryFull { needed_bytes, free_bytes });
    }
    Ok(())
}

fn check_room(
    scratch: &ScratchSpec,
    surroundings: &Surroundings,
    promised_bytes: u64,
) -> Result<(), Unavailable> {
    let file_system = scratch.file_system;
    let needed_bytes = surroundings.image_bytes_of(scratch);
    if let Storage::Memory { size_option } = file_system.storage {
        let free_bytes = memory_available_bytes();
        if size_option.is_some() && needed_bytes > free_bytes {
            return Err(Unavailable::MemoryFull { needed_bytes, free_bytes });
        }
        return Ok(());
    }
    let least_bytes = file_system.mkfs.as_ref().map_or(0, |mkfs| mkfs.least_bytes);
    // With mkfs options of their own, users may know how to make smaller ones.
    if scratch.mkfs.is_none() && needed_bytes < least_bytes {
        return Err(match scratch.size_bytes {
            Some(_) => Unavailable::TooSmall { file_system, least_bytes },
            None if largest_file(&surroundings.scratch, least_bytes) < least_bytes => {
                let directory = surroundings.scratch.clone();
                Unavailable::ImageTooLarge { directory, size_bytes: least_bytes }
            }
            // The default was shrunk until all images fit.
            None => Unavailable::NoRoomForLeast {
                file_system,
                least_bytes,
                directory: surroundings.scratch.clone(),
                room_bytes: needed_bytes,
            },
        });
    }
    if !Path::new("/dev/loop-control").exists() {
        try_modprobe("loop");
        if !Path::new("/dev/loop-control").exists() {
            return Err(Unavailable::NoLoopDevices);
        }
    }
    let directory = surroundings.scratch.clone();
    let size_bytes = needed_bytes;
    if largest_file(&directory, size_bytes) < size_bytes {
        return Err(Unavailable::ImageTooLarge { directory, size_bytes });
    }
    let needed_bytes = surroundings.booked_bytes(scratch, size_bytes);
    let free = surroundings.scratch_free_bytes();
    let free = free.and_then(|free| Ok((free, access(&directory, Access::WRITE_OK)?)));
    match free {
        Err(source) => Err(Unavailable::Scratch { directory, source }),
        Ok((free, ())) if needed_bytes > free.saturating_sub(promised_bytes) => {
            let free_bytes = free.saturating_sub(promised_bytes);
            Err(match (file_system.lacks(Feature::Reservation), scratch.filled_percent) {
                (Some(why), Some(percent)) => Unavailable::NoRoomToFill {
                    file_system,
                    why,
                    percent,
                    needed_bytes,
                    directory,
                    free_bytes,
                },
                (None, _) | (_, None) => {
                    Unavailable::ScratchFull { directory, needed_bytes, free_bytes }
                }
            })
        }
        Ok(_) => Ok(()),
    }
}

fn kernel_has(file_system: FileSystem) -> bool {
    let listed = || {
        let list = fs::read_to_string("/proc/filesystems").unwrap_or_default();
        list.lines().any(|line| line.split_whitespace().last() == Some(file_system.name))
    };
    listed() || {
        try_modprobe(file_system.name);
        listed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_installed_names_its_package() {
        let program = "mkfs.xfs".to_owned();
        let missing = Unavailable::MkfsMissing { program, package: "xfsprogs" };
        assert_eq!(missing.package(), Some("xfsprogs"));
        let sentence = "mkfs.xfs is not installed; install it with `apt install xfsprogs`";
        assert_eq!(missing.to_string(), sentence);
        assert_eq!(Unavailable::NoLoopDevices.package(), None);
    }

    #[test]
    fn the_kernels_table_is_understood() {
        assert!(kernel_has("tmpfs".parse().unwrap()));
    }
}
