//! The I/O paths that bytes can take, and their options.

use std::fmt;

/// How bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IoPath {
    /// One system call per request, through the page cache.
    PsyncBuffered,
    /// One system call per request, with `O_DIRECT`.
    PsyncDirect,
    /// The files are mapped shared when the session is prepared, as far as operations range, and
    /// unmapped when it ends. An operation copies one request out of or into the mapping; that
    /// access is timed, including page faults. An access that the kernel cannot serve kills the
    /// process with SIGBUS, so it is checked beforehand that the files are long enough.
    Mmap(MapOptions),
    /// One `preadv2` or `pwritev2` per request, with flags.
    Preadv2(Preadv2Options),
    /// Single characters through C's stdio, with the library's buffer. A request that does not
    /// follow the previous one begins with an `fseeko`, which is timed: it writes the buffer back
    /// and discards what was read ahead, so random access pays for whole buffers. What is still
    /// buffered after the last operation is written at that point, untimed.
    Stdio(StdioLocking),
    /// Many requests in flight at once, by io_uring; reads and writes only.
    IoUring(UringOptions),
}

/// How a mapping will be read, as announced to the kernel by `madvise(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MapAdvice {
    /// `MADV_NORMAL`, the default: read-ahead around faults.
    #[default]
    Normal,
    /// `MADV_RANDOM`: no read-ahead.
    Random,
    /// `MADV_SEQUENTIAL`: more read-ahead, and pages that have been read are dropped sooner.
    Sequential,
}

/// When the pages of a mapping are mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Populate {
    /// On first access, by a page fault within the timed interval.
    #[default]
    OnAccess,
    /// `MAP_POPULATE`, when the session is prepared: all pages are read in and mapped. Mapped pages
    /// cannot be evicted, so such a session is never cold. Pages are mapped for reading, so the
    /// first write to each still faults.
    AtPrepare,
}

/// The options of [`IoPath::Mmap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MapOptions {
    /// How the mapping will be read.
    pub advice: MapAdvice,
    /// When pages are mapped.
    pub populate: Populate,
}

/// Whether a file is opened with `O_DIRECT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Caching {
    /// Through the page cache.
    #[default]
    Buffered,
    /// With `O_DIRECT`.
    Direct,
}

/// A flag of one `preadv2(2)` or `pwritev2(2)` call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum CallFlag {
    /// `RWF_HIPRI`: polls for the completion. Needs [`Caching::Direct`] and a device with polling
    /// turned on.
    Hipri = 0x01,
    /// `RWF_DSYNC`: writes as if the file were opened with `O_DSYNC`.
    Dsync = 0x02,
    /// `RWF_SYNC`: writes as if the file were opened with `O_SYNC`.
    Sync = 0x04,
    /// `RWF_NOWAIT`: does nothing that would block. See [`crate::Tally::would_block`].
    Nowait = 0x08,
    /// `RWF_APPEND`: writes to the end of the file, whatever the offset.
    Append = 0x10,
    /// `RWF_DONTCACHE`, since Linux 6.14: uses the page cache, but drops the pages when done.
    DontCache = 0x80,
}

/// A set of [`CallFlag`]s; empty by default.
///
/// The values are those of `include/uapi/linux/fs.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CallFlags {
    bits: u32,
}

impl CallFlags {
    /// No flags, like `pread`.
    pub const NONE: Self = Self { bits: 0 };
    /// Flags that only apply to writes.
    const OF_WRITES: Self =
        Self::NONE.with(CallFlag::Dsync).with(CallFlag::Sync).with(CallFlag::Append);

    /// Adds `flag`.
    #[must_use]
    pub const fn with(self, flag: CallFlag) -> Self {
        Self { bits: self.bits | flag as u32 }
    }

    /// Whether `flag` is in the set.
    #[must_use]
    pub const fn contains(self, flag: CallFlag) -> bool {
        self.bits & flag as u32 != 0
    }

    /// The bits to pass to the kernel.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// The flags that apply to reads.
    pub(crate) const fn for_reads(self) -> Self {
        Self { bits: self.bits & !Self::OF_WRITES.bits }
    }
}

/// The names in the kernel's header, separated by bars.
impl fmt::Display for CallFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (CallFlag::Hipri, "RWF_HIPRI"),
            (CallFlag::Dsync, "RWF_DSYNC"),
            (CallFlag::Sync, "RWF_SYNC"),
            (CallFlag::Nowait, "RWF_NOWAIT"),
            (CallFlag::Append, "RWF_APPEND"),
            (CallFlag::DontCache, "RWF_DONTCACHE"),
        ];
        let given: Vec<_> =
            names.iter().filter(|(flag, _)| self.contains(*flag)).map(|(_, name)| *name).collect();
        f.write_str(&given.join("|"))
    }
}

