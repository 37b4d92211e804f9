//! Zones: which pages are free, which lines of a page are used, and how more pages are supplied.
//!
//! The caller holds the zone's lock.

use crate::arena::LINES_PER_PAGE;
use crate::errno::Errno;
use crate::geometry::Zone;
use crate::layout::{WORD, zone};
use crate::member::Member;
use crate::seams::Seams;

/// How many pages of a class to try, if only some of them may have room for the run.
const PAGES_TRIED: u32 = 8;

/// What the lines of a page are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageUse {
    /// Cells, one by one.
    Cells,
    /// Runs shorter than a page.
    Runs,
}

/// A page from which lines can be taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) number: u32,
    /// A bit for each line that is in use.
    pub(super) used: u64,
    /// Whether the page was entirely free until now.
    pub(super) is_fresh: bool,
}

/// The lowest position in `used` with this many zeros in a row; `lines` is 1 to 64.
pub(super) fn find_zeros(used: u64, lines: u32) -> Option<u32> {
    let (mut free, mut have) = (!used, 1);
    while have < lines {
        let step = have.min(lines - have);
        free &= free >> step;
        have += step;
    }
    (free != 0).then(|| free.trailing_zeros())
}

/// The bitmap for a page with these used lines; none if it is full, or entirely free.
pub(crate) fn class_of(used: u64, is_of_cells: bool) -> Option<u32> {
    if is_of_cells {
        return (used != u64::MAX).then_some(zone::PARTIAL[0]);
    }
    let place = zone::ROOMS.iter().rposition(|&least| find_zeros(used, least).is_some())?;
    if used == 0 { None } else { zone::PARTIAL.get(place).copied() }
}

/// A mask of this many ones, from this position on.
pub(super) fn ones(lines: u32, place: u32) -> u64 {
    (u64::MAX >> (64 - lines)) << place
}

