//! Making a cache state and verifying it: how much of a file set is in the page cache.
//!
//! Pages are counted by `cachestat(2)` (Linux 6.5), which also reports dirty pages, or else by
//! `mincore(2)`, which does not. On overlayfs, `cachestat` looks at the overlay's own inode, whose
//! mapping is always empty, and `mincore` at that of the real file; so if `cachestat` finds
//! nothing, `mincore` must confirm it. Whether a state is *cold* or *warm* enough is for the caller
//! to decide, from [`Residency`].

use std::fs::{self, File};
use std::io;
use std::iter::Sum;
use std::ops::Add;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, fadvise};

use crate::cache::residency::resident_pages;
use crate::filtered;

/// Large enough to need few calls, small enough to need little memory.
const READ_BYTES: usize = 1 << 20;
/// A page that is in a processor's private list cannot be dropped; when the kernel meets one, it
/// empties the lists, so that the next attempt succeeds.
const EVICT_ATTEMPTS: u32 = 4;
/// The pause between attempts to drop pages that may still be arriving.
const EVICT_PAUSE: Duration = Duration::from_millis(20);
/// How much is written to see whether it can be dropped again, and how long dropping it may take.
const TRIED_BYTES: usize = 64 << 10;
const TRIED_PATIENCE: Duration = Duration::from_millis(200);

/// Whether this kernel lacks `cachestat`; set when it first fails.
static NO_CACHESTAT: AtomicBool = AtomicBool::new(false);

/// How many pages of a file, or of a set of files, are in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// Pages in the page cache.
    pub resident_pages: u64,
    /// Pages of the files in total, according to their sizes.
    pub total_pages: u64,
    /// Pages changed but not yet written; `None` if only `mincore` can count.
    pub dirty_pages: Option<u64>,
    /// Pages on their way to the device; `None` if only `mincore` can count.
    pub writeback_pages: Option<u64>,
}

impl Residency {
    pub(crate) const NOTHING: Self =
        Self { resident_pages: 0, total_pages: 0, dirty_pages: Some(0), writeback_pages: Some(0) };

    /// Whether no page is in the page cache.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.resident_pages == 0
    }

    /// Whether every page is in the page cache.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.resident_pages >= self.total_pages
    }
}

impl Add for Residency {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let both = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        Self {
            resident_pages: self.resident_pages + other.resident_pages,
            total_pages: self.total_pages + other.total_pages,
            dirty_pages: both(self.dirty_pages, other.dirty_pages),
            writeback_pages: both(self.writeback_pages, other.writeback_pages),
        }
    }
}

impl Sum for Residency {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::NOTHING, Add::add)
    }
}

/// Counts the pages of one open file.
///
/// # Errors
/// The kernel's error for the file.
pub fn residency(file: &File) -> io::Result<Residency> {
    residency_of_size(file, file.metadata()?.len())
}

/// Counts the pages in the first `span_bytes` of a file.
///
/// # Errors
/// The kernel's error for the file.
pub fn residency_of_span(path: &Path, span_bytes: u64) -> io::Result<Residency> {
    let file = open_quietly(path)?;
    let size_bytes = file.metadata()?.len();
    residency_of_size(&file, size_bytes.min(span_bytes))
}

fn residency_of_size(file: &File, size_bytes: u64) -> io::Result<Residency> {
    let page_bytes = rustix::param::page_size() as u64;
    let total_pages = size_bytes.div_ceil(page_bytes);
    if total_pages == 0 {
        return Ok(Residency::NOTHING);
    }
    if !NO_CACHESTAT.load(Ordering::Relaxed) {
        match system_calls::cachestat(file, 0, size_bytes) {
            // No pages, or none that `cachestat` can see.
            Ok(stat) if stat.cached == 0 => {
                let mapped = residency_by_mincore(file, size_bytes)?;
                return Ok(if mapped.is_none() {
                    Residency { total_pages, ..Residency::NOTHING }
                } else {
                    mapped
                });
            }
            Ok(stat) => {
                return Ok(Residency {
                    resident_pages: stat.cached,
                    total_pages,
                    dirty_pages: Some(stat.dirty),
                    writeback_pages: Some(stat.writeback),
                });
            }
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                NO_CACHESTAT.store(true, Ordering::Relaxed);
            }
            // Sandboxes refuse system calls that they do not know.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    residency_by_mincore(file, size_bytes)
}

fn residency_by_mincore(file: &File, size_bytes: u64) -> io::Result<Residency> {
    let resident = resident_pages(file, 0..size_bytes).map_err(io::Error::other)?;
    Ok(Residency {
        resident_pages: resident.count(),
        total_pages: size_bytes.div_ceil(rustix::param::page_size() as u64),
        dirty_pages: None,
        writeback_pages: None,
    })
}

/// Counts the pages of a set of files.
///
/// # Errors
/// The kernel's error for the first file that cannot be opened or counted.
pub fn residency_of<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> io::Result<Residency> {
    paths.into_iter().map(|path| residency(&open_quietly(path.as_ref())?)).sum()
}

/// Writes the dirty pages of the file system at `root`, drops all pages of the files and counts
/// what is left.
///
/// Pages that are the only copy (tmpfs, ramfs), or that somebody has mapped, stay: the caller must
/// check the result. Pages requested by read-ahead may still be on their way, for a long time on a
/// slow device, and can be dropped only once they have arrived: until `patience` is over, pages
/// that are left are dropped again.
///
/// # Errors
/// The kernel's error for the file system, including a failed write of dirty pages, or for the
/// first file that cannot be opened.
pub fn evict_all<P: AsRef<Path>>(
    root: &Path,
    paths: impl IntoIterator<Item = P, IntoIter: Clone>,
    patience: Duration,
) -> io::Result<Residency> {
    filtered::sync(root)?;
    let paths = paths.into_iter();
    let began = Instant::now();
    loop {
        let dropped = paths.clone().map(|path| drop_pages(&open_quietly(path.as_ref())?));
        let left: Residency = dropped.sum::<io::Result<_>>()?;
        if left.is_none() || began.elapsed() >= patience {
            return Ok(left);
        }
        thread::sleep(EVICT_PAUSE);
    }
}

/// Whether the file system of a directory keeps pages that it is asked to drop, because its files
/// are in memory or on a file system below that keeps them there. This is tried with a new file. If
/// the trial fails, so will the measurement, which reports why.
pub(crate) fn keeps_pages(directory: &Path) -> bool {
    let path = directory.join("dropped");
    let left = fs::write(&path, [1; TRIED_BYTES])
        .and_then(|()| evict_all(directory, [&path], TRIED_PATIENCE));
    let _absent_or_removed_with_its_directory = fs::remove_file(&path);
    left.is_ok_and(|left| left.is_full())
}

/// Reads whole files. Counts only after the last has been read, because a memory limit may have
/// evicted the first again.
///
/// # Errors
/// The kernel's error for the first file that cannot be opened or read.
pub fn read_in_all<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P, IntoIter: Clone>,
) -> io::Result<Residency> {
    let paths = paths.into_iter();
    let mut buffer = vec![0; READ_BYTES];
    for path in paths.clone() {
        read_through(&open_quietly(path.as_ref())?, &mut buffer)?;
    }
    residency_of(paths)
}

