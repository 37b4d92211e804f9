//! The file systems that a scratch target can have, and what each needs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::spec::SpecError;

const MIB: u64 = 1 << 20;

/// A file system that can be made on scratch space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FileSystem {
    /// Files in the page cache, with swap behind it.
    Tmpfs,
    /// Files in the page cache, with nothing behind it and no limit.
    Ramfs,
    /// The second extended file system.
    Ext2,
    /// The third extended file system.
    Ext3,
    /// The fourth extended file system.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// The flash-friendly file system.
    F2fs,
    /// FAT with long names.
    Vfat,
    /// The file system of Minix.
    Minix,
    /// The hierarchical file system of the Macintosh.
    Hfs,
}

impl FileSystem {
    /// Every file system, in the order in which help texts list them.
    pub const ALL: [Self; 11] = [
        Self::Tmpfs,
        Self::Ramfs,
        Self::Ext2,
        Self::Ext3,
        Self::Ext4,
        Self::Xfs,
        Self::Btrfs,
        Self::F2fs,
        Self::Vfat,
        Self::Minix,
        Self::Hfs,
    ];

    /// The kernel's name, which is also the one on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tmpfs => "tmpfs",
            Self::Ramfs => "ramfs",
            Self::Ext2 => "ext2",
            Self::Ext3 => "ext3",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::F2fs => "f2fs",
            Self::Vfat => "vfat",
            Self::Minix => "minix",
            Self::Hfs => "hfs",
        }
    }

    /// Whether the pages in memory are the only copy: nothing to format and no cold state.
    #[must_use]
    pub fn lives_in_memory(self) -> bool {
        matches!(self, Self::Tmpfs | Self::Ramfs)
    }

    /// Whether files can have several names, and names can stand for paths.
    #[must_use]
    pub fn has_links(self) -> bool {
        !matches!(self, Self::Vfat | Self::Hfs)
    }

    /// The program that makes it; `None` where nothing is formatted.
    #[must_use]
    pub fn mkfs_program(self) -> Option<&'static str> {
        match self {
            Self::Tmpfs | Self::Ramfs => None,
            Self::Ext2 => Some("mkfs.ext2"),
            Self::Ext3 => Some("mkfs.ext3"),
            Self::Ext4 => Some("mkfs.ext4"),
            Self::Xfs => Some("mkfs.xfs"),
            Self::Btrfs => Some("mkfs.btrfs"),
            Self::F2fs => Some("mkfs.f2fs"),
            Self::Vfat => Some("mkfs.vfat"),
            Self::Minix => Some("mkfs.minix"),
            // Debian has no mkfs.hfs.
            Self::Hfs => Some("hformat"),
        }
    }

    /// The Debian package of that program; `None` where nothing is formatted.
    #[must_use]
    pub fn mkfs_package(self) -> Option<&'static str> {
        match self {
            Self::Tmpfs | Self::Ramfs => None,
            Self::Ext2 | Self::Ext3 | Self::Ext4 => Some("e2fsprogs"),
            Self::Xfs => Some("xfsprogs"),
            Self::Btrfs => Some("btrfs-progs"),
            Self::F2fs => Some("f2fs-tools"),
            Self::Vfat => Some("dosfstools"),
            Self::Minix => Some("util-linux-extra"),
            Self::Hfs => Some("hfsutils"),
        }
    }

    /// The smallest image that its mkfs takes with default options, rounded up for some room.
    #[must_use]
    pub fn least_image_bytes(self) -> u64 {
        match self {
            Self::Tmpfs | Self::Ramfs => MIB,
            // mkfs.xfs refuses less than 300 MB since version 5.19.
            Self::Xfs => 320 * MIB,
            Self::Btrfs => 256 * MIB,
            Self::F2fs => 128 * MIB,
            // More than hformat's 800 KiB, and what version 1 of minix can have at most.
            Self::Minix | Self::Hfs => 64 * MIB,
            Self::Ext2 | Self::Ext3 | Self::Ext4 | Self::Vfat => 64 * MIB,
        }
    }

    pub(super) fn is_ext(self) -> bool {
        matches!(self, Self::Ext2 | Self::Ext3 | Self::Ext4)
    }
}

impl fmt::Display for FileSystem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for FileSystem {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::ALL.into_iter().find(|known| known.name() == text).ok_or_else(|| {
            SpecError::UnknownFileSystem {
                given: text.to_owned(),
                nearest: nearest(text, Self::ALL.map(Self::name)),
            }
        })
    }
}

/// The known name that `given` is the beginning of, else the one that takes the fewest edits to
/// reach from it; of several, the last.
pub(super) fn nearest<const N: usize>(given: &str, known: [&'static str; N]) -> &'static str {
    let strangeness = |name: &&str| (!name.starts_with(given), edit_distance(given, name));
    known.into_iter().rev().min_by_key(strangeness).unwrap_or_default()
}

/// Levenshtein's distance, by characters.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (from_count, from_char) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = from_count + 1;
        for (index, to_char) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(from_char != *to_char);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(row[index] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_levenshteins() {
        for (from, to, distance) in [("", "", 0), ("ext5", "ext4", 1), ("bttrfs", "btrfs", 1)] {
            assert_eq!(edit_distance(from, to), distance, "{from} -> {to}");
        }
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn every_name_parses_back() {
        for file_system in FileSystem::ALL {
            assert_eq!(file_system.name().parse::<FileSystem>().ok(), Some(file_system));
        }
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        assert_eq!(nearest("btfs", FileSystem::ALL.map(FileSystem::name)), "btrfs");
        assert_eq!(nearest("xf", FileSystem::ALL.map(FileSystem::name)), "xfs");
    }
}
