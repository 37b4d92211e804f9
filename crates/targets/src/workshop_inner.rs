//! What the targets of a workshop share while they live: the guardian and the mount area.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};

use crate::availability::may_mount;
use crate::conditions::hierarchy::{Controller, Hierarchy};
use crate::error::TargetError;
use crate::guardian::owner::{Leftover, Owner, lock_as_owner, sweep};
use crate::guardian::{Guardian, ResourceKind};
use crate::removal;
use crate::scratch::loop_device::LoopDevice;
use crate::scratch::mkfs::unmount_at;
use crate::surroundings::Surroundings;

/// What every target keeps a reference to as long as it lives.
#[derive(Debug)]
pub(crate) struct WorkshopInner {
    pub(crate) owner: Owner,
    pub(crate) guardian: Guardian,
    pub(crate) surroundings: Surroundings,
    area: Option<MountArea>,
    /// Why there is no such area although this process has the capability to mount.
    pub(crate) mounts_refused: Option<Errno>,
    /// The images, each with how much of the scratch directory is booked for it.
    images: Mutex<Vec<(Weak<LoopDevice>, u64)>>,
    next: AtomicU32,
}

#[derive(Debug)]
struct MountArea {
    path: PathBuf,
    /// Shows others that the owner is alive.
    _lock: Option<OwnedFd>,
}

impl WorkshopInner {
    /// Starts the guardian, removes what earlier, dead processes left behind, and gives this
    /// process its own mounts if it may mount.
    pub(crate) fn open(surroundings: Surroundings) -> Result<Self, TargetError> {
        let failed = |doing| move |source| TargetError::Workshop { doing, source };
        let threads = fs::read_dir("/proc/self/task").map_err(failed("counting threads"))?.count();
        if threads != 1 {
            return Err(TargetError::SeveralThreads { threads });
        }
        let owner = Owner::this().map_err(failed("reading /proc/self"))?;
        let guardian = Guardian::start(owner).map_err(failed("starting the guardian process"))?;
        sweep_cgroups();
        let mut mounts_refused = None;
        let area = if may_mount() {
            match take_own_mounts() {
                Err(errno @ (Errno::PERM | Errno::ACCESS)) => {
                    mounts_refused = Some(errno);
                    None
                }
                taken => {
                    let made = taken.map_err(explain_chroot);
                    let made = made
                        .and_then(|()| make_area(owner, &guardian, &surroundings.scratch))
                        .map_err(failed("making private mounts"))?;
                    Some(made)
                }
            }
        } else {
            None
        };
        let images = Mutex::default();
        let next = AtomicU32::new(0);
        Ok(Self { owner, guardian, surroundings, area, mounts_refused, images, next })
    }

    /// A name for something new of ours: `fsprism-<pid>-<start>-<number>`.
    pub(crate) fn new_name(&self) -> String {
        format!("{}-{}", self.owner, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether this process has a place for mount points.
    pub(crate) fn can_mount(&self) -> bool {
        self.area.is_some()
    }

    /// A new mount point, visible only to this process.
    pub(crate) fn new_mount_point(&self, label: &str) -> io::Result<PathBuf> {
        let area = self.area.as_ref().ok_or(io::ErrorKind::PermissionDenied)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let plain: String = label
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .take(32)
            .collect();
        let path = area.path.join(format!("{number}-{plain}"));
        fs::create_dir(&path)?;
        Ok(path)
    }

    /// A path for a file to be mounted at, visible only to this process.
    pub(crate) fn new_file_mount_point(&self) -> io::Result<PathBuf> {
        let area = self.area.as_ref().ok_or(io::ErrorKind::PermissionDenied)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(area.path.join(format!("{number}-slow")))
    }

    /// Where to note one of the host's settings while we have changed it: beside the mount area,
    /// where a later run looks for what we left behind.
    pub(crate) fn new_note(&self) -> io::Result<PathBuf> {
        let area = self.area.as_ref().ok_or(io::ErrorKind::PermissionDenied)?;
        Ok(area.path.with_file_name(format!("{}.setting", self.new_name())))
    }

    /// Counts a new image among those that may still grow.
    pub(crate) fn note_image(&self, image: &Arc<LoopDevice>, booked_bytes: u64) {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.retain(|(image, _)| image.strong_count() > 0);
        images.push((Arc::downgrade(image), booked_bytes));
    }

    pub(crate) fn promised_bytes(&self) -> u64 {
        let images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        let living = images.iter().filter_map(|(image, booked)| Some((image.upgrade()?, booked)));
        living.map(|(image, booked)| booked.saturating_sub(image.allocated_bytes())).sum()
    }

    pub(crate) fn finish(&self) -> io::Result<()> {
        // The guardian takes care of any other failure here: it knows the area.
        let unmounted = self.area.as_ref().map_or(Ok(()), |area| match unmount_at(&area.path) {
            // An earlier call has unmounted it.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            unmounted => unmounted,
        });
        let finished = self.guardian.finish();
        if let (Err(_), Some(area)) = (&finished, &self.area) {
            // What the guardian would have done if it had not been killed.
            let _swept_by_the_next = removal::remove_empty(&area.path);
        }
        finished.and(unmounted)
    }
}

impl Drop for WorkshopInner {
    fn drop(&mut self) {
        let _nobody_to_tell = self.finish();
    }
}

/// Separates this process's mounts from the host's. Nothing is made yet.
fn take_own_mounts() -> Result<(), Errno> {
    let unshared = system_calls::unshare_mounts();
    unshared.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    // Not private: what users unmount must go away here too, or we would keep their disks busy.
    // Nothing propagates the other way.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
}

/// Makes the directory that contains the mount points.
fn make_area(owner: Owner, guardian: &Guardian, scratch: &Path) -> io::Result<MountArea> {
    let mut refusal = None;
    for parent in [Path::new("/run"), scratch] {
        // Settings first: a mount area's lock shows whether the owner of a setting is alive.
        sweep(parent, Leftover::Setting);
        sweep(parent, Leftover::MountArea);
        let path = parent.join(format!("{owner}-mounts"));
        guardian.add(ResourceKind::MountArea, &path)?;
        if let Err(error) = fs::create_dir(&path) {
            guardian.remove(ResourceKind::MountArea, &path)?;
            refusal = Some(error);
            continue;
        }
        let lock = lock_as_owner(CWD, &path).ok();
        mount("fsprism", &path, "tmpfs", MountFlags::empty(), Some(c"mode=0755,size=1m"))?;
        return Ok(MountArea { path, _lock: lock });
    }
    Err(refusal.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

/// The root of a chroot is a plain directory, on a mount that cannot be reached from inside.
fn explain_chroot(errno: Errno) -> io::Error {
    if errno != Errno::INVAL {
        return errno.into();
    }
    let why =
        "the root directory is not a mount point (mount a chroot onto itself before entering it)";
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

fn sweep_cgroups() {
    for controller in [Controller::Memory, Controller::Io] {
        // Groups are made in our own group or an ancestor of it; so were those of dead processes.
        let Ok(hierarchy) = Hierarchy::open(controller) else { continue };
        for group in hierarchy.upward() {
            sweep(group, Leftover::Cgroup);
        }
    }
}
