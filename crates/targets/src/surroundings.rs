//! Where scratch targets are made, how large they are, and what may be destroyed for them.

use std::io;
use std::path::{Path, PathBuf};

use file_system::{Feature, FileSystem, Storage};
use rustix::fs::{CWD, Mode, OFlags, ftruncate, openat, statfs, statvfs};
use rustix::io::Errno;

use crate::memory::memory_available_bytes;
use crate::scratch::arena;
use crate::smaller_volumes::{SmallerVolumes, VOLUME_BYTES, WhySmaller};
use crate::spec::{Location, ScratchSpec, TargetSpec};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// The size of tmpfs and arenas if none is given, and of images that are largely written first.
const FILLED_BYTES: u64 = 2 * GIB;
/// How much a run must be able to write to a target.
const WRITTEN_BYTES: u64 = 2 * GIB;
/// The part of an image, as a divisor, that mkfs may take: mke2fs zeroes the journal and the inode
/// tables, together 2.4 % of 64 GiB.
const SET_ASIDE: u64 = 32;
/// What the process itself needs, including what the kernel keeps for it.
const PROCESS_BYTES: u64 = 32 * MIB;

/// What all targets of a run share.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The directory in which images are made; `--scratch`. Default `/var/tmp`.
    pub scratch: PathBuf,
    /// The block devices that may be formatted, whatever is on them; `--destroy-data`. No other
    /// device is formatted, not even one that looks blank.
    pub destroy: Vec<PathBuf>,
    /// The size of images that specify none. Default 64 GiB; see [`Self::fit_images`].
    pub image_bytes: u64,
    /// The size of tmpfs and arenas that specify none. Default 2 GiB; see [`Self::fit_images`].
    pub memory_bytes: u64,
    /// The most that each image may take of the scratch directory, whatever its size. Unlimited
    /// until [`Self::fit_images`] has set it.
    pub room_bytes: u64,
    /// Called as targets come and go, for a progress display.
    pub on_step: Option<fn(&TargetSpec, Step)>,
}

/// A step in a target's life that has just been completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A loop device is bound to a new image.
    Bound,
    /// mkfs has run.
    Formatted,
    /// The file system is mounted.
    Mounted,
    /// The file system was filled.
    FillOutcome,
    /// The file system was aged.
    Aged,
    /// The work directory has been made.
    WorkDirectoryMade,
    /// The control groups for the conditions have been made.
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
            image_bytes: VOLUME_BYTES,
            memory_bytes: FILLED_BYTES,
            room_bytes: u64::MAX,
            on_step: None,
        }
    }
}

impl Surroundings {
    /// Shrinks the targets that specify no size until all `specs` fit beside each other, since
    /// targets that are to be compared should have the same size. An image is sparse, so it needs
    /// room for what will be written, not for its size; but one that is aged, allocated as a whole,
    /// or filled on a file system that cannot reserve space is written.
    pub fn fit_images(&mut self, specs: &[TargetSpec]) {
        let memory: Vec<&ScratchSpec> = scratch(specs)
            .filter(|scratch| scratch.file_system.storage != Storage::Memory { size_option: None })
            .filter(|scratch| scratch.file_system.lives_in_memory())
            .collect();
        let images: Vec<&ScratchSpec> = images(specs).collect();
        let arenas: Vec<_> =
            memory.iter().copied().filter(|one| one.file_system.is_called_as_library()).collect();
        let shared_bytes = arena::free_bytes().unwrap_or(u64::MAX);
        let named = |scratch: &ScratchSpec| scratch.size_bytes;
        let memory_share =
            share_bytes(&memory, named, memory_for_targets(memory_available_bytes()))
                .min(share_bytes(&arenas, named, shared_bytes / 10 * 9));
        self.memory_bytes = self.memory_bytes.min(memory_share / MIB * MIB);
        self.fit_to_scratch(&images);
    }

    fn fit_to_scratch(&mut self, images: &[&ScratchSpec]) {
        if images.is_empty() {
            return;
        }
        if images.iter().any(|image| image.is_written_first()) || !self.holds_sparse_files() {
            self.image_bytes = self.image_bytes.min(FILLED_BYTES);
        }
        // If the scratch directory cannot be examined, `availability` reports that.
        let room_bytes = self.scratch_free_bytes().map_or(u64::MAX, |free| free / 10 * 9);
        let booked =
            |image: &ScratchSpec| image.size_bytes.map(|size| self.booked_bytes(image, size));
        let share = share_bytes(images, booked, room_bytes);
        self.room_bytes = share.min(room_bytes / images.len() as u64);
        self.image_bytes = self.image_bytes.min(volume_bytes(share));
        self.image_bytes = largest_file(&self.scratch, self.image_bytes);
    }

