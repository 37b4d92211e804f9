//! The map of a file of more than a page: extents in the order of the file.

use crate::arena::{Field, LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, content};
use crate::member::Member;
use crate::seams::Seams;

/// A map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    pub(super) at: Ref,
    pub(super) bits: u32,
    /// How many extents it has, holes among them.
    pub(super) extents: u32,
    /// The page behind the last one.
    pub(super) end: u32,
}

/// Where a page of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its first line; none in a hole.
    pub(super) at: Ref,
    /// How many pages from it on lie behind one another, or are holes.
    pub(super) pages: u32,
    /// The number of its extent; that behind the last one, if it lies behind the end.
    pub(super) extent: u32,
}

impl Map {
    /// Where a word of it is.
    pub(super) fn word(&self, index: u32) -> (Ref, Field<u64>) {
        word_of(self.at, index)
    }

    /// How many extents it has room for.
    pub(super) fn room(&self) -> u32 {
        (content::WORDS_PER_LINE << self.bits) - 1
    }

    /// How many lines it takes.
    pub(super) fn lines(&self) -> u32 {
        1 << self.bits
    }
}

/// Where a word of a map that begins there is.
fn word_of(at: Ref, index: u32) -> (Ref, Field<u64>) {
    let within = (index % content::WORDS_PER_LINE) as usize;
    (at.plus(index / content::WORDS_PER_LINE), content::WORD.element(within))
}

/// What stands for an extent.
pub(super) fn extent(page: u32, at: Ref) -> u64 {
    u64::from(page) | u64::from(at.0) << 32
}

impl<'a, S: Seams> Member<'a, S> {
    /// The map of a file; none if it has none.
    pub(super) fn map_of(&self, inode: Line<'_>) -> Result<Option<Map>, Errno> {
        let Some(bits) = inode.load(cell::FORM).checked_sub(content::MAP) else {
            return Ok(None);
        };
        let bits = u32::from(bits).min(content::MAP_BITS_MOST);
        let at = Ref(inode.load(cell::DATA));
        let header = self.line(at)?.load(content::WORD);
        let mut map = Map { at, bits, extents: u32::of_bits(header), end: 0 };
        map.extents = map.extents.min(map.room());
        map.end = u32::of_bits(header >> 32);
        Ok(Some(map))
    }

    /// The page with which an extent begins, and where it is.
    pub(super) fn extent(&self, map: &Map, number: u32) -> Result<(u32, Ref), Errno> {
        let (at, field) = map.word(number + 1);
        let word = self.line(at)?.load(field);
        Ok((u32::of_bits(word), Ref(u32::of_bits(word >> 32))))
    }

    /// The map of a file, if it has one, and every extent of pages.
    pub(crate) fn each_run(
        &self,
        inode: Line<'_>,
        mut act: impl FnMut(Ref, u32),
    ) -> Result<(), Errno> {
        let Some(map) = self.map_of(inode)? else { return Ok(()) };
        act(map.at, map.lines());
        for number in 0..map.extents {
            let (first, at) = self.extent(&map, number)?;
            let next = number + 1;
            let end = if next < map.extents { self.extent(&map, next)?.0 } else { map.end };
            let pages = end.checked_sub(first).filter(|&pages| pages > 0).ok_or(Errno::CORRUPT)?;
            if at.is_some() {
                act(at, pages.checked_mul(LINES_PER_PAGE).ok_or(Errno::CORRUPT)?);
            }
        }
        Ok(())
    }

