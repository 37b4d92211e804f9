//! The map of a file of more than a page: its extents in file order.

use crate::annex::Inode;
use crate::arena::{Field, LINE_BYTES, LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, content};
use crate::member::Member;
use crate::seams::Seams;

/// A map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    pub(super) at: Ref,
    pub(super) bits: u32,
    /// How many extents it has, including holes.
    pub(super) extents: u32,
    /// The page after the last one.
    pub(super) end: u32,
    /// The number of lines of the last extent if that is a partial page; otherwise 0.
    pub(super) tail: u32,
}

/// Where a page of a file is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// Its first line; none for a hole.
    pub(super) at: Ref,
    /// How many pages from here on are contiguous, or all part of the hole.
    pub(super) pages: u32,
    /// How many bytes are stored there; less than a page for a partial page.
    pub(super) bytes: u64,
}

/// Pages of a file that move.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExtentChange {
    pub(super) page: u32,
    pub(super) pages: u32,
    /// The run in stock that they move to; none for a hole.
    pub(super) run: Ref,
    /// The number of lines if it is a partial page; otherwise 0.
    pub(super) tail: u32,
}

impl Map {
    /// The position of a word of the map.
    pub(super) fn word(&self, index: u32) -> (Ref, Field<u64>) {
        word_of(self.at, index)
    }

    /// How many extents it has room for.
    pub(super) fn room(&self) -> u32 {
        (content::WORDS_PER_LINE << self.bits) - 1
    }

    /// How many lines the map takes.
    pub(super) fn lines(&self) -> u32 {
        1 << self.bits
    }

    /// Whether this page is the partial page at the end.
    pub(super) fn is_tail(&self, page: u32) -> bool {
        self.tail > 0 && page.checked_add(1) == Some(self.end)
    }
}

/// Word 0 of a map.
pub(super) fn header(extents: u32, tail: u32, end: u32) -> u64 {
    u64::from(extents) | u64::from(tail) << content::TAIL_SHIFT | u64::from(end) << 32
}

/// The position of a word of the map that begins at `at`.
fn word_of(at: Ref, index: u32) -> (Ref, Field<u64>) {
    let within = (index % content::WORDS_PER_LINE) as usize;
    (at.plus(index / content::WORDS_PER_LINE), content::WORD.element(within))
}

/// The word that encodes an extent.
pub(super) fn extent(page: u32, at: Ref) -> u64 {
    u64::from(page) | u64::from(at.0) << 32
}

impl<'a, S: Seams> Member<'a, S> {
    /// The map of the file with this body, if it has one.
    pub(super) fn map_of(&self, body: Line<'_>) -> Result<Option<Map>, Errno> {
        let Some(bits) = body.load(cell::FORM).checked_sub(content::MAP) else {
            return Ok(None);
        };
        let bits = u32::from(bits).min(content::MAP_BITS_MAX);
        let at = Ref(body.load(cell::DATA));
        let header = self.line(at)?.load(content::WORD);
        let low = u32::from_bits(header);
        let mut map = Map { at, bits, extents: 0, end: u32::from_bits(header >> 32), tail: 0 };
        map.extents = (low & content::EXTENTS).min(map.room());
        map.tail = low >> content::TAIL_SHIFT;
        Ok(Some(map))
    }

    /// The page with which an extent begins, and its first line.
    pub(super) fn extent(&self, map: &Map, number: u32) -> Result<(u32, Ref), Errno> {
        let (at, field) = map.word(number + 1);
        let word = self.line(at)?.load(field);
        Ok((u32::from_bits(word), Ref(u32::from_bits(word >> 32))))
    }

    /// Calls `act` for the map itself, if the file has one, and for every extent that is not a
    /// hole.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if this is no map.
    pub(crate) fn each_run(
        &self,
        body: Line<'_>,
        mut act: impl FnMut(Ref, u32),
    ) -> Result<(), Errno> {
        let Some(map) = self.map_of(body)? else { return Ok(()) };
        act(map.at, map.lines());
        self.check_bounds(&map)?;
        for number in 0..map.extents {
            let (first, at) = self.extent(&map, number)?;
            let next = number + 1;
            let end = if next < map.extents { self.extent(&map, next)?.0 } else { map.end };
            let pages = end.checked_sub(first).filter(|&pages| pages > 0).ok_or(Errno::CORRUPT)?;
            if at.is_some() {
                let is_tail = next == map.extents && map.tail > 0;
                let lines = pages.checked_mul(LINES_PER_PAGE).ok_or(Errno::CORRUPT)?;
                act(at, if is_tail { map.tail } else { lines });
            }
        }
        Ok(())
    }