impl<S: Seams> Member<'_, S> {
    /// Turns a free page into a page of cells, with their locks free.
    pub(super) fn begin_cells(&self, zone: Zone, page: u32) -> Result<(), Errno> {
        for place in 0..LINES_PER_PAGE {
            self.fill(self.line(zone.page(page).plus(place))?, WORD, 0);
        }
        self.mark_page(zone, zone::CELLS, page, true)
    }

    /// A page for this use with this many contiguous free lines; preferably one with few more.
    pub(super) fn page_with(
        &self,
        zone: Zone,
        what_for: PageUse,
        lines: u32,
    ) -> Result<Option<Page>, Errno> {
        let first = zone::ROOMS.iter().rposition(|&least| least <= lines).unwrap_or(0);
        let behind = if what_for == PageUse::Cells { 1 } else { zone::ROOMS.len() };
        for &base in zone::PARTIAL.get(first..behind).unwrap_or_default() {
            if let Some(page) = self.page_among(zone, base, what_for, lines)? {
                return Ok(Some(page));
            }
        }
        let fresh = self.pages_in_a_row(zone, 1)?;
        Ok(fresh.map(|number| Page { number, used: 0, is_fresh: true }))
    }

    /// Looks for such a page in one bitmap.
    fn page_among(
        &self,
        zone: Zone,
        base: u32,
        what_for: PageUse,
        lines: u32,
    ) -> Result<Option<Page>, Errno> {
        let mut tried = 0;
        for index in 0..zone::BITMAP_WORDS {
            let load = |base| -> Result<u64, Errno> {
                let (at, field) = zone.word(base, index);
                Ok(self.line(at)?.load(field))
            };
            let mut pages = load(base)?;
            if pages == 0 {
                continue;
            }
            let cells = load(zone::CELLS)?;
            pages &= if what_for == PageUse::Cells { cells } else { !cells };
            while pages != 0 {
                let number = index * 64 + pages.trailing_zeros();
                pages &= pages - 1;
                let (at, field) = zone.word(zone::USED, number);
                let used = self.line(at)?.load(field);
                if find_zeros(used, lines).is_some() {
                    return Ok(Some(Page { number, used, is_fresh: false }));
                }
                tried += 1;
                if tried == PAGES_TRIED {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// The first of this many contiguous free pages; supplies more pages if needed.
    pub(super) fn pages_in_a_row(&self, zone: Zone, pages: u32) -> Result<Option<u32>, Errno> {
        if pages == 0 || pages > zone::RUN_PAGES_MAX {
            return Err(Errno::INVAL);
        }
        for _ in 0..=zone::PAGES / zone::BATCH_PAGES {
            let returned = self.line(zone.at)?.load(zone::RETURNED);
            if let Some(page) = self.free_pages(zone, pages, returned)? {
                return Ok(Some(page));
            }
            if returned != 0
                && let Some(page) = self.free_pages(zone, pages, 0)?
                && self.supply_again(zone, page, pages)?
            {
                return Ok(Some(page));
            }
            if !self.supply_batch(zone)? {
                break;
            }
        }
        Ok(None)
    }

    /// The first of this many contiguous free pages outside the groups in `besides`.
    fn free_pages(&self, zone: Zone, pages: u32, besides: u64) -> Result<Option<u32>, Errno> {
        let (mut start, mut length) = (0, 0);
        for index in 0..zone::BITMAP_WORDS {
            let (at, field) = zone.word(zone::FREE, index);
            let is_kept = besides >> index & 1 == 0;
            let free = if is_kept { self.line(at)?.load(field) } else { 0 };
            if length == 0
                && pages <= 64
                && let Some(place) = find_zeros(!free, pages)
            {
                return Ok(Some(index * 64 + place));
            }
            let mut place = 0;
            while place < 64 {
                let rest = free >> place;
                let run = (!rest).trailing_zeros().min(64 - place);
                if run > 0 {
                    start = if length == 0 { index * 64 + place } else { start };
                    length += run;
                    if length >= pages {
                        return Ok(Some(start));
                    }
                    place += run;
                }
                if place < 64 {
                    length = 0;
                    place += (free >> place).trailing_zeros().min(64 - place);
                }
            }
        }
        Ok(None)
    }

    /// Supplies more pages of a zone, which must be locked; false if there are no more, or no space
    /// for them.
    #[cold]
    #[inline(never)]
    fn supply_batch(&self, zone: Zone) -> Result<bool, Errno> {
        let header = self.line(zone.at)?;
        let supplied = header.load(zone::SUPPLIED).clamp(zone.first_page(), zone::PAGES);
        // Up to the next multiple of a batch.
        let end = (supplied / zone::BATCH_PAGES + 1) * zone::BATCH_PAGES;
        let end = end.min(zone.pages);
        if end <= supplied {
            return Ok(false);
        }
        let first = zone.at.0 / LINES_PER_PAGE;
        if !self.seams().supply(first + supplied, end - supplied) {
            return Ok(false);
        }
        self.mark_pages(zone, supplied, end - supplied, |free, these| free | these)?;
        self.put(zone.at, zone::SUPPLIED, end);
        let free = header.load(zone::FREE_COUNT);
        self.put(zone.at, zone::FREE_COUNT, free.wrapping_add(end - supplied));
        self.commit();
        Ok(true)
    }

    /// Logs which lines of a page are in use now.
    pub(super) fn mark(
        &self,
        zone: Zone,
        what_for: PageUse,
        page: Page,
        now: u64,
    ) -> Result<(), Errno> {
        let (at, field) = zone.word(zone::USED, page.number);
        self.put(at, field, now);
        if zone.is_reserved(page.number) {
            return Ok(());
        }
        let is_free = now == 0 && what_for == PageUse::Runs;
        let class = |used| class_of(used, what_for == PageUse::Cells);
        let (before, after) = (if page.is_fresh { None } else { class(page.used) }, class(now));
        if before != after {
            for (base, is_in) in [(before, false), (after, true)] {
                if let Some(base) = base {
                    self.mark_page(zone, base, page.number, is_in)?;
                }
            }
        }
        if page.is_fresh != is_free {
            self.mark_page(zone, zone::FREE, page.number, is_free)?;
            let count = self.line(zone.at)?.load(zone::FREE_COUNT);
            let count = if is_free { count.wrapping_add(1) } else { count.wrapping_sub(1) };
            self.put(zone.at, zone::FREE_COUNT, count);
        }
        Ok(())
    }

    /// Logs a page's bit in a bitmap, if it changes.
    fn mark_page(&self, zone: Zone, base: u32, page: u32, value: bool) -> Result<(), Errno> {
        let (at, field) = zone.word(base, page / 64);
        let (before, bit) = (self.line(at)?.load(field), 1 << (page % 64));
        let now = if value { before | bit } else { before & !bit };
        if now != before {
            self.put(at, field, now);
        }
        Ok(())
    }

    /// Logs which of these pages are free now.
    pub(super) fn mark_pages(
        &self,
        zone: Zone,
        first: u32,
        pages: u32,
        change: impl Fn(u64, u64) -> u64,
    ) -> Result<(), Errno> {
        let end = first + pages;
        for index in first / 64..end.div_ceil(64) {
            let from = first.max(index * 64);
            let these = ones(end.min(index * 64 + 64) - from, from % 64);
            let (at, field) = zone.word(zone::FREE, index);
            self.put(at, field, change(self.line(at)?.load(field), these));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_in_a_row_are_found_where_they_begin() {
        assert_eq!(find_zeros(0, 64), Some(0));
        assert_eq!(find_zeros(1, 64), None);
        assert_eq!(find_zeros(0b1011_0111, 1), Some(3));
        assert_eq!(find_zeros(0b1011_0111, 2), Some(8));
        assert_eq!(find_zeros(!(0b111 << 50), 3), Some(50));
        assert_eq!(find_zeros(!(0b111 << 50), 4), None);
        for lines in 1..=64 {
            let place = 64 - lines;
            assert_eq!(find_zeros(!ones(lines, place), lines), Some(place), "{lines}");
        }
    }
}
