//! What can be chosen about an I/O path, and which operations can take it.

use std::fmt;

use crate::description::{IoPath, Workload};
use crate::error::WorkloadError;
use crate::operation::Operation;
use crate::uring::Buffering;

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

/// Checks that the operation can take its I/O path, and the path's options.
pub(crate) fn check(workload: &Workload) -> Result<(), WorkloadError> {
    let Workload { operation, io_path, .. } = *workload;
    let is_transfer = operation.moves_data_in_place();
    let is_flagged_append = operation == Operation::Append && matches!(io_path, IoPath::Preadv2(_));
    if !(io_path.is_psync() || is_transfer || is_flagged_append) {
        let (io_path, operation) = (io_path.name(), operation.name());
        return Err(WorkloadError::NoSuchPath { io_path, operation });
    }
    if let IoPath::Preadv2(options) = io_path { check_preadv2(workload, options) } else { Ok(()) }
}

fn check_preadv2(workload: &Workload, options: Preadv2Options) -> Result<(), WorkloadError> {
    let Preadv2Options { flags, segments, caching } = options;
    let operation = workload.operation;
    if segments == 0 {
        return Err(WorkloadError::Zero("the number of segments"));
    }
    let (value, most) = (segments as u64, Preadv2Options::SEGMENTS as u64);
    if value > most {
        return Err(WorkloadError::TooLarge { what: "the number of segments", value, most });
    }
    let is_append = operation == Operation::Append;
    let contradictions = [
        (!workload.request_bytes.is_multiple_of(segments), "segments that divide the request size"),
        (
            flags.contains(CallFlag::Hipri) && caching == Caching::Buffered,
            "direct I/O with RWF_HIPRI",
        ),
        (
            flags.contains(CallFlag::DontCache) && caching == Caching::Direct,
            "the page cache with RWF_DONTCACHE",
        ),
        (
            operation == Operation::Read && flags != flags.of_reads(),
            "no RWF_DSYNC, RWF_SYNC or RWF_APPEND, which apply only to writes",
        ),
        (
            flags.contains(CallFlag::Append) != is_append,
            "RWF_APPEND for the operation append, and for no other",
        ),
    ];
    match contradictions.into_iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, wanted)) => Err(WorkloadError::Preadv2 { wanted }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preadv2(operation: Operation, flags: &[CallFlag], caching: Caching) -> Workload {
        let flags = flags.iter().fold(CallFlags::NONE, |flags, flag| flags.with(*flag));
        let options = Preadv2Options { flags, caching, ..Preadv2Options::default() };
        Workload { io_path: IoPath::Preadv2(options), ..Workload::new(operation) }
    }

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

    #[test]
    fn contradictory_flags_are_refused() {
        use CallFlag::{Append, DontCache, Dsync, Hipri, Nowait};
        let (buffered, direct) = (Caching::Buffered, Caching::Direct);
        for (operation, flags, caching, is_possible) in [
            (Operation::Read, &[Nowait, DontCache][..], buffered, true),
            (Operation::Read, &[Hipri], buffered, false),
            (Operation::Read, &[Hipri], direct, true),
            (Operation::Read, &[DontCache], direct, false),
            (Operation::Read, &[Dsync], buffered, false),
            (Operation::Write, &[Dsync], buffered, true),
            (Operation::Write, &[Append], buffered, false),
            (Operation::Append, &[Append, Dsync], buffered, true),
            (Operation::Append, &[], buffered, false),
            (Operation::Mixed { read_percent: 50 }, &[Dsync], buffered, true),
        ] {
            let checked = preadv2(operation, flags, caching).check();
            assert_eq!(checked.is_ok(), is_possible, "{operation:?} {flags:?} {checked:?}");
        }
    }

    #[test]
    fn segments_divide_the_request() {
        let with = |segments| {
            let options = Preadv2Options { segments, ..Preadv2Options::default() };
            let io_path = IoPath::Preadv2(options);
            Workload { io_path, ..Workload::new(Operation::Read) }.check().is_ok()
        };
        assert_eq!([0, 1, 3, 16, 17, 32].map(with), [false, true, false, true, false, false]);
    }

    #[test]
    fn only_transfers_take_the_paths_of_transfers() {
        for io_path in [
            IoPath::Mmap(MapOptions::default()),
            IoPath::Stdio(StdioLocking::Unlocked),
            IoPath::Preadv2(Preadv2Options::default()),
        ] {
            for operation in Operation::ALL {
                let checked = Workload { io_path, ..Workload::new(operation) }.check();
                let expected = matches!(operation, Operation::Read | Operation::Write);
                assert_eq!(checked.is_ok(), expected, "{operation:?} {io_path:?}");
            }
        }
    }
}
