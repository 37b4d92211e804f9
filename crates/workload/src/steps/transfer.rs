//! Reads and writes of data files.

use std::path::PathBuf;

use rustix::fd::OwnedFd;

use crate::buffer::{AlignedBuffer, FILLER, Payload};
use crate::calls::{Calls, Kernel, read_whole, write_whole};
use crate::choose::{Access, Choose};
use crate::content::Content;
use crate::description::Alignment;
use crate::error::{EngineError, WorkloadError};
use crate::fault::Fault;
use crate::io_path::IoPath;
use crate::on_device::ExtentMap;
use crate::run_loop::Step;

/// An open data file.
#[derive(Debug)]
pub(crate) struct DataFile<F = OwnedFd> {
    pub(crate) file: F,
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
    /// Where its bytes are, if the device is open instead of the file.
    pub(crate) extents: Option<ExtentMap>,
}

impl<F> DataFile<F> {
    /// Where in the open file or device a request at this offset in the file begins.
    #[inline(always)]
    pub(crate) fn descriptor_offset_bytes(&self, offset_bytes: u64) -> u64 {
        match &self.extents {
            Some(extents) => extents.device_offset_bytes(offset_bytes),
            None => offset_bytes,
        }
    }
}

/// Turns a choice into an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spacing {
    pub(crate) stride_bytes: u64,
    pub(crate) shift_bytes: u64,
}

impl Spacing {
    /// The spacing of requests in files of `file_bytes`, and the number of choices.
    pub(crate) fn for_requests(
        access: Access,
        alignment: Alignment,
        request_bytes: u64,
        file_bytes: u64,
    ) -> Result<(Self, u64), WorkloadError> {
        let too_large = WorkloadError::RequestTooLarge { request_bytes, file_bytes };
        let slack = file_bytes.checked_sub(request_bytes).ok_or(too_large.clone())?;
        let granule = match alignment {
            Alignment::Request => request_bytes,
            Alignment::Sector => 512,
            Alignment::Unaligned => 1,
        };
        if access == Access::Uniform || alignment == Alignment::Request {
            let spacing = Self { stride_bytes: granule, shift_bytes: 0 };
            return Ok((spacing, slack / granule + 1));
        }
        let after_shift = slack.checked_sub(granule).ok_or(too_large)?;
        let spacing = Self { stride_bytes: request_bytes, shift_bytes: granule };
        Ok((spacing, after_shift / request_bytes + 1))
    }

    #[inline]
    pub(crate) fn offset_bytes(self, choice: u64) -> u64 {
        choice * self.stride_bytes + self.shift_bytes
    }
}

/// The location of one request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Location {
    pub(crate) file: usize,
    pub(crate) offset_bytes: u64,
    /// For a write: where in the payload its data begin.
    pub(crate) payload_start: usize,
}

/// What reads and writes share: files, and the choice of an offset.
#[derive(Debug)]
pub(crate) struct Transfer<C, F = OwnedFd> {
    pub(crate) files: Vec<DataFile<F>>,
    pub(crate) choose: C,
    pub(crate) spacing: Spacing,
    pub(crate) io_path: IoPath,
    pub(crate) locations: Vec<Location>,
}

impl<C: Choose, F> Transfer<C, F> {
    /// `slots` is the number of requests prepared at a time.
    pub(crate) fn new(
        files: Vec<DataFile<F>>,
        choose: C,
        spacing: Spacing,
        io_path: IoPath,
        slots: usize,
    ) -> Self {
        Self { files, choose, spacing, io_path, locations: vec![Location::default(); slots] }
    }

    #[inline(always)]
    pub(crate) fn next_location(&mut self) -> Location {
        let position = self.choose.next_position();
        let file = &self.files[position.resource];
        let offset_bytes = file.descriptor_offset_bytes(self.spacing.offset_bytes(position.choice));
        Location { file: position.resource, offset_bytes, payload_start: 0 }
    }

    fn explain(&self, fault: Fault, slot: usize) -> EngineError {
        let path = &self.files[self.locations[slot].file].path;
        if self.io_path.is_direct() {
            fault.into_direct_error(path)
        } else {
            fault.into_error(path)
        }
    }
}

/// `pread` of one request.
#[derive(Debug)]
pub(crate) struct Read<C, const VERIFY: bool, K: Calls = Kernel> {
    calls: K,
    transfer: Transfer<C, K::Open>,
    /// One for all requests, or one for each slot if reads are verified.
    buffers: Vec<AlignedBuffer>,
    checked_bytes: u64,
}

impl<C, const VERIFY: bool, K: Calls> Read<C, VERIFY, K> {
    pub(crate) fn new(calls: K, transfer: Transfer<C, K::Open>, request_bytes: usize) -> Self {
        let buffers = if VERIFY { transfer.locations.len() } else { 1 };
        let buffers = (0..buffers).map(|_| AlignedBuffer::new(request_bytes)).collect();
        Self { calls, transfer, buffers, checked_bytes: 0 }
    }
}

