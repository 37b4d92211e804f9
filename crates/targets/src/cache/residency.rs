//! Which pages of a file are in the page cache, and what `cachestat(2)` counts in part of it.
//!
//! Pages are looked up by `mincore(2)` on a mapping that cannot be accessed, so that looking never
//! reads any in. It counts pages whose content has been read; pages still being read are not
//! resident, although `cachestat` counts them.
//!
//! Since Linux 5.2, `mincore` gives true answers only for files that the caller owns or may write
//! (`can_do_mincore` in mm/mincore.c); for all others it reports every page as resident. Here such
//! a file is an error, never an answer. Since Linux 6.14, `cachestat` has the same rule
//! (`can_do_cachestat` in mm/filemap.c), and returns an error.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{Access, AtFlags, accessat};

use crate::cache::cache_state::Residency;
pub use crate::cache::page_map::PageMap;
use crate::filtered::{ADVICE, is_refused};
use system_calls::{self, FileMapping};

/// Pages per call: bounds memory, and takes one call per 256 MiB of file.
const PAGES_AT_A_TIME: usize = 1 << 16;
/// The number of `CAP_FOWNER`.
const FOWNER: u32 = 3;
/// The user ID that the kernel shows for an owner that has none in this namespace (the default of
/// /proc/sys/kernel/overflowuid): no capability applies to such a file.
const OVERFLOW_USER: u32 = 65534;

fn how_to_look_up(source: &io::Error) -> &'static str {
    if is_refused(source) { ADVICE } else { "check that it can be read" }
}

/// Why the resident pages of a file cannot be determined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResidencyError {
    /// The kernel would report every page as resident, whether it is or not.
    #[error(
        "the kernel tells which pages of a file are in memory only to its owner and to those who \
        may write to it; measure files of your own, or run as root"
    )]
    NotPermitted,
    /// The kernel lacks `cachestat(2)`.
    #[error("the kernel has no cachestat, which counts dirty pages; use Linux 6.5 or later")]
    NoCachestat,
    /// `cachestat` sees no pages of a file that has some.
    #[error(
        "cachestat does not see the pages of this file system, as happens on an overlay; measure \
        the file system below it"
    )]
    NotSeen,
    /// The file could not be looked at.
    #[error("cannot look up the pages of a file: {source}; {}", how_to_look_up(source))]
    Io {
        /// The kernel's error.
        #[from]
        source: io::Error,
    },
}

/// The resident pages in the part `bytes` of a file. A page that is only partly in it counts as a
/// whole; there are no pages past the end of the file.
///
/// # Errors
/// [`ResidencyError::NotPermitted`], or [`ResidencyError::Io`] with the kernel's error.
pub fn resident_pages(file: &File, bytes: Range<u64>) -> Result<PageMap, ResidencyError> {
    let mut watch = ResidencyWatch::open(file, bytes)?;
    watch.look()?;
    Ok(watch.map)
}

/// Counts the pages in the part `bytes` of a file, including those that are dirty or being written.
/// As in [`resident_pages`], a page that is only partly in it counts as a whole. The kernel tracks
/// dirtiness by folio, so the neighbours of a changed page may count as dirty too.
///
/// # Errors
/// [`ResidencyError::NoCachestat`]; [`ResidencyError::NotSeen`] for files of an overlay;
/// [`ResidencyError::NotPermitted`], or [`ResidencyError::Io`] with the kernel's error.
pub fn residency_in(file: &File, bytes: Range<u64>) -> Result<Residency, ResidencyError> {
    let pages = pages_of(file, bytes)?;
    let page_bytes = rustix::param::page_size() as u64;
    let total_pages = pages.end - pages.start;
    if total_pages == 0 {
        return Ok(Residency::NOTHING);
    }
    let stat = system_calls::cachestat(file, pages.start * page_bytes, total_pages * page_bytes);
    let stat = stat.map_err(|error| match error.raw_os_error() {
        Some(libc::ENOSYS) => ResidencyError::NoCachestat,
        Some(libc::EPERM) => ResidencyError::NotPermitted,
        _ => error.into(),
    })?;
    let bytes = pages.start * page_bytes..pages.end * page_bytes;
    if stat.cached == 0 && resident_pages(file, bytes)?.count() > 0 {
        return Err(ResidencyError::NotSeen);
    }
    Ok(Residency {
        resident_pages: stat.cached,
        total_pages,
        dirty_pages: Some(stat.dirty),
        writeback_pages: Some(stat.writeback),
    })
}

