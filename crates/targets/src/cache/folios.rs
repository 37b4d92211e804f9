//! The orders of the folios that a file's resident pages are in. The page cache keeps a file in
//! folios, of 2 to the power of the order pages each.
//!
//! How fast a file system reads a cached file depends not only on which of its pages are resident:
//! work done once per folio costs less, or more, the larger the folio is (docs/warm-state.md). The
//! kernel shows which frame of memory a page is in (/proc/self/pagemap), and whether a compound
//! page begins or continues at a frame (/proc/kpageflags), both to administrators only.
//!
//! Looking makes the kernel map the resident pages, and only those, for as long as it takes; a page
//! that is evicted in between would be read again, without its neighbours. Nothing is read ahead,
//! no page counts as used because of it, and no access time changes. Meanwhile, the pages cannot be
//! evicted by advice. A file of 64 MiB takes about 10 ms in large folios and 20 ms in single pages.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::cache::cache_state::open_quietly;
use crate::cache::residency::{PageMap, ResidencyError, resident_pages};
use system_calls::FileMapping;

/// Both tables have a word for each page or frame.
const WORD_BYTES: u64 = 8;
/// In a word of /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst).
const PRESENT: u64 = 1 << 63;
const FRAME: u64 = (1 << 55) - 1;
/// In a word of /proc/kpageflags: the frame continues the compound page of the frame before it.
const COMPOUND_TAIL: u64 = 1 << 16;
/// Gaps of up to this many words are read along, which is cheaper than a separate read.
const GAP_WORDS: u64 = 2;
/// Pages of a file mapped at a time: mapping all would count them as this process's memory.
const WINDOW_PAGES: usize = 2048;
/// Words read at a time before or after a run whose folios continue there: even the largest folio
/// of the page cache, of order 11, takes few such steps.
const STEP_WORDS: u64 = 256;

/// Why the folios of a file cannot be determined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolioError {
    /// Only administrators may see where in memory pages are.
    #[error("the kernel tells only root where a file's pages are in memory; run as root")]
    NotPermitted,
    /// /proc/kpageflags does not exist.
    #[error(
        "the kernel was built without CONFIG_PROC_PAGE_MONITOR, which shows how pages are laid out"
    )]
    NotBuilt,
    /// The resident pages cannot be determined.
    #[error(transparent)]
    Residency(#[from] ResidencyError),
    /// The file, or one of the kernel's tables, could not be read.
    #[error("cannot look up the folios of a file: {source}; check that it can be read")]
    Io {
        /// The kernel's error.
        #[from]
        source: io::Error,
    },
}

/// The orders of the folios that a file's resident pages are in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolioOrders {
    /// The file's resident pages by the order of their folio; orders without pages are left out.
    pub pages_by_order: BTreeMap<u32, u64>,
}

impl FolioOrders {
    /// The number of resident pages, of all orders.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages_by_order.values().sum()
    }

    /// The order of the largest folio; `None` if no page is resident.
    #[must_use]
    pub fn largest(&self) -> Option<u32> {
        self.pages_by_order.keys().next_back().copied()
    }
}

/// The orders of the folios that the resident pages of the file at `path` are in now.
///
/// # Errors
/// [`FolioError::NotPermitted`] for users other than root; [`FolioError::NotBuilt`] if the kernel
/// lacks the tables; otherwise the kernel's error for the file.
pub fn folio_orders(path: &Path) -> Result<FolioOrders, FolioError> {
    let flags = KernelTable::open("/proc/kpageflags".as_ref())?;
    let pagemap = KernelTable::open("/proc/self/pagemap".as_ref())?;
    let file = open_quietly(path)?;
    let resident = resident_pages(&file, 0..u64::MAX)?;
    let frames = frames(&file, &resident, &pagemap)?;
    Ok(orders(&frames, &flags)?)
}

/// The frames of memory that the resident pages are in, ascending.
fn frames(file: &File, resident: &PageMap, pagemap: &KernelTable) -> Result<Vec<u64>, FolioError> {
    let page_bytes = rustix::param::page_size() as u64;
    let end = resident.runs().last().map_or(0, |run| run.end);
    let mut frames = Vec::new();
    for start in (0..end).step_by(WINDOW_PAGES) {
        let window = start..end.min(start + WINDOW_PAGES as u64);
        let inside = |run: Range<u64>| {
            let part = run.start.max(window.start)..run.end.min(window.end);
            (!part.is_empty()).then(|| part.start - start..part.end - start)
        };
        let runs: Vec<Range<u64>> = resident.runs().filter_map(inside).collect();
        let Some(last) = runs.last() else { continue };
        let mapping = FileMapping::to_populate(file, start * page_bytes, last.end * page_bytes)?;
        let index = |page| usize::try_from(page).map_err(io::Error::other);
        for run in &runs {
            mapping.populate(index(run.start)?..index(run.end)?)?;
        }
        let first = mapping.first_page() as u64;
        for run in joined(runs.into_iter()) {
            for word in pagemap.read(first + run.start..first + run.end)? {
                match (word & PRESENT != 0, word & FRAME) {
                    // The page has been evicted meanwhile.
                    (false, _) => {}
                    // The kernel shows 0 to those who may not see frames.
                    (true, 0) => return Err(FolioError::NotPermitted),
                    (true, frame) => frames.push(frame),
                }
            }
        }
    }
    frames.sort_unstable();
    Ok(frames)
}

