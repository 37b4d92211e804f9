//! Zones: which pages there are, and whether their bitmaps say what has been found.

use super::{Check, Found, Problem, UNSEEN, problem};
use crate::arena::{LINES_PER_PAGE, Ref};
use crate::geometry::Zone;
use crate::layout::{WORD, lock, superblock, zone};
use crate::seams::Seams;
use crate::space::class_of;

impl<S: Seams> Check<'_, '_, S> {
    /// About how many lines there are to look at: those in use, and the supplied ones again, for
    /// their bitmaps.
    pub(super) fn lines_to_check(&mut self) -> Found<u64> {
        let outside = |_| Problem { what: "a zone lies outside", line: 0 };
        let (all, free) = self.member.pages().map_err(outside)?;
        let mut pages = u64::from(all.saturating_sub(free));
        self.each_zone(|_, _, supplied| {
            pages += u64::from(supplied);
            Ok(())
        })?;
        Ok(pages * u64::from(LINES_PER_PAGE))
    }

    /// Whether the page with this line is one of cells. It is a problem if it is not a page for
    /// cells or runs at all.
    pub(super) fn is_in_page_of_cells(&self, at: Ref) -> Found<bool> {
        let outside =
            Problem { what: "something refers to a line outside the space for files", line: at.0 };
        let geometry = self.member.geometry();
        let zone = geometry.zone_with(at).map_err(|_| outside)?;
        let number = (zone.at.0 - geometry.zone(0).at.0) / zone::LINES;
        // The headers of zones that have not begun must not be looked at.
        if number >= self.line(superblock::GROWTH)?.load(superblock::ZONES) {
            return Err(outside);
        }
        let (page, _) = zone.place(at);
        let supplied = self.line(zone.at)?.load(zone::SUPPLIED).max(zone.first_page());
        if page < zone::HEADER_PAGES || page >= supplied {
            return Err(outside);
        }
        self.bit(zone.at, zone::CELLS, page)
    }

    /// Calls `act` with each zone that has begun, and the number of its pages that are supplied,
    /// from its start.
    fn each_zone(&mut self, mut act: impl FnMut(&mut Self, Zone, u32) -> Found) -> Found {
        let geometry = self.member.geometry();
        let zones = self.line(superblock::GROWTH)?.load(superblock::ZONES);
        if zones > geometry.zones() {
            return problem("there are more zones than fit", superblock::GROWTH);
        }
        for number in 0..zones {
            let zone = geometry.zone(number);
            let header = self.line(zone.at)?;
            let supplied = header.load(zone::SUPPLIED);
            if supplied > zone.pages {
                return problem("a zone has more pages than fit", zone.at);
            }
            if lock::is_held(header.load(WORD)) {
                return problem("somebody holds the lock of a zone", zone.at);
            }
            act(self, zone, supplied.max(zone.first_page()))?;
        }
        Ok(())
    }

    pub(super) fn each_cell_page(
        &mut self,
        mut act: impl FnMut(&mut Self, Ref, u64) -> Found,
    ) -> Found {
        self.each_zone(|check, Zone { at, .. }, supplied| {
            for page in zone::HEADER_PAGES..supplied {
                if check.bit(at, zone::CELLS, page)? {
                    let used = check.used(at, page)?;
                    act(check, at.plus(page * LINES_PER_PAGE), used)?;
                }
            }
            Ok(())
        })
    }

    fn bit(&self, at: Ref, base: u32, page: u32) -> Found<bool> {
        Ok(self.word(at, base, page / 64)? >> (page % 64) & 1 == 1)
    }

    fn used(&self, at: Ref, page: u32) -> Found<u64> {
        self.word(at, zone::USED, page)
    }

    fn word(&self, at: Ref, base: u32, index: u32) -> Found<u64> {
        let line = self.line(at.plus(base + index / zone::WORDS_PER_LINE))?;
        Ok(line.load(zone::BITS.element((index % zone::WORDS_PER_LINE) as usize)))
    }

    /// Checks that the pages whose memory was returned to the system are free.
    fn groups_without_memory(&self, zone: Zone) -> Found {
        let returned = self.line(zone.at)?.load(zone::RETURNED);
        for group in (0..zone::BITMAP_WORDS).filter(|group| returned >> group & 1 == 1) {
            if self.word(zone.at, zone::FREE, group)? != u64::MAX {
                return problem("pages without memory are used", zone.at);
            }
        }
        Ok(())
    }

    /// Compares the claimed lines with the bitmaps.
    pub(super) fn bitmaps(&mut self) -> Found {
        self.each_zone(|check, zone, supplied| {
            let (at, mut free_pages) = (zone.at, 0);
            check.groups_without_memory(zone)?;
            for page in zone::HEADER_PAGES..supplied {
                check.look_at(LINES_PER_PAGE);
                let first = at.plus(page * LINES_PER_PAGE);
                let claimed = (0..LINES_PER_PAGE).fold(0_u64, |bits, line| {
                    let is = check.seen[first.plus(line).0 as usize] != UNSEEN;
                    bits | u64::from(is) << line
                });
                let is_free = check.bit(at, zone::FREE, page)?;
                let is_of_cells = check.bit(at, zone::CELLS, page)?;
                let used = check.used(at, page)?;
                if zone.is_reserved(page) {
                    if used != claimed || is_free {
                        return problem("lines of the reserve are used and not had", first);
                    }
                    continue;
                }
                free_pages += u32::from(is_free);
                check.report.lines_free += u64::from(claimed.count_zeros());
                if is_free && claimed != 0 {
                    return problem("lines of a free page are used", first);
                }
                // A page that is part of a longer run leaves its bitmap empty.
                let is_whole = !is_free && used == 0 && !is_of_cells;
                if is_whole && claimed != u64::MAX {
                    return problem("a page is lost", first);
                }
                if !is_free && !is_whole && used != claimed {
                    return problem("lines are used and not had, or had and not used", first);
                }
                let is_divided = !is_free && !is_whole;
                let class = if is_divided { class_of(used, is_of_cells) } else { None };
                for base in zone::PARTIAL {
                    if check.bit(at, base, page)? != (class == Some(base)) {
                        let what = "a page is on offer that has nothing, or the reverse";
                        return problem(what, first);
                    }
                }
            }
            if check.line(at)?.load(zone::FREE_COUNT) != free_pages {
                return problem("a zone has more or fewer free pages than it says", at);
            }
            Ok(())
        })
    }
}
