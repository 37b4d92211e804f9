//! Which file sets do not fit on a target, in its space or under its memory limit.
//!
//! A file system sets aside a number of inodes when it is made (ext4: one for every 16 KiB), so a
//! million files need more than their bytes. A memory limit covers both the pages of files and what
//! the kernel keeps of their names and attributes.

use std::collections::{BTreeMap, BTreeSet};

use targets::Space;

use crate::file_set_kind::FileSetKind;

/// The most that an entry takes besides its inode, including copies and logs.
const ENTRY_BYTES: u64 = 2048;
/// The share of free space that file sets may take.
const SHARE: f64 = 0.9;
/// Memory for an entry, its inode and its name: on ext4, 22 MiB for the survey's 15,200 entries.
const ENTRY_MEMORY_BYTES: u64 = 1536;
/// The share of memory that file sets may take; the rest is for the file system's own structures,
/// what experiments read, and what operations add.
const MEMORY_SHARE: f64 = 0.7;
const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// What file sets need of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RoomNeeded {
    bytes: u64,
    inodes: u64,
}

impl RoomNeeded {
    fn on_storage(file_set: FileSetKind, data_file_bytes: u64) -> Self {
        let entries = file_set.entries();
        // If files have contents, operations may add half as many.
        let added = if file_set.entry_bytes() > 0 { file_set.additions_max() } else { 0 };
        Self {
            bytes: file_set.bytes(data_file_bytes) + entries * ENTRY_BYTES,
            inodes: entries + added,
        }
    }

    /// What a file set needs in memory when all of it is there.
    fn in_memory(file_set: FileSetKind, data_file_bytes: u64) -> Self {
        let entries = file_set.entries();
        let bytes = file_set.bytes(data_file_bytes) + entries * ENTRY_MEMORY_BYTES;
        Self { bytes, inodes: entries }
    }

    fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, inodes: self.inodes + other.inodes }
    }

    /// This need as a multiple of the usable space.
    fn share_of(self, space: &Space) -> f64 {
        let share = |need: u64, free: u64| need as f64 / (free as f64 * SHARE).max(1.0);
        let inodes = space.free_inodes.map_or(0.0, |free| share(self.inodes, free));
        inodes.max(share(self.bytes, space.free_bytes))
    }
}

/// The file sets that do not fit along with the smaller ones, each with the reason.
pub(crate) fn too_large(
    file_sets: BTreeSet<FileSetKind>,
    space: &Space,
    data_file_bytes: u64,
) -> BTreeMap<FileSetKind, String> {
    let need = |file_set| RoomNeeded::on_storage(file_set, data_file_bytes);
    beside_smaller(file_sets, need, |need| need.share_of(space))
        .map(|(file_set, need, times)| (file_set, reason(need, space, times)))
        .collect()
}

/// The file sets that do not stay in a memory of `limit_bytes` along with the smaller ones, each
/// with the reason.
pub(crate) fn beyond_memory(
    file_sets: BTreeSet<FileSetKind>,
    limit_bytes: u64,
    data_file_bytes: u64,
) -> BTreeMap<FileSetKind, String> {
    let usable_bytes = limit_bytes as f64 * MEMORY_SHARE;
    let need = |file_set| RoomNeeded::in_memory(file_set, data_file_bytes);
    beside_smaller(file_sets, need, |need| need.bytes as f64 / usable_bytes.max(1.0))
        .map(|(file_set, need, times)| {
            let wanted_mib = (limit_bytes as f64 * times / MIB as f64).ceil();
            let smaller = if file_set == FileSetKind::Data { ", or a smaller --size" } else { "" };
            let why = format!(
                "they take {} MiB of memory on top of the others, but it is limited to {} MiB, \
                 part of which the file system takes: memory={wanted_mib}m{smaller} would do",
                need.bytes.div_ceil(MIB),
                limit_bytes / MIB,
            );
            (file_set, why)
        })
        .collect()
}

/// The file sets that do not fit along with the smaller ones. Each comes with its need, and with
/// the total of it and those that fit, as a multiple of what is usable.
fn beside_smaller(
    file_sets: BTreeSet<FileSetKind>,
    need: impl Fn(FileSetKind) -> RoomNeeded,
    times_of: impl Fn(RoomNeeded) -> f64,
) -> impl Iterator<Item = (FileSetKind, RoomNeeded, f64)> {
    let mut by_need: Vec<(RoomNeeded, FileSetKind)> =
        file_sets.into_iter().map(|file_set| (need(file_set), file_set)).collect();
    // Benchmarks of whole files come last: they are fewer and say less than those of single calls.
    by_need.sort_by_key(|(need, file_set)| (file_set.entry_bytes() > 0, need.bytes, need.inodes));
    let mut taken = RoomNeeded::default();
    by_need.into_iter().filter_map(move |(need, file_set)| {
        let with_it = taken.and(need);
        let times = times_of(with_it);
        if times <= 1.0 {
            taken = with_it;
            return None;
        }
        Some((file_set, need, times))
    })
}

