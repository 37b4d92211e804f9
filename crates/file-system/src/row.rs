//! The contents of a row.

/// What is known about a file system.
#[derive(Debug)]
pub struct Row {
    /// The kernel's name, which is also the one on the command line.
    pub name: &'static str,
    /// Whether a survey measures it if no target is given.
    pub by_default: bool,
    /// Where its files are stored.
    pub storage: Storage,
    /// How it is made on a device; `None` if it has none, or is not made by fsprism.
    pub mkfs: Option<Mkfs>,
    /// The modules that a guest loads for it.
    pub modules: Modules,
    /// The mount option that prevents discards, if it would otherwise issue them by itself.
    pub mounted_without_discard: Option<&'static str>,
    /// What it cannot do, and why.
    pub lacks: &'static [Lack],
    /// Which devices may hold its files.
    pub devices: Devices,
    /// Whether `FIEMAP` reports addresses in its own address space instead of the device's.
    pub has_own_addresses: bool,
    /// The alignment of direct I/O, if statx(2) does not report it.
    pub direct_unit: DirectUnit,
    /// Its magic number in statfs(2) (`linux/magic.h`, and headers of the file systems), if images
    /// stored on it are examined.
    pub magic: Option<u64>,
}

impl Row {
    /// The most common values, without a name.
    pub const PLAIN: Self = Self {
        name: "",
        by_default: false,
        storage: Storage::Device,
        mkfs: None,
        modules: Modules { any_of: &[], further: &[] },
        mounted_without_discard: None,
        lacks: &[],
        devices: Devices::One,
        has_own_addresses: false,
        direct_unit: DirectUnit::LogicalBlock,
        magic: None,
    };
}

/// Where a file system's files are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// On a device.
    Device,
    /// In memory; the pages are the only copy.
    Memory {
        /// The mount option that limits its size in bytes, if there is one.
        size_option: Option<&'static str>,
    },
    /// In an arena, which is a file in shared memory that a library maps: its contents are accessed
    /// by calling that library, not the kernel.
    Arena,
    /// On another file system.
    FileSystem,
    /// In a process on this machine that serves them.
    Process,
    /// On another machine.
    Network,
}

/// How a file system is made.
#[derive(Debug)]
pub struct Mkfs {
    /// The program.
    pub program: &'static str,
    /// The Debian package that contains it.
    pub package: &'static str,
    /// The option that makes the program print its version and exit.
    pub version_option: &'static str,
    /// Options that precede the user's.
    pub options: &'static [&'static str],
    /// Arguments that follow the device.
    pub behind_device: &'static [&'static str],
    /// Options that prevent it from discarding the device's blocks, if it would do so.
    pub without_discard: &'static [&'static str],
    /// Extended options of `mke2fs`.
    pub extended: Option<MkeOptions>,
    /// The smallest device that the program accepts with default options, rounded up to be safe.
    pub least_bytes: u64,
}

impl Mkfs {
    /// A program that needs only the device as an argument, which must have at least 64 MiB.
    #[must_use]
    pub const fn new(program: &'static str, package: &'static str) -> Self {
        Self {
            program,
            package,
            version_option: "-V",
            options: &[],
            behind_device: &[],
            without_discard: &[],
            extended: None,
            least_bytes: 64 << 20,
        }
    }
}

/// Options for `-E` of `mke2fs`, which only honours the last `-E`.
#[derive(Debug)]
pub struct MkeOptions {
    /// Always given, unless the user's options contain [`Self::unless`].
    pub always: &'static str,
    /// Indicates that the user has set the same options.
    pub unless: &'static str,
    /// Prevents it from discarding.
    pub without_discard: &'static str,
}

/// The modules of a file system.
#[derive(Debug)]
pub struct Modules {
    /// The first of these that the kernel has is loaded; if this is empty, no kernel has it as a
    /// module.
    pub any_of: &'static [&'static str],
    /// Also loaded if the kernel has them: character sets for translating names.
    pub further: &'static [&'static str],
}

/// Something that a file system may be unable to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Hard links and symbolic links.
    Links,
    /// Files whose pages are not in memory.
    ColdFiles,
    /// Reporting which pages of a file are in memory.
    Residency,
    /// I/O to the device blocks that hold a file's data, bypassing the file system.
    WritesBelow,
    /// Direct I/O.
    DirectIo,
    /// Images whose blocks stay in place when they are overwritten.
    SteadyImages,
    /// Files that use space only where something has been written.
    SparseFiles,
    /// Allocating space without writing it, by fallocate(2).
    Reservation,
}

/// One feature that a file system lacks.
#[derive(Debug)]
pub struct Lack {
    /// The feature.
    pub feature: Feature,
    /// Why, as a clause that follows the file system's name: `does not support links`.
    pub why: &'static str,
}

/// Which devices may hold the files of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// The device that it is mounted from.
    One,
    /// Any device of a pool; sysfs lists them below `/sys/fs/btrfs`, and has the pool's read-ahead
    /// there too.
    Pool,
    /// An additional device, if it is named by a mount option with this prefix.
    Named(&'static str),
}

/// What the offsets, sizes and memory addresses of direct I/O must be multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectUnit {
    /// The device's logical block.
    LogicalBlock,
    /// The file system's own sector, which statfs(2) reports.
    Sector,
    /// Nothing.
    Byte,
}
