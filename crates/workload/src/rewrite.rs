//! Writing on a device what is already there, at the places of one of our files.
//!
//! What a file system adds to a direct write is the difference to the same write without it. Such a
//! write on the device bypasses the file system, so it is made in a way that loses no data:
//!
//! - It only goes to where the file is according to its file system, and never past the end of a
//!   piece, because what follows there belongs to something else.
//! - It writes what was read from the same place just before, and only if the file, read through
//!   its file system, has the same content. So it changes nothing even if the place is wrong.
//! - Data cannot get to another place: each request has its own buffer, and the number of the
//!   request determines both.

use std::path::PathBuf;

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, OFlags, openat};

use crate::arithmetic::index;
use crate::buffer::{AlignedBuffer, Payload};
use crate::calls::{FILE_MODE, Kernel, read_whole, write_whole};
use crate::choose::{AnyChooser, Choose};
use crate::error::{EngineError, WorkloadError};
use crate::fault::Fault;
use crate::on_device::FileOnDevice;
use crate::run_loop::Step;
use crate::steps::{Location, Spacing};

/// Reads the requests that one thread will write back, one after the other.
#[derive(Debug)]
pub(crate) struct Originals<'a> {
    on_device: &'a FileOnDevice,
    device: OwnedFd,
    file: OwnedFd,
    path: PathBuf,
    choose: AnyChooser,
    spacing: Spacing,
    in_file: AlignedBuffer,
}

impl<'a> Originals<'a> {
    /// The requests of the file at `path`, in the order given by `choose`.
    pub(crate) fn new(
        on_device: &'a FileOnDevice,
        path: PathBuf,
        choose: AnyChooser,
        spacing: Spacing,
        request_bytes: usize,
    ) -> Result<Self, EngineError> {
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        let file = openat(CWD, &path, flags, FILE_MODE)
            .map_err(|errno| EngineError::from_direct_errno("openat", &path, errno))?;
        Ok(Self {
            on_device,
            device: on_device.open()?,
            file,
            path,
            choose,
            spacing,
            in_file: AlignedBuffer::new(request_bytes),
        })
    }

    /// Reads the data at the place of the next request, and returns where on the device that is.
    pub(crate) fn read_next(&mut self, bytes: &mut [u8]) -> Result<u64, EngineError> {
        let offset_bytes = self.spacing.offset_bytes(self.choose.next_position().choice);
        let wanted = "a piece of the file as long as a request: give a larger --size and size=";
        let wanted = WorkloadError::NotOnDevice(wanted);
        let (offset_bytes, device_offset_bytes) =
            self.on_device.extent_within(offset_bytes, bytes.len() as u64).ok_or(wanted)?;
        read_whole(&Kernel, &self.device, bytes, device_offset_bytes)
            .map_err(|fault| fault.into_direct_error(self.on_device.path()))?;
        read_whole(&Kernel, &self.file, self.in_file.bytes_mut(), offset_bytes)
            .map_err(|fault| fault.into_direct_error(&self.path))?;
        if self.in_file.bytes() == bytes {
            return Ok(device_offset_bytes);
        }
        Err(EngineError::Elsewhere { path: self.path.clone(), offset_bytes })
    }
}

/// The requests that one thread writes back with plain calls, each with the place that it came
/// from.
#[derive(Debug)]
pub(crate) struct RequestsToRewrite {
    payload: Payload,
    /// Indexed by the number of the request.
    offsets_bytes: Vec<u64>,
}

impl RequestsToRewrite {
    /// Reads `requests` requests.
    pub(crate) fn read(
        originals: &mut Originals<'_>,
        request_bytes: usize,
        requests: u64,
    ) -> Result<Self, EngineError> {
        let mut payload = Payload::unwritten(request_bytes, index(requests));
        let mut read_next = || {
            let start = payload.take_turn();
            originals.read_next(payload.request_mut(start))
        };
        let offsets_bytes: Result<_, _> = (0..requests).map(|_| read_next()).collect();
        Ok(Self { offsets_bytes: offsets_bytes?, payload })
    }

    /// Returns where the data of the next request begin, and where on the device they go.
    #[inline(always)]
    pub(crate) fn take_next(&mut self) -> (usize, u64) {
        let start = self.payload.take_turn();
        self.payload.warm(start);
        (start, self.offsets_bytes[self.payload.number_of(start)])
    }

    #[inline(always)]
    pub(crate) fn request(&self, start: usize) -> &[u8] {
        self.payload.request(start)
    }
}

/// `pwrite` of one request to where it was read from.
#[derive(Debug)]
pub(crate) struct Rewrite {
    device: OwnedFd,
    path: PathBuf,
    requests: RequestsToRewrite,
    locations: Vec<Location>,
}

impl Rewrite {
    pub(crate) fn new(
        device: OwnedFd,
        path: PathBuf,
        requests: RequestsToRewrite,
        slots: usize,
    ) -> Self {
        Self { device, path, requests, locations: vec![Location::default(); slots] }
    }
}

impl Step for Rewrite {
    #[inline(always)]
    fn before(&mut self, _index: u64, slot: usize) -> Result<(), Fault> {
        let (payload_start, offset_bytes) = self.requests.take_next();
        self.locations[slot] = Location { file: 0, offset_bytes, payload_start };
        Ok(())
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        let location = self.locations[slot];
        write_whole(
            &Kernel,
            &self.device,
            self.requests.request(location.payload_start),
            location.offset_bytes,
        )
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        fault.into_direct_error(&self.path)
    }
}
