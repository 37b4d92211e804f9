//! How an arena is divided: slots, records of processes, and zones with their pages.

use core::ops::Range;

use crate::arena::{Field, LINES_PER_PAGE, Ref};
use crate::errno::Errno;
use crate::layout::{process, slot, zone};

/// The division of an arena, which its size and its number of slots determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    first: u32,
    pages: u32,
    slots: u32,
    reserve_end: u32,
}

impl Geometry {
    /// The geometry of an arena with this many lines and slots; none if not even one zone fits.
    pub(crate) fn new(lines: u32, slots: u32) -> Option<Self> {
        let processes = slots.checked_mul(slot::LINES)?.checked_add(slot::FIRST.0)?;
        let first = processes.checked_add(process::count(slots)?)?;
        let first = first.checked_next_multiple_of(LINES_PER_PAGE)?;
        let pages = lines.checked_sub(first)? / LINES_PER_PAGE;
        let reserved = zone::HEADER_PAGES + reserve_pages(pages);
        let reserve_end = first.checked_add(reserved * LINES_PER_PAGE)?;
        let is_enough = pages >= zone::HEADER_PAGES + zone::BATCH_PAGES;
        is_enough.then_some(Self { first, pages, slots, reserve_end })
    }

    /// How many zones have room for more than their header.
    pub(crate) fn zones(self) -> u32 {
        let whole = self.pages / zone::PAGES;
        whole + u32::from(self.pages % zone::PAGES > zone::HEADER_PAGES)
    }

    /// Zone `number`, which must be less than [`Self::zones`].
    pub(crate) fn zone(self, number: u32) -> Zone {
        let pages = self.pages - number * zone::PAGES;
        let at = Ref(self.first + number * zone::LINES);
        let reserved = if number == 0 { reserve_pages(self.pages) } else { 0 };
        Zone { at, pages: pages.min(zone::PAGES), reserved }
    }

    /// The zone that contains a line.
    pub(crate) fn zone_with(self, at: Ref) -> Result<Zone, Errno> {
        let number = at.0.checked_sub(self.first).ok_or(Errno::CORRUPT)? / zone::LINES;
        if number >= self.zones() {
            return Err(Errno::CORRUPT);
        }
        Ok(self.zone(number))
    }

    /// The line behind the reserve. What zones give to files lies there or further on.
    pub(crate) fn reserve_end(self) -> Ref {
        Ref(self.reserve_end)
    }

    /// The first page of the zones.
    pub(crate) fn first_page(self) -> u32 {
        self.first / LINES_PER_PAGE
    }

    /// How many slots there are.
    pub(crate) fn slots(self) -> u32 {
        self.slots
    }

    /// The record of a process.
    pub(crate) fn process(self, number: u32) -> Result<Ref, Errno> {
        if number >= self.processes() {
            return Err(Errno::CORRUPT);
        }
        Ok(process::first(self.slots).plus(number))
    }

    /// How many records of processes there are.
    pub(crate) fn processes(self) -> u32 {
        process::count(self.slots).unwrap_or(0)
    }
}

/// How many pages the reserve has in an arena whose zones have this many.
fn reserve_pages(pages: u32) -> u32 {
    (pages / zone::PAGES_PER_RESERVED).clamp(2, zone::RESERVED_MAX)
}

/// A zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zone {
    pub(crate) at: Ref,
    pub(crate) pages: u32,
    /// How many pages after the header belong to the reserve.
    pub(crate) reserved: u32,
}

impl Zone {
    /// The position of word `index` of the bitmap that begins with line `base` of the header.
    pub(crate) fn word(self, base: u32, index: u32) -> (Ref, Field<u64>) {
        let line = self.at.plus(base + index / zone::WORDS_PER_LINE);
        (line, zone::BITS.element((index % zone::WORDS_PER_LINE) as usize))
    }

    /// The first page that files may take.
    pub(crate) fn first_page(self) -> u32 {
        zone::HEADER_PAGES + self.reserved
    }

    /// Whether a page belongs to the reserve.
    pub(crate) fn is_reserved(self, page: u32) -> bool {
        page < self.first_page()
    }

    /// The pages of the reserve for cells.
    pub(crate) fn reserved_for_cells(self) -> Range<u32> {
        zone::HEADER_PAGES..zone::HEADER_PAGES + self.reserved / 2
    }

    /// The pages of the reserve for runs.
    pub(crate) fn reserved_for_runs(self) -> Range<u32> {
        self.reserved_for_cells().end..self.first_page()
    }

    pub(crate) fn page(self, page: u32) -> Ref {
        self.at.plus(page * LINES_PER_PAGE)
    }

    /// The page that contains a line, and the number of the line in it.
    pub(crate) fn place(self, at: Ref) -> (u32, u32) {
        let within = at.0 - self.at.0;
        (within / LINES_PER_PAGE, within % LINES_PER_PAGE)
    }
}
