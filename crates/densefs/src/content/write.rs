//! Writing to files, and appending to them.

use super::edit::ExtentChange;
use super::map::{Entry, Map, MapNode};
use super::wanted::Wanted;
use super::{PAGE, PAGE_BYTES, PAGE_LENGTH, SIZE_MAX, first, length, split};
use crate::annex::Inode;
use crate::arena::{LINE_BYTES, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, content, zone};
use crate::member::{Member, Node};
use crate::seams::Seams;

/// Pages that a write adds to a file.
#[derive(Clone, Copy, Debug)]
struct NewPages {
    /// Their number, of pages that can be contiguous.
    pages: u32,
    /// The number of lines if it is a partial page; otherwise 0.
    tail: u32,
}

impl NewPages {
    /// The pages for the beginning of a write of this many bytes, in a file whose last page is the
    /// one before `file_end`. There, the last page gets only the lines it needs.
    fn new(offset: u64, length: usize, file_end: u32) -> Result<Self, Errno> {
        let (page, within) = split(offset)?;
        let end = within.saturating_add(length);
        let pages = u32::try_from(end.div_ceil(PAGE_LENGTH)).unwrap_or(u32::MAX);
        let lines_of_last = u32::from_bits((end % PAGE_LENGTH).div_ceil(LINE_BYTES) as u64);
        let has_tail = page.saturating_add(pages) > file_end && (1..PAGE).contains(&lines_of_last);
        if has_tail && pages == 1 {
            return Ok(Self { pages, tail: lines_of_last });
        }
        let pages = pages - u32::from(has_tail);
        Ok(Self { pages: pages.min(zone::RUN_PAGES_MAX), tail: 0 })
    }