/// Reads the first `span_bytes` of a file page by page, so that the page cache has single pages:
/// reading in one go would make large folios, which a memory limit evicts as a whole. There is no
/// read-ahead beyond the span. The buffer is the caller's, who knows which group its memory counts
/// towards.
///
/// # Errors
/// The kernel's error for the file.
pub fn read_in_span(path: &Path, span_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
    let file = open_quietly(path)?;
    fadvise(&file, 0, None, Advice::Random)?;
    let mut offset = 0;
    while offset < span_bytes {
        let left = usize::try_from(span_bytes - offset).unwrap_or(usize::MAX);
        let length = left.min(buffer.len());
        match file.read_at(&mut buffer[..length], offset)? {
            0 => break,
            length => offset += length as u64,
        }
    }
    Ok(())
}

fn read_through(file: &File, buffer: &mut [u8]) -> io::Result<()> {
    let mut offset = 0;
    loop {
        match file.read_at(buffer, offset)? {
            0 => return Ok(()),
            length => offset += length as u64,
        }
    }
}

fn drop_pages(file: &File) -> io::Result<Residency> {
    let mut left = residency(file)?;
    for _ in 0..EVICT_ATTEMPTS {
        if left.is_none() {
            break;
        }
        let dropped = fadvise(file, 0, None, Advice::DontNeed).map_err(io::Error::from);
        dropped.map_err(filtered::named("posix_fadvise"))?;
        left = residency(file)?;
    }
    Ok(left)
}

/// Opens a file for reading, without changing its access time if permitted.
pub(crate) fn open_quietly(path: &Path) -> io::Result<File> {
    let quietly = File::options().read(true).custom_flags(libc::O_NOATIME).open(path);
    match quietly {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path),
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_counting_agree() {
        let path = std::env::temp_dir().join(format!("residency-{}", std::process::id()));
        fs::write(&path, vec![7; 10 * 4096 + 1]).expect("temporary directory");
        let file = File::open(&path).expect("just written");
        let size_bytes = file.metadata().expect("open").len();
        let counted = residency(&file).expect("a plain file");
        let mapped = residency_by_mincore(&file, size_bytes).expect("a plain file");
        assert!(counted.is_full() && mapped.is_full());
        assert_eq!(counted.resident_pages, mapped.resident_pages);
        assert_eq!(counted.total_pages, size_bytes.div_ceil(rustix::param::page_size() as u64));
        fs::remove_file(&path).expect("it is ours");
    }

    #[test]
    fn a_span_is_counted_and_read_in_without_what_lies_behind_it() {
        let path = std::env::temp_dir().join(format!("span-{}", std::process::id()));
        fs::write(&path, vec![7; 64 * 4096]).expect("temporary directory");
        let all = |span_bytes| residency_of_span(&path, span_bytes).expect("a plain file");
        assert_eq!((all(10 * 4096).total_pages, all(u64::MAX).total_pages), (10, 64));
        let left = evict_all(&std::env::temp_dir(), [&path], Duration::from_secs(2));
        if left.expect("a plain file").is_none() {
            read_in_span(&path, 10 * 4096, &mut [0; 8192]).expect("a plain file");
            assert!(all(10 * 4096).is_full());
            assert_eq!(all(u64::MAX).resident_pages, 10, "read ahead");
        }
        fs::remove_file(&path).expect("it is ours");
    }

    #[test]
    fn sums_forget_what_one_of_them_does_not_know() {
        let one = Residency { resident_pages: 1, total_pages: 2, ..Residency::NOTHING };
        let other = Residency { dirty_pages: None, ..one };
        let sum: Residency = [one, other].into_iter().sum();
        assert_eq!((sum.resident_pages, sum.total_pages, sum.dirty_pages), (2, 4, None));
        assert_eq!(sum.writeback_pages, Some(0));
        assert!([].into_iter().sum::<Residency>().is_none());
    }
}
