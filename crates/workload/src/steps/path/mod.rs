//! Reads, writes and mixes of both, on any I/O path.
//!
//! Choosing and verifying is implemented once here, for every [`Path`]. The loop is compiled for
//! each path and each [`Mix`], so that only the path's own work is between the two clock readings;
//! the one branch for the access pattern comes before them.

mod append;
mod direction;
mod mapped;
mod psync;
mod stdio;
mod vectored;

pub(crate) use append::AppendVectored;
pub(crate) use direction::{Direction, Mix, ReadShare, ReadsOnly, WritesOnly};
pub(crate) use mapped::Mapped;
pub(crate) use psync::Psync;
pub(crate) use stdio::Stdio;
pub(crate) use vectored::Vectored;

use std::fmt;
use std::path;

use super::DataFile;
use super::transfer::{Location, Transfer};
use crate::buffer::{AlignedBuffer, FILLER, Payload};
use crate::choose::AnyChooser;
use crate::content::Content;
use crate::description::Verification;
use crate::error::EngineError;
use crate::fault::Fault;
use crate::io_path::IoPath;
use crate::run_loop::{Step, Tally};

/// How bytes travel between a thread's files and its buffers.
pub(crate) trait Path: Send + fmt::Debug {
    /// Reads one request. Returns how many bytes were read: fewer than requested if the rest would
    /// block and the path does not wait.
    fn read(
        &mut self,
        files: &[DataFile],
        location: Location,
        buffer: &mut [u8],
    ) -> Result<u64, Fault>;

    /// Writes one request. Returns how many bytes were written, as for a read.
    fn write(
        &mut self,
        files: &[DataFile],
        location: Location,
        request: &[u8],
    ) -> Result<u64, Fault>;

    /// Writes out what the path itself still buffers for a file.
    fn flush(&mut self, _file: usize) -> Result<(), Fault> {
        Ok(())
    }

    /// Turns a fault of this path on the file at `path` into an error.
    fn explain(&self, fault: Fault, path: &path::Path) -> EngineError {
        fault.into_error(path)
    }
}

/// The size and content of requests, and whether they are verified.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requests {
    pub(crate) request_bytes: usize,
    pub(crate) verification: Verification,
    /// The data for unverified writes.
    pub(crate) content: Content,
}

/// The state of the request in a slot.
#[derive(Debug, Clone, Copy, Default)]
struct SlotProgress {
    direction: Direction,
    moved_bytes: u64,
}

/// Transfers of one thread on path `P`, in directions chosen by `M`.
#[derive(Debug)]
pub(crate) struct PathTransfer<P, M> {
    path: P,
    mix: M,
    transfer: Transfer<AnyChooser>,
    verification: Verification,
    /// One for all reads, or one for each slot if reads are verified.
    buffers: Vec<AlignedBuffer>,
    payload: Payload,
    progress: Vec<SlotProgress>,
    checked_bytes: u64,
    tally: Tally,
}

impl<P: Path, M: Mix> PathTransfer<P, M> {
    pub(crate) fn new(path: P, mix: M, transfer: Transfer<AnyChooser>, requests: Requests) -> Self {
        let Requests { request_bytes, verification, content } = requests;
        let slots = transfer.locations.len();
        let is_verified = verification == Verification::On;
        let buffers = if is_verified { slots } else { 1 };
        let payload = match (M::ALWAYS, is_verified) {
            (Some(Direction::Read), _) => Payload::unwritten(request_bytes, 1),
            (_, true) => Payload::unwritten(request_bytes, slots),
            (_, false) => Payload::incompressible(request_bytes, content),
        };
        Self {
            path,
            mix,
            transfer,
            verification,
            buffers: (0..buffers).map(|_| AlignedBuffer::new(request_bytes)).collect(),
            payload,
            progress: vec![SlotProgress::default(); slots],
            checked_bytes: 0,
            tally: Tally::default(),
        }
    }

    /// The index of the buffer for a read in this slot.
    #[inline(always)]
    fn buffer(&self, slot: usize) -> usize {
        match self.verification {
            Verification::On => slot,
            Verification::Off => 0,
        }
    }

    /// Prepares the data for a write at `location`. Returns where in the payload they begin.
    #[inline(always)]
    fn make_payload(&mut self, location: Location, index: u64) -> usize {
        match self.verification {
            Verification::Off => self.payload.take_stamped(index),
            Verification::On => {
                let start = self.payload.take_turn();
                let content = self.transfer.files[location.file].content;
                content.fill(self.payload.request_mut(start), location.offset_bytes);
                start
            }
        }
    }

    /// Compares what was read with the expected content.
    fn verify(&mut self, slot: usize, moved: usize) -> Result<(), Fault> {
        let location = self.transfer.locations[slot];
        let bytes = &mut self.buffers[slot].bytes_mut()[..moved];
        let content = self.transfer.files[location.file].content;
        content.check(bytes, location.offset_bytes).map_err(Fault::content)?;
        self.checked_bytes += bytes.len() as u64;
        // A later read that moves nothing must not find the right bytes already there.
        bytes.fill(FILLER);
        Ok(())
    }
}

impl<P: Path, M: Mix> Step for PathTransfer<P, M> {
    #[inline(always)]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        let mut location = self.transfer.next_location();
        let direction = self.mix.next_direction();
        if direction == Direction::Write {
            location.payload_start = self.make_payload(location, index);
        }
        self.transfer.locations[slot] = location;
        self.progress[slot].direction = direction;
        Ok(())
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        let direction = M::ALWAYS.unwrap_or(self.progress[slot].direction);
        let buffer = self.buffer(slot);
        let Transfer { files, locations, .. } = &self.transfer;
        let location = locations[slot];
        let moved_bytes = match direction {
            Direction::Read => self.path.read(files, location, self.buffers[buffer].bytes_mut()),
            Direction::Write => {
                self.path.write(files, location, self.payload.request(location.payload_start))
            }
        }?;
        self.progress[slot].moved_bytes = moved_bytes;
        Ok(moved_bytes)
    }

    #[inline(always)]
    fn after(&mut self, _index: u64, slot: usize) -> Result<(), Fault> {
        let SlotProgress { direction, moved_bytes } = self.progress[slot];
        let wanted_bytes = self.buffers[0].bytes().len() as u64;
        if M::ALWAYS.is_none() {
            self.tally.reads += u64::from(direction == Direction::Read);
            self.tally.writes += u64::from(direction == Direction::Write);
        }
        self.tally.would_block += u64::from(moved_bytes < wanted_bytes);
        if direction == Direction::Read && self.verification == Verification::On {
            self.verify(slot, crate::arithmetic::index(moved_bytes))?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        for file in 0..self.transfer.files.len() {
            if let Err(fault) = self.path.flush(file) {
                // So that `explain` with slot 0 names this file.
                self.transfer.locations[0].file = file;
                return Err(fault);
            }
        }
        Ok(())
    }

    fn explain(&self, fault: Fault, slot: usize) -> EngineError {
        self.path.explain(fault, &self.transfer.files[self.transfer.locations[slot].file].path)
    }

    fn checked_bytes(&self) -> u64 {
        self.checked_bytes
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

/// Turns a fault into the error for a file opened as `io_path` requires.
fn explained(io_path: IoPath, fault: Fault, path: &path::Path) -> EngineError {
    if io_path.is_direct() { fault.into_direct_error(path) } else { fault.into_error(path) }
}
