//! io_uring: entries that tell the kernel where our memory is.
#![expect(unsafe_code, reason = "entries hold addresses that the kernel accesses later")]

use std::io;

use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, Probe, opcode, types};

use super::memory::Span;

/// What a ring is set up with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RingSetup {
    pub(crate) depth: u32,
    pub(crate) polls_completions: bool,
    pub(crate) kernel_polls: bool,
    pub(crate) kernel_polls_on: Option<u32>,
}

/// An operation for the ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingEntry {
    pub(crate) kind: RingKind,
    /// A descriptor, or the index of a registered one.
    pub(crate) file: i32,
    pub(crate) is_registered: bool,
    pub(crate) offset: u64,
    pub(crate) rw_flags: i32,
    /// Of transfers.
    pub(crate) priority: u16,
    pub(crate) is_async: bool,
    pub(crate) data: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RingKind {
    Read(Span),
    Write(Span),
    /// Into or from a registered buffer.
    ReadFixed(Span, u16),
    WriteFixed(Span, u16),
    /// By a vector of one.
    ReadVector(usize),
    WriteVector(usize),
    Sync,
    DataSync,
    SyncRange {
        bytes: u32,
        flags: u32,
    },
}

/// A ring, with a vector for each operation. Dropping it waits for what is in flight.
pub(crate) struct Ring {
    ring: IoUring,
    vectors: Vec<libc::iovec>,
    in_flight: usize,
    waits: bool,
}

// SAFETY: a ring is used by the thread that it was made in; the vectors' addresses are of memory
// that belongs to the process.
unsafe impl Send for Ring {}

impl Ring {
    /// A ring with the newest ways of working that the kernel has.
    pub(crate) fn new(setup: RingSetup) -> io::Result<Self> {
        let build = |level: u8| {
            let mut builder = IoUring::builder();
            if setup.polls_completions {
                builder.setup_iopoll();
            }
            if setup.kernel_polls {
                builder.setup_sqpoll(1000);
                if let Some(processor) = setup.kernel_polls_on {
                    builder.setup_sqpoll_cpu(processor);
                }
            }
            if level < 3 {
                builder.setup_cqsize(setup.depth);
            }
            if level < 2 && !setup.kernel_polls {
                builder.setup_coop_taskrun();
            }
            if level < 1 && !setup.kernel_polls {
                builder.setup_single_issuer().setup_defer_taskrun();
            }
            builder.build(setup.depth)
        };
        let mut tried = build(0);
        for level in 1..=3 {
            match &tried {
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => tried = build(level),
                Ok(_) | Err(_) => break,
            }
        }
        let ring = tried?;
        let none = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let vectors = vec![none; setup.depth as usize];
        Ok(Self { ring, vectors, in_flight: 0, waits: !setup.kernel_polls })
    }

    /// Whether the kernel can read and write without a vector.
    pub(crate) fn has_plain_transfers(&self) -> bool {
        let mut probe = Probe::new();
        self.ring.submitter().register_probe(&mut probe).is_ok()
            && probe.is_supported(opcode::Read::CODE)
            && probe.is_supported(opcode::Write::CODE)
    }

    /// Registers buffers, which have to outlive the ring.
    pub(crate) fn register_buffers(&self, spans: &[Span]) -> io::Result<()> {
        let vectors: Vec<libc::iovec> = spans.iter().map(|span| vector(*span)).collect();
        // SAFETY: the memory outlives the ring, by the rule of `memory`.
        unsafe { self.ring.submitter().register_buffers(&vectors) }
    }

    pub(crate) fn register_files(&self, files: &[i32]) -> io::Result<()> {
        self.ring.submitter().register_files(files)
    }

    /// Sets the vector with this index.
    pub(crate) fn set_vector(&mut self, index: usize, span: Span) {
        self.vectors[index] = vector(span);
    }

