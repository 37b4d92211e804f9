//! Where scratch targets are made, how large, and what may be destroyed for them.

use std::io;
use std::path::PathBuf;

use file_system::Storage;
use rustix::fs::statvfs;

use crate::scratch::arena;
use crate::spec::availability::memory_available_bytes;
use crate::spec::{Location, ScratchSpec, TargetSpec};

const MIB: u64 = 1 << 20;

/// What all targets of a run share.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The directory in which images are made; `--scratch`. Default `/var/tmp`.
    pub scratch: PathBuf,
    /// The block devices that may be formatted, whatever they hold; `--destroy-data`. No other
    /// is, not even one that looks blank.
    pub destroy: Vec<PathBuf>,
    /// The size of images, tmpfs and arenas that name none. Default 2 GiB; see
    /// [`Self::fit_images`].
    pub image_bytes: u64,
    /// Told as a target comes and goes, for a display of progress.
    pub on_step: Option<fn(&TargetSpec, Step)>,
}

/// A step in a target's life that has just been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A loop device is bound to a fresh image.
    Bound,
    /// mkfs has run.
    Formatted,
    /// The file system is mounted.
    Mounted,
    /// The file system was aged.
    Aged,
    /// The work directory is there.
    WorkDirectoryMade,
    /// The groups that make the conditions are there.
    ConditionsMade,
    /// The file system is unmounted.
    Unmounted,
    /// Nothing of the target is left.
    Removed,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            scratch: PathBuf::from("/var/tmp"),
            destroy: Vec::new(),
            image_bytes: 2 << 30,
            on_step: None,
        }
    }
}

impl Surroundings {
    /// Shrinks [`Self::image_bytes`] until the images, tmpfs and arenas of all `specs` that name no
    /// size fit beside each other: targets to be compared should be of one size.
    pub fn fit_images(&mut self, specs: &[TargetSpec]) {
        let scratch = specs.iter().filter_map(|spec| match &spec.location {
            Location::Scratch(scratch) if scratch.device.is_none() => Some(scratch),
            Location::Directory(_) | Location::Scratch(_) => None,
        });
        let (tmpfs, images): (Vec<_>, Vec<_>) = scratch
            .filter(|scratch| scratch.file_system.storage != Storage::Memory { size_option: None })
            .partition(|scratch| scratch.file_system.lives_in_memory());
        let arenas: Vec<_> =
            tmpfs.iter().copied().filter(|one| one.file_system.is_called_as_library()).collect();
        let shared_bytes = arena::free_bytes().unwrap_or(u64::MAX);
        // Where the scratch directory cannot be looked at, availability says so.
        let scratch_bytes = self.scratch_free_bytes().unwrap_or(u64::MAX);
        let share = share_bytes(&images, scratch_bytes / 10 * 9)
            .min(share_bytes(&tmpfs, memory_available_bytes() / 2))
            .min(share_bytes(&arenas, shared_bytes / 10 * 9));
        self.image_bytes = self.image_bytes.min(share / MIB * MIB);
    }

    /// The size that a scratch target gets.
    pub(crate) fn image_bytes_of(&self, scratch: &ScratchSpec) -> u64 {
        scratch.size_bytes.unwrap_or(self.image_bytes)
    }

    pub(crate) fn scratch_free_bytes(&self) -> io::Result<u64> {
        let room = statvfs(&self.scratch)?;
        Ok(room.f_bavail.saturating_mul(room.f_frsize))
    }

    /// What is left for root, as whom the kernel writes to an image.
    pub(crate) fn scratch_left_bytes(&self) -> io::Result<u64> {
        let room = statvfs(&self.scratch)?;
        Ok(room.f_bfree.saturating_mul(room.f_frsize))
    }
}

/// What remains of `room_bytes` for each target that names no size.
fn share_bytes(targets: &[&ScratchSpec], room_bytes: u64) -> u64 {
    let named: u64 = targets.iter().filter_map(|target| target.size_bytes).sum();
    let unnamed = targets.iter().filter(|target| target.size_bytes.is_none()).count() as u64;
    room_bytes.saturating_sub(named).checked_div(unnamed).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_shared_by_those_that_name_no_size() {
        let spec = |size_bytes| ScratchSpec {
            file_system: "ext4".parse().unwrap(),
            size_bytes,
            allocated: false,
            mkfs: None,
            mount: None,
            device: None,
            aged_rounds: None,
            fill_percent: None,
        };
        let (named, unnamed) = (spec(Some(100)), spec(None));
        assert_eq!(share_bytes(&[&named, &unnamed, &unnamed], 500), 200);
        assert_eq!(share_bytes(&[&named], 500), u64::MAX);
        assert_eq!(share_bytes(&[&named, &unnamed], 50), 0);
    }
}