/// Looks repeatedly at which pages of part of a file are resident.
///
/// It keeps a mapping, so that one look is one system call per 256 MiB of file. The kernel visits
/// each page in turn, so [`ResidencyWatch::look_at`] for a few pages is cheaper than looking at
/// all. The file counts as in use as long as this lives: drop it before the target is remounted.
#[derive(Debug)]
pub struct ResidencyWatch {
    /// `None` for an empty range, which cannot be mapped.
    mapping: Option<FileMapping>,
    map: PageMap,
    answers: Vec<u8>,
}

impl ResidencyWatch {
    /// Prepares to look at the part `bytes` of a file of its current length. Nothing has been
    /// looked at yet, so no page counts as resident.
    ///
    /// # Errors
    /// [`ResidencyError::NotPermitted`], or [`ResidencyError::Io`] with the kernel's error.
    pub fn open(file: &File, bytes: Range<u64>) -> Result<Self, ResidencyError> {
        if !may_look(file)? {
            return Err(ResidencyError::NotPermitted);
        }
        let page_bytes = rustix::param::page_size() as u64;
        let pages = pages_of(file, bytes)?;
        let count = pages.end - pages.start;
        let mapping = (count > 0)
            .then(|| FileMapping::new(file, pages.start * page_bytes, count * page_bytes))
            .transpose()?;
        let at_a_time = usize::try_from(count).unwrap_or(usize::MAX).min(PAGES_AT_A_TIME);
        Ok(Self { mapping, map: PageMap::new(pages), answers: vec![0; at_a_time] })
    }

    /// The result of the last look.
    #[must_use]
    pub fn map(&self) -> &PageMap {
        &self.map
    }

    /// Looks at all pages.
    ///
    /// # Errors
    /// [`ResidencyError::Io`] with the kernel's error.
    pub fn look(&mut self) -> Result<&PageMap, ResidencyError> {
        self.look_at(self.map.covered())
    }

    /// Looks only at these pages, as far as the map covers them; the others stay as they were last
    /// seen.
    ///
    /// # Errors
    /// [`ResidencyError::Io`] with the kernel's error.
    pub fn look_at(&mut self, pages: Range<u64>) -> Result<&PageMap, ResidencyError> {
        let covered = self.map.covered();
        let Some(mapping) = &self.mapping else { return Ok(&self.map) };
        let (mut first, end) = (pages.start.max(covered.start), pages.end.min(covered.end));
        while first < end {
            let left = usize::try_from(end - first).unwrap_or(usize::MAX);
            let length = self.answers.len().min(left);
            let answers = &mut self.answers[..length];
            let in_mapping = usize::try_from(first - covered.start).map_err(io::Error::other)?;
            mapping.mincore(in_mapping, answers)?;
            self.map.set(first, answers);
            first += length as u64;
        }
        Ok(&self.map)
    }
}

/// The pages that contain a byte of the part `bytes` of a file.
fn pages_of(file: &File, bytes: Range<u64>) -> io::Result<Range<u64>> {
    let page_bytes = rustix::param::page_size() as u64;
    let end = bytes.end.min(file.metadata()?.len());
    if bytes.start >= end {
        return Ok(0..0);
    }
    Ok(bytes.start / page_bytes..end.div_ceil(page_bytes))
}

/// Whether `mincore` gives true answers for this file: the rule of `can_do_mincore`. If the file is
/// mounted read-only, only its owner and an administrator may look, which is stricter than that.
pub(crate) fn may_look(file: &File) -> io::Result<bool> {
    let owner = file.metadata()?.uid();
    if owner == rustix::process::geteuid().as_raw() {
        return Ok(true);
    }
    if owner != OVERFLOW_USER && has_capability(FOWNER)? {
        return Ok(true);
    }
    let flags = AtFlags::EACCESS | AtFlags::EMPTY_PATH;
    Ok(accessat(file, "", Access::WRITE_OK, flags).is_ok())
}

