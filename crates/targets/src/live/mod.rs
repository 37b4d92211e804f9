//! A target during its life: made, filled, aged, remounted, remade, removed.

mod backing;
mod history;
mod room;

use std::io;
use std::path::Path;
use std::sync::Arc;

use densefs_process::DenseFs;
use file_system::Feature;

use crate::cache::cache_state;
use crate::conditions::control_groups::{Cgroups, Entered};
use crate::conditions::read_ahead_in_force::ReadAheadInForce;
use crate::device_failure::DeviceFailure;
use crate::device_numbers::DeviceNumbers;
use crate::error::TargetError;
use crate::facts::TargetFacts;
use crate::filtered;
use crate::guardian::ResourceKind;
use crate::open_device::{OpenDevice, OpenDeviceError};
use crate::removal;
use crate::scratch::device::NamedDevice;
use crate::scratch::mkfs;
use crate::scratch::source::MountSource;
use crate::spec::{Location, TargetSpec};
use crate::surroundings::Step;
use crate::workshop_inner::WorkshopInner;

use backing::{Backing, make_scratch, make_work_directory};
use history::History;

/// A file system, or a directory of one, that is ready to be measured.
///
/// Made by [`Workshop::make`](super::Workshop::make). Dropping it removes it; [`Target::close`]
/// also reports what failed.
#[derive(Debug)]
pub struct Target {
    workshop: Arc<WorkshopInner>,
    spec: TargetSpec,
    backing: Backing,
    cgroups: Cgroups,
    /// What `read_ahead=` set, while it is mounted.
    read_ahead: Option<ReadAheadInForce>,
    /// What has been done to it since it was made.
    history: History,
    facts: TargetFacts,
    /// Whether pages of its files stayed in memory although the kernel was asked to drop them.
    keeps_pages: bool,
}

/// Threads may share a target.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Target>();
};

impl Target {
    /// The directory to work in. For an arena, its file, below which only its library finds files.
    #[must_use]
    pub fn root(&self) -> &Path {
        match &self.backing {
            Backing::Directory(work) => work.root(),
            Backing::Scratch { mount_point, .. } => mount_point,
            // The kernel finds nothing below a file.
            Backing::Arena(arena) => arena.path(),
            // Nothing can be made at this path.
            Backing::Removed => Path::new("/dev/null/removed"),
        }
    }

    /// The library's files, if the target is reached by library calls.
    #[must_use]
    pub fn library(&self) -> Option<&DenseFs> {
        if let Backing::Arena(arena) = &self.backing { arena.files() } else { None }
    }

    /// What was asked for.
    #[must_use]
    pub fn spec(&self) -> &TargetSpec {
        &self.spec
    }

    /// What it is, as reported by the kernel and the tools.
    #[must_use]
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// The block device below it. For an image, that is its loop device, not the device that stores
    /// the image.
    #[must_use]
    pub fn device_numbers(&self) -> Option<DeviceNumbers> {
        self.facts.device
    }

    /// Opens the block device below it for direct reads. Call [`Target::sync`] first: dirty data is
    /// not on the device yet.
    ///
    /// # Errors
    /// [`OpenDeviceError`]: there is no device, or several, or this user may not open it.
    pub fn open_device(&self) -> Result<OpenDevice, OpenDeviceError> {
        OpenDevice::below(&self.facts)
    }

    /// Opens the block device below it for direct reads and writes. This works only for a file
    /// system that fsprism made: on an image of its own, or on a device named by `--destroy-data`.
    /// The caller must write only where a file of its own is, and only the data that is already
    /// there.
    ///
    /// # Errors
    /// As for [`Target::open_device`]; [`OpenDeviceError::NotOurs`] for a directory, and
    /// [`OpenDeviceError::NotWritable`] if the kernel forbids it.
    pub fn open_device_for_writes(&self) -> Result<OpenDevice, OpenDeviceError> {
        let Backing::Scratch { source, .. } = &self.backing else {
            return Err(OpenDeviceError::NotOurs { label: self.spec.label.clone() });
        };
        OpenDevice::below_for_writes(&self.facts, &source.path())
    }