impl<C: Choose, const VERIFY: bool, K: Calls> Step for Read<C, VERIFY, K> {
    #[inline(always)]
    fn before(&mut self, _index: u64, slot: usize) -> Result<(), Fault> {
        self.transfer.locations[slot] = self.transfer.next_location();
        Ok(())
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        let Transfer { files, locations, .. } = &self.transfer;
        let location = locations[slot];
        let buffer = &mut self.buffers[if VERIFY { slot } else { 0 }];
        read_whole(
            &self.calls,
            &files[location.file].file,
            buffer.bytes_mut(),
            location.offset_bytes,
        )
    }

    #[inline(always)]
    fn after(&mut self, _index: u64, slot: usize) -> Result<(), Fault> {
        if VERIFY {
            let location = self.transfer.locations[slot];
            let bytes = self.buffers[slot].bytes_mut();
            let content = self.transfer.files[location.file].content;
            content.check(bytes, location.offset_bytes).map_err(Fault::content)?;
            self.checked_bytes += bytes.len() as u64;
            // A later read that moves nothing must not find the right bytes already there.
            bytes.fill(FILLER);
        }
        Ok(())
    }

    fn explain(&self, fault: Fault, slot: usize) -> EngineError {
        self.transfer.explain(fault, slot)
    }

    fn checked_bytes(&self) -> u64 {
        self.checked_bytes
    }
}

/// `pwrite` of one request.
#[derive(Debug)]
pub(crate) struct Write<C, const VERIFY: bool, K: Calls = Kernel> {
    calls: K,
    transfer: Transfer<C, K::Open>,
    payload: Payload,
}

impl<C, const VERIFY: bool, K: Calls> Write<C, VERIFY, K> {
    /// Unverified writes write `content`, wherever they go, from separate memory for at least
    /// `requests` of them.
    pub(crate) fn new(
        calls: K,
        transfer: Transfer<C, K::Open>,
        request_bytes: usize,
        content: Content,
        requests: usize,
    ) -> Self {
        let payload = if VERIFY {
            Payload::unwritten(request_bytes, transfer.locations.len())
        } else {
            Payload::incompressible_apart(request_bytes, content, requests)
        };
        Self { calls, transfer, payload }
    }
}

impl<C: Choose, const VERIFY: bool, K: Calls> Step for Write<C, VERIFY, K> {
    #[inline(always)]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        let mut location = self.transfer.next_location();
        if VERIFY {
            location.payload_start = self.payload.take_turn();
            let content = self.transfer.files[location.file].content;
            content.fill(self.payload.request_mut(location.payload_start), location.offset_bytes);
        } else {
            location.payload_start = self.payload.take_stamped(index);
        }
        self.transfer.locations[slot] = location;
        Ok(())
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        let Transfer { files, locations, .. } = &self.transfer;
        let location = locations[slot];
        let request = self.payload.request(location.payload_start);
        write_whole(&self.calls, &files[location.file].file, request, location.offset_bytes)
    }

    fn explain(&self, fault: Fault, slot: usize) -> EngineError {
        self.transfer.explain(fault, slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERNS: [Access; 3] =
        [Access::Sequential, Access::Uniform, Access::Zipf { exponent: 1.0 }];

    #[test]
    fn every_request_lies_within_the_file_and_on_its_alignment() {
        for access in PATTERNS {
            for alignment in [Alignment::Request, Alignment::Sector, Alignment::Unaligned] {
                for (request, file) in [(4096, 65_536), (4096, 70_001), (1000, 10_000), (1, 513)] {
                    let (spacing, choices) =
                        Spacing::for_requests(access, alignment, request, file).expect("it fits");
                    let (first, last) =
                        (spacing.offset_bytes(0), spacing.offset_bytes(choices - 1));
                    assert!(last + request <= file, "{access:?} {alignment:?} {request} {file}");
                    assert!(last + spacing.stride_bytes + request > file, "the tail is left out");
                    match alignment {
                        Alignment::Request => assert_eq!((first, last % request), (0, 0)),
                        Alignment::Sector => assert_eq!(first % 512, 0),
                        Alignment::Unaligned => assert!(spacing.stride_bytes == 1 || first == 1),
                    }
                }
            }
        }
    }

    #[test]
    fn a_request_that_does_not_fit_is_refused() {
        let of =
            |access, alignment, file| Spacing::for_requests(access, alignment, 4096, file).is_ok();
        assert!(!of(Access::Uniform, Alignment::Request, 4095));
        assert!(of(Access::Uniform, Alignment::Unaligned, 4096));
        assert!(!of(Access::Sequential, Alignment::Unaligned, 4096));
        assert!(of(Access::Sequential, Alignment::Unaligned, 4097));
    }
}
