//! The rows, in the order in which help texts list the file systems.
//!
//! `scripts/setup` extracts programs and packages from this file, from the lines with `Mkfs::new(`,
//! `mke2fs(` and `by_default: true`.

use crate::row::{Devices, DirectUnit, Feature, Lack, MkeOptions, Mkfs, Modules, Row, Storage};

const MIB: u64 = 1 << 20;

/// The character sets of Windows and the Macintosh.
const CHARACTER_SETS: &[&str] = &["nls_cp437", "nls_ascii", "nls_utf8", "nls_iso8859_1"];

const MEMORY_ALONE: Lack =
    Lack { feature: Feature::ColdFiles, why: "keeps the only copy of its files in memory" };
const NO_LINKS: Lack = Lack { feature: Feature::Links, why: "does not support links" };
const CLEANS: Lack = Lack {
    feature: Feature::WritesBelow,
    why: "may move data whenever its cleaner runs, and whatever is there by then would be lost",
};
const COPIES_ON_WRITE: Lack =
    Lack { feature: Feature::SteadyImages, why: "writes every block to a new place" };

const NO_HOLES: Lack =
    Lack { feature: Feature::SparseFiles, why: "writes zeros where a file has holes" };

/// `fat_fallocate` in fs/fat/file.c writes zeros, or releases the space along with the inode.
const NO_RESERVATION: Lack =
    Lack { feature: Feature::Reservation, why: "cannot reserve space without writing it" };
/// `f2fs_reserve_new_blocks` in fs/f2fs/data.c.
const ONLY_COUNTS: Lack = Lack {
    feature: Feature::Reservation,
    why: "only counts the blocks that it reserves, and chooses their places when they are written",
};

const PLAIN: Row = Row::PLAIN;

/// `mke2fs`, under one of its names.
const fn mke2fs(program: &'static str) -> Option<Mkfs> {
    Some(Mkfs {
        options: &["-F", "-q"],
        extended: Some(MkeOptions {
            // Otherwise ext4 writes its inode tables in the background while we measure.
            always: "lazy_itable_init=0,lazy_journal_init=0",
            unless: "lazy_",
            without_discard: "nodiscard",
        }),
        ..Mkfs::new(program, "e2fsprogs")
    })
}

const fn modules(any_of: &'static [&'static str]) -> Modules {
    Modules { any_of, further: &[] }
}

