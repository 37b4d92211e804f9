//! Appends, and what follows an append: fsync, fdatasync, truncate.

use std::path::PathBuf;

use crate::buffer::Payload;
use crate::calls::{Calls, append_whole};
use crate::error::EngineError;
use crate::fault::Fault;
use crate::io_path::IoPath;
use crate::run_loop::Step;

/// A file open for appending, and what is appended to it.
#[derive(Debug)]
pub(crate) struct GrowingFile<K: Calls> {
    pub(crate) calls: K,
    pub(crate) file: K::Open,
    pub(crate) path: PathBuf,
    pub(crate) payload: Payload,
    pub(crate) io_path: IoPath,
    /// Where in the payload the data of each prepared request begin.
    pub(crate) starts: Vec<usize>,
}

impl<K: Calls> GrowingFile<K> {
    /// Chooses what is appended next.
    #[inline(always)]
    pub(crate) fn make_ready(&mut self, index: u64, slot: usize) {
        self.starts[slot] = self.payload.take_stamped(index);
    }

    #[inline(always)]
    fn append(&self, slot: usize) -> Result<u64, Fault> {
        append_whole(&self.calls, &self.file, self.payload.request(self.starts[slot]))
    }

    fn explain(&self, fault: Fault) -> EngineError {
        if self.io_path.is_direct() {
            fault.into_direct_error(&self.path)
        } else {
            fault.into_error(&self.path)
        }
    }
}

/// `write` at the end of the file.
#[derive(Debug)]
pub(crate) struct Append<K: Calls>(pub(crate) GrowingFile<K>);

impl<K: Calls> Step for Append<K> {
    #[inline(always)]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        self.0.make_ready(index, slot);
        Ok(())
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        self.0.append(slot)
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        self.0.explain(fault)
    }
}

/// `fsync`, or `fdatasync`, after an untimed append.
#[derive(Debug)]
pub(crate) struct Sync<K: Calls, const DATA_ONLY: bool>(pub(crate) GrowingFile<K>);

impl<K: Calls, const DATA_ONLY: bool> Step for Sync<K, DATA_ONLY> {
    #[inline(always)]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        self.0.make_ready(index, slot);
        self.0.append(slot).map(drop)
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, _slot: usize) -> Result<u64, Fault> {
        if DATA_ONLY {
            self.0
                .calls
                .fdatasync(&self.0.file)
                .map_err(|errno| Fault::errno("fdatasync", errno))?;
        } else {
            self.0.calls.fsync(&self.0.file).map_err(|errno| Fault::errno("fsync", errno))?;
        }
        Ok(0)
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        self.0.explain(fault)
    }
}

/// `write` at the end of the file and `fsync`, timed as one.
#[derive(Debug)]
pub(crate) struct AppendFsync<K: Calls>(pub(crate) GrowingFile<K>);

impl<K: Calls> Step for AppendFsync<K> {
    #[inline(always)]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        self.0.make_ready(index, slot);
        Ok(())
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, slot: usize) -> Result<u64, Fault> {
        let moved = self.0.append(slot)?;
        self.0.calls.fsync(&self.0.file).map_err(|errno| Fault::errno("fsync", errno))?;
        Ok(moved)
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        self.0.explain(fault)
    }
}

/// `ftruncate` to zero, after an untimed append of one request.
#[derive(Debug)]
pub(crate) struct Truncate<K: Calls>(pub(crate) GrowingFile<K>);

impl<K: Calls> Step for Truncate<K> {
    #[inline(always)]
    fn before(&mut self, index: u64, slot: usize) -> Result<(), Fault> {
        self.0.make_ready(index, slot);
        self.0.append(slot).map(drop)
    }

    #[inline(always)]
    fn timed(&mut self, _index: u64, _slot: usize) -> Result<u64, Fault> {
        self.0
            .calls
            .ftruncate(&self.0.file, 0)
            .map_err(|errno| Fault::errno("ftruncate", errno))?;
        Ok(0)
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        self.0.explain(fault)
    }
}