    /// Queues an entry; false if there is no room.
    pub(crate) fn push(&mut self, entry: RingEntry) -> bool {
        let mut flags = Flags::empty();
        flags.set(Flags::ASYNC, entry.is_async);
        flags.set(Flags::FIXED_FILE, entry.is_registered);
        let built = self.built(types::Fd(entry.file), &entry).flags(flags).user_data(entry.data);
        // SAFETY: what the entry points to outlives the ring, by the rule of `memory`; vectors are
        // not moved, and each is changed only while its operation is not in flight.
        let pushed = unsafe { self.ring.submission().push(&built) }.is_ok();
        self.in_flight += usize::from(pushed);
        pushed
    }

    fn built(&self, file: types::Fd, entry: &RingEntry) -> Entry {
        let bytes = |span: Span| u32::try_from(span.length()).expect("a block is below 4 GiB");
        let (offset, flags, priority) = (entry.offset, entry.rw_flags, entry.priority);
        match entry.kind {
            RingKind::Read(span) => opcode::Read::new(file, span.address(), bytes(span))
                .offset(offset)
                .rw_flags(flags)
                .ioprio(priority)
                .build(),
            RingKind::Write(span) => opcode::Write::new(file, span.address(), bytes(span))
                .offset(offset)
                .rw_flags(flags)
                .ioprio(priority)
                .build(),
            RingKind::ReadFixed(span, index) => {
                opcode::ReadFixed::new(file, span.address(), bytes(span), index)
                    .offset(offset)
                    .rw_flags(flags)
                    .ioprio(priority)
                    .build()
            }
            RingKind::WriteFixed(span, index) => {
                opcode::WriteFixed::new(file, span.address(), bytes(span), index)
                    .offset(offset)
                    .rw_flags(flags)
                    .ioprio(priority)
                    .build()
            }
            RingKind::ReadVector(index) => {
                opcode::Readv::new(file, &raw const self.vectors[index], 1)
                    .offset(offset)
                    .rw_flags(flags)
                    .ioprio(priority)
                    .build()
            }
            RingKind::WriteVector(index) => {
                opcode::Writev::new(file, &raw const self.vectors[index], 1)
                    .offset(offset)
                    .rw_flags(flags)
                    .ioprio(priority)
                    .build()
            }
            RingKind::Sync => opcode::Fsync::new(file).build(),
            RingKind::DataSync => {
                opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build()
            }
            RingKind::SyncRange { bytes, flags } => {
                opcode::SyncFileRange::new(file, bytes).offset(offset).flags(flags).build()
            }
        }
    }

    /// Hands what is queued to the kernel, and answers how many entries it took.
    pub(crate) fn submit(&mut self) -> io::Result<usize> {
        self.ring.submit()
    }

    /// Waits until `least` completions are there, or looks, if it is 0.
    pub(crate) fn wait(&mut self, least: usize) -> io::Result<()> {
        if !self.waits {
            std::hint::spin_loop();
            return Ok(());
        }
        let flags = 1; // IORING_ENTER_GETEVENTS
        let least = u32::try_from(least).unwrap_or(u32::MAX);
        // SAFETY: no argument is an address.
        unsafe { self.ring.submitter().enter::<libc::sigset_t>(0, least, flags, None) }.map(|_| ())
    }

    /// Takes completions, at most `most`: what each was queued with, and bytes or an error's number
    /// below 0.
    pub(crate) fn take(&mut self, most: usize, into: &mut Vec<(u64, i32)>) {
        let before = into.len();
        let completions = self.ring.completion().take(most);
        into.extend(completions.map(|one| (one.user_data(), one.result())));
        self.in_flight -= into.len() - before;
    }
}

fn vector(span: Span) -> libc::iovec {
    libc::iovec { iov_base: span.address().cast(), iov_len: span.length() }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let mut rest = Vec::new();
        while self.in_flight > 0 {
            let submitted = self.ring.submit();
            self.take(usize::MAX, &mut rest);
            if self.in_flight == 0 {
                break;
            }
            let waited = self.wait(1);
            let is_interrupted = |error: io::Error| error.kind() == io::ErrorKind::Interrupted;
            if submitted.is_err() && !waited.is_err_and(is_interrupted) {
                std::thread::yield_now();
            }
        }
    }
}