fn reason(need: RoomNeeded, space: &Space, times: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let wanted_gib = (space.total_bytes as f64 * times / GIB as f64).ceil() as u64;
    let is_of_inodes = RoomNeeded { bytes: 0, ..need }.share_of(space) > 1.0
        || RoomNeeded { inodes: 0, ..need }.share_of(space) < 1.0 && need.inodes > 0;
    match space.free_inodes {
        Some(free) if is_of_inodes => format!(
            "they are {} files on top of the others, but it has room for {free}: more space, such \
             as size={wanted_gib}G, would do",
            need.inodes
        ),
        _ if space.is_held_by_scratch => format!(
            "they take {} MiB on top of the others, but its image has {} MiB left of the scratch \
             directory: another one with more space (--scratch) would do",
            need.bytes >> 20,
            space.free_bytes >> 20
        ),
        _ => format!(
            "they take {} MiB on top of the others, but it has {} MiB: more space, such as \
             size={wanted_gib}G, would do",
            need.bytes >> 20,
            space.free_bytes >> 20
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_set_kind::{DirectorySpec, FileSpec};

    fn directories(entries: u64) -> FileSetKind {
        FileSetKind::Directories(DirectorySpec::with_entries(entries))
    }

    fn space(free_bytes: u64, free_inodes: Option<u64>) -> Space {
        let total_bytes = 2 * free_bytes;
        Space { free_bytes, total_bytes, free_inodes, is_held_by_scratch: false }
    }

    #[test]
    fn the_largest_are_left_out_until_the_rest_fits() {
        let file_sets = BTreeSet::from([1_000, 10_000, 100_000, 1_000_000].map(directories));
        let refused = |space| too_large(file_sets.clone(), &space, 0);
        let roomy = space(100 << 30, Some(2_000_000));
        assert!(refused(roomy).is_empty());
        let of_inodes = refused(space(100 << 30, Some(200_000)));
        assert_eq!(of_inodes.keys().collect::<Vec<_>>(), [&directories(1_000_000)]);
        let why = &of_inodes[&directories(1_000_000)];
        assert!(why.contains("1000000 files") && why.contains("room for 200000"), "{why}");
        // 1,113,000 of 180,000 usable inodes: 6.2 times the size of 200 GiB.
        assert!(why.contains("size=1240G"), "{why}");
        let of_bytes = refused(space(100 << 20, None));
        let expected = [&directories(100_000), &directories(1_000_000)];
        assert_eq!(of_bytes.keys().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_does_not_stay_in_memory_is_left_out() {
        let survey = [
            FileSetKind::Data,
            FileSetKind::SmallDirectories,
            FileSetKind::TwoDirectories,
            FileSetKind::LargeDirectory,
        ];
        let refused = |limit_mib: u64, file_mib: u64| {
            beyond_memory(survey.into(), limit_mib << 20, file_mib << 20)
        };
        assert!(refused(64, 8).is_empty());
        let of_less = refused(32, 4);
        assert_eq!(of_less.keys().collect::<Vec<_>>(), [&FileSetKind::LargeDirectory]);
        // 22.4 MiB are usable.
        let why = &of_less[&FileSetKind::LargeDirectory];
        assert!(why.contains("15 MiB of memory") && why.contains("limited to 32 MiB"), "{why}");
        assert!(why.contains("memory=50m would do"), "{why}");
        let of_large_files = refused(64, 48);
        assert_eq!(of_large_files.keys().collect::<Vec<_>>(), [&FileSetKind::Data]);
        assert!(of_large_files[&FileSetKind::Data].contains("or a smaller --size"));
        // It needs less than the data files do.
        let few = DirectorySpec { count: 6, additions: 150, ..DirectorySpec::with_entries(100) };
        let full = FileSetKind::Directories(DirectorySpec { entry_bytes: 4096, ..few });
        let with_files: BTreeSet<FileSetKind> = survey.into_iter().chain([full]).collect();
        let of_files = beyond_memory(with_files, 64 << 20, 8 << 20);
        assert_eq!(of_files.keys().collect::<Vec<_>>(), [&full], "it goes before larger ones");
    }

    #[test]
    fn data_files_take_their_bytes() {
        let large = FileSetKind::Files(FileSpec { count: 2, bytes: 1 << 30, are_written: false });
        let file_sets = BTreeSet::from([FileSetKind::Data, large]);
        let refused = too_large(file_sets, &space(1 << 30, Some(1000)), 64 << 20);
        assert_eq!(refused.keys().collect::<Vec<_>>(), [&large]);
        assert!(refused[&large].contains("they take 2048 MiB"), "{}", refused[&large]);
        assert!(refused[&large].contains("it has 1024 MiB"), "{}", refused[&large]);
    }
}