fn has_capability(number: u32) -> io::Result<bool> {
    let status = fs::read_to_string("/proc/self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    Ok(mask.unwrap_or_default() >> number & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;
    use std::path::PathBuf;

    use rustix::fs::{Advice, fadvise};

    fn page_bytes() -> u64 {
        rustix::param::page_size() as u64
    }

    struct TestFile {
        path: PathBuf,
        file: File,
    }

    impl TestFile {
        fn new(name: &str, size_bytes: u64) -> Self {
            let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            let content = vec![7; usize::try_from(size_bytes).expect("small")];
            fs::write(&path, content).expect("temporary directory");
            let file = File::options().read(true).write(true).open(&path).expect("just written");
            Self { path, file }
        }
    }

    impl Drop for TestFile {
        fn drop(&mut self) {
            fs::remove_file(&self.path).expect("it is ours");
        }
    }

    #[test]
    fn a_part_has_the_pages_of_which_it_has_a_byte() {
        let plain = TestFile::new("part", 10 * page_bytes() + 1);
        let covered = |bytes| resident_pages(&plain.file, bytes).expect("ours").covered();
        let page = page_bytes();
        assert_eq!(covered(0..u64::MAX), 0..11);
        assert_eq!(covered(page - 1..page + 1), 0..2);
        assert_eq!(covered(page..2 * page), 1..2);
        assert_eq!(covered(20 * page..30 * page), 0..0);
        assert_eq!(covered(5..5), 0..0);
        let all = resident_pages(&plain.file, 0..u64::MAX).expect("ours");
        assert!(all.runs().eq(std::iter::once(0..11)), "they were just written: {all:?}");
    }

    #[test]
    fn looking_fetches_nothing_and_sees_what_comes_and_goes() {
        let plain = TestFile::new("watch", 4096 * page_bytes());
        plain.file.sync_all().expect("the device is sound");
        fadvise(&plain.file, 0, None, Advice::DontNeed).expect("a plain file");
        let mut watch = ResidencyWatch::open(&plain.file, 0..u64::MAX).expect("ours");
        if watch.look().expect("mapped").count() > 0 {
            eprintln!("skipped: looking_fetches_nothing: files here are never out of memory");
            return;
        }
        assert_eq!(watch.look().expect("mapped").count(), 0, "looking fetched pages");
        fadvise(&plain.file, 0, None, Advice::Random).expect("a plain file");
        plain.file.read_exact_at(&mut [0], 3000 * page_bytes()).expect("it is there");
        assert_eq!(watch.look_at(0..3000).expect("mapped").count(), 0);
        assert_eq!(watch.look_at(3000..9999).expect("mapped").count(), 1);
        assert!(watch.map().is_resident(3000));
    }

    #[test]
    fn a_range_is_counted_as_a_whole_file_is() {
        let plain = TestFile::new("range", 100 * page_bytes());
        let page = page_bytes();
        let in_range = |bytes| match residency_in(&plain.file, bytes) {
            Err(ResidencyError::NoCachestat | ResidencyError::NotSeen) => {
                eprintln!("skipped: a_range_is_counted_as_a_whole_file_is: no cachestat here");
                None
            }
            counted => Some(counted.expect("ours")),
        };
        let Some(part) = in_range(10 * page + 1..20 * page + 1) else { return };
        assert_eq!((part.resident_pages, part.total_pages), (11, 11));
        plain.file.sync_all().expect("the device is sound");
        let dirty = |bytes| in_range(bytes).and_then(|counted| counted.dirty_pages);
        assert_eq!(dirty(0..100 * page), Some(0));
        plain.file.write_all_at(&[1], 15 * page).expect("there is room");
        assert_eq!(dirty(15 * page..16 * page), Some(1));
        assert_eq!(in_range(5..5), Some(Residency::NOTHING));
    }
}
