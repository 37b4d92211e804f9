//! Lists whole directories, directly with `getdents64`: no allocation per entry, no stat.

use std::mem::MaybeUninit;

use crate::calls::{Calls, LISTING_BYTES};
use crate::error::EngineError;
use crate::fault::Fault;
use crate::run_loop::Step;
use crate::steps::entries::Directories;

/// One whole listing.
#[derive(Debug)]
pub(crate) struct Readdir<K: Calls> {
    directories: Directories<K>,
    entries: u64,
    buffer: Vec<MaybeUninit<u8>>,
    current: usize,
    found: u64,
}

impl<K: Calls> Readdir<K> {
    /// Every listing must have `entries` names besides `.` and `..`.
    pub(crate) fn new(directories: Directories<K>, entries: u64) -> Self {
        // Initialised here, so that no page of it is faulted in by a timed call.
        let buffer = vec![MaybeUninit::new(0); LISTING_BYTES];
        Self { directories, entries, buffer, current: 0, found: 0 }
    }
}

impl<K: Calls> Step for Readdir<K> {
    fn before(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
        self.current = self.directories.take_turn();
        let directory = self.directories.all[self.current].itself();
        self.directories.calls.rewind(directory).map_err(|errno| Fault::errno("lseek", errno))
    }

    fn timed(&mut self, _index: u64, _slot: usize) -> Result<u64, Fault> {
        let mut found = 0;
        let directory = self.directories.all[self.current].itself();
        self.directories
            .calls
            .for_each_name(directory, &mut self.buffer, |_| found += 1)
            .map_err(|errno| Fault::errno("getdents64", errno))?;
        self.found = found;
        Ok(0)
    }

    fn after(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
        let found = self.found.saturating_sub(K::DOTS);
        if found == self.entries { Ok(()) } else { Err(Fault::entries(self.entries, found)) }
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        fault.into_error(&self.directories.all[self.current].path)
    }
}
