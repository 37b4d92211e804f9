//! Memory that nobody uses goes back to the system, on request: free groups of 64 pages. A group
//! that was returned stays free, and is supplied again before anything in it is used.

use super::zones::ones;
use crate::arena::LINES_PER_PAGE;
use crate::errno::Errno;
use crate::geometry::Zone;
use crate::layout::{superblock, zone};
use crate::member::Member;
use crate::seams::Seams;

impl<S: Seams> Member<'_, S> {
    /// Returns the memory of free pages to the system; returns how many pages.
    ///
    /// # Errors
    /// [`Errno::INTR`], [`Errno::CORRUPT`].
    pub fn trim(&self) -> Result<u32, Errno> {
        self.retire()?;
        let geometry = self.geometry();
        let begun = self.line(superblock::GROWTH)?.load(superblock::ZONES).min(geometry.zones());
        let mut pages = 0;
        for number in 0..begun {
            let zone = geometry.zone(number);
            self.lock(zone.at)?;
            let returned = self.trim_zone(zone);
            self.forget();
            self.unlock();
            pages += returned?;
        }
        Ok(pages)
    }

    /// Returns the memory of a zone, which must be locked.
    fn trim_zone(&self, zone: Zone) -> Result<u32, Errno> {
        let mut returned = self.line(zone.at)?.load(zone::RETURNED);
        let (first, mut pages) = (zone.at.0 / LINES_PER_PAGE, 0);
        let mut group = 0;
        while group < zone::BITMAP_WORDS {
            let begin = group;
            while (group + 1) * 64 <= zone.pages
                && returned >> group & 1 == 0
                && self.free_in_group(zone, group)? == u64::MAX
            {
                group += 1;
            }
            if group == begin {
                group += 1;
                continue;
            }
            // Committed first: if this thread dies here, nobody takes the pages for supplied.
            returned |= ones(group - begin, begin);
            self.put(zone.at, zone::RETURNED, returned);
            self.commit();
            self.seams().release(first + begin * 64, (group - begin) * 64);
            pages += (group - begin) * 64;
        }
        Ok(pages)
    }

    /// Which pages of a group are free.
    fn free_in_group(&self, zone: Zone, group: u32) -> Result<u64, Errno> {
        let (at, field) = zone.word(zone::FREE, group);
        Ok(self.line(at)?.load(field))
    }

    /// Supplies the returned groups again that contain some of these pages of a zone, which must be
    /// locked; false if there is no space for them.
    pub(super) fn supply_again(&self, zone: Zone, page: u32, pages: u32) -> Result<bool, Errno> {
        let first = zone.at.0 / LINES_PER_PAGE;
        for group in page / 64..(page + pages).div_ceil(64) {
            let returned = self.line(zone.at)?.load(zone::RETURNED);
            if returned >> group & 1 == 0 {
                continue;
            }
            if (group + 1) * 64 > zone.pages {
                return Err(Errno::CORRUPT);
            }
            if !self.seams().supply(first + group * 64, 64) {
                return Ok(false);
            }
            self.put(zone.at, zone::RETURNED, returned & !(1 << group));
            self.commit();
        }
        Ok(true)
    }
}