/// The orders of the folios that these frames belong to.
fn orders(frames: &[u64], flags: &KernelTable) -> io::Result<FolioOrders> {
    let mut orders = FolioOrders::default();
    let mut rest = frames;
    for run in joined(frames.iter().map(|&frame| frame..frame + 1)) {
        for folio in folios(run, flags)? {
            rest = &rest[rest.partition_point(|&frame| frame < folio.start)..];
            let inside = rest.partition_point(|&frame| frame < folio.end);
            rest = &rest[inside..];
            if inside > 0 {
                let order = (folio.end - folio.start).ilog2();
                *orders.pages_by_order.entry(order).or_default() += inside as u64;
            }
        }
    }
    Ok(orders)
}

/// The folios that have a frame in `run`, each as a whole.
fn folios(mut run: Range<u64>, flags: &KernelTable) -> io::Result<Vec<Range<u64>>> {
    let is_tail = |word: Option<&u64>| word.is_some_and(|word| word & COMPOUND_TAIL != 0);
    // One word more, to see whether the last folio ends with the run.
    let mut words = flags.read(run.start..run.end + 1)?;
    while is_tail(words.first()) && run.start > 0 {
        let start = run.start.saturating_sub(STEP_WORDS);
        words.splice(0..0, flags.read(start..run.start)?);
        run.start = start;
    }
    while is_tail(words.last()) {
        let read = run.start + words.len() as u64;
        let more = flags.read(read..read + STEP_WORDS)?;
        if more.is_empty() {
            break;
        }
        words.extend(more);
    }
    let mut folios: Vec<Range<u64>> = Vec::new();
    for (frame, word) in (run.start..).zip(words) {
        match folios.last_mut() {
            Some(folio) if word & COMPOUND_TAIL != 0 => folio.end = frame + 1,
            _ => folios.push(frame..frame + 1),
        }
    }
    Ok(folios)
}

/// Joins ascending ranges that are close to each other.
fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end + GAP_WORDS => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

/// One of the kernel's files that are tables of words.
struct KernelTable(File);

impl KernelTable {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours")]
    fn open(path: &Path) -> Result<Self, FolioError> {
        File::open(path).map(Self).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => FolioError::NotPermitted,
            io::ErrorKind::NotFound => FolioError::NotBuilt,
            _ => error.into(),
        })
    }

    /// Reads these words, or fewer if the file ends before.
    fn read(&self, words: Range<u64>) -> io::Result<Vec<u64>> {
        let bytes = usize::try_from((words.end - words.start) * WORD_BYTES);
        let mut bytes = vec![0; bytes.map_err(io::Error::other)?];
        let mut filled = 0;
        while filled < bytes.len() {
            let at = words.start * WORD_BYTES + filled as u64;
            match self.0.read_at(&mut bytes[filled..], at) {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let (words, _torn) = bytes[..filled].as_chunks();
        Ok(words.iter().map(|word| u64::from_ne_bytes(*word)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A table of flags as the kernel would show it: folios of these orders, one after another.
    fn table(name: &str, orders: &[u32]) -> KernelTable {
        let folio = |order: &u32| {
            let tails = vec![COMPOUND_TAIL; (1 << order) - 1];
            // The flag of the first frame (COMPOUND_HEAD) does not matter.
            std::iter::once(1 << 15).chain(tails)
        };
        let words = orders.iter().flat_map(folio);
        let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        let path = std::env::temp_dir().join(format!("folios-{name}-{}", std::process::id()));
        fs::write(&path, bytes).expect("temporary directory");
        let table = KernelTable::open(&path).expect("just written");
        fs::remove_file(&path).expect("it is ours");
        table
    }

    fn orders_in(frames: impl IntoIterator<Item = u64>, table: &KernelTable) -> Vec<(u32, u64)> {
        let frames: Vec<u64> = frames.into_iter().collect();
        let orders = orders(&frames, table).expect("a plain file");
        assert_eq!(orders.pages(), frames.len() as u64, "each frame is counted once");
        orders.pages_by_order.into_iter().collect()
    }

    #[test]
    fn frames_are_counted_by_the_order_of_the_whole_folio() {
        // Frames 0 to 3, 4 to 11, 12, 13, 14 to 15, 16 to 1039.
        let table = table("orders", &[2, 3, 0, 0, 1, 10]);
        assert_eq!(orders_in([], &table), []);
        assert_eq!(orders_in(0..1040, &table), [(0, 2), (1, 2), (2, 4), (3, 8), (10, 1024)]);
        // Only part of some folios is in the list: the middle, or the part before or after the run.
        assert_eq!(orders_in([3, 4, 15], &table), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(orders_in([2, 7, 8, 12, 700, 1039], &table), [(0, 1), (2, 1), (3, 2), (10, 2)]);
    }

    #[test]
    fn folios_beside_and_between_the_wanted_do_not_count() {
        let table = table("others", &[0; 100]);
        assert_eq!(orders_in([5, 7, 60], &table), [(0, 3)]);
        assert_eq!(orders_in([99], &table), [(0, 1)]);
    }

    #[test]
    fn ranges_that_lie_close_are_joined() {
        let ranges = [0..1, 1..2, 4..5, 8..9, 500..600];
        assert_eq!(joined(ranges.into_iter()), [0..5, 8..9, 500..600]);
    }

    #[test]
    fn a_table_that_is_not_there_is_an_error() {
        let refused = KernelTable::open("/nonexistent/kpageflags".as_ref());
        assert!(matches!(refused, Err(FolioError::NotBuilt)));
    }
}
