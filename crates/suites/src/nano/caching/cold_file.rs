//! A cold file, with none of its pages in memory: made, written out, evicted, and proved cold.

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

/// Bytes written by one call.
const PIECE_BYTES: u64 = 1 << 20;
/// How long to wait for pages requested by read-ahead, so that they can be dropped.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the target's files can be cold, and whether the kernel reports which of their pages are.
///
/// # Errors
/// Why not, and what would change that.
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
        // An error for another user's program says nothing about our own files.
        _ => Ok(()),
    }
}

/// A file on the device, with no page in memory when it was made.
#[derive(Debug)]
pub(super) struct ColdFile {
    path: PathBuf,
    evidence: CacheEvidence,
}

impl ColdFile {
    /// Makes a file of `size_bytes` with incompressible contents, and evicts it.
    ///
    /// # Errors
    /// If it cannot be made, or pages of it stay in memory.
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
    /// If pages of it stay in memory.
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

    /// Reads all of it and returns how many of its pages are then in memory.
    ///
    /// # Errors
    /// Any error from the kernel.
    pub(super) fn read_in(&self) -> Result<u64, Failure> {
        let read = cache_state::read_in_all([&self.path]).map_err(|error| failed(&error))?;
        Ok(read.resident_pages)
    }

    /// Opens it with no read history: read-ahead starts to learn from the first read through this
    /// descriptor.
    ///
    /// # Errors
    /// Any error from the kernel.
    pub(super) fn open(&self) -> Result<File, Failure> {
        open(&self.path).map_err(|error| failed(&error))
    }

    /// What proves that it was cold.
    pub(super) fn evidence(&self) -> &CacheEvidence {
        &self.evidence
    }
}

/// Opens for reading and writing, since the kernel does not report the pages of others' files, and
/// without updating the access time, which would be written while the file is read.
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