    /// Checks the first extent of a map, the last, and how many there are.
    fn check_bounds(&self, map: &Map) -> Result<(), Errno> {
        let said = u32::from_bits(self.line(map.at)?.load(content::WORD)) & content::EXTENTS;
        let Some(last) = map.extents.checked_sub(1) else {
            return if map.end == 0 && map.tail == 0 { Ok(()) } else { Err(Errno::CORRUPT) };
        };
        let (first, (page, at)) = (self.extent(map, 0)?.0, self.extent(map, last)?);
        let may_have_tail = at.is_some() && page.checked_add(1) == Some(map.end);
        let is_map = first == 0 && said == map.extents && (map.tail == 0 || may_have_tail);
        if is_map { Ok(()) } else { Err(Errno::CORRUPT) }
    }

    /// The last extent that begins at or before a page.
    #[inline(always)]
    fn number_of_extent(&self, map: &Map, page: u32) -> Result<u32, Errno> {
        let (mut from, mut to) = (0, map.extents);
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if self.extent(map, middle)?.0 <= page { from = middle } else { to = middle }
        }
        Ok(from)
    }

    /// Logs that pages become a hole: in place if they are a whole extent, which takes no space.
    pub(super) fn put_hole(
        &self,
        inode: &Inode<'_>,
        map: &Map,
        page: u32,
        pages: u32,
    ) -> Result<(), Errno> {
        let number = self.number_of_extent(map, page)?;
        let next = number + 1;
        if next < map.extents && self.extent(map, number)?.0 == page {
            let end = self.extent(map, next)?.0;
            if page.checked_add(pages) == Some(end) {
                let (at, field) = map.word(number + 1);
                self.put(at, field, extent(page, Ref::NONE));
                return Ok(());
            }
        }
        self.put_extent(inode, map, ExtentChange { page, pages, run: Ref::NONE, tail: 0 })
    }

    /// Looks up a page of the file.
    pub(super) fn locate_page(&self, map: &Map, page: u32) -> Result<Location, Errno> {
        if page >= map.end {
            let pages = u32::MAX - page;
            return Ok(Location {
                at: Ref::NONE,
                pages,
                bytes: u64::from(pages) * super::PAGE_BYTES,
            });
        }
        let number = self.number_of_extent(map, page)?;
        let (first, at) = self.extent(map, number)?;
        let next = number + 1;
        let end = if next < map.extents { self.extent(map, next)?.0 } else { map.end };
        if first > page || end <= page {
            return Err(Errno::CORRUPT);
        }
        let at = if at.is_some() { at.plus(super::lines_of(page - first)?) } else { at };
        let pages = end - page;
        let is_tail = map.is_tail(page);
        let lines = if is_tail {
            u64::from(map.tail)
        } else {
            u64::from(pages) * u64::from(LINES_PER_PAGE)
        };
        Ok(Location { at, pages, bytes: lines * LINE_BYTES as u64 })
    }

    /// Logs that pages of a file move. They must have been a hole, or all in one extent. No page
    /// can follow a partial page. The log must be empty.
    pub(super) fn put_extent(
        &self,
        inode: &Inode<'_>,
        map: &Map,
        change: ExtentChange,
    ) -> Result<(), Errno> {
        if change.page < map.end {
            let bits = if map.extents + 2 > map.room() { map.bits + 1 } else { map.bits };
            return self.rewrite(inode, map, bits, change);
        }
        let new_hole = u32::from(change.page > map.end);
        let continues = change.tail == 0 && new_hole == 0 && map.extents > 0 && {
            let (first, at) = self.extent(map, map.extents - 1)?;
            let since = change.page.checked_sub(first).ok_or(Errno::CORRUPT)?;
            at.is_some() && at.plus(super::lines_of(since)?) == change.run
        };
        let added = if continues { 0 } else { 1 + new_hole };
        if map.extents + added > map.room() {
            return self.rewrite(inode, map, map.bits + 1, change);
        }
        self.take_run(change.run)?;
        if new_hole > 0 {
            let (at, field) = map.word(map.extents + 1);
            self.put(at, field, extent(map.end, Ref::NONE));
        }
        if !continues {
            let (at, field) = map.word(map.extents + 1 + new_hole);
            self.put(at, field, extent(change.page, change.run));
        }
        let end = change.page.checked_add(change.pages).ok_or(Errno::FBIG)?;
        let (header_at, field) = map.word(0);
        self.put(header_at, field, header(map.extents + added, change.tail, end));
        Ok(())
    }

    /// Logs that the last extent, a partial page, moves to another run, which is in stock and has
    /// more lines, or a full page.
    pub(super) fn put_tail(&self, map: &Map, run: Ref, lines: u32) -> Result<(), Errno> {
        let last = map.extents.checked_sub(1).ok_or(Errno::CORRUPT)?;
        let (page, old) = self.extent(map, last)?;
        let tail = if lines < LINES_PER_PAGE { lines } else { 0 };
        self.take_run(run)?;
        self.give_run(old, map.tail)?;
        let (at, field) = map.word(last + 1);
        self.put(at, field, extent(page, run));
        let (at, field) = map.word(0);
        self.put(at, field, header(map.extents, tail, map.end));
        Ok(())
    }

    /// Writes a new map of 2^`bits` lines that includes a change, and logs that the file uses it.
    fn rewrite(
        &self,
        inode: &Inode<'_>,
        map: &Map,
        bits: u32,
        change: ExtentChange,
    ) -> Result<(), Errno> {
        if bits > content::MAP_BITS_MAX {
            return Err(Errno::FBIG);
        }
        let at = self.obtain_run_besides(1 << bits, change.run)?;
        self.zero(at, 1 << bits)?;
        let mut new =
            Extents { at, count: 0, room: (content::WORDS_PER_LINE << bits) - 1, is_hole: false };
        let ExtentChange { page, pages, run, tail } = change;
        let behind = page.checked_add(pages).ok_or(Errno::FBIG)?;
        let mut is_added = false;
        for number in 0..map.extents {
            let (first, start) = self.extent(map, number)?;
            let next = number + 1;
            let end = if next < map.extents { self.extent(map, next)?.0 } else { map.end };
            if is_added || page < first || end < behind {
                new.add(self, first, start)?;
                continue;
            }
            is_added = true;
            if first < page {
                new.add(self, first, start)?;
            }
            new.add(self, page, run)?;
            if behind < end {
                // A hole can be longer than any run of lines.
                let start = if start.is_some() {
                    start.plus(super::lines_of(behind - first)?)
                } else {
                    start
                };
                new.add(self, behind, start)?;
            }
        }
        if !is_added {
            if page > map.end {
                new.add(self, map.end, Ref::NONE)?;
            }
            new.add(self, page, run)?;
        }
        let end = map.end.max(behind);
        let tail = if behind < map.end { map.tail } else { tail };
        self.fill(self.line(at)?, content::WORD, header(new.count, tail, end));
        if run.is_some() {
            self.take_run(run)?;
        }
        self.take_run(at)?;
        self.give_run(map.at, map.lines())?;
        self.put(inode.body_at, cell::DATA, at.0);
        self.put(inode.body_at, cell::FORM, content::MAP + u8::from_bits(u64::from(bits)));
        Ok(())
    }
}

/// Builds the extents of a new map, one by one.
struct Extents {
    at: Ref,
    count: u32,
    room: u32,
    /// Whether the last one is a hole.
    is_hole: bool,
}

impl Extents {
    fn add<S: Seams>(&mut self, member: &Member<'_, S>, page: u32, at: Ref) -> Result<(), Errno> {
        // Adjacent holes are merged.
        if self.is_hole && !at.is_some() {
            return Ok(());
        }
        self.is_hole = !at.is_some();
        self.count += 1;
        if self.count > self.room {
            return Err(Errno::CORRUPT);
        }
        let (line, field) = word_of(self.at, self.count);
        member.fill(member.line(line)?, field, extent(page, at));
        Ok(())
    }
}