    /// Whether images of `specs` without a given size are smaller than an ordinary volume, and why.
    pub(crate) fn smaller_volumes(&self, specs: &[TargetSpec]) -> Option<SmallerVolumes> {
        let images: Vec<&ScratchSpec> = images(specs).collect();
        let is_smaller = self.image_bytes < VOLUME_BYTES;
        let is_unnamed = images.iter().any(|image| image.size_bytes.is_none());
        let is_written = images.iter().any(|image| image.is_written_first());
        let why = match is_written && self.image_bytes == FILLED_BYTES {
            true => WhySmaller::Written,
            false => WhySmaller::Scratch(self.scratch.clone()),
        };
        let image_bytes = self.image_bytes;
        (is_smaller && is_unnamed).then_some(SmallerVolumes { image_bytes, why })
    }

    /// The size that a scratch target gets.
    pub(crate) fn image_bytes_of(&self, scratch: &ScratchSpec) -> u64 {
        scratch.size_bytes.unwrap_or(match scratch.file_system.lives_in_memory() {
            true => self.memory_bytes,
            false => self.image_bytes,
        })
    }

    /// How much of the scratch directory an image of `size_bytes` needs, including what it has
    /// taken.
    pub(crate) fn booked_bytes(&self, scratch: &ScratchSpec, size_bytes: u64) -> u64 {
        if scratch.is_written() || !self.holds_sparse_files() {
            return size_bytes;
        }
        let filled_bytes = size_bytes / 100 * u64::from(scratch.written_percent());
        let beside_bytes = WRITTEN_BYTES.saturating_add(size_bytes / SET_ASIDE);
        size_bytes.min(beside_bytes.saturating_add(filled_bytes))
    }

    /// How much more can be written to an image of `size_bytes` whose files take `used_bytes`.
    pub(crate) fn left_bytes(
        &self,
        scratch: &ScratchSpec,
        size_bytes: u64,
        used_bytes: u64,
    ) -> u64 {
        let room_bytes = self.room_bytes.max(self.booked_bytes(scratch, size_bytes));
        match room_bytes < size_bytes {
            true => room_bytes.saturating_sub(size_bytes / SET_ASIDE).saturating_sub(used_bytes),
            false => u64::MAX,
        }
    }

    /// Whether files in the scratch directory take space only where something has been written.
    fn holds_sparse_files(&self) -> bool {
        let below = statfs(&self.scratch).ok();
        let below = below.and_then(|said| FileSystem::with_magic(said.f_type.cast_unsigned()));
        below.is_none_or(|below| below.lacks(Feature::SparseFiles).is_none())
    }

    pub(crate) fn scratch_free_bytes(&self) -> io::Result<u64> {
        let room = statvfs(&self.scratch)?;
        Ok(room.f_bavail.saturating_mul(room.f_frsize))
    }

    /// What is left for root, since the kernel writes to an image as root.
    pub(crate) fn scratch_left_bytes(&self) -> io::Result<u64> {
        let room = statvfs(&self.scratch)?;
        Ok(room.f_bfree.saturating_mul(room.f_frsize))
    }
}

/// The file systems to be made that do not name a device.
fn scratch(specs: &[TargetSpec]) -> impl Iterator<Item = &ScratchSpec> {
    specs.iter().filter_map(|spec| match &spec.location {
        Location::Scratch(scratch) if scratch.device.is_none() => Some(scratch),
        Location::Directory(_) | Location::Scratch(_) => None,
    })
}

/// Of these, the ones made on images.
fn images(specs: &[TargetSpec]) -> impl Iterator<Item = &ScratchSpec> {
    scratch(specs).filter(|scratch| !scratch.file_system.lives_in_memory())
}

/// The largest image that needs no more than `share_bytes`.
fn volume_bytes(share_bytes: u64) -> u64 {
    match share_bytes.checked_sub(WRITTEN_BYTES).map(|aside| aside.saturating_mul(SET_ASIDE)) {
        // With smaller shares, an image is no larger than its share.
        Some(volume_bytes) if volume_bytes > share_bytes => 1 << volume_bytes.ilog2(),
        _ => share_bytes / MIB * MIB,
    }
}

