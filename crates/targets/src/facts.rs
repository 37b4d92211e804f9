//! What a target is, as reported by the kernel and the tools: part of a run's record.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::statvfs;
use serde::{Deserialize, Serialize};

use crate::conditions::control_groups::ConditionsInForce;
use crate::device_numbers::DeviceNumbers;
use crate::read_ahead::ReadAhead;
use crate::scratch::arena::Arena;
use crate::scratch::mkfs;
use crate::scratch::source::MountSource;
use crate::spec::{Location, TargetSpec};
use machine::describe::Sources;
use machine::describe::mounts::entry_of;

/// What a target is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// The label used in reports.
    pub label: String,
    /// The target's text, as given on the command line.
    pub spec: String,
    /// The file system's name.
    pub file_system: String,
    /// What is mounted: a device, or an arbitrary word.
    pub source: String,
    /// Mount and file system options, separated by commas.
    pub mount_options: String,
    /// The command line that formatted it, if we did.
    pub mkfs: Option<String>,
    /// The line in which mkfs prints its version.
    pub mkfs_version: Option<String>,
    /// The size of the image, of the device, or of the mounted file system (0 for ramfs).
    pub size_bytes: u64,
    /// For an image: whether its loop device bypasses the page cache of the file system below. If
    /// it does not, that cache hides the device.
    pub loop_direct_io: Option<bool>,
    /// The block device below.
    pub device: Option<DeviceNumbers>,
    /// The most that the kernel reads ahead in its files; `None` if no setting governs them, as on
    /// tmpfs.
    pub read_ahead_bytes: Option<u64>,
    /// The limits in force.
    pub conditions: ConditionsInForce,
    /// Whether it is served by ext4's driver without a journal: an ext4, or on many kernels an
    /// ext2.
    pub lacks_journal: bool,
}

impl TargetFacts {
    /// The facts of an arena, about which the kernel knows only that there is a file.
    pub(crate) fn for_arena(spec: &TargetSpec, arena: &Arena) -> io::Result<Self> {
        let file_system = match &spec.location {
            Location::Scratch(scratch) => scratch.file_system.to_string(),
            Location::Directory(_) => String::new(),
        };
        Ok(Self {
            label: spec.label.clone(),
            spec: spec.to_string(),
            file_system,
            source: arena.path().display().to_string(),
            size_bytes: fs::metadata(arena.path())?.len(),
            ..Self::default()
        })
    }

    /// Asks the kernel about the target at `root`, and mkfs about its version.
    pub(crate) fn read(
        spec: &TargetSpec,
        root: &Path,
        source: Option<&MountSource>,
        mkfs: Option<String>,
    ) -> io::Result<Self> {
        let mount = entry_of(&Sources::default(), root).map_err(io::Error::other)?;
        let room = statvfs(root)?;
        let file_system_bytes = room.f_blocks.saturating_mul(room.f_frsize);
        let (size_bytes, loop_direct_io) = match source {
            Some(MountSource::Image(image)) => (image.size_bytes(), Some(image.direct_io()?)),
            Some(MountSource::Device(device)) => (device.size_bytes()?, None),
            Some(MountSource::Memory) | None => (file_system_bytes, None),
        };
        let mkfs_version = match &spec.location {
            Location::Scratch(scratch) if mkfs.is_some() => mkfs::version(scratch.file_system),
            Location::Directory(_) | Location::Scratch(_) => None,
        };
        // Btrfs and others show an anonymous device number; what they are mounted from says more.
        let shown = DeviceNumbers::from_raw(fs::metadata(root)?.dev());
        let device =
            if shown.major == 0 { DeviceNumbers::from_file(&mount.source) } else { Some(shown) };
        Ok(Self {
            label: spec.label.clone(),
            spec: spec.to_string(),
            mount_options: mount.all_options().join(","),
            file_system: mount.file_system,
            source: mount.source.display().to_string(),
            mkfs,
            mkfs_version,
            size_bytes,
            loop_direct_io,
            device,
            read_ahead_bytes: ReadAhead::for_root(root)?
                .map(|setting| setting.bytes())
                .transpose()?,
            conditions: ConditionsInForce::default(),
            lacks_journal: device.is_some_and(has_ext4_without_journal),
        })
    }
}

/// Whether the kernel lists options of ext4's driver for the device, but no mode of journaling
/// data, which is listed whenever there is a journal.
fn has_ext4_without_journal(device: DeviceNumbers) -> bool {
    let device = fs::read_link(format!("/sys/dev/block/{device}"));
    let options = device.ok().and_then(|path| {
        fs::read_to_string(Path::new("/proc/fs/ext4").join(path.file_name()?).join("options")).ok()
    });
    options.is_some_and(|options| !options.lines().any(|option| option.starts_with("data=")))
}
