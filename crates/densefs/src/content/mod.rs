//! The content of files: reading, writing, truncating.
//!
//! A file of up to a page is a single run of lines. A larger one has a map of extents, which are
//! whole pages. Holes read as zeros. The rest of the last line or page past the end of a file is
//! undefined, and is zeroed before the end moves past it. Bytes are copied once; a reader that
//! races with a writer reads again.

mod cut;
mod holes;
mod map;

use crate::annex::Inode;
use crate::arena::{LINE_BYTES, LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, content, superblock, zone};
use crate::member::{Member, Node};
use crate::modes::{FILE, Mode, SETGID, SETUID, SYMLINK, TYPE};
use crate::seams::Seams;
use map::{ExtentChange, Map};

pub use holes::SeekTarget;

/// Bytes in a page, as part of a file and as a length in memory.
const PAGE_BYTES: u64 = PAGE_LENGTH as u64;
const PAGE_LENGTH: usize = LINE_BYTES * LINES_PER_PAGE as usize;
/// The largest file: page numbers have 32 bits.
pub const SIZE_MAX: u64 = PAGE_BYTES * (u32::MAX as u64 - 1);

/// Lines in a page.
const PAGE: u32 = LINES_PER_PAGE;

impl<'a, S: Seams> Member<'a, S> {
    /// Reads from a file, or the target of a symbolic link; returns the number of bytes read.
    ///
    /// # Errors
    /// [`Errno::ISDIR`], [`Errno::CORRUPT`].
    pub fn read_at(&self, node: Node, offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        self.read_node(node, |inode| {
            self.check_file(inode)?;
            let left = inode.load(cell::SIZE).saturating_sub(offset);
            let length = self::length(left).min(into.len());
            self.copy_content(inode, offset, &mut into[..length])?;
            Ok(length)
        })
    }

    /// Copies the target of a symbolic link, or as much of it as fits.
    ///
    /// # Errors
    /// [`Errno::INVAL`] for anything else.
    pub fn read_link(&self, node: Node, into: &mut [u8]) -> Result<usize, Errno> {
        self.read_node(node, |inode| {
            if self.mode(inode.load(cell::MODE))?.mode & TYPE != SYMLINK {
                return Err(Errno::INVAL);
            }
            let length = usize::try_from(inode.load(cell::SIZE)).unwrap_or(usize::MAX);
            let length = length.min(into.len());
            self.copy_content(inode, 0, &mut into[..length])?;
            Ok(length)
        })
    }

    /// How many lines a file's content takes, including its map.
    #[inline]
    pub(crate) fn content_lines(&self, body: Line<'_>) -> Result<u32, Errno> {
        let form = body.load(cell::FORM);
        if form <= content::RUN_MAX { Ok(form.into()) } else { self.map_lines(body) }
    }

    #[cold]
    #[inline(never)]
    fn map_lines(&self, body: Line<'_>) -> Result<u32, Errno> {
        let mut all = 0_u32;
        self.each_run(body, |_, lines| all = all.saturating_add(lines))?;
        Ok(all)
    }

    fn check_file(&self, inode: Line<'_>) -> Result<(), Errno> {
        let mode = self.mode(inode.load(cell::MODE))?;
        if mode.is_directory() { Err(Errno::ISDIR) } else { Ok(()) }
    }

