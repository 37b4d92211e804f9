//! POSIX asynchronous I/O: by threads of the C library.
//!
//! Those threads belong to the process, and use the table of file descriptors of whichever thread
//! made the first call. So jobs that use it must not have a table of their own.
#![expect(unsafe_code, reason = "the library accesses control blocks and buffers later")]

use std::mem::MaybeUninit;
use std::ptr;

use rustix::io::Errno;

use super::calls::{Moved, last_error};
use super::memory::Span;

/// Control blocks, one for each operation. Dropping them waits for those in flight.
pub(crate) struct Blocks {
    blocks: Box<[libc::aiocb]>,
    in_flight: Vec<u32>,
}

// SAFETY: blocks are used by one thread at a time; their addresses are of memory that belongs to
// the process.
unsafe impl Send for Blocks {}

/// What a control block is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PosixCall {
    Read(Span),
    Write(Span),
    Sync,
    DataSync,
}

impl Blocks {
    pub(crate) fn new(depth: u32) -> Self {
        // SAFETY: all zeros are a valid control block.
        let block = || unsafe { MaybeUninit::<libc::aiocb>::zeroed().assume_init() };
        Self { blocks: (0..depth).map(|_| block()).collect(), in_flight: Vec::new() }
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Begins an operation in the block with this index, which must not be in flight.
    pub(crate) fn begin(
        &mut self,
        unit: u32,
        file: i32,
        call: PosixCall,
        offset: u64,
    ) -> Result<(), Errno> {
        let block = &mut self.blocks[unit as usize];
        // SAFETY: all zeros are a valid control block, and this one is not in flight.
        *block = unsafe { MaybeUninit::<libc::aiocb>::zeroed().assume_init() };
        block.aio_fildes = file;
        block.aio_offset = offset.cast_signed();
        block.aio_sigevent.sigev_notify = libc::SIGEV_NONE;
        if let PosixCall::Read(span) | PosixCall::Write(span) = call {
            block.aio_buf = span.address().cast();
            block.aio_nbytes = span.length();
        }
        let block: *mut libc::aiocb = block;
        // SAFETY: the block is not moved or changed while in flight, and its buffer outlives it, by
        // the rule of `memory`.
        let answer = unsafe {
            match call {
                PosixCall::Read(_) => libc::aio_read(block),
                PosixCall::Write(_) => libc::aio_write(block),
                PosixCall::Sync => libc::aio_fsync(libc::O_SYNC, block),
                PosixCall::DataSync => libc::aio_fsync(libc::O_DSYNC, block),
            }
        };
        if answer != 0 {
            return Err(last_error());
        }
        self.in_flight.push(unit);
        Ok(())
    }

    /// Gives operations that are done, at most so many, to `done`. Answers how many there were.
    pub(crate) fn take(&mut self, most: usize, mut done: impl FnMut(u32, Moved)) -> usize {
        let (mut found, mut at) = (0, 0);
        while found < most && at < self.in_flight.len() {
            let unit = self.in_flight[at];
            let block: *mut libc::aiocb = &raw mut self.blocks[unit as usize];
            // SAFETY: the block has been given to the library.
            let state = unsafe { libc::aio_error(block) };
            if state == libc::EINPROGRESS {
                at += 1;
                continue;
            }
            // SAFETY: the operation is done, and its result has not been taken.
            let result = unsafe { libc::aio_return(block) };
            self.in_flight.remove(at);
            found += 1;
            let moved = usize::try_from(result);
            done(unit, moved.map_err(|_| Errno::from_raw_os_error(state)));
        }
        found
    }

    /// Waits until at least one of those in flight is done.
    pub(crate) fn wait(&self) {
        let list: Vec<*const libc::aiocb> =
            self.in_flight.iter().map(|unit| &raw const self.blocks[*unit as usize]).collect();
        let count = i32::try_from(list.len()).unwrap_or(i32::MAX);
        // SAFETY: the list has so many addresses of blocks that have been given to the library. An
        // interrupted wait ends early, which callers allow for.
        unsafe { libc::aio_suspend(list.as_ptr(), count, ptr::null()) };
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        while !self.in_flight.is_empty() {
            self.wait();
            self.take(usize::MAX, |_, _| {});
        }
    }
}
