//! Space in files: preallocation, punching holes, and finding data or holes.

use super::balance::Joined;
use super::edit::ExtentChange;
use super::map::Map;
use super::{PAGE, PAGE_BYTES, PAGE_LENGTH, SIZE_MAX, length, split};
use crate::annex::Inode;
use crate::arena::{LINE_BYTES, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, slot, zone};
use crate::member::{Member, Node};
use crate::modes::{FILE, TYPE};
use crate::seams::Seams;

/// What to look for in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekTarget {
    /// Allocated bytes: `SEEK_DATA`.
    Data,
    /// A hole, or the end: `SEEK_HOLE`.
    Hole,
}

/// What an allocation has filled.
#[derive(Debug)]
pub(super) struct FilledHoles {
    /// The page after the last one of the map before.
    map_end: u32,
    /// The first holes before that, as their first page and the page after their last.
    holes: [(u32, u32); FILLED_MAX],
    count: usize,
    /// The lines of the file's run before, if it had no map.
    run: Option<u32>,
    /// The lines of its partial page before; 0 if it had none.
    tail: u32,
    /// The base-2 logarithm of the lines of its map's root before.
    root_bits: u32,
}

/// How many holes are noted. A file with more of them keeps what others were filled with, if the
/// arena has enough pages but they cannot be had.
const FILLED_MAX: usize = 32;

impl FilledHoles {
    pub(super) fn new() -> Self {
        Self {
            map_end: u32::MAX,
            holes: [(0, 0); FILLED_MAX],
            count: 0,
            run: None,
            tail: 0,
            root_bits: u32::MAX,
        }
    }

