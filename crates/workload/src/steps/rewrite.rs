//! Writes on the device of what lies there already.

use std::path::PathBuf;

use rustix::fd::OwnedFd;

use crate::calls::Kernel;
use crate::error::EngineError;
use crate::fault::Fault;
use crate::rewrite::Kept;
use crate::run_loop::Step;
use crate::steps::transfer::Spot;
use crate::steps::write_whole;

/// `pwrite` of one request to where it was read.
#[derive(Debug)]
pub(crate) struct Rewrite {
    device: OwnedFd,
    path: PathBuf,
    kept: Kept,
    spots: Vec<Spot>,
}

impl Rewrite {
    pub(crate) fn new(device: OwnedFd, path: PathBuf, kept: Kept, slots: usize) -> Self {
        Self { device, path, kept, spots: vec![Spot::default(); slots] }
    }
}

impl Step for Rewrite {
    #[inline(always)]
    fn before(&mut self, _index: u64, slot: usize) -> Result<(), Fault> {
        let (payload_start, offset_bytes) = self.kept.take_next();
        self.spots[slot] = Spot { file: 0, offset_bytes, payload_start };
        Ok(())
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        let spot = self.spots[slot];
        write_whole(&Kernel, &self.device, self.kept.request(spot.payload_start), spot.offset_bytes)
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        fault.into_direct_error(&self.path)
    }
}
