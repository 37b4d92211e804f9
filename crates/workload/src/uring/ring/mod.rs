//! The thin layer over io_uring: a ring, its registered files, and the memory that it works on.
//!
//! All unsafe code for io_uring is here. It is sound because:
//!
//! - The ring owns the buffers. They are allocated once, never move, and are freed only after
//!   every submitted request has completed. If the kernel does not let us find out, they are
//!   leaked.
//! - A slot's buffer belongs to the kernel from `push` until its completion is taken; nobody gets a
//!   reference to it in between.
//! - Requests pushed or in flight never exceed the size of the completion queue, so no completion
//!   is lost and each is taken once.
//!
//! A ring is made by one thread and used by another (`IORING_SETUP_SINGLE_ISSUER` binds it to the
//! one that enables it), which must also be the one that drops it.
#![expect(unsafe_code, reason = "the kernel works on buffers that are named to it by address")]

use std::alloc::{Layout, alloc, dealloc};
use std::io;
use std::os::fd::RawFd;
use std::ptr::{self, NonNull};
use std::slice;

use io_uring::{EnterFlags, IoUring, opcode, types};
use rustix::io::Errno;

use super::queue::{Completion, Direction, Queue, Request};
use super::task_work::TaskWork;
use crate::buffer::FILLER;
use crate::error::UringRefusal;

/// Every buffer begins at a multiple of this, and the first at a page, as direct I/O requires.
const SLOT_ALIGNMENT_BYTES: usize = 512;
const PAGE_BYTES: usize = 4096;

/// The dimensions of a ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct RingSpec {
    /// The most requests in flight; at least 1.
    pub(super) queue_depth: u32,
    /// The number of buffers; at least `queue_depth`.
    pub(super) slots: u32,
    /// Bytes of a request; at least 1.
    pub(super) request_bytes: u32,
}

impl RingSpec {
    fn stride_bytes(&self) -> usize {
        (self.request_bytes as usize).next_multiple_of(SLOT_ALIGNMENT_BYTES)
    }

    fn buffer_bytes(&self) -> usize {
        self.stride_bytes() * self.slots as usize
    }
}