    fn add(&mut self, page: u32, pages: u32) {
        if page >= self.map_end {
            return;
        }
        let end = page.saturating_add(pages);
        let last = self.count.checked_sub(1).and_then(|last| self.holes.get_mut(last));
        if let Some(last) = last
            && last.1 == page
        {
            last.1 = end;
        } else if let Some(next) = self.holes.get_mut(self.count) {
            *next = (page, end);
            self.count += 1;
        }
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// Makes sure that writes to these bytes of a file will find space. If they are past its end,
    /// the file grows, unless `keeps_size` is set.
    ///
    /// # Errors
    /// [`Errno::INVAL`] for an empty range, [`Errno::FBIG`]; [`Errno::NOSPC`], in which case the
    /// pages that were allocated are freed again; [`Errno::NODEV`] for anything but a regular file.
    pub fn allocate(
        &self,
        node: Node,
        offset: u64,
        length: u64,
        keeps_size: bool,
    ) -> Result<(), Errno> {
        self.change_space(node, offset, length, |inode, end| {
            if !keeps_size {
                self.zero_gap(inode, end)?;
            }
            let mut filled = FilledHoles::new();
            if let Err(why) = self.allocate_locked(inode, offset, end, &mut filled) {
                self.forget();
                self.free_again(inode, &filled)?;
                return self.failed(why);
            }
            if !keeps_size && end > inode.line.load(cell::SIZE) {
                self.put_later(inode.at, cell::SIZE, end);
            }
            Ok(())
        })
    }

    /// Makes a hole: these bytes read as zeros, and whole pages among them are freed. The file
    /// keeps its size.
    ///
    /// # Errors
    /// As [`Self::allocate`].
    pub fn punch(&self, node: Node, offset: u64, length: u64) -> Result<(), Errno> {
        self.change_space(node, offset, length, |inode, end| self.punch_locked(inode, offset, end))
    }

    fn change_space(
        &self,
        node: Node,
        offset: u64,
        length: u64,
        change: impl FnOnce(&Inode<'a>, u64) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        if length == 0 {
            return Err(Errno::INVAL);
        }
        let end = offset.checked_add(length).filter(|&end| end <= SIZE_MAX);
        let end = end.ok_or(Errno::FBIG)?;
        let line = self.lock_node(&node)?;
        let done = self.mode(line.load(cell::MODE)).and_then(|mode| {
            if mode.mode & TYPE != FILE {
                return Err(Errno::NODEV);
            }
            self.begin_change(node.at, line, true)?;
            change(&self.inode(node.at, line)?, end)?;
            let now = self.seams().now_ns();
            self.put_written(node.at, line, now);
            self.commit();
            Ok(())
        });
        self.finish();
        done
    }

    pub(super) fn allocate_locked(
        &self,
        inode: &Inode<'a>,
        offset: u64,
        end: u64,
        filled: &mut FilledHoles,
    ) -> Result<(), Errno> {
        let (mut page, _) = split(offset)?;
        let last = split(end - 1)?.0;
        self.check_free(inode, page, last)?;
        if self.map_of(inode.body)?.is_none() {
            self.ready_to_give()?;
            let end = usize::try_from(end).unwrap_or(usize::MAX);
            if end <= PAGE_LENGTH {
                return self.lengthen_run(inode, end);
            }
            filled.run = Some(inode.body.load(cell::FORM).into());
            self.begin_map(inode)?;
        }
        let map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
        (filled.map_end, filled.tail, filled.root_bits) = (map.end, map.tail, map.root.bits);
        while page <= last {
            self.ready_to_give()?;
            let map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
            let location = self.locate_page(&map, page)?;
            let is_tail_in_the_way = map.tail > 0 && (page >= map.end || map.is_tail(page));
            if is_tail_in_the_way {
                self.lengthen_tail(&map, PAGE_LENGTH)?;
            } else if location.at.is_some() {
                page += location.pages;
            } else {
                let pages = location.pages.min(last - page + 1).min(zone::RUN_PAGES_MAX);
                let (run, pages) = self.obtain_pages(pages)?;
                self.zero_bytes(run, 0, pages as usize * PAGE_LENGTH)?;
                let change = ExtentChange { page, pages, run, tail: 0, stays_apart: true };
                self.put_extent(inode, &map, change)?;
                self.commit();
                filled.add(page, pages);
                page += pages;
            }
        }
        Ok(())
    }

    /// Refuses to allocate these pages if the arena cannot have enough, before any is zeroed.
    fn check_free(&self, inode: &Inode<'a>, first: u32, last: u32) -> Result<(), Errno> {
        let mut missing = last - first;
        if let Some(map) = self.map_of(inode.body)? {
            missing = 0;
            let mut page = first;
            while page <= last {
                let location = self.locate_page(&map, page)?;
                let pages = location.pages.max(1).min(last - page + 1);
                missing += if location.at.is_some() { 0 } else { pages };
                page += pages;
            }
        }
        if missing > self.pages()?.1.saturating_add(slot::RUNS_MAX) {
            return Err(Errno::NOSPC);
        }
        Ok(())
    }

    /// Frees what was allocated, first what is at the end of the file. All of it are whole extents,
    /// so this needs no new map, which there may be no space for.
    pub(super) fn free_again(&self, inode: &Inode<'a>, filled: &FilledHoles) -> Result<(), Errno> {
        loop {
            self.ready_to_give()?;
            let Some(map) = self.map_of(inode.body)?.filter(|map| map.end > filled.map_end) else {
                break;
            };
            self.cut_extent(&map, filled.map_end)?;
        }
        if let Some(last) = filled.map_end.checked_sub(1) {
            self.tidy(inode, last, Joined::Any)?;
        }
        for &(mut page, end) in filled.holes.iter().take(filled.count).rev() {
            while page < end {
                self.ready_to_give()?;
                let map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
                let location = self.locate_page(&map, page)?;
                let pages = location.pages.min(end - page).min(zone::RUN_PAGES_MAX);
                if pages == 0 || !location.at.is_some() {
                    return Err(Errno::CORRUPT);
                }
                self.free_run_of_pages(inode, &map, page, pages, location.at)?;
                self.tidy(inode, page, Joined::Any)?;
                page += pages;
            }
        }
        for shorten in [Self::shorten_again, Self::drop_map_again] {
            match shorten(self, inode, filled) {
                Ok(()) | Err(Errno::NOSPC) => {}
                done => return done,
            }
        }
        Ok(())
    }

    /// Gives the root of the map and the last page the lines that they had before an allocation.
    fn shorten_again(&self, inode: &Inode<'a>, filled: &FilledHoles) -> Result<(), Errno> {
        self.shrink_root(inode, filled.root_bits)?;
        let Some(map) = self.map_of(inode.body)? else { return Ok(()) };
        if map.tail > 0 || filled.tail == 0 {
            return Ok(());
        }
        self.ready_to_give()?;
        let run = self.obtain_run(filled.tail)?;
        self.copy_last_page(&map, run, filled.tail)?;
        self.put_tail(&map, run, filled.tail)?;
        self.commit();
        Ok(())
    }

    /// Gives a file that had no map before an allocation its run.
    fn drop_map_again(&self, inode: &Inode<'a>, filled: &FilledHoles) -> Result<(), Errno> {
        let Some(map) = self.map_of(inode.body)? else { return Ok(()) };
        let Some(lines) = filled.run else { return Ok(()) };
        self.ready_to_give()?;
        let mut run = Ref::NONE;
        if lines > 0 {
            run = self.locate_page(&map, 0)?.at;
        }
        if (1..PAGE).contains(&lines) {
            run = self.obtain_run(lines)?;
            let page = self.copy_last_page(&map, run, lines)?;
            self.take_run(run)?;
            self.give_run(page, PAGE)?;
        }
        self.give_run(map.root.at, map.root.lines())?;
        self.put_later(inode.body_at, cell::DATA, run.0);
        self.put_later(inode.body_at, cell::FORM, u8::from_bits(lines.into()));
        self.commit();
        Ok(())
    }

    /// Copies the first lines of the last page to a run; returns where that page is.
    fn copy_last_page(&self, map: &Map, run: Ref, lines: u32) -> Result<Ref, Errno> {
        let last = map.end.checked_sub(1).ok_or(Errno::CORRUPT)?;
        let page = self.locate_page(map, last)?.at;
        self.arena().copy(page, run, lines as usize * LINE_BYTES)?;
        Ok(page)
    }

    /// Makes a hole of whole pages that are contiguous.
    fn free_run_of_pages(
        &self,
        inode: &Inode<'a>,
        map: &Map,
        page: u32,
        pages: u32,
        at: Ref,
    ) -> Result<(), Errno> {
        let lines = if map.is_tail(page) { map.tail } else { super::lines_of(pages)? };
        self.put_hole(inode, map, page, pages)?;
        self.give_run(at, lines)?;
        self.commit();
        Ok(())
    }

    fn punch_locked(&self, inode: &Inode<'a>, offset: u64, end: u64) -> Result<(), Errno> {
        let end = end.min(inode.line.load(cell::SIZE));
        if offset >= end {
            return Ok(());
        }
        if self.map_of(inode.body)?.is_none() {
            let bytes = u64::from(inode.body.load(cell::FORM)) * LINE_BYTES as u64;
            let (from, to) = (length(offset.min(bytes)), length(end.min(bytes)));
            return self.zero_bytes(Ref(inode.body.load(cell::DATA)), from, to - from);
        }
        let mut at = offset;
        while at < end {
            self.ready_to_give()?;
            let map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
            at = self.punch_piece(inode, &map, at, end)?;
        }
        Ok(())
    }

    /// Punches the first piece of a hole; returns where the next piece begins.
    fn punch_piece(
        &self,
        inode: &Inode<'a>,
        map: &Map,
        offset: u64,
        end: u64,
    ) -> Result<u64, Errno> {
        let (page, within) = split(offset)?;
        let location = self.locate_page(map, page)?;
        let start = offset - within as u64;
        let there = start + u64::from(location.pages) * PAGE_BYTES;
        if !location.at.is_some() {
            return Ok(there.min(end));
        }
        let is_last = end >= inode.line.load(cell::SIZE);
        let whole = if is_last { end.next_multiple_of(PAGE_BYTES) } else { end };
        let pages = u32::try_from((whole.min(there) - start) / PAGE_BYTES).unwrap_or(u32::MAX);
        let is_mapped = self.is_mapped(inode);
        if within > 0 || pages == 0 || is_mapped {
            // A partial page is only zeroed, and one that is mapped.
            let to = end.min(if is_mapped { there } else { start + PAGE_BYTES });
            let bytes = length((to - start).min(location.bytes));
            if bytes > within {
                self.zero_bytes(location.at, within, bytes - within)?;
            }
            return Ok(to);
        }
        let pages = if map.is_tail(page) { 1 } else { pages.min(zone::RUN_PAGES_MAX) };
        self.free_run_of_pages(inode, map, page, pages, location.at)?;
        self.tidy(inode, page, Joined::Small)?;
        Ok((start + u64::from(pages) * PAGE_BYTES).min(end))
    }

    /// The first offset from `offset` on where there is data, or a hole.
    ///
    /// # Errors
    /// [`Errno::NXIO`] past the end, or if there is none.
    pub fn look_for(&self, node: Node, offset: u64, what: SeekTarget) -> Result<u64, Errno> {
        self.read_node(node, |line| {
            let size = line.load(cell::SIZE);
            if self.mode(line.load(cell::MODE))?.mode & TYPE != FILE {
                return Err(Errno::INVAL);
            }
            if offset >= size {
                return Err(Errno::NXIO);
            }
            let mut at = offset;
            while at < size {
                let (is_there, end) = self.stretch_at(line, at)?;
                if is_there == (what == SeekTarget::Data) {
                    return Ok(at);
                }
                if end <= at {
                    return Err(Errno::CORRUPT);
                }
                at = end;
            }
            if what == SeekTarget::Hole { Ok(size) } else { Err(Errno::NXIO) }
        })
    }

    /// Whether there is data at an offset of a file, and where that stretch of data or hole ends.
    fn stretch_at(&self, line: Line<'a>, offset: u64) -> Result<(bool, u64), Errno> {
        let body = self.body(line)?;
        let Some(map) = self.map_of(body)? else {
            let bytes = u64::from(body.load(cell::FORM)) * LINE_BYTES as u64;
            return Ok(if offset < bytes { (true, bytes) } else { (false, u64::MAX) });
        };
        let (page, within) = split(offset)?;
        let location = self.locate_page(&map, page)?;
        let start = offset - within as u64;
        if location.at.is_some() && (within as u64) < location.bytes {
            return Ok((true, start + location.bytes));
        }
        Ok((false, start + u64::from(location.pages) * PAGE_BYTES))
    }
}
