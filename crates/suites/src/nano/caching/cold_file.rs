//! A file of which no page is in memory: made, written out, evicted, and proved to be cold.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use file_system::Feature;
use record::CacheEvidence;
use runner::Failure;
use rustix::fs::{Mode, OFlags};
use targets::cache::cache_state;
use targets::cache::residency::{ResidencyError, residency_in};
use workload::Content;

use crate::experiment::Site;
use crate::failure::failed;
use crate::live_target::LiveTarget;

/// Bytes written at a time.
const PIECE_BYTES: u64 = 1 << 20;
/// How long pages that were asked for ahead of a read may take to come, before they are dropped.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether files of the target can be cold, and whether the kernel says which of their pages are.
///
/// # Errors
/// Why not, and what would change it.
pub(super) fn check(live: &LiveTarget) -> Result<(), String> {
    if let Some(why) = live.target.why_never_cold() {
        return Err(format!(
            "{why}, so none is ever fetched or evicted; give a file system on a device"
        ));
    }
    if let Some(why) = file_system::lacks(&live.target.facts().file_system, Feature::Residency) {
        return Err(format!("{why}; measure the file system below it"));
    }
    let always_there = File::open("/proc/self/exe").map_err(|error| error.to_string())?;
    match residency_in(&always_there, 0..1) {
        Err(error @ ResidencyError::NoCachestat) => Err(error.to_string()),
        // A program of another user's says nothing of files of our own.
        _ => Ok(()),
    }
}

/// A file that is on the device, and of which no page was in memory when it was made.
#[derive(Debug)]
pub(super) struct ColdFile {
    path: PathBuf,
    evidence: CacheEvidence,
}

impl ColdFile {
    /// Makes a file of `size_bytes`, which nothing can compress, and evicts it.
    ///
    /// # Errors
    /// When it could not be made, or pages of it stay.
    pub(super) fn make(site: &Site<'_>, name: &str, size_bytes: u64) -> Result<Self, Failure> {
        let path = site.directory.join(name);
        fill(site, &path, size_bytes)?;
        let mut made = Self { path, evidence: CacheEvidence::default() };
        made.cool(site)?;
        Ok(made)
    }

    /// Evicts it again.
    ///
    /// # Errors
    /// When pages of it stay.
    pub(super) fn cool(&mut self, site: &Site<'_>) -> Result<(), Failure> {
        let left = cache_state::evict_all(site.live.target.root(), [&self.path], PATIENCE);
        let left = left.map_err(|error| failed(&error))?;
        self.evidence = CacheEvidence {
            pages: Some(left.total_pages),
            resident_before: Some(left.resident_pages),
            dirty_before: left.dirty_pages,
            ..CacheEvidence::default()
        };
        if left.is_none() {
            return Ok(());
        }
        let (resident, pages) = (left.resident_pages, left.total_pages);
        let why = format!("{resident} of {pages} pages were still resident after eviction");
        Err(Failure::State { why, evidence: Box::new(self.evidence.clone()) })
    }

    /// Reads all of it, and says how many of its pages are in memory then.
    ///
    /// # Errors
    /// What the kernel says.
    pub(super) fn read_in(&self) -> Result<u64, Failure> {
        let read = cache_state::read_in_all([&self.path]).map_err(|error| failed(&error))?;
        Ok(read.resident_pages)
    }

    /// Opens it, with nothing known of how it will be read: read-ahead begins to learn from the
    /// first read through this descriptor.
    ///
    /// # Errors
    /// What the kernel says.
    pub(super) fn open(&self) -> Result<File, Failure> {
        open(&self.path).map_err(|error| failed(&error))
    }

    /// What proves that it was cold.
    pub(super) fn evidence(&self) -> &CacheEvidence {
        &self.evidence
    }
}

/// Opens for reading and writing, since the kernel tells the pages of others' files to nobody, and
/// without changing the time of access, which would be written while the file is read.
fn open(path: &Path) -> io::Result<File> {
    let how = OFlags::RDWR | OFlags::NOATIME | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, how, Mode::empty())?.into())
}

/// Writes a new file.
pub(super) fn fill(site: &Site<'_>, path: &Path, size_bytes: u64) -> Result<(), Failure> {
    let write = |offset: u64, file: &File, piece: &mut Vec<u8>| {
        let length = PIECE_BYTES.min(size_bytes - offset);
        piece.resize(usize::try_from(length).map_err(io::Error::other)?, 0);
        Content::new(site.seed, 0).fill(piece, offset);
        file.write_all_at(piece, offset)
    };
    let file = File::create_new(path).map_err(|error| failed(&error))?;
    let mut piece = Vec::new();
    let mut offset = 0;
    while offset < size_bytes {
        site.go_on()?;
        write(offset, &file, &mut piece).map_err(|error| failed(&error))?;
        offset += PIECE_BYTES;
    }
    Ok(())
}