/// Every known file system.
pub(crate) static ROWS: [Row; 22] = [
    Row {
        name: "tmpfs",
        by_default: true,
        storage: Storage::Memory { size_option: Some("size=") },
        lacks: &[
            MEMORY_ALONE,
            Lack {
                feature: Feature::DirectIo,
                why: "accepts O_DIRECT but uses the page cache anyway",
            },
        ],
        ..PLAIN
    },
    Row {
        name: "ramfs",
        storage: Storage::Memory { size_option: None },
        lacks: &[MEMORY_ALONE],
        ..PLAIN
    },
    Row { name: "densefs", storage: Storage::Arena, lacks: &[MEMORY_ALONE], ..PLAIN },
    Row {
        name: "ext2",
        mkfs: mke2fs("mkfs.ext2"),
        modules: modules(&["ext2", "ext4"]),
        lacks: &[NO_RESERVATION],
        ..PLAIN
    },
    Row {
        name: "ext3",
        mkfs: mke2fs("mkfs.ext3"),
        modules: modules(&["ext4"]),
        lacks: &[NO_RESERVATION],
        ..PLAIN
    },
    Row {
        name: "ext4",
        by_default: true,
        mkfs: mke2fs("mkfs.ext4"),
        modules: modules(&["ext4"]),
        ..PLAIN
    },
    Row {
        name: "xfs",
        by_default: true,
        mkfs: Some(Mkfs {
            options: &["-f", "-q"],
            without_discard: &["-K"],
            // mkfs.xfs refuses less than 300 MB since version 5.19.
            least_bytes: 320 * MIB,
            ..Mkfs::new("mkfs.xfs", "xfsprogs")
        }),
        modules: modules(&["xfs"]),
        // The files of a realtime section are on a separate device.
        devices: Devices::Named("rtdev="),
        ..PLAIN
    },
    Row {
        name: "btrfs",
        by_default: true,
        mkfs: Some(Mkfs {
            options: &["-f", "-q"],
            without_discard: &["-K"],
            least_bytes: 256 * MIB,
            ..Mkfs::new("mkfs.btrfs", "btrfs-progs")
        }),
        modules: modules(&["btrfs"]),
        mounted_without_discard: Some("nodiscard"),
        lacks: &[COPIES_ON_WRITE],
        devices: Devices::Pool,
        has_own_addresses: true,
        // check_direct_IO in fs/btrfs/direct-io.c aligns offsets, sizes and memory to its sector.
        direct_unit: DirectUnit::Sector,
        magic: Some(0x9123_683e),
        ..PLAIN
    },
    Row {
        name: "f2fs",
        mkfs: Some(Mkfs {
            options: &["-f"],
            without_discard: &["-t", "0"],
            least_bytes: 128 * MIB,
            ..Mkfs::new("mkfs.f2fs", "f2fs-tools")
        }),
        modules: modules(&["f2fs"]),
        mounted_without_discard: Some("nodiscard"),
        lacks: &[CLEANS, COPIES_ON_WRITE, ONLY_COUNTS],
        magic: Some(0xf2f5_2010),
        ..PLAIN
    },
    Row {
        name: "vfat",
        // It has no version option, but prints its version before its help.
        mkfs: Some(Mkfs { version_option: "--help", ..Mkfs::new("mkfs.vfat", "dosfstools") }),
        modules: Modules { any_of: &["vfat"], further: CHARACTER_SETS },
        lacks: &[NO_LINKS, NO_HOLES, NO_RESERVATION],
        magic: Some(0x4d44),
        ..PLAIN
    },
    Row {
        name: "exfat",
        mkfs: Some(Mkfs::new("mkfs.exfat", "exfatprogs")),
        modules: Modules { any_of: &["exfat"], further: CHARACTER_SETS },
        lacks: &[NO_LINKS, NO_HOLES, NO_RESERVATION],
        magic: Some(0x2011_bab0),
        ..PLAIN
    },
    Row {
        name: "minix",
        // Version 1 of it is limited to 64 MiB.
        mkfs: Some(Mkfs::new("mkfs.minix", "util-linux-extra")),
        modules: modules(&["minix"]),
        lacks: &[NO_RESERVATION],
        ..PLAIN
    },
    Row {
        name: "hfs",
        mkfs: Some(Mkfs {
            version_option: "--version",
            options: &["-f"],
            // Use the whole device, whatever partitions were on it.
            behind_device: &["0"],
            // Debian has no mkfs.hfs.
            ..Mkfs::new("hformat", "hfsutils")
        }),
        modules: Modules { any_of: &["hfs"], further: CHARACTER_SETS },
        lacks: &[NO_LINKS, NO_HOLES, NO_RESERVATION],
        magic: Some(0x4244),
        ..PLAIN
    },
    // The remaining ones are measured where they are mounted, but never made.
    Row { name: "msdos", lacks: &[NO_LINKS], ..PLAIN },
    Row { name: "nilfs2", lacks: &[CLEANS, COPIES_ON_WRITE], magic: Some(0x3434), ..PLAIN },
    Row { name: "bcachefs", lacks: &[CLEANS, COPIES_ON_WRITE], magic: Some(0xca45_1a4e), ..PLAIN },
    Row { name: "zfs", lacks: &[COPIES_ON_WRITE], magic: Some(0x2fc1_2fc1), ..PLAIN },
    Row {
        name: "overlay",
        storage: Storage::FileSystem,
        lacks: &[Lack {
            feature: Feature::Residency,
            why: "does not show which pages of its files are in memory",
        }],
        ..PLAIN
    },
    Row { name: "fuse", storage: Storage::Process, ..PLAIN },
    Row { name: "fuseblk", storage: Storage::Process, ..PLAIN },
    // fs/nfs/direct.c has no alignment requirement.
    Row { name: "nfs", storage: Storage::Network, direct_unit: DirectUnit::Byte, ..PLAIN },
    Row { name: "nfs4", storage: Storage::Network, direct_unit: DirectUnit::Byte, ..PLAIN },
];
