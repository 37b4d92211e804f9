//! Linux' own asynchronous I/O: `io_setup`, `io_submit`, `io_getevents`, without a library.
#![expect(unsafe_code, reason = "these calls have no wrapper")]

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;

use super::calls::last_error;
use super::memory::Span;

/// `struct iocb` of `linux/aio_abi.h`, on machines whose numbers have their low bytes first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ControlBlock {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_file: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Event {
    /// What the operation was submitted with.
    pub(crate) data: u64,
    object: u64,
    /// Bytes, or an error's number below 0.
    pub(crate) result: i64,
    second: i64,
}

const _: () = assert!(size_of::<ControlBlock>() == 64 && size_of::<Event>() == 32);

const PREAD: u16 = 0;
const PWRITE: u16 = 1;

/// `struct aio_ring` of the kernel's fs/aio.c, which it shares with the process.
#[repr(C)]
struct SharedRing {
    id: u32,
    events: u32,
    head: u32,
    tail: u32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    header_bytes: u32,
}

const MAGIC: u32 = 0xa10a_10a1;

impl ControlBlock {
    /// A transfer; `data` comes back with its completion.
    pub(crate) fn new(is_write: bool, file: i32, span: Span, offset: u64, data: u64) -> Self {
        Self {
            data,
            opcode: if is_write { PWRITE } else { PREAD },
            file: file.cast_unsigned(),
            buffer: span.address().addr() as u64,
            bytes: span.length() as u64,
            offset: offset.cast_signed(),
            ..Self::default()
        }
    }

    /// The same of a priority of its own.
    pub(crate) fn with_priority(self, priority: u16) -> Self {
        const HAS_PRIORITY: u32 = 2;
        let flags = self.flags | HAS_PRIORITY;
        Self { priority: priority.cast_signed(), flags, ..self }
    }

    pub(crate) fn with_flags(self, rw_flags: u32) -> Self {
        Self { rw_flags, ..self }
    }
}

/// A context with its operations. Dropping it waits for them.
#[derive(Debug)]
pub(crate) struct Context {
    id: libc::c_ulong,
    blocks: Vec<ControlBlock>,
    /// Addresses of blocks that are to be submitted.
    queued: Vec<*mut ControlBlock>,
    events: Vec<Event>,
}

// SAFETY: the context belongs to the process, and the addresses are of its own blocks.
unsafe impl Send for Context {}

impl Context {
    /// A context for so many operations.
    pub(crate) fn new(depth: u32) -> Result<Self, Errno> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: the call writes a number to `id`.
        if unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut id) } != 0 {
            return Err(last_error());
        }
        let depth = depth as usize;
        Ok(Self {
            id,
            blocks: vec![ControlBlock::default(); depth],
            queued: Vec::with_capacity(depth),
            events: vec![Event::default(); depth],
        })
    }

    /// How many are queued and not submitted.
    pub(crate) fn queued(&self) -> usize {
        self.queued.len()
    }

    /// Queues an operation in the block with this index, which must not be in flight.
    pub(crate) fn queue(&mut self, index: usize, block: ControlBlock) {
        self.blocks[index] = block;
        self.queued.push(&raw mut self.blocks[index]);
    }

    /// Submits what is queued; answers how many of it were taken.
    pub(crate) fn submit(&mut self) -> Result<usize, Errno> {
        let (count, first) = (self.queued.len(), self.queued.as_mut_ptr());
        // SAFETY: `first` is the address of `count` addresses of blocks, which are not moved or
        // changed while in flight. Their buffers outlive the context, by the rule of `memory`.
        let taken = unsafe { libc::syscall(libc::SYS_io_submit, self.id, count, first) };
        match usize::try_from(taken) {
            Ok(taken) => {
                self.queued.drain(..taken);
                Ok(taken)
            }
            Err(_) => Err(last_error()),
        }
    }

    /// Completions: at least `least`, at most `most`. Waits if `least` is not 0.
    pub(crate) fn events(&mut self, least: usize, most: usize) -> Result<&[Event], Errno> {
        let most = most.min(self.events.len());
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let limit = if least == 0 { &raw const at_once } else { ptr::null() };
        let first = self.events.as_mut_ptr();
        // SAFETY: the kernel writes at most `most` events to `first`, where there is room for them.
        let found =
            unsafe { libc::syscall(libc::SYS_io_getevents, self.id, least, most, first, limit) };
        match usize::try_from(found) {
            Ok(found) => Ok(&self.events[..found]),
            Err(_) => Err(last_error()),
        }
    }

    /// Completions that are in the shared ring, without a call; `None` if there is no such ring.
    pub(crate) fn events_in_memory(&mut self, most: usize) -> Option<&[Event]> {
        let most = most.min(self.events.len());
        let address = usize::try_from(self.id).ok()?;
        let ring = ptr::with_exposed_provenance_mut::<SharedRing>(address);
        // SAFETY: a context's number is the address of its ring, which the kernel maps into the
        // process for as long as the context lives; the kernel alone writes `tail`, we alone
        // `head`.
        unsafe {
            if (*ring).magic != MAGIC {
                return None;
            }
            let room = (*ring).events;
            let first = ring.add(1).cast::<Event>();
            let head = AtomicU32::from_ptr(&raw mut (*ring).head);
            let tail = AtomicU32::from_ptr(&raw mut (*ring).tail);
            let mut at = head.load(Ordering::Relaxed);
            let mut found = 0;
            while found < most && at != tail.load(Ordering::Acquire) {
                self.events[found] = first.add(at as usize).read();
                found += 1;
                at = (at + 1) % room;
                head.store(at, Ordering::Release);
            }
            Some(&self.events[..found])
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context was made by `new`. The kernel waits for what is in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}