    /// Checks that this is a file, which is about to be changed and loses its set-ID bits then,
    /// unless root does it, or writes no bytes.
    fn begin_change(&self, at: Ref, inode: Line<'_>, is_changed: bool) -> Result<(), Errno> {
        let mode = self.mode(inode.load(cell::MODE))?;
        if mode.is_directory() {
            return Err(Errno::ISDIR);
        }
        if mode.mode & (SETUID | SETGID) != 0 && is_changed {
            self.drop_set_ids(at, mode)?;
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn drop_set_ids(&self, at: Ref, old: Mode) -> Result<(), Errno> {
        let user = self.seams().user();
        let mode = old.without_set_ids(&user);
        if old.mode & TYPE == FILE && mode != old.mode && !user.may_all() {
            let index = self.index_of(Mode { mode, ..old })?;
            self.put(at, cell::MODE, index);
            self.commit();
            if self.holds(self.line(superblock::MODES)?) {
                self.unlock();
            }
        }
        Ok(())
    }

    /// Copies bytes of a file. They must all lie before its end.
    pub(crate) fn copy_content(
        &self,
        inode: Line<'a>,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Errno> {
        let body = self.body(inode)?;
        let Some(map) = self.map_of(body)? else {
            return self.copy_run(body, offset, into);
        };
        let (mut offset, mut into) = (offset, into);
        while !into.is_empty() {
            let (page, within) = split(offset)?;
            let location = self.locate_page(&map, page)?;
            if location.pages == 0 {
                return Err(Errno::CORRUPT);
            }
            let is_there = location.at.is_some() && (within as u64) < location.bytes;
            let end =
                if is_there { location.bytes } else { u64::from(location.pages) * PAGE_BYTES };
            let length = length(end - within as u64).min(into.len());
            let (now, later) = into.split_at_mut(length);
            if is_there {
                self.arena().copy_out(location.at, within, now)?;
            } else {
                now.fill(0);
            }
            offset += length as u64;
            into = later;
        }
        Ok(())
    }

    fn copy_run(&self, body: Line<'_>, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
        let bytes = usize::from(body.load(cell::FORM)) * LINE_BYTES;
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes);
        let (there, zeros) = into.split_at_mut((bytes - from).min(into.len()));
        self.arena().copy_out(Ref(body.load(cell::DATA)), from, there)?;
        zeros.fill(0);
        Ok(())
    }

    /// Writes to a file, as much as there is space for; returns the number of bytes written.
    ///
    /// # Errors
    /// [`Errno::ISDIR`], [`Errno::FBIG`], [`Errno::NOSPC`] if nothing could be written.
    pub fn write_at(&self, node: Node, offset: u64, from: &[u8]) -> Result<usize, Errno> {
        let end = offset.checked_add(from.len() as u64).filter(|&end| end <= SIZE_MAX);
        end.ok_or(Errno::FBIG)?;
        let inode = self.lock_node(&node)?;
        let done = self
            .begin_change(node.at, inode, !from.is_empty())
            .and_then(|()| self.write_locked(node.at, inode, offset, from));
        self.finish(done)
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
        self.finish(done)
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
        let mut done = 0;
        while done < from.len() {
            self.ready_to_give()?;
            match self.write_piece(inode, offset + done as u64, &from[done..]) {
                Ok(bytes) => done += bytes,
                Err(_) if done > 0 => break,
                Err(why) => return Err(why),
            }
        }
        Ok(done)
    }

    /// Makes sure that a run is in stock for the content of a new inode, up to a page. It is not
    /// `other`, which is needed as well. The log must be empty.
    pub(crate) fn obtain_content(&self, content: &[u8], other: Ref) -> Result<Ref, Errno> {
        let lines = u32::from_bits(content.len().div_ceil(LINE_BYTES) as u64);
        if lines == 0 { Ok(Ref::NONE) } else { self.obtain_run_besides(lines, &[other]) }
    }

    /// Fills in the content of an inode that nobody can reach yet, and takes the run obtained for
    /// it.
    pub(crate) fn fill_content(
        &self,
        inode: Line<'_>,
        content: &[u8],
        run: Ref,
    ) -> Result<(), Errno> {
        self.fill(inode, cell::DATA, run.0);
        self.fill(inode, cell::FORM, u8::from_bits(content.len().div_ceil(LINE_BYTES) as u64));
        if content.is_empty() {
            return Ok(());
        }
        self.copy_in(run, 0, content)?;
        self.take_run(run)
    }

    /// Writes a first piece. Returns 0 if it had to change how the file is stored first.
    fn write_piece(&self, inode: &Inode<'a>, offset: u64, from: &[u8]) -> Result<usize, Errno> {
        let Some(map) = self.map_of(inode.body)? else {
            let end = offset + from.len() as u64;
            if end.max(inode.line.load(cell::SIZE)) <= PAGE_BYTES {
                return self.write_run(inode, offset, from);
            }
            self.begin_map(inode)?;
            return Ok(0);
        };
        let (page, within) = split(offset)?;
        let location = self.locate_page(&map, page)?;
        if location.at.is_some() && !map.is_tail(page) {
            let from = first(from, location.bytes - within as u64);
            return self.write_over(inode, offset, location.at, within, from);
        }
        let page_end = within.saturating_add(from.len()).min(PAGE_LENGTH);
        if location.at.is_some() {
            if page_end as u64 <= location.bytes {
                let from = first(from, (page_end - within) as u64);
                return self.write_over(inode, offset, location.at, within, from);
            }
            self.lengthen_tail(&map, page_end)?;
            return Ok(0);
        }
        if page >= map.end && map.tail > 0 {
            self.lengthen_tail(&map, PAGE_LENGTH)?;
            return Ok(0);
        }
        self.write_new(inode, &map, offset, location.pages, from)
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
    fn write_new(
        &self,
        inode: &Inode<'a>,
        map: &Map,
        offset: u64,
        max_pages: u32,
        from: &[u8],
    ) -> Result<usize, Errno> {
        let (page, within) = split(offset)?;
        let end = within.saturating_add(from.len());
        let pages = u32::try_from(end.div_ceil(PAGE_LENGTH)).unwrap_or(u32::MAX).min(max_pages);
        let lines_of_last = u32::from_bits((end % PAGE_LENGTH).div_ceil(LINE_BYTES) as u64);
        let has_tail = page.saturating_add(pages) > map.end && (1..PAGE).contains(&lines_of_last);
        let change = if has_tail && pages == 1 {
            let run = self.obtain_run(lines_of_last)?;
            ExtentChange { page, pages, run, tail: lines_of_last }
        } else {
            let pages = pages - u32::from(has_tail);
            let (run, pages) = self.obtain_pages(pages.min(zone::RUN_PAGES_MAX))?;
            ExtentChange { page, pages, run, tail: 0 }
        };
        let lines = if change.tail > 0 { change.tail } else { change.pages * PAGE };
        let from = first(from, u64::from(lines) * LINE_BYTES as u64 - within as u64);
        self.fill_run(change.run, lines, within, from)?;
        self.put_extent(inode, map, change)?;
        self.grown(inode, offset + from.len() as u64);
        self.commit();
        Ok(from.len())
    }

    /// Gives the partial page at the end of a file enough lines for this many bytes.
    fn lengthen_tail(&self, map: &Map, bytes: usize) -> Result<(), Errno> {
        let needed = u32::from_bits(bytes.div_ceil(LINE_BYTES) as u64);
        // A file that grows is likely to grow again.
        let lines = needed.max(map.tail * 3 / 2).min(PAGE);
        let run = self.obtain_run(lines)?;
        let last = map.extents.checked_sub(1).ok_or(Errno::CORRUPT)?;
        let old_bytes = map.tail as usize * LINE_BYTES;
        self.arena().copy(self.extent(map, last)?.1, run, old_bytes)?;
        self.zero_bytes(run, old_bytes, lines as usize * LINE_BYTES - old_bytes)?;
        self.put_tail(map, run, lines)?;
        self.commit();
        Ok(())
    }

    /// Makes sure that this many contiguous pages are in stock, or as many as can be had.
    fn obtain_pages(&self, pages: u32) -> Result<(Ref, u32), Errno> {
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
    fn zero_gap(&self, inode: &Inode<'a>, to: u64) -> Result<(), Errno> {
        let size = inode.line.load(cell::SIZE);
        if to <= size {
            return Ok(());
        }
        let Some(map) = self.map_of(inode.body)? else {
            let bytes = usize::from(inode.body.load(cell::FORM)) * LINE_BYTES;
            let from = usize::try_from(size).unwrap_or(usize::MAX).min(bytes);
            return self.zero_bytes(Ref(inode.body.load(cell::DATA)), from, bytes - from);
        };
        let (page, within) = split(size)?;
        let location = self.locate_page(&map, page)?;
        let end = length(location.bytes.min(PAGE_BYTES));
        let is_there = location.at.is_some() && within > 0 && within < end;
        if is_there { self.zero_bytes(location.at, within, end - within) } else { Ok(()) }
    }

    /// Logs that a file extends to at least `end`, and has just been written.
    fn grown(&self, inode: &Inode<'_>, end: u64) {
        if end > inode.line.load(cell::SIZE) {
            self.put(inode.at, cell::SIZE, end);
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
        let run = self.enlarge_run(inode, lines)?;
        self.copy_in(run, within, from)?;
        self.grown(inode, end as u64);
        self.commit();
        Ok(from.len())
    }

    /// Gives a file that fits into a page enough lines for this many bytes.
    fn lengthen_run(&self, inode: &Inode<'a>, bytes: usize) -> Result<(), Errno> {
        let lines = u32::from_bits(bytes.div_ceil(LINE_BYTES) as u64);
        if lines > u32::from(inode.body.load(cell::FORM)) {
            self.enlarge_run(inode, lines)?;
            self.commit();
        }
        Ok(())
    }

    /// Logs that a file that fits into a page moves to a longer run, zeroed past its old content;
    /// returns that run.
    fn enlarge_run(&self, inode: &Inode<'a>, lines: u32) -> Result<Ref, Errno> {
        let old = Ref(inode.body.load(cell::DATA));
        let old_lines = u32::from(inode.body.load(cell::FORM));
        let run = self.obtain_run(lines)?;
        let old_bytes = old_lines as usize * LINE_BYTES;
        self.arena().copy(old, run, old_bytes)?;
        self.zero_bytes(run, old_bytes, lines as usize * LINE_BYTES - old_bytes)?;
        self.take_run(run)?;
        if old_lines > 0 {
            self.give_run(old, old_lines)?;
        }
        self.put(inode.body_at, cell::DATA, run.0);
        self.put(inode.body_at, cell::FORM, u8::from_bits(u64::from(lines)));
        Ok(run)
    }

    /// Gives a file a map, with its current content as the first page.
    fn begin_map(&self, inode: &Inode<'a>) -> Result<(), Errno> {
        let (old, old_lines) =
            (Ref(inode.body.load(cell::DATA)), u32::from(inode.body.load(cell::FORM)));
        // One run for the page, and another for the map.
        let page = if old_lines > 0 { self.obtain_run(PAGE)? } else { Ref::NONE };
        let map = self.obtain_run_besides(1, &[page])?;
        self.zero(map, 1)?;
        if old_lines > 0 {
            let old_bytes = old_lines as usize * LINE_BYTES;
            self.arena().copy(old, page, old_bytes)?;
            self.zero_bytes(page, old_bytes, PAGE_LENGTH - old_bytes)?;
            let line = self.line(map)?;
            self.fill(line, content::WORD, map::header(1, 0, 1));
            self.fill(line, content::WORD.element(1), map::extent(0, page));
            self.take_run(page)?;
        }
        self.take_run(map)?;
        if old_lines > 0 {
            self.give_run(old, old_lines)?;
        }
        self.put(inode.body_at, cell::DATA, map.0);
        self.put(inode.body_at, cell::FORM, content::MAP);
        self.commit();
        Ok(())
    }
}

/// How many lines this many pages have.
fn lines_of(pages: u32) -> Result<u32, Errno> {
    pages.checked_mul(PAGE).ok_or(Errno::CORRUPT)
}

/// The page of a file with this offset, and the offset in the page.
fn split(offset: u64) -> Result<(u32, usize), Errno> {
    let page = u32::try_from(offset / PAGE_BYTES).map_err(|_| Errno::FBIG)?;
    Ok((page, (offset % PAGE_BYTES) as usize))
}

/// At most the first `most` bytes.
fn first(from: &[u8], most: u64) -> &[u8] {
    &from[..length(most).min(from.len())]
}

/// A number of bytes as a length in memory, saturating.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
