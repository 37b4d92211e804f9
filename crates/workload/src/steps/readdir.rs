//! Listing whole directories, with `getdents64` itself: no allocation per entry, no stat.

use std::mem::MaybeUninit;

use rustix::fd::AsFd;
use rustix::fs::{RawDir, RawDirEntry, SeekFrom, seek};
use rustix::io::Errno;

use crate::error::EngineError;
use crate::fault::Fault;
use crate::run_loop::Step;
use crate::steps::entries::Directories;

/// The buffer of one `getdents64`: what the C library uses.
pub(crate) const LISTING_BYTES: usize = 32 * 1024;

/// One whole listing.
#[derive(Debug)]
pub(crate) struct Readdir {
    directories: Directories,
    entries: u64,
    buffer: Vec<MaybeUninit<u8>>,
    current: usize,
    found: u64,
}

impl Readdir {
    /// Every listing must show `entries` names beside `.` and `..`.
    pub(crate) fn new(directories: Directories, entries: u64) -> Self {
        // Written once, so that no page of it is faulted in by a timed call.
        let buffer = vec![MaybeUninit::new(0); LISTING_BYTES];
        Self { directories, entries, buffer, current: 0, found: 0 }
    }
}

impl Step for Readdir {
    fn before(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
        self.current = self.directories.take_turn();
        let directory = self.directories.all[self.current].itself();
        seek(directory, SeekFrom::Start(0)).map_err(|errno| Fault::errno("lseek", errno))?;
        Ok(())
    }

    fn timed(&mut self, _index: u64, _slot: usize) -> Result<u64, Fault> {
        let mut found = 0;
        let directory = self.directories.all[self.current].itself();
        for_each_entry(directory, &mut self.buffer, |_| found += 1)
            .map_err(|errno| Fault::errno("getdents64", errno))?;
        self.found = found;
        Ok(0)
    }

    fn after(&mut self, _index: u64, _slot: usize) -> Result<(), Fault> {
        let found = self.found.saturating_sub(2);
        if found == self.entries { Ok(()) } else { Err(Fault::entries(self.entries, found)) }
    }

    fn explain(&self, fault: Fault, _slot: usize) -> EngineError {
        fault.into_error(&self.directories.all[self.current].path)
    }
}

/// Calls `act` for every entry from the descriptor's position on, `.` and `..` included.
pub(crate) fn for_each_entry(
    directory: impl AsFd,
    buffer: &mut [MaybeUninit<u8>],
    mut act: impl FnMut(&RawDirEntry<'_>),
) -> Result<(), Errno> {
    let mut listing = RawDir::new(directory, buffer);
    while let Some(entry) = listing.next() {
        act(&entry?);
    }
    Ok(())
}
