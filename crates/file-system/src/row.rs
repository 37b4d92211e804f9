//! What a row says.

/// What is known of a file system.
#[derive(Debug)]
pub struct Row {
    /// The kernel's name, which is also the one on the command line.
    pub name: &'static str,
    /// Whether a survey for which no target is named measures it.
    pub by_default: bool,
    /// Where its files are.
    pub storage: Storage,
    /// How it is made on a device; `None` of one that has none, or that fsprism does not make.
    pub mkfs: Option<Mkfs>,
    /// The modules that a guest loads for it.
    pub modules: Modules,
    /// The mount option that keeps it from discarding, where it would on its own.
    pub mounted_without_discard: Option<&'static str>,
    /// What it cannot do, and why.
    pub lacks: &'static [Lack],
    /// Which devices can hold its files.
    pub devices: Devices,
    /// Whether `FIEMAP` tells addresses of its own instead of those of the device.
    pub has_own_addresses: bool,
    /// What direct I/O is aligned to where statx(2) does not say it.
    pub direct_unit: DirectUnit,
    /// What statfs(2) calls it (`linux/magic.h`, and their own headers), where images that lie on
    /// it are looked at.
    pub magic: Option<u64>,
}

impl Row {
    /// What most have in common, but for the name.
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

/// Where the files of a file system are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// On a device.
    Device,
    /// Their pages in memory are the only copy.
    Memory {
        /// The mount option that limits its size in bytes, if there is one.
        size_option: Option<&'static str>,
    },
    /// In an arena, a file in shared memory which a library maps: what is in it is reached by calls
    /// of that library, not of the kernel.
    Arena,
    /// On another file system.
    FileSystem,
    /// With a process on this machine that serves them.
    Process,
    /// With another machine.
    Network,
}

/// How a file system is made.
#[derive(Debug)]
pub struct Mkfs {
    /// The program.
    pub program: &'static str,
    /// Debian's package with it.
    pub package: &'static str,
    /// The option that makes the program tell its version and do nothing else.
    pub version_option: &'static str,
    /// Options before the user's.
    pub options: &'static [&'static str],
    /// Words behind the device.
    pub behind_device: &'static [&'static str],
    /// Options that keep it from discarding the device's blocks, where it would.
    pub without_discard: &'static [&'static str],
    /// Extended options as `mke2fs` has them.
    pub extended: Option<MkeOptions>,
    /// The smallest device that the program takes with default options, rounded up for some room.
    pub least_bytes: u64,
}

impl Mkfs {
    /// A program that takes a device alone, of 64 MiB or more.
    #[must_use]
    pub const fn of(program: &'static str, package: &'static str) -> Self {
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

/// Options for the `-E` of `mke2fs`, which heeds only the last one.
#[derive(Debug)]
pub struct MkeOptions {
    /// What is always said, unless the user's options hold [`Self::unless`].
    pub always: &'static str,
    /// The user's own word on the same.
    pub unless: &'static str,
    /// What keeps it from discarding.
    pub without_discard: &'static str,
}

/// The modules of a file system.
#[derive(Debug)]
pub struct Modules {
    /// The first of these that a kernel has; if there are none here, no kernel has it as a module.
    pub any_of: &'static [&'static str],
    /// These too, where the kernel has them: character sets that names are translated by.
    pub further: &'static [&'static str],
}

/// Something that a file system may be unable to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Several names for a file, and names that stand for paths.
    Links,
    /// Files whose pages are not in memory.
    ColdFiles,
    /// To say which pages of a file are in memory.
    Residency,
    /// I/O on the device's blocks where a file's data lie, behind the file system's back.
    WritesBelow,
    /// Direct I/O.
    DirectIo,
    /// Images whose blocks stay where they are when they are written again.
    SteadyImages,
    /// Files that take room only where something was written.
    SparseFiles,
    /// Space that files take without having been written, by fallocate(2).
    Reservation,
}

/// One feature that a file system lacks.
#[derive(Debug)]
pub struct Lack {
    /// Which.
    pub feature: Feature,
    /// Why, as a clause that follows the file system's name: `does not support links`.
    pub why: &'static str,
}

/// Which devices can hold the files of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// The one it is mounted from.
    One,
    /// Any of a pool, which sysfs lists below `/sys/fs/btrfs`, as it does its read-ahead.
    Pool,
    /// Another one too, if a mount option that begins so names it.
    Named(&'static str),
}

/// What offsets, sizes and memory of direct I/O are multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectUnit {
    /// The device's logical block.
    LogicalBlock,
    /// The file system's own sector, which statfs(2) tells.
    Sector,
    /// Nothing.
    Byte,
}
