//! One `pread` or `pwrite` per request, for mixes. Plain reads and plain writes have their own
//! steps, compiled for each access pattern.

use std::path;

use super::{Path, explained};
use crate::calls::{Kernel, read_whole, write_whole};
use crate::error::EngineError;
use crate::fault::Fault;
use crate::io_path::IoPath;
use crate::steps::DataFile;
use crate::steps::transfer::Location;

/// `pread` and `pwrite`.
#[derive(Debug)]
pub(crate) struct Psync {
    pub(crate) io_path: IoPath,
}

impl Path for Psync {
    #[inline(always)]
    fn read(
        &mut self,
        files: &[DataFile],
        location: Location,
        buffer: &mut [u8],
    ) -> Result<u64, Fault> {
        read_whole(&Kernel, &files[location.file].file, buffer, location.offset_bytes)
    }

    #[inline(always)]
    fn write(
        &mut self,
        files: &[DataFile],
        location: Location,
        request: &[u8],
    ) -> Result<u64, Fault> {
        write_whole(&Kernel, &files[location.file].file, request, location.offset_bytes)
    }

    fn explain(&self, fault: Fault, path: &path::Path) -> EngineError {
        explained(self.io_path, fault, path)
    }
}