    /// Whether the process that removes it if this one dies is alive.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.workshop.guardian.is_alive()
    }

    /// Why its device fails, if that is not the file system's doing. Ask this after a failure.
    #[must_use]
    pub fn device_failure(&self) -> Option<DeviceFailure> {
        const BYTES_MIN: u64 = 1 << 20;
        let Backing::Scratch { source: MountSource::Image(image), .. } = &self.backing else {
            return None;
        };
        if image.has_lost_its_server() {
            return Some(DeviceFailure::NoServer { label: self.spec.label.clone() });
        }
        let surroundings = &self.workshop.surroundings;
        let free_bytes = surroundings.scratch_left_bytes().ok()?;
        let is_full = free_bytes < BYTES_MIN && image.allocated_bytes() < image.size_bytes();
        is_full.then(|| DeviceFailure::FullScratch(surroundings.scratch.clone()))
    }

    /// The directory that contains its image; `None` if it has no image.
    #[must_use]
    pub fn image_directory(&self) -> Option<&Path> {
        let Backing::Scratch { source: MountSource::Image(_), .. } = &self.backing else {
            return None;
        };
        Some(self.workshop.surroundings.scratch.as_path())
    }

    /// Whether its files can be absent from memory. They cannot if the pages are the only copy.
    #[must_use]
    pub fn supports_cold(&self) -> bool {
        self.why_never_cold().is_none()
    }

    /// Why its files cannot be absent from memory, if they cannot.
    #[must_use]
    pub fn why_never_cold(&self) -> Option<String> {
        let name = &self.facts.file_system;
        let found = || {
            self.keeps_pages.then(|| {
                format!("{name} kept a file in memory here that it was asked to drop from there")
            })
        };
        file_system::lacks(name, Feature::ColdFiles).or_else(found)
    }

    /// Moves this whole process under the target's conditions until the guard is dropped. Does
    /// nothing if there are none.
    ///
    /// The kernel takes about 50 microseconds to move it, or after a pause several milliseconds,
    /// during which it waits for all processors; keep this out of timed code.
    ///
    /// # Errors
    /// [`TargetError::Conditions`] if the kernel refuses; the process then stays where it was.
    pub fn enter(&self) -> Result<Entered<'_>, TargetError> {
        self.cgroups.enter().map_err(|source| TargetError::Conditions { source })
    }

    /// Writes all dirty data of its file system.
    ///
    /// # Errors
    /// [`TargetError::Io`], including for data that could not be written earlier.
    pub fn sync(&self) -> Result<(), TargetError> {
        if let Backing::Arena(_) = &self.backing {
            return Ok(());
        }
        filtered::sync(self.root()).map_err(self.io_error())
    }

    /// Makes it again, empty: scratch file systems are formatted again on zeroed space, a directory
    /// gets a new work directory.
    ///
    /// # Errors
    /// What failed; after that, the target can only be closed ([`Target::close`]).
    pub fn remake(&mut self) -> Result<(), TargetError> {
        match &mut self.backing {
            Backing::Directory(work) => {
                let path = || work.root().to_owned();
                let failed = |source| TargetError::WorkDirectory { path: path(), source };
                work.remake().map_err(failed)?;
                self.tell(Step::WorkDirectoryMade);
                Ok(())
            }
            Backing::Arena(arena) => {
                arena.remake()?;
                self.tell(Step::Formatted);
                Ok(())
            }
            Backing::Scratch { .. } => {
                self.unmount()?;
                self.history = History::default();
                self.format()?;
                self.mount()
            }
            Backing::Removed => Err(self.not_remountable("it was removed")),
        }
    }

    /// Makes it again, empty, as [`Target::remake`] does, but on a volume of another size.
    /// [`Target::facts`] still describes the first one.
    ///
    /// # Errors
    /// [`TargetError::NotResizable`] if it is not on an image of its own; otherwise what failed,
    /// and after that, the target can only be closed ([`Target::close`]).
    pub fn remake_with_size(&mut self, size_bytes: u64) -> Result<(), TargetError> {
        let Backing::Scratch { source: MountSource::Image(image), .. } = &self.backing else {
            return Err(TargetError::NotResizable { label: self.spec.label.clone() });
        };
        let image = Arc::clone(image);
        self.unmount()?;
        self.history = History::default();
        image.resize(size_bytes).map_err(self.io_error())?;
        self.format()?;
        self.mount()
    }

    /// The size of its image; `None` if it has no image.
    #[must_use]
    pub fn image_bytes(&self) -> Option<u64> {
        let Backing::Scratch { source: MountSource::Image(image), .. } = &self.backing else {
            return None;
        };
        Some(image.size_bytes())
    }

    /// Unmounts and mounts it, so that only what mounting reads is in memory.
    ///
    /// # Errors
    /// [`TargetError::NotRemountable`] for directories and for file systems in memory.
    pub fn remount(&mut self) -> Result<(), TargetError> {
        self.remount_with(|| ())
    }

    /// Like [`Target::remount`], but calls `act` while it is unmounted and its device has nothing
    /// left to write.
    ///
    /// # Errors
    /// As for [`Target::remount`].
    pub fn remount_with<T>(&mut self, act: impl FnOnce() -> T) -> Result<T, TargetError> {
        match &self.backing {
            Backing::Scratch { source: MountSource::Memory, .. } => {
                Err(self.not_remountable("its files are only in memory and would be lost"))
            }
            Backing::Scratch { source, .. } => {
                let source = source.clone();
                self.unmount()?;
                let done = act();
                if let MountSource::Image(image) = source {
                    image.forget_pages().map_err(self.io_error())?;
                }
                self.mount()?;
                Ok(done)
            }
            Backing::Arena(_) => Err(self.not_remountable("it is not mounted")),
            Backing::Directory(_) => Err(self.not_remountable("fsprism did not mount it")),
            Backing::Removed => Err(self.not_remountable("it was removed")),
        }
    }

    /// Removes it. A second call does nothing.
    ///
    /// # Errors
    /// The first failure; the rest is removed nevertheless.
    pub fn close(&mut self) -> Result<(), TargetError> {
        if matches!(self.backing, Backing::Removed) {
            return Ok(());
        }
        let home_removed = self.unmount().and_then(|()| self.remove_home());
        // Drops our descriptor on the loop device, the last one, so that the kernel clears it.
        self.backing = Backing::Removed;
        let left_behind = |source| TargetError::LeftBehind { source };
        let groups_removed = self.cgroups.remove(&self.workshop.guardian).map_err(left_behind);
        self.tell(Step::Removed);
        home_removed.and(groups_removed)
    }

    /// `device` is the one that `spec` names, if any, already checked.
    pub(crate) fn make(
        workshop: Arc<WorkshopInner>,
        spec: &TargetSpec,
        device: Option<NamedDevice>,
    ) -> Result<Self, TargetError> {
        let backing = match &spec.location {
            Location::Directory(directory) => make_work_directory(&workshop, directory)?,
            Location::Scratch(scratch) => make_scratch(&workshop, spec, scratch, device)?,
        };
        // From here on, dropping it removes what has been made.
        let mut target = Self {
            workshop,
            spec: spec.clone(),
            backing,
            cgroups: Cgroups::default(),
            read_ahead: None,
            history: History::default(),
            facts: TargetFacts::default(),
            keeps_pages: false,
        };
        match &target.backing {
            Backing::Scratch { .. } => {
                target.tell(Step::Bound);
                target.format()?;
                target.mount()?;
            }
            Backing::Arena(_) => target.tell(Step::Formatted),
            Backing::Directory(_) | Backing::Removed => target.tell(Step::WorkDirectoryMade),
        }
        target.read_facts()?;
        if let Backing::Directory(work) = &target.backing {
            target.keeps_pages = cache_state::keeps_pages(work.root());
        }
        target.make_conditions()?;
        Ok(target)
    }

    fn format(&mut self) -> Result<(), TargetError> {
        let Backing::Scratch { source, scratch, mount_point, .. } = &self.backing else {
            return Ok(());
        };
        self.check_served()?;
        let device = source.path();
        match source {
            MountSource::Memory => return Ok(()),
            MountSource::Image(image) => {
                if !scratch.allocated {
                    // Only saves space: mkfs does not rely on zeros.
                    let _mkfs_writes_anyway = image.discard();
                }
                // If we were killed now, mkfs would keep the device bound until it is dead too.
                let binding = image.binding();
                let failed = self.io_error();
                self.workshop.guardian.add(ResourceKind::LoopBinding, &binding).map_err(&failed)?;
                let command = mkfs::format(scratch, &device, mount_point);
                self.workshop
                    .guardian
                    .remove(ResourceKind::LoopBinding, &binding)
                    .map_err(&failed)?;
                self.facts.mkfs = Some(command?);
                if scratch.allocated {
                    image.write_holes().map_err(self.io_error())?;
                }
            }
            MountSource::Device(named) => {
                // Devices come and go; by now the path may lead to another one.
                named.check_again()?;
                self.facts.mkfs = Some(mkfs::format(scratch, &device, mount_point)?);
            }
        }
        self.tell(Step::Formatted);
        Ok(())
    }

    /// Checks that its device is not one whose every request fails.
    fn check_served(&self) -> Result<(), TargetError> {
        match self.device_failure() {
            Some(failure @ DeviceFailure::NoServer { .. }) => {
                Err(TargetError::ServerEnded { failure })
            }
            Some(DeviceFailure::FullScratch(_)) | None => Ok(()),
        }
    }

    fn mount(&mut self) -> Result<(), TargetError> {
        self.check_served()?;
        let Backing::Scratch { source, mount_point, mounted, scratch } = &mut self.backing else {
            return Ok(());
        };
        if let MountSource::Device(named) = source {
            named.check_again()?;
        }
        let size_bytes = self.workshop.surroundings.image_bytes_of(scratch);
        let options = mkfs::mount_options(scratch, size_bytes);
        let file_system = scratch.file_system;
        mkfs::mount_at(file_system, &source.path(), mount_point, &options)
            .map_err(|source| TargetError::Mount { file_system, options, source })?;
        *mounted = true;
        self.tell(Step::Mounted);
        self.set_read_ahead()
    }

    /// An open file keeps the read-ahead that was in force when it was opened, so this must come
    /// before anything is opened. On btrfs every mount starts with a new setting.
    fn set_read_ahead(&mut self) -> Result<(), TargetError> {
        let Some(bytes) = self.spec.conditions.read_ahead_bytes else { return Ok(()) };
        let note = self.workshop.new_note().map_err(|source| TargetError::Conditions { source })?;
        let set = ReadAheadInForce::set(self.root(), bytes, &self.workshop.guardian, note);
        let in_force = set.map_err(|source| TargetError::Conditions { source })?;
        self.read_ahead = Some(in_force);
        Ok(())
    }

    fn unmount(&mut self) -> Result<(), TargetError> {
        let Backing::Scratch { mount_point, mounted, .. } = &mut self.backing else {
            return Ok(());
        };
        if std::mem::take(mounted) {
            // Before unmounting, because btrfs drops the setting with the mount.
            let set = self.read_ahead.take();
            let restored = set.map_or(Ok(()), |set| set.restore(&self.workshop.guardian));
            let label = self.spec.label.clone();
            let unmounted = mkfs::unmount_at(mount_point);
            unmounted.map_err(|source| TargetError::Unmount { label, source })?;
            self.tell(Step::Unmounted);
            restored.map_err(|source| TargetError::LeftBehind { source })?;
        }
        Ok(())
    }

    fn remove_home(&mut self) -> Result<(), TargetError> {
        let failed = self.io_error();
        let work = match &mut self.backing {
            Backing::Arena(arena) => return arena.remove(&self.workshop.guardian).map_err(failed),
            Backing::Directory(work) => work,
            Backing::Scratch { mount_point, .. } => {
                return removal::remove_empty(mount_point).map_err(failed);
            }
            Backing::Removed => return Ok(()),
        };
        let removed = work.remove();
        let told = removed
            .and_then(|()| self.workshop.guardian.remove(ResourceKind::WorkDirectory, work.top()));
        told.map_err(failed)
    }

    fn read_facts(&mut self) -> Result<(), TargetError> {
        if let Backing::Arena(arena) = &self.backing {
            self.facts = TargetFacts::for_arena(&self.spec, arena).map_err(self.io_error())?;
            return Ok(());
        }
        let source =
            if let Backing::Scratch { source, .. } = &self.backing { Some(source) } else { None };
        let mkfs = self.facts.mkfs.take();
        let facts = TargetFacts::read(&self.spec, self.root(), source, mkfs);
        self.facts = facts.map_err(self.io_error())?;
        Ok(())
    }

    fn make_conditions(&mut self) -> Result<(), TargetError> {
        let wanted = self.spec.conditions;
        if wanted.are_none() {
            return Ok(());
        }
        let disk = self.facts.device.map(DeviceNumbers::whole_disk);
        let name = self.workshop.new_name();
        let made = Cgroups::make(&wanted, disk, &name, &self.workshop.guardian);
        self.cgroups = made.map_err(|source| TargetError::Conditions { source })?;
        self.facts.conditions = self.cgroups.in_force().clone();
        let set = self.read_ahead.as_ref();
        self.facts.conditions.limits.read_ahead_bytes = set.map(ReadAheadInForce::bytes);
        let limits = &mut self.facts.conditions.limits;
        (limits.delay_ns, limits.delay_cache_bytes) = (wanted.delay_ns, wanted.delay_cache_bytes);
        self.tell(Step::ConditionsMade);
        Ok(())
    }

    fn tell(&self, step: Step) {
        if let Some(on_step) = self.workshop.surroundings.on_step {
            on_step(&self.spec, step);
        }
    }

    fn io_error(&self) -> impl Fn(io::Error) -> TargetError + use<> {
        let label = self.spec.label.clone();
        move |source| TargetError::Io { label: label.clone(), source }
    }

    fn not_remountable(&self, reason: &'static str) -> TargetError {
        TargetError::NotRemountable { label: self.spec.label.clone(), reason }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _nobody_to_tell = self.close();
    }
}
