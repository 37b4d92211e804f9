//! Appends with `pwritev2` and `RWF_APPEND`, to a file not opened with `O_APPEND`.

use super::Vectored;
use crate::calls::Kernel;
use crate::error::EngineError;
use crate::fault::Fault;
use crate::io_path::Preadv2Options;
use crate::run_loop::{Step, Tally};
use crate::steps::GrowingFile;

/// `pwritev2` of one request at the end of the file.
#[derive(Debug)]
pub(crate) struct AppendVectored {
    growing: GrowingFile<Kernel>,
    vectored: Vectored,
    tally: Tally,
    moved_bytes: Vec<u64>,
}

impl AppendVectored {
    pub(crate) fn new(growing: GrowingFile<Kernel>, options: Preadv2Options) -> Self {
        let moved_bytes = vec![0; growing.starts.len()];
        let vectored = Vectored::new(options);
        Self { growing, vectored, tally: Tally::default(), moved_bytes }
    }
}

impl Step for AppendVectored {
    #[inline(always)]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        self.growing.make_ready(index, slot);
        Ok(())
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        let request = self.growing.payload.request(self.growing.starts[slot]);
        // The kernel ignores the offset and uses the end of the file.
        let moved_bytes = self.vectored.write_request(&self.growing.file, request, 0)?;
        self.moved_bytes[slot] = moved_bytes;
        Ok(moved_bytes)
    }

    #[inline(always)]
    fn after(&mut self, _index: u64, slot: usize) -> Result<(), Fault> {
        let wanted = self.growing.payload.request(self.growing.starts[slot]).len() as u64;
        self.tally.would_block += u64::from(self.moved_bytes[slot] < wanted);
        Ok(())
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        self.vectored.explain_call(fault, &self.growing.path)
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}