/// The largest file up to `wanted_bytes` that `directory` can hold, found by halving;
/// `wanted_bytes` if that cannot be tried.
pub(crate) fn largest_file(directory: &Path, wanted_bytes: u64) -> u64 {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let Ok(file) = openat(CWD, directory, flags, Mode::RUSR | Mode::WUSR) else {
        return wanted_bytes;
    };
    let mut bytes = wanted_bytes;
    while bytes > MIB && matches!(ftruncate(&file, bytes), Err(Errno::FBIG)) {
        bytes /= 2;
    }
    bytes
}

/// How much of the available memory targets get: half, or if there is little, all but what the
/// process needs.
fn memory_for_targets(available_bytes: u64) -> u64 {
    let of_little = available_bytes.min(3 * PROCESS_BYTES).saturating_sub(PROCESS_BYTES);
    (available_bytes / 2).max(of_little)
}

/// How much of `room_bytes` is left for each target that names no size.
fn share_bytes(
    targets: &[&ScratchSpec],
    named: impl Fn(&ScratchSpec) -> Option<u64>,
    room_bytes: u64,
) -> u64 {
    let named: Vec<Option<u64>> = targets.iter().map(|target| named(target)).collect();
    let taken = named.iter().flatten().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    let unnamed = named.iter().filter(|bytes| bytes.is_none()).count() as u64;
    room_bytes.saturating_sub(taken).checked_div(unnamed).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> ScratchSpec {
        match text.parse::<TargetSpec>().expect(text).location {
            Location::Scratch(scratch) => scratch,
            Location::Directory(_) => panic!("{text} is a directory"),
        }
    }

    #[test]
    fn of_little_memory_targets_get_more_than_half_and_never_what_the_process_needs() {
        let (little, least) = (92 * MIB, 40 * MIB);
        assert_eq!(memory_for_targets(little), 60 * MIB);
        assert_eq!(memory_for_targets(least), 20 * MIB);
        assert_eq!(memory_for_targets(8 * GIB), 4 * GIB);
        for mebibytes in 1..4096 {
            let more = memory_for_targets((mebibytes + 1) * MIB);
            assert!(more >= memory_for_targets(mebibytes * MIB), "{mebibytes}");
        }
    }

    #[test]
    fn room_is_shared_by_those_that_name_no_size() {
        let (named, unnamed) = (spec("ext4:size=100"), spec("ext4"));
        let share = |targets: &[&ScratchSpec], room_bytes| {
            share_bytes(targets, |target| target.size_bytes, room_bytes)
        };
        assert_eq!(share(&[&named, &unnamed, &unnamed], 500), 200);
        assert_eq!(share(&[&named], 500), u64::MAX);
        assert_eq!(share(&[&named, &unnamed], 50), 0);
    }

    #[test]
    fn an_image_has_room_for_what_is_written_not_for_its_size() {
        let around = Surroundings::default();
        let sparse = spec("btrfs");
        assert_eq!(around.booked_bytes(&sparse, 80 * GIB), 4 * GIB + GIB / 2);
        assert_eq!(around.booked_bytes(&sparse, GIB), GIB);
        for filled in ["ext4:image=allocated", "ext4:aged=3"] {
            assert_eq!(around.booked_bytes(&spec(filled), 80 * GIB), 80 * GIB, "{filled}");
        }
        // Reserved space takes nothing from the scratch directory; written space does.
        assert_eq!(around.booked_bytes(&spec("xfs:filled=50%"), 80 * GIB), 4 * GIB + GIB / 2);
        let written = around.booked_bytes(&spec("ext2:filled=50%"), 80 * GIB);
        assert!((44 * GIB..45 * GIB).contains(&written), "{written}");
        assert_eq!(volume_bytes(4 * GIB), 64 * GIB);
        assert_eq!(volume_bytes(2 * GIB), 2 * GIB);
        assert_eq!(volume_bytes(3 * GIB), 32 * GIB);
        assert_eq!(volume_bytes(GIB), GIB);
    }

    #[test]
    fn what_may_be_written_is_the_room_below_the_image() {
        let around = Surroundings { room_bytes: 10 * GIB, ..Surroundings::default() };
        let sparse = spec("btrfs");
        assert_eq!(around.left_bytes(&sparse, 64 * GIB, 3 * GIB), 5 * GIB);
        assert_eq!(around.left_bytes(&sparse, 64 * GIB, 9 * GIB), 0);
        assert_eq!(around.left_bytes(&sparse, 4 * GIB, 3 * GIB), u64::MAX);
    }
}