    fn lines(self) -> u32 {
        if self.tail > 0 { self.tail } else { self.pages * PAGE }
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// Writes to a file, as much as there is space for; returns the number of bytes written.
    ///
    /// # Errors
    /// [`Errno::ISDIR`], [`Errno::FBIG`], [`Errno::NOSPC`] if nothing could be written.
    #[inline(always)]
    pub fn write_at(&self, node: Node, offset: u64, from: &[u8]) -> Result<usize, Errno> {
        let end = offset.checked_add(from.len() as u64).filter(|&end| end <= SIZE_MAX);
        end.ok_or(Errno::FBIG)?;
        let inode = self.lock_node(&node)?;
        let done = self
            .begin_change(node.at, inode, !from.is_empty())
            .and_then(|()| self.write_locked(node.at, inode, offset, from));
        self.finish();
        done
    }

    /// Appends to a file; returns the number of bytes written, and their offset.
    ///
    /// # Errors
    /// As [`Self::write_at`].
    pub fn append(&self, node: Node, from: &[u8]) -> Result<(usize, u64), Errno> {
        let inode = self.lock_node(&node)?;
        let done = self.begin_change(node.at, inode, !from.is_empty()).and_then(|()| {
            let offset = inode.load(cell::SIZE);
            let end = offset.checked_add(from.len() as u64).filter(|&end| end <= SIZE_MAX);
            end.ok_or(Errno::FBIG)?;
            Ok((self.write_locked(node.at, inode, offset, from)?, offset))
        });
        self.finish();
        done
    }

    fn write_locked(
        &self,
        at: Ref,
        line: Line<'a>,
        offset: u64,
        from: &[u8],
    ) -> Result<usize, Errno> {
        let inode = &self.inode(at, line)?;
        self.zero_gap(inode, offset)?;
        let (mut done, mut needs_stock) = (0, false);
        while done < from.len() {
            if !needs_stock {
                self.ready_to_give()?;
            }
            match self.write_piece(inode, offset + done as u64, &from[done..]) {
                Ok(bytes) => (done, needs_stock) = (done + bytes, bytes == 0),
                Err(_) if done > 0 => break,
                Err(why) => return self.failed(why),
            }
        }
        Ok(done)
    }

    /// Fails; what was obtained for the call becomes free for others.
    #[cold]
    #[inline(never)]
    pub(super) fn failed<T>(&self, why: Errno) -> Result<T, Errno> {
        self.forget();
        if why == Errno::NOSPC {
            self.give_runs_back().ok();
        }
        Err(why)
    }

    /// Writes a first piece. Returns 0 if it had to change how the file is stored first; then what
    /// the piece needs is in stock.
    fn write_piece(&self, inode: &Inode<'a>, offset: u64, from: &[u8]) -> Result<usize, Errno> {
        if let Some(map) = self.map_of(inode.body)? {
            return self.write_mapped(inode, &map, offset, from);
        }
        let end = offset + from.len() as u64;
        if end.max(inode.line.load(cell::SIZE)) <= PAGE_BYTES {
            return self.write_run(inode, offset, from);
        }
        self.prepare_map(inode, offset, from.len())?;
        Ok(0)
    }

    /// Writes a first piece to a file with a map. Not inline, so that writes to small files have a
    /// small stack.
    #[inline(never)]
    fn write_mapped(
        &self,
        inode: &Inode<'a>,
        map: &Map,
        offset: u64,
        from: &[u8],
    ) -> Result<usize, Errno> {
        let (page, within) = split(offset)?;
        let location = self.locate_page(map, page)?;
        if location.at.is_some() && !map.is_tail(page) {
            let from = first(from, location.bytes - within as u64);
            return self.write_over(inode, offset, location.at, within, from);
        }
        let page_end = within.saturating_add(from.len()).min(PAGE_LENGTH);
        if location.at.is_some() {
            let from = first(from, (page_end - within) as u64);
            let at = if page_end as u64 <= location.bytes {
                location.at
            } else {
                self.lengthen_tail(map, page_end)?
            };
            return self.write_over(inode, offset, at, within, from);
        }
        if page >= map.end && map.tail > 0 {
            self.prepare_tail(map, offset, from.len())?;
            return Ok(0);
        }
        self.write_new(inode, map, offset, location.pages, from)
    }

    /// Gives a file a map before these bytes are written.
    #[cold]
    #[inline(never)]
    fn prepare_map(&self, inode: &Inode<'a>, offset: u64, length: usize) -> Result<(), Errno> {
        let mut wanted = Wanted::default();
        wanted.add(1);
        let lines = u32::from(inode.body.load(cell::FORM));
        let end = u32::from(lines > 0);
        if (1..PAGE).contains(&lines) {
            wanted.add(PAGE);
        }
        if split(offset)?.0 >= end {
            self.obtain_new(wanted, NewPages::new(offset, length, end)?)?;
        } else {
            self.obtain_runs(wanted.as_slice(), Ref::NONE)?;
        }
        self.begin_map(inode)
    }

    /// Makes the partial page a whole one before these bytes are written behind it.
    #[cold]
    #[inline(never)]
    fn prepare_tail(&self, map: &Map, offset: u64, length: usize) -> Result<(), Errno> {
        let mut wanted = self.wanted_to_append(map)?;
        wanted.add(PAGE);
        self.obtain_new(wanted, NewPages::new(offset, length, map.end)?)?;
        self.lengthen_tail(map, PAGE_LENGTH)?;
        Ok(())
    }

    /// Makes sure that some of these new pages are in stock, and what is wanted besides.
    fn obtain_new(&self, wanted: Wanted, new: NewPages) -> Result<(), Errno> {
        let mut new = new;
        loop {
            let mut all = wanted;
            all.add(new.lines());
            match self.obtain_runs(all.as_slice(), Ref::NONE) {
                Err(Errno::NOSPC) if new.pages > 1 => new.pages /= 2,
                done => return done,
            }
        }
    }

    /// Overwrites bytes that the file already has.
    fn write_over(
        &self,
        inode: &Inode<'a>,
        offset: u64,
        at: Ref,
        within: usize,
        from: &[u8],
    ) -> Result<usize, Errno> {
        self.copy_in(at, within, from)?;
        self.grown(inode, offset + from.len() as u64);
        self.commit();
        Ok(from.len())
    }

    /// Writes to pages of a hole: at most `max_pages`, as many contiguous ones as can be had. At
    /// the end of the file, the last page gets only the lines it needs.
    #[inline(never)]
    fn write_new(
        &self,
        inode: &Inode<'a>,
        map: &Map,
        offset: u64,
        max_pages: u32,
        from: &[u8],
    ) -> Result<usize, Errno> {
        let (page, within) = split(offset)?;
        let new = NewPages::new(offset, from.len(), map.end)?;
        let pages = new.pages.min(max_pages);
        let (run, pages) = if new.tail > 0 && pages > 0 {
            (self.obtain_run(new.tail)?, pages)
        } else {
            self.obtain_pages(pages)?
        };
        let lines = if new.tail > 0 { new.tail } else { pages * PAGE };
        let change = ExtentChange { page, pages, run, tail: new.tail, stays_apart: false };
        let from = first(from, u64::from(lines) * LINE_BYTES as u64 - within as u64);
        self.fill_run(change.run, lines, within, from)?;
        self.put_extent(inode, map, change)?;
        self.grown(inode, offset + from.len() as u64);
        self.commit();
        Ok(from.len())
    }

    /// Gives the partial page at the end of a file enough lines for this many bytes.
    /// Returns where it is then.
    pub(super) fn lengthen_tail(&self, map: &Map, bytes: usize) -> Result<Ref, Errno> {
        let needed = u32::from_bits(bytes.div_ceil(LINE_BYTES) as u64);
        // A file that grows is likely to grow again.
        let lines = needed.max(map.tail * 3 / 2).min(PAGE);
        let run = self.obtain_run(lines)?;
        let (leaf, last) = self.last_extent(map)?;
        let old_bytes = map.tail as usize * LINE_BYTES;
        self.arena().copy(self.map_entry(&leaf, last)?.at, run, old_bytes)?;
        self.zero_bytes(run, old_bytes, lines as usize * LINE_BYTES - old_bytes)?;
        self.put_tail(map, run, lines)?;
        self.commit();
        Ok(run)
    }

    /// Makes sure that this many contiguous pages are in stock, or as many as can be had.
    pub(super) fn obtain_pages(&self, pages: u32) -> Result<(Ref, u32), Errno> {
        match self.obtain_run(pages * PAGE) {
            Err(Errno::NOSPC) if pages > 1 => self.obtain_pages(pages / 2),
            run => Ok((run?, pages)),
        }
    }

    /// Writes to a run that nobody else can reach, and zeroes the rest of it.
    fn fill_run(&self, run: Ref, lines: u32, within: usize, from: &[u8]) -> Result<(), Errno> {
        let bytes = lines as usize * LINE_BYTES;
        self.zero_bytes(run, 0, within)?;
        self.copy_in(run, within, from)?;
        self.zero_bytes(run, within + from.len(), bytes - within - from.len())
    }

    /// Zeroes the undefined bytes past the end of a file, which is about to move to `to` or beyond.
    #[inline(always)]
    pub(super) fn zero_gap(&self, inode: &Inode<'a>, to: u64) -> Result<(), Errno> {
        let size = inode.line.load(cell::SIZE);
        if to <= size { Ok(()) } else { self.zero_between(inode, size, to) }
    }

    #[inline(never)]
    fn zero_between(&self, inode: &Inode<'a>, size: u64, to: u64) -> Result<(), Errno> {
        if inode.has_annex() {
            self.zero_excess(inode, size, to)?;
        }
        let Some(map) = self.map_of(inode.body)? else {
            let bytes = usize::from(inode.body.load(cell::FORM)) * LINE_BYTES;
            let from = usize::try_from(size).unwrap_or(usize::MAX).min(bytes);
            return self.zero_bytes(Ref(inode.body.load(cell::DATA)), from, bytes - from);
        };
        let (page, within) = split(size)?;
        // Whoever died while it truncated the file has left pages there.
        if map.end > page.saturating_add(u32::from(within > 0)) {
            return self.zero_there(inode, size, to);
        }
        let location = self.locate_page(&map, page)?;
        let end = length(location.bytes.min(PAGE_BYTES));
        let is_there = location.at.is_some() && within > 0 && within < end;
        if is_there { self.zero_bytes(location.at, within, end - within) } else { Ok(()) }
    }

    /// Logs that a file extends to at least `end`, and has just been written.
    fn grown(&self, inode: &Inode<'_>, end: u64) {
        if end > inode.line.load(cell::SIZE) {
            self.put_later(inode.at, cell::SIZE, end);
        }
        let now = self.seams().now_ns();
        self.put_written(inode.at, inode.line, now);
    }

    /// Writes to a file that fits into a page.
    fn write_run(&self, inode: &Inode<'a>, offset: u64, from: &[u8]) -> Result<usize, Errno> {
        let within = usize::try_from(offset).map_err(|_| Errno::CORRUPT)?;
        let end = within + from.len();
        let (old, old_lines) =
            (Ref(inode.body.load(cell::DATA)), u32::from(inode.body.load(cell::FORM)));
        let needed = u32::from_bits(end.div_ceil(LINE_BYTES) as u64);
        if needed <= old_lines {
            self.copy_in(old, within, from)?;
            self.grown(inode, end as u64);
            self.commit();
            return Ok(from.len());
        }
        // A first write is likely to be all there is; a file that is extended is likely to grow
        // again.
        let lines = if old_lines == 0 { needed } else { needed.max(old_lines * 3 / 2).min(PAGE) };
        self.enlarge_run(inode, lines, within, from)?;
        self.grown(inode, end as u64);
        self.commit();
        Ok(from.len())
    }

    /// Gives a file that fits into a page enough lines for this many bytes.
    pub(super) fn lengthen_run(&self, inode: &Inode<'a>, bytes: usize) -> Result<(), Errno> {
        let lines = u32::from_bits(bytes.div_ceil(LINE_BYTES) as u64);
        if lines > u32::from(inode.body.load(cell::FORM)) {
            self.enlarge_run(inode, lines, bytes, &[])?;
            self.commit();
        }
        Ok(())
    }

    /// Logs that a file that fits into a page moves to a longer run, in which these bytes have been
    /// written, and zeros where nothing has been.
    fn enlarge_run(
        &self,
        inode: &Inode<'a>,
        lines: u32,
        within: usize,
        from: &[u8],
    ) -> Result<(), Errno> {
        let old = Ref(inode.body.load(cell::DATA));
        let old_lines = u32::from(inode.body.load(cell::FORM));
        let run = self.obtain_run(lines)?;
        let old_bytes = old_lines as usize * LINE_BYTES;
        self.take_run(run)?;
        if old_lines > 0 {
            self.arena().copy(old, run, old_bytes)?;
            self.give_run(old, old_lines)?;
        }
        self.zero_bytes(run, old_bytes, within.saturating_sub(old_bytes))?;
        self.copy_in(run, within, from)?;
        let end = (within + from.len()).max(old_bytes);
        self.zero_bytes(run, end, lines as usize * LINE_BYTES - end)?;
        self.put_later(inode.body_at, cell::DATA, run.0);
        self.put_later(inode.body_at, cell::FORM, u8::from_bits(u64::from(lines)));
        Ok(())
    }

    /// Gives a file a map, with its current content as the first page. A run of a page becomes that
    /// page; a shorter one moves to a page.
    pub(super) fn begin_map(&self, inode: &Inode<'a>) -> Result<(), Errno> {
        let (old, old_lines) =
            (Ref(inode.body.load(cell::DATA)), u32::from(inode.body.load(cell::FORM)));
        let moves = (1..PAGE).contains(&old_lines);
        let page = if moves { self.obtain_run(PAGE)? } else { old };
        let map = self.obtain_run_besides(1, &[page])?;
        if moves {
            let old_bytes = old_lines as usize * LINE_BYTES;
            self.arena().copy(old, page, old_bytes)?;
            self.zero_bytes(page, old_bytes, PAGE_LENGTH - old_bytes)?;
        }
        let (line, count) = (self.line(map)?, u32::from(old_lines > 0));
        let root = MapNode { at: map, bits: 0, level: 0, count };
        self.fill(line, content::WORD, Map { root, end: count, tail: 0 }.header(count));
        self.fill(line, content::WORD.element(1), Entry { page: 0, at: page }.word());
        self.take_run(map)?;
        if moves {
            self.take_run(page)?;
            self.give_run(old, old_lines)?;
        }
        self.put_root(inode, &root);
        self.commit();
        Ok(())
    }
}