/// The options of [`IoPath::Preadv2`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Preadv2Options {
    /// The flags of each call. The reads of a mix get those that apply to reads.
    pub flags: CallFlags,
    /// The number of equal, adjacent parts of the buffer that a request is scattered to or gathered
    /// from: 1 to [`Preadv2Options::SEGMENTS`], a divisor of the request size.
    pub segments: usize,
    /// How files are opened.
    pub caching: Caching,
}

impl Preadv2Options {
    /// The maximum number of segments of a request.
    pub const SEGMENTS: usize = 16;
}

/// No flags, one segment, through the page cache.
impl Default for Preadv2Options {
    fn default() -> Self {
        Self { flags: CallFlags::NONE, segments: 1, caching: Caching::Buffered }
    }
}

/// Which stdio functions move the characters. They are called as functions, not expanded as macros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StdioLocking {
    /// `getc` and `putc`, which lock the stream for each character, as they do in any
    /// multi-threaded process.
    #[default]
    EachCharacter,
    /// `getc_unlocked` and `putc_unlocked`, as in a single-threaded process.
    Unlocked,
}

/// Whether requests go through the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Buffering {
    /// Requests go through the page cache.
    PageCache,
    /// `O_DIRECT`: requests bypass the page cache.
    Direct,
}

/// How reads and writes travel by io_uring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UringOptions {
    /// Operations that each thread keeps in flight: 1 to 4096. fio's `iodepth`. Fewer are in flight
    /// only at the end of a run.
    pub queue_depth: u32,
    /// Whether they go through the page cache.
    pub buffering: Buffering,
    /// The most operations that one `io_uring_enter` submits: 1 to the queue depth. fio's
    /// `iodepth_batch_submit`.
    pub submit_at_most: u32,
    /// Completions to wait for before the queue is filled again: 1 to the queue depth. All
    /// available ones are taken then. fio's `iodepth_batch_complete_min`, with
    /// `iodepth_batch_complete_max` set to the queue depth.
    pub reap_at_least: u32,
}

impl UringOptions {
    /// Keeps `queue_depth` operations in flight, and submits and reaps as many at a time as
    /// possible. This keeps the queue as full as one thread can, with the fewest system calls.
    #[must_use]
    pub fn new(queue_depth: u32, buffering: Buffering) -> Self {
        Self { queue_depth, buffering, submit_at_most: queue_depth, reap_at_least: 1 }
    }
}

impl IoPath {
    /// The name used in errors and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PsyncBuffered => "psync",
            Self::PsyncDirect => "direct psync",
            Self::Mmap(_) => "mmap",
            Self::Preadv2(_) => "preadv2",
            Self::Stdio(_) => "stdio",
            Self::IoUring(_) => "io_uring",
        }
    }

    /// Whether files are opened with `O_DIRECT`.
    #[must_use]
    pub fn is_direct(self) -> bool {
        match self {
            Self::PsyncDirect => true,
            Self::IoUring(options) => options.buffering == Buffering::Direct,
            Self::Preadv2(options) => options.caching == Caching::Direct,
            Self::PsyncBuffered | Self::Mmap(_) | Self::Stdio(_) => false,
        }
    }

    /// Whether each transfer is one plain `pread`, `pwrite` or `write`.
    pub(crate) fn is_psync(self) -> bool {
        matches!(self, Self::PsyncBuffered | Self::PsyncDirect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_the_values_of_the_kernel_and_reads_keep_their_own() {
        let all = CallFlags::NONE
            .with(CallFlag::Hipri)
            .with(CallFlag::Dsync)
            .with(CallFlag::Sync)
            .with(CallFlag::Nowait)
            .with(CallFlag::Append)
            .with(CallFlag::DontCache);
        let kernel = [
            libc::RWF_HIPRI,
            libc::RWF_DSYNC,
            libc::RWF_SYNC,
            libc::RWF_NOWAIT,
            libc::RWF_APPEND,
            libc::RWF_DONTCACHE,
        ];
        assert_eq!(all.bits(), kernel.iter().fold(0, |bits, flag| bits | flag.cast_unsigned()));
        let of_reads = [CallFlag::Hipri, CallFlag::Nowait, CallFlag::DontCache];
        let expected = of_reads.iter().fold(CallFlags::NONE, |flags, flag| flags.with(*flag));
        assert_eq!(all.for_reads(), expected);
    }
}
