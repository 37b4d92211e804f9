//! A cold file that is read page by page, with a look at its pages after each read.
//!
//! Linux adds the pages of a window to the page cache during the read that starts it, and their
//! contents arrive later: `cachestat` counts them at once, `mincore` once they have been read. So
//! what a read has started is known when it returns, and everything has arrived when both counts
//! agree.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::{Duration, Instant};

use runner::Failure;
use targets::cache::residency::{PageMap, ResidencyWatch, residency_in};

use super::fetches::{ColdPages, ReadPage};
use super::pattern::PageRead;
use crate::experiment::Site;
use crate::failure::failed;
use crate::nano::caching::cold_file::ColdFile;

/// How long a window may take to arrive, since a throttled device is slow.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two looks at pages still to arrive: about what a fast device takes.
const PAUSE: Duration = Duration::from_micros(50);

/// A cold file under observation.
pub(super) struct WatchedFile<'a> {
    site: &'a Site<'a>,
    descriptors: Vec<File>,
    watch: ResidencyWatch,
    seen: PageMap,
    buffer: Vec<u8>,
}

impl<'a> WatchedFile<'a> {
    /// Opens the file `descriptors` times, for reading.
    pub(super) fn open(
        site: &'a Site<'a>,
        cold: &ColdFile,
        descriptors: usize,
    ) -> Result<Self, Failure> {
        let opened = (0..descriptors).map(|_| cold.open()).collect::<Result<Vec<_>, _>>()?;
        let mut watch = ResidencyWatch::open(&opened[0], 0..u64::MAX).map_err(|e| failed(&e))?;
        let seen = watch.look().map_err(|error| failed(&error))?.clone();
        let buffer = vec![0; rustix::param::page_size()];
        Ok(Self { site, descriptors: opened, watch, seen, buffer })
    }

    /// Number of pages in the file.
    pub(super) fn pages(&self) -> u64 {
        self.seen.covered().end
    }

    /// What was in memory after the last read.
    pub(super) fn resident(&self) -> &PageMap {
        &self.seen
    }

    /// Number of pages in the page cache, including those whose contents are still to arrive.
    fn in_cache(&self) -> Result<u64, Failure> {
        let counted = residency_in(&self.descriptors[0], 0..u64::MAX);
        Ok(counted.map_err(|error| failed(&error))?.resident_pages)
    }

    /// Waits until the contents of every page in the cache have arrived.
    fn everything_has_come(&mut self) -> Result<PageMap, Failure> {
        let began = Instant::now();
        loop {
            let resident = self.watch.look().map_err(|error| failed(&error))?.clone();
            let (count, in_cache) = (resident.count(), self.in_cache()?);
            if count == in_cache {
                return Ok(resident);
            }
            if began.elapsed() > PATIENCE {
                let why = format!(
                    "{} pages requested ahead had not arrived after {} s",
                    in_cache.abs_diff(count),
                    PATIENCE.as_secs()
                );
                return Err(Failure::Cell { why });
            }
            self.site.go_on()?;
            thread::sleep(PAUSE);
        }
    }
}

impl ColdPages for WatchedFile<'_> {
    fn read(&mut self, PageRead { descriptor, page }: PageRead) -> Result<ReadPage, Failure> {
        let was_resident = self.seen.is_resident(page);
        let offset = page * self.buffer.len() as u64;
        let read = self.descriptors[descriptor].read_exact_at(&mut self.buffer, offset);
        read.map_err(|error| failed(&error))?;
        if self.in_cache()? == self.seen.count() {
            return Ok(ReadPage { page, was_resident, came: Vec::new() });
        }
        let resident = self.everything_has_come()?;
        let came = resident.difference(&self.seen).runs().collect();
        self.seen = resident;
        Ok(ReadPage { page, was_resident, came })
    }
}
