//! Copies out of and into files that are mapped shared.
//!
//! Touching a page past the end of its file, a page that the device cannot deliver, or one for
//! which a copy-on-write file system has no space raises SIGBUS, which kills the process: the
//! parent sees that, and nothing is recorded as measured. To prevent the first case, the length of
//! each file is checked before it is mapped. Truncating a file of the set during a session breaks
//! it.

use rustix::fs::fstat;

use super::Path;
use crate::arithmetic::index;
use crate::edge::{MapAccess, Mapping};
use crate::error::EngineError;
use crate::fault::Fault;
use crate::io_path::MapOptions;
use crate::steps::DataFile;
use crate::steps::transfer::Location;

/// The mapped spans of a thread's files.
#[derive(Debug)]
pub(crate) struct Mapped {
    mappings: Vec<Mapping>,
}

impl Mapped {
    /// Maps the first `span_bytes` of each file.
    pub(crate) fn new(
        files: &[DataFile],
        span_bytes: u64,
        access: MapAccess,
        options: MapOptions,
    ) -> Result<Self, EngineError> {
        let map = |file: &DataFile| {
            let fault = |fault: Fault| fault.into_error(&file.path);
            let stat = fstat(&file.file).map_err(|errno| fault(Fault::errno("fstat", errno)))?;
            let found_bytes = u64::try_from(stat.st_size).unwrap_or(0);
            if found_bytes < span_bytes {
                let path = file.path.clone();
                return Err(EngineError::FileTooShort { path, span_bytes, found_bytes });
            }
            Mapping::new(&file.file, index(span_bytes), access, options).map_err(fault)
        };
        Ok(Self { mappings: files.iter().map(map).collect::<Result<_, _>>()? })
    }
}

impl Path for Mapped {
    #[inline(always)]
    fn read(
        &mut self,
        _files: &[DataFile],
        location: Location,
        buffer: &mut [u8],
    ) -> Result<u64, Fault> {
        self.mappings[location.file].copy_out(index(location.offset_bytes), buffer);
        Ok(buffer.len() as u64)
    }

    #[inline(always)]
    fn write(
        &mut self,
        _files: &[DataFile],
        location: Location,
        request: &[u8],
    ) -> Result<u64, Fault> {
        self.mappings[location.file].copy_in(index(location.offset_bytes), request);
        Ok(request.len() as u64)
    }
}