    /// Where a page of the file is.
    pub(super) fn place(&self, map: &Map, page: u32) -> Result<Place, Errno> {
        if page >= map.end {
            return Ok(Place { at: Ref::NONE, pages: u32::MAX - page, extent: map.extents });
        }
        // The last extent that begins at it or before.
        let (mut from, mut to) = (0, map.extents);
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if self.extent(map, middle)?.0 <= page { from = middle } else { to = middle }
        }
        let (first, at) = self.extent(map, from)?;
        let end = if to < map.extents { self.extent(map, to)?.0 } else { map.end };
        if first > page || end <= page {
            return Err(Errno::CORRUPT);
        }
        let at = if at.is_some() { at.plus(super::lines_of(page - first)?) } else { at };
        Ok(Place { at, pages: end - page, extent: from })
    }

    /// Puts into the log that these pages of a file, which were a hole, are at `run` now, which is
    /// in stock. The log is empty before.
    pub(super) fn put_extent(
        &self,
        inode_at: Ref,
        map: &Map,
        (page, pages): (u32, u32),
        run: Ref,
    ) -> Result<(), Errno> {
        let (header_at, header) = map.word(0);
        let end = page.checked_add(pages).ok_or(Errno::FBIG)?;
        if page < map.end {
            return self.fill_hole(inode_at, map, (page, pages), run);
        }
        let new_hole = u32::from(page > map.end);
        let continues = new_hole == 0 && map.extents > 0 && {
            let (first, at) = self.extent(map, map.extents - 1)?;
            let since = page.checked_sub(first).ok_or(Errno::CORRUPT)?;
            at.is_some() && at.plus(super::lines_of(since)?) == run
        };
        let added = if continues { 0 } else { 1 + new_hole };
        if map.extents + added > map.room() {
            return self.enlarge(inode_at, map, (page, pages), run);
        }
        self.take_run(run)?;
        if new_hole > 0 {
            let (at, field) = map.word(map.extents + 1);
            self.put(at, field, extent(map.end, Ref::NONE));
        }
        if !continues {
            let (at, field) = map.word(map.extents + 1 + new_hole);
            self.put(at, field, extent(page, run));
        }
        self.put(header_at, header, u64::from(map.extents + added) | u64::from(end) << 32);
        Ok(())
    }

    /// As [`Self::put_extent`], with a larger map.
    fn enlarge(&self, inode_at: Ref, map: &Map, pages: (u32, u32), run: Ref) -> Result<(), Errno> {
        self.rewrite(inode_at, map, map.bits + 1, pages, run)
    }

    /// As [`Self::put_extent`], within the file: every extent behind moves, so the map is written
    /// anew.
    fn fill_hole(
        &self,
        inode_at: Ref,
        map: &Map,
        pages: (u32, u32),
        run: Ref,
    ) -> Result<(), Errno> {
        let bits = if map.extents + 2 > map.room() { map.bits + 1 } else { map.bits };
        self.rewrite(inode_at, map, bits, pages, run)
    }

    /// Writes a new map of 2^`bits` lines, with these pages at `run`, and puts into the log that
    /// the file has it.
    fn rewrite(
        &self,
        inode_at: Ref,
        map: &Map,
        bits: u32,
        (page, pages): (u32, u32),
        run: Ref,
    ) -> Result<(), Errno> {
        if bits > content::MAP_BITS_MOST {
            return Err(Errno::FBIG);
        }
        let at = self.obtain_run_besides(1 << bits, run)?;
        self.zero(at, 1 << bits)?;
        let mut count = 0;
        let room = (content::WORDS_PER_LINE << bits) - 1;
        let mut add = |page: u32, place: Ref| -> Result<(), Errno> {
            count += 1;
            if count > room {
                return Err(Errno::CORRUPT);
            }
            let (line, field) = word_of(at, count);
            self.fill(self.line(line)?, field, extent(page, place));
            Ok(())
        };
        let behind = page.checked_add(pages).ok_or(Errno::FBIG)?;
        let mut is_added = false;
        for number in 0..map.extents {
            let (first, place) = self.extent(map, number)?;
            let next = number + 1;
            let end = if next < map.extents { self.extent(map, next)?.0 } else { map.end };
            let is_here = !is_added && !place.is_some() && first <= page && behind <= end;
            if !is_here {
                add(first, place)?;
                continue;
            }
            is_added = true;
            if first < page {
                add(first, Ref::NONE)?;
            }
            add(page, run)?;
            if behind < end {
                add(behind, Ref::NONE)?;
            }
        }
        if !is_added {
            if page > map.end {
                add(map.end, Ref::NONE)?;
            }
            add(page, run)?;
        }
        let end = map.end.max(behind);
        self.fill(self.line(at)?, content::WORD, u64::from(count) | u64::from(end) << 32);
        self.take_run(run)?;
        self.take_run(at)?;
        self.give_run(map.at, map.lines())?;
        self.put(inode_at, cell::DATA, at.0);
        self.put(inode_at, cell::FORM, content::MAP + u8::of_bits(u64::from(bits)));
        Ok(())
    }
}