/// A ring, registered files, and a registered buffer for each slot.
pub(super) struct Ring {
    /// Declared before the memory, so that it is dropped first.
    ring: IoUring,
    memory: Memory,
    spec: RingSpec,
    task_work: TaskWork,
    is_enabled: bool,
    /// For each slot, whether its buffer belongs to the kernel.
    is_flying: Box<[bool]>,
    /// Entries that were pushed but not yet submitted.
    pushed: u32,
    /// Entries that were submitted but whose completion was not yet taken.
    in_kernel: u32,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// Sets up the smallest ring with the features that ours use, and closes it.
pub(super) fn probe() -> Result<(), Errno> {
    set_up(1).map(drop)
}

/// Makes a ring of `entries` entries with the best flags that this kernel supports, not yet
/// enabled.
fn set_up(entries: u32) -> Result<(IoUring, TaskWork), Errno> {
    let mut refusal = Errno::INVAL;
    for task_work in [TaskWork::Deferred, TaskWork::Cooperative, TaskWork::Interrupting] {
        let mut builder = IoUring::builder();
        builder.setup_r_disabled().setup_cqsize(entries);
        match task_work {
            TaskWork::Deferred => builder.setup_single_issuer().setup_defer_taskrun(),
            TaskWork::Cooperative => builder.setup_coop_taskrun(),
            TaskWork::Interrupting => &mut builder,
        };
        match builder.build(entries).map_err(|error| errno_of(&error)) {
            Ok(ring) => return Ok((ring, task_work)),
            // The kernel rejects flags that it does not know with EINVAL.
            Err(Errno::INVAL) => {}
            Err(errno) => {
                refusal = errno;
                break;
            }
        }
    }
    Err(refusal)
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

impl Ring {
    /// Makes a ring with `files` registered for its lifetime.
    ///
    /// # Errors
    /// Why the kernel refuses.
    pub(super) fn new(spec: RingSpec, files: &[RawFd]) -> Result<Self, UringRefusal> {
        let needed_bytes = spec.buffer_bytes() as u64;
        let refused = |call| move |errno| UringRefusal::from_errno(call, errno, needed_bytes);
        let memory =
            Memory::new(spec.buffer_bytes()).ok_or(UringRefusal::NoMemory { needed_bytes })?;
        let (ring, task_work) = set_up(spec.queue_depth).map_err(refused("io_uring_setup"))?;
        let in_register = |error: io::Error| refused("io_uring_register")(errno_of(&error));
        ring.submitter().register_files(files).map_err(in_register)?;
        let buffers: Vec<libc::iovec> = (0..spec.slots as usize)
            .map(|slot| libc::iovec {
                iov_base: memory.at(slot * spec.stride_bytes()).cast(),
                iov_len: spec.request_bytes as usize,
            })
            .collect();
        // SAFETY: each buffer is within `memory`, which outlives the ring, and no reference to it
        // is given out while the kernel may use it.
        unsafe { ring.submitter().register_buffers(&buffers) }.map_err(in_register)?;
        let is_flying = vec![false; spec.slots as usize].into_boxed_slice();
        let (is_enabled, pushed, in_kernel) = (false, 0, 0);
        Ok(Self { ring, memory, spec, task_work, is_enabled, is_flying, pushed, in_kernel })
    }

    /// Lets the calling thread submit, and from now on only that thread.
    pub(super) fn enable(&mut self) -> Result<(), Errno> {
        if !self.is_enabled {
            self.ring.submitter().register_enable_rings().map_err(|error| errno_of(&error))?;
            self.is_enabled = true;
        }
        Ok(())
    }

    /// How completions are delivered.
    pub(super) fn task_work(&self) -> TaskWork {
        self.task_work
    }

    /// Submits and waits for completions. Sets `GETEVENTS` even if it waits for none: otherwise
    /// completions with deferred delivery would not be delivered.
    fn enter(&self, submit: u32, least: u32) -> Result<u32, Errno> {
        let flags = EnterFlags::GETEVENTS.bits();
        // SAFETY: no argument is passed, and `push` made sure that the memory named by the queued
        // entries stays valid.
        let entered =
            unsafe { self.ring.submitter().enter::<libc::sigset_t>(submit, least, flags, None) };
        match entered {
            Ok(count) => Ok(u32::try_from(count).unwrap_or(submit)),
            Err(error) => Err(errno_of(&error)),
        }
    }

    /// Waits for everything that was submitted.
    fn bring_home(&mut self) -> Result<(), Errno> {
        while self.in_kernel > 0 {
            let ready = self.ring.completion().count();
            self.in_kernel -= u32::try_from(ready).unwrap_or(self.in_kernel).min(self.in_kernel);
            if self.in_kernel > 0 {
                self.wait(1)?;
            }
        }
        Ok(())
    }
}

impl Queue for Ring {
    #[inline]
    fn push(&mut self, direction: Direction, request: Request) {
        let Request { slot, file, offset_bytes, done_bytes } = request;
        let is_flying = &mut self.is_flying[slot as usize];
        assert!(!*is_flying && done_bytes < self.spec.request_bytes, "a slot that is free");
        assert!(self.pushed + self.in_kernel < self.spec.queue_depth, "no more than the queue has");
        *is_flying = true;
        let address =
            self.memory.at(slot as usize * self.spec.stride_bytes() + done_bytes as usize);
        let length = self.spec.request_bytes - done_bytes;
        let from_bytes = offset_bytes + u64::from(done_bytes);
        let (file, buffer) = (types::Fixed(file), buffer_number(slot));
        let entry = match direction {
            Direction::Read => {
                opcode::ReadFixed::new(file, address, length, buffer).offset(from_bytes).build()
            }
            Direction::Write => {
                opcode::WriteFixed::new(file, address, length, buffer).offset(from_bytes).build()
            }
        };
        // SAFETY: the memory is the slot's, which nobody else uses until `reap`, and which lives
        // until everything submitted has completed; the kernel checks the numbers of files and
        // buffers.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(u64::from(slot))) };
        assert!(pushed.is_ok(), "the submission queue is as deep as the queue");
        self.pushed += 1;
    }

    #[inline]
    fn submit(&mut self) -> Result<(), Errno> {
        while self.pushed > 0 {
            match self.enter(self.pushed, 0) {
                Ok(count) => {
                    let count = count.min(self.pushed);
                    self.pushed -= count;
                    self.in_kernel += count;
                }
                Err(Errno::INTR) => {}
                // The kernel lacks a resource that operations in flight will release.
                Err(Errno::AGAIN | Errno::BUSY) if self.in_kernel > 0 => self.wait(1)?,
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    #[inline]
    fn ready(&mut self) -> usize {
        self.ring.completion().len()
    }

    #[inline]
    fn wait(&mut self, least: usize) -> Result<(), Errno> {
        let least = u32::try_from(least).unwrap_or(u32::MAX).min(self.in_kernel);
        match self.enter(0, least) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    #[inline]
    fn reap(&mut self, count: usize, landed: &mut Vec<Completion>) {
        for entry in self.ring.completion().take(count) {
            let slot = slot_of(entry.user_data());
            let was_flying = std::mem::replace(&mut self.is_flying[slot as usize], false);
            assert!(was_flying, "the kernel completes what was submitted, once");
            self.in_kernel -= 1;
            landed.push(Completion { slot, result: entry.result() });
        }
    }

    #[inline]
    fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.is_flying[slot as usize], "its buffer is the kernel's");
        let start = self.memory.at(slot as usize * self.spec.stride_bytes());
        // SAFETY: the slot exists (or the line above would have panicked) and its memory is
        // initialised; the kernel does not have it, and nobody else can borrow it while `self` is
        // borrowed.
        unsafe { slice::from_raw_parts_mut(start, self.spec.request_bytes as usize) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.bring_home().is_err() {
            // The kernel may still write to the memory: leak it rather than let anyone reuse it.
            self.memory.is_lost = true;
            return;
        }
        // A closed ring is torn down later, by a kernel thread. Until then its files would be in
        // use, and their file system could not be unmounted. If unregistering fails, we live with
        // that.
        drop(self.ring.submitter().unregister_files());
        drop(self.ring.submitter().unregister_buffers());
    }
}

/// The slot of an entry, which was passed as its user data.
#[expect(clippy::cast_possible_truncation, reason = "it was a slot's number when it was given")]
fn slot_of(user_data: u64) -> u32 {
    user_data as u32
}

/// The number of a slot's buffer: at most 16,384 can be registered.
#[expect(clippy::cast_possible_truncation, reason = "registering more would have failed")]
fn buffer_number(slot: u32) -> u16 {
    slot as u16
}

/// Page-aligned memory that never moves.
struct Memory {
    start: NonNull<u8>,
    layout: Layout,
    is_lost: bool,
}

// SAFETY: it is the only owner of its allocation, like a Box.
unsafe impl Send for Memory {}

impl Memory {
    /// Allocates `length` bytes and writes to every page, so that timed operations cause no page
    /// faults. None if there is not enough memory.
    fn new(length: usize) -> Option<Self> {
        let length = length.next_multiple_of(PAGE_BYTES).max(PAGE_BYTES);
        let layout = Layout::from_size_align(length, PAGE_BYTES).ok()?;
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        // SAFETY: the allocation is `length` bytes long.
        unsafe { ptr::write_bytes(start.as_ptr(), FILLER, length) };
        Some(Self { start, layout, is_lost: false })
    }

    /// The address of the byte at `offset`.
    #[inline]
    fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.layout.size(), "within the memory");
        // SAFETY: checked by the assertion above.
        unsafe { self.start.as_ptr().add(offset) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !self.is_lost {
            // SAFETY: allocated with this layout, and freed only here.
            unsafe { dealloc(self.start.as_ptr(), self.layout) };
        }
    }
}

#[cfg(test)]
mod tests;
