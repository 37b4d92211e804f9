//! A cold file whose pages are accessed one by one, with read-ahead off.

use std::fs::File;
use std::os::unix::fs::FileExt;

use replacement::{Access, AccessKind};
use runner::Failure;
use rustix::fs::{Advice, fadvise};
use targets::cache::residency::ResidencyWatch;

use super::replay::Cached;
use crate::experiment::Site;
use crate::failure::failed;
use crate::nano::caching::cold_file::ColdFile;

/// Accesses between two checks whether the run was told to stop.
const ACCESSES_PER_STOP: u32 = 1024;

/// A file in the target's own, small page cache.
pub(super) struct CachedFile<'a> {
    site: &'a Site<'a>,
    file: File,
    watch: ResidencyWatch,
    buffer: Vec<u8>,
    accesses: u32,
}

impl<'a> CachedFile<'a> {
    /// Opens a cold file. With `POSIX_FADV_RANDOM`, the kernel only reads what is requested.
    pub(super) fn open(site: &'a Site<'a>, cold: &ColdFile) -> Result<Self, Failure> {
        let file = cold.open()?;
        fadvise(&file, 0, None, Advice::Random).map_err(|error| failed(&error))?;
        let watch = ResidencyWatch::open(&file, 0..u64::MAX).map_err(|error| failed(&error))?;
        let buffer = vec![0; rustix::param::page_size()];
        Ok(Self { site, file, watch, buffer, accesses: 0 })
    }
}

impl Cached for CachedFile<'_> {
    fn access(&mut self, access: Access) -> Result<bool, Failure> {
        self.accesses += 1;
        if self.accesses.is_multiple_of(ACCESSES_PER_STOP) {
            self.site.go_on()?;
        }
        let page = u64::from(access.page);
        let seen = self.watch.look_at(page..page + 1).map_err(|error| failed(&error))?;
        let was_resident = seen.is_resident(page);
        let offset = page * self.buffer.len() as u64;
        let done = match access.kind {
            AccessKind::Read => self.file.read_exact_at(&mut self.buffer, offset),
            AccessKind::Write => self.file.write_all_at(&self.buffer, offset),
        };
        done.map_err(|error| failed(&error))?;
        Ok(was_resident)
    }

    fn resident(&mut self, pages: u32) -> Result<Vec<bool>, Failure> {
        let seen = self.watch.look().map_err(|error| failed(&error))?;
        Ok((0..u64::from(pages)).map(|page| seen.is_resident(page)).collect())
    }
}
