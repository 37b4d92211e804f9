//! What a target is, as the kernel and the tools report it: part of a run's record.

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
use crate::scratch::source::Source;
use crate::spec::{Location, TargetSpec};
use machine::describe::Sources;
use machine::describe::mounts::entry_of;

/// What a target is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// The label by which reports call it.
    pub label: String,
    /// The target's text, as the command line would have it.
    pub spec: String,
    /// The file system's name.
    pub file_system: String,
    /// What is mounted: a device, or a word of no meaning.
    pub source: String,
    /// Mount and file system options, separated by commas.
    pub mount_options: String,
    /// The command line that formatted it, if we did.
    pub mkfs: Option<String>,
    /// The line in which mkfs tells its version.
    pub mkfs_version: Option<String>,
    /// The size of the image, the device, or of the mounted file system (0 for ramfs).
    pub size_bytes: u64,
    /// For an image: whether its loop device bypasses the page cache of the file system below.
    /// Where it does not, that cache hides the device.
    pub loop_direct_io: Option<bool>,
    /// The block device below.
    pub device: Option<DeviceNumbers>,
    /// How far the kernel reads ahead in its files, at most; `None` where no setting governs them,
    /// as on tmpfs.
    pub read_ahead_bytes: Option<u64>,
    /// The limits in force.
    pub conditions: ConditionsInForce,
    /// Whether ext4's driver serves it, and it has no journal: ext4, or an ext2 of many kernels.
    pub lacks_journal: bool,
}

impl TargetFacts {
    /// Of an arena, of which the kernel knows no more than that there is a file.
    pub(crate) fn of_arena(spec: &TargetSpec, arena: &Arena) -> io::Result<Self> {
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
        source: Option<&Source>,
        mkfs: Option<String>,
    ) -> io::Result<Self> {
        let mount = entry_of(&Sources::default(), root).map_err(io::Error::other)?;
        let room = statvfs(root)?;
        let file_system_bytes = room.f_blocks.saturating_mul(room.f_frsize);
        let (size_bytes, loop_direct_io) = match source {
            Some(Source::Image(image)) => (image.size_bytes(), Some(image.direct_io()?)),
            Some(Source::Device(device)) => (device.size_bytes()?, None),
            Some(Source::Memory) | None => (file_system_bytes, None),
        };
        let mkfs_version = match &spec.location {
            Location::Scratch(scratch) if mkfs.is_some() => mkfs::version(scratch.file_system),
            Location::Directory(_) | Location::Scratch(_) => None,
        };
        // Btrfs and others show a number of no device; what they are mounted from tells more.
        let shown = DeviceNumbers::of(fs::metadata(root)?.dev());
        let device =
            if shown.major == 0 { DeviceNumbers::of_file(&mount.source) } else { Some(shown) };
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
            read_ahead_bytes: ReadAhead::of(root)?.map(|setting| setting.bytes()).transpose()?,
            conditions: ConditionsInForce::default(),
            lacks_journal: device.is_some_and(has_ext4_without_journal),
        })
    }
}

/// Whether the kernel lists options of ext4's driver for it, and among them no way of
/// journaling data, which stands there wherever there is a journal.
fn has_ext4_without_journal(device: DeviceNumbers) -> bool {
    let device = fs::read_link(format!("/sys/dev/block/{device}"));
    let options = device.ok().and_then(|path| {
        fs::read_to_string(Path::new("/proc/fs/ext4").join(path.file_name()?).join("options")).ok()
    });
    options.is_some_and(|options| !options.lines().any(|option| option.starts_with("data=")))
}
