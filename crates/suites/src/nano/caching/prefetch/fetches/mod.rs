//! Which pages came into memory with each read, and what that says about read-ahead.
//!
//! A *fetch* is a read during which pages came into memory, whether the requested one was among
//! them or not: Linux starts the next window while the previous one is being read (mm/readahead.c).
//! The pages that a fetch brought in besides the requested one are its *window*. How good that is,
//! is described in the terms of processor prefetching (Srinath et al., "Feedback Directed
//! Prefetching", HPCA 2007, section 2): *coverage* is the share of reads that found their page in
//! memory; what was fetched but never requested is the complement of *accuracy*.

use std::collections::BTreeSet;
use std::ops::Range;

use runner::Failure;

use super::pattern::{PageRead, Pattern};

/// The final window is the median over this many fetches.
const LAST: usize = 4;

/// A cold file read page by page.
pub(super) trait ColdPages {
    /// Reads one page and returns what came in with it, once all of it has arrived.
    fn read(&mut self, read: PageRead) -> Result<ReadPage, Failure>;
}

/// One read of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadPage {
    /// The requested page.
    pub(super) page: u64,
    /// Whether it was in memory before.
    pub(super) was_resident: bool,
    /// Runs of pages that came into memory, ascending.
    pub(super) came: Vec<Range<u64>>,
}

impl ReadPage {
    /// Number of pages that came in.
    pub(super) fn came_pages(&self) -> u64 {
        self.came.iter().map(|run| run.end - run.start).sum()
    }

    /// Number of pages that came in without being requested.
    pub(super) fn window_pages(&self) -> u64 {
        let asked = self.came.iter().any(|run| run.contains(&self.page));
        self.came_pages() - u64::from(asked)
    }

    /// Number of pages that came in from before the requested one.
    pub(super) fn behind_pages(&self) -> u64 {
        let before = |run: &Range<u64>| run.end.min(self.page).saturating_sub(run.start);
        self.came.iter().map(before).sum()
    }
}

/// The reads of a pattern, as far as it went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fetches {
    pub(super) reads: Vec<ReadPage>,
}

impl Fetches {
    /// Performs `reads` in order: all of them, or until the window has settled if the pattern ends
    /// then.
    pub(super) fn read(
        pages: &mut impl ColdPages,
        reads: &[PageRead],
        pattern: Pattern,
    ) -> Result<Self, Failure> {
        let mut all = Self::default();
        for &read in reads {
            all.reads.push(pages.read(read)?);
            let to_settle = pattern.fetches_to_settle();
            if all.fetched_now() && to_settle.is_some_and(|fetches| all.has_settled(fetches)) {
                break;
            }
        }
        Ok(all)
    }

    /// The windows of the fetches, in order, in pages.
    pub(super) fn windows(&self) -> Vec<u64> {
        self.fetches().map(ReadPage::window_pages).collect()
    }

    /// The reads during which something came in.
    pub(super) fn fetches(&self) -> impl DoubleEndedIterator<Item = &ReadPage> {
        self.reads.iter().filter(|read| !read.came.is_empty())
    }

    /// The final window in pages: the (lower) median of the last fetches.
    pub(super) fn window_pages(&self) -> u64 {
        let mut last: Vec<u64> =
            self.fetches().rev().take(LAST).map(ReadPage::window_pages).collect();
        last.sort_unstable();
        last.get(last.len().saturating_sub(1) / 2).copied().unwrap_or(0)
    }

    /// Number of fetches before those at the end that all have the same window.
    pub(super) fn fetches_until_settled(&self) -> usize {
        let windows = self.windows();
        let Some(last) = windows.last() else { return 0 };
        let same = windows.iter().rev().take_while(|window| *window == last).count();
        windows.len() - same
    }

    /// Total number of pages that came in.
    pub(super) fn came_pages(&self) -> u64 {
        self.reads.iter().map(ReadPage::came_pages).sum()
    }

    /// The share of reads that found their page in memory, in percent.
    pub(super) fn coverage_percent(&self) -> f64 {
        let found = self.reads.iter().filter(|read| read.was_resident).count();
        percent(found as u64, self.reads.len() as u64)
    }

    /// The share of pages that came in but were never requested, in percent; 0 if none came in.
    pub(super) fn unused_percent(&self) -> f64 {
        let asked: BTreeSet<u64> = self.reads.iter().map(|read| read.page).collect();
        let came = self.came_pages();
        let used = |run: &Range<u64>| asked.range(run.clone()).count() as u64;
        let used: u64 = self.reads.iter().flat_map(|read| &read.came).map(used).sum();
        percent(came - used, came)
    }

    fn fetched_now(&self) -> bool {
        self.reads.last().is_some_and(|read| !read.came.is_empty())
    }

    fn has_settled(&self, fetches: usize) -> bool {
        let mut last = self.fetches().rev().map(ReadPage::window_pages);
        let Some(window) = last.next() else { return false };
        last.take_while(|other| *other == window).take(fetches - 1).count() == fetches - 1
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests;
