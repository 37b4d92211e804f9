//! What can be chosen about an I/O path, and which operations can take it.

use std::fmt;

/// How bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IoPath {
    /// One system call per request, through the page cache.
    PsyncBuffered,
    /// One system call per request, with `O_DIRECT`.
    PsyncDirect,
    /// The files are mapped shared when the session is prepared, as far as operations range, and
    /// unmapped with it; an operation copies one request out of the mapping or into it. What is
    /// timed is that access, page faults and all. An access that the kernel cannot serve ends the
    /// process by SIGBUS; that files are long enough is looked at before.
    Mmap(MapOptions),
    /// One `preadv2` or `pwritev2` per request, with flags.
    Preadv2(Preadv2Options),
    /// Single characters through C's stdio, with the library's buffer. A request that does not
    /// follow the last one begins with an `fseeko`, which is timed: it writes the buffer back and
    /// throws away what was read ahead, so random access pays for whole buffers. What is still
    /// buffered after the last operation is written then, untimed.
    Stdio(StdioLocking),
    /// Many requests in flight at once, by io_uring; reads and writes only.
    IoUring(UringOptions),
}

/// What the kernel is told about how a mapping will be read: `madvise(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MapAdvice {
    /// Nothing: `MADV_NORMAL`, with read-ahead around faults.
    #[default]
    Normal,
    /// `MADV_RANDOM`: no read-ahead.
    Random,
    /// `MADV_SEQUENTIAL`: more read-ahead, and pages behind the reader go sooner.
    Sequential,
}

/// Whether a mapping's pages are there before the first operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Populate {
    /// Each page is mapped by the first access to it, a page fault within the timed interval.
    #[default]
    OnAccess,
    /// `MAP_POPULATE`, when the session is prepared: all pages are read in and mapped. Mapped pages
    /// cannot be evicted, so a session prepared like this is never cold. Pages are mapped as for
    /// reading: the first write to each still faults.
    AtPrepare,
}

/// The options of [`IoPath::Mmap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MapOptions {
    /// What the kernel is told.
    pub advice: MapAdvice,
    /// When pages are mapped.
    pub populate: Populate,
}

/// Whether a file is open with `O_DIRECT`.
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
    /// `RWF_HIPRI`: the completion is polled for. Needs [`Caching::Direct`] and a device with
    /// polling switched on.
    Hipri = 0x01,
    /// `RWF_DSYNC`: a write as by a file open with `O_DSYNC`.
    Dsync = 0x02,
    /// `RWF_SYNC`: a write as by a file open with `O_SYNC`.
    Sync = 0x04,
    /// `RWF_NOWAIT`: what would have to wait is not done. See [`crate::Tally::would_block`].
    Nowait = 0x08,
    /// `RWF_APPEND`: the write goes to the end of the file, whatever its offset.
    Append = 0x10,
    /// `RWF_DONTCACHE`, since Linux 6.14: through the page cache, and out of it when done.
    DontCache = 0x80,
}

/// A set of [`CallFlag`]s; the default is none.
///
/// The values are those of `include/uapi/linux/fs.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CallFlags {
    bits: u32,
}

impl CallFlags {
    /// No flag at all: a call as by `pread`.
    pub const NONE: Self = Self { bits: 0 };
    /// Those that only writes know.
    const OF_WRITES: Self =
        Self::NONE.with(CallFlag::Dsync).with(CallFlag::Sync).with(CallFlag::Append);

    /// These and `flag`.
    #[must_use]
    pub const fn with(self, flag: CallFlag) -> Self {
        Self { bits: self.bits | flag as u32 }
    }

    /// Whether `flag` is one of them.
    #[must_use]
    pub const fn contains(self, flag: CallFlag) -> bool {
        self.bits & flag as u32 != 0
    }

    /// The bits that the kernel is given.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Those that a read knows.
    pub(crate) const fn of_reads(self) -> Self {
        Self { bits: self.bits & !Self::OF_WRITES.bits }
    }
}

/// As in the kernel's header, with bars between.
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
    /// The flags of each call. Of a mix, reads are given those that reads know.
    pub flags: CallFlags,
    /// The equal, neighbouring parts of the buffer that a request is scattered to or gathered from:
    /// 1 to [`Preadv2Options::SEGMENTS`], a divisor of the request size.
    pub segments: usize,
    /// How files are open.
    pub caching: Caching,
}

impl Preadv2Options {
    /// The most segments of a request.
    pub const SEGMENTS: usize = 16;
}

/// No flags, one segment, through the page cache.
impl Default for Preadv2Options {
    fn default() -> Self {
        Self { flags: CallFlags::NONE, segments: 1, caching: Caching::Buffered }
    }
}

/// Which functions of stdio move the characters. They are called, not expanded as macros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StdioLocking {
    /// `getc` and `putc`, which lock the stream for each character, as they do in any process of
    /// several threads.
    #[default]
    EachCharacter,
    /// `getc_unlocked` and `putc_unlocked`, as in a process of one thread.
    Unlocked,
}

/// Whether the page cache stands between a request and the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Buffering {
    /// Requests go through the page cache.
    PageCache,
    /// `O_DIRECT`: requests go past the page cache.
    Direct,
}

/// How reads and writes travel by io_uring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UringOptions {
    /// Operations that each thread keeps in flight: 1 to 4096. fio's `iodepth`. Fewer are in
    /// flight only while a run ends.
    pub queue_depth: u32,
    /// Whether they go through the page cache.
    pub buffering: Buffering,
    /// Operations that one `io_uring_enter` submits at most: 1 to the queue depth. fio's
    /// `iodepth_batch_submit`.
    pub submit_at_most: u32,
    /// Completions that have to be there before the queue is filled again: 1 to the queue depth.
    /// All that are there are taken, then. fio's `iodepth_batch_complete_min`, where its
    /// `iodepth_batch_complete_max` is the queue depth.
    pub reap_at_least: u32,
}

impl UringOptions {
    /// So many in flight, submitted and reaped as many at a time as there are: what keeps the
    /// queue as full as one thread can, with the fewest system calls.
    #[must_use]
    pub fn new(queue_depth: u32, buffering: Buffering) -> Self {
        Self { queue_depth, buffering, submit_at_most: queue_depth, reap_at_least: 1 }
    }
}

impl IoPath {
    /// The name by which errors and reports call it.
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

    /// Whether files are open with `O_DIRECT`.
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
        assert_eq!(all.of_reads(), expected);
    }
}
