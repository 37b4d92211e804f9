//! What is in files: read, written, cut off.
//!
//! Up to a page, a file is one run of lines. A larger one has a map of extents, which are whole
//! pages. What is not there reads as zeros. What lies behind a file's end in its last line or page
//! is nothing, and zeroed before the end moves beyond it. Bytes are copied once; whoever reads
//! while somebody writes reads again.

mod map;

use crate::arena::{LINE_BYTES, LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, content, slot, zone};
use crate::member::Member;
use crate::modes::{FILE, SYMLINK, TYPE};
use crate::seams::Seams;
use crate::tree::Node;
use map::Map;

/// Bytes of a page, as a part of a file and as a length in memory.
const PAGE_BYTES: u64 = PAGE_LENGTH as u64;
const PAGE_LENGTH: usize = LINE_BYTES * LINES_PER_PAGE as usize;
/// The largest file: pages are numbered by 32 bits.
pub const SIZE_MOST: u64 = PAGE_BYTES * (u32::MAX as u64 - 1);

/// A run of a page, as lines.
const PAGE: u32 = LINES_PER_PAGE;

impl<'a, S: Seams> Member<'a, S> {
    /// Reads from a file, or the target of a symbolic link; how many bytes there were.
    ///
    /// # Errors
    /// [`Errno::ISDIR`], [`Errno::CORRUPT`].
    pub fn read_at(&self, node: Node, offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        self.read_node(node, |inode| {
            self.check_file(inode)?;
            let left = inode.load(cell::SIZE).saturating_sub(offset);
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(into.len());
            self.copy_content(inode, offset, &mut into[..length])?;
            Ok(length)
        })
    }

    /// Copies the target of a symbolic link, or as much of it as there is room for.
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

    /// Lines that a file's content takes, with its map.
    #[inline]
    pub(crate) fn content_lines(&self, inode: Line<'_>) -> Result<u32, Errno> {
        let form = inode.load(cell::FORM);
        if form <= content::RUN_MOST { Ok(form.into()) } else { self.map_lines(inode) }
    }

    #[cold]
    #[inline(never)]
    fn map_lines(&self, inode: Line<'_>) -> Result<u32, Errno> {
        let mut all = 0_u32;
        self.each_run(inode, |_, lines| all = all.saturating_add(lines))?;
        Ok(all)
    }

    fn check_file(&self, inode: Line<'_>) -> Result<(), Errno> {
        let mode = self.mode(inode.load(cell::MODE))?;
        if mode.is_directory() { Err(Errno::ISDIR) } else { Ok(()) }
    }

    /// Copies what lies before the end of a file.
    pub(crate) fn copy_content(
        &self,
        inode: Line<'_>,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Errno> {
        let Some(map) = self.map_of(inode)? else {
            return self.copy_run(inode, offset, into);
        };
        let (mut offset, mut into) = (offset, into);
        while !into.is_empty() {
            let (page, within) = split(offset)?;
            let place = self.place(&map, page)?;
            let there = u64::from(place.pages) * PAGE_BYTES - within as u64;
            let length = usize::try_from(there).unwrap_or(usize::MAX).min(into.len());
            let (now, later) = into.split_at_mut(length);
            if place.at.is_some() {
                self.arena().copy_out(place.at, within, now)?;
            } else {
                now.fill(0);
            }
            offset += length as u64;
            into = later;
        }
        Ok(())
    }

    fn copy_run(&self, inode: Line<'_>, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
        let bytes = usize::from(inode.load(cell::FORM)) * LINE_BYTES;
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes);
        let (there, zeros) = into.split_at_mut((bytes - from).min(into.len()));
        self.arena().copy_out(Ref(inode.load(cell::DATA)), from, there)?;
        zeros.fill(0);
        Ok(())
    }

    /// Writes into a file, all of it or as much as there is space for; how many bytes.
    ///
    /// # Errors
    /// [`Errno::ISDIR`], [`Errno::FBIG`], [`Errno::NOSPC`] if there is space for nothing.
    pub fn write_at(&self, node: Node, offset: u64, from: &[u8]) -> Result<usize, Errno> {
        let end = offset.checked_add(from.len() as u64).filter(|&end| end <= SIZE_MOST);
        end.ok_or(Errno::FBIG)?;
        let inode = self.lock_node(node)?;
        let done =
            self.check_file(inode).and_then(|()| self.write_locked(node.at, inode, offset, from));
        self.forget();
        self.unlock(node.at);
        self.settle_if_possible();
        done
    }

    /// Writes behind the end of a file; how many bytes, and where they are.
    ///
    /// # Errors
    /// As [`Self::write_at`].
    pub fn append(&self, node: Node, from: &[u8]) -> Result<(usize, u64), Errno> {
        let inode = self.lock_node(node)?;
        let done = self.check_file(inode).and_then(|()| {
            let offset = inode.load(cell::SIZE);
            let end = offset.checked_add(from.len() as u64).filter(|&end| end <= SIZE_MOST);
            end.ok_or(Errno::FBIG)?;
            Ok((self.write_locked(node.at, inode, offset, from)?, offset))
        });
        self.forget();
        self.unlock(node.at);
        self.settle_if_possible();
        done
    }

    fn write_locked(
        &self,
        at: Ref,
        inode: Line<'a>,
        offset: u64,
        from: &[u8],
    ) -> Result<usize, Errno> {
        self.zero_gap(inode, offset)?;
        let mut done = 0;
        while done < from.len() {
            self.ready_to_give()?;
            match self.write_piece(at, inode, offset + done as u64, &from[done..]) {
                Ok(bytes) => done += bytes,
                Err(_) if done > 0 => break,
                Err(why) => return Err(why),
            }
        }
        Ok(done)
    }

    /// Sees to it that a run is in stock for what is in a new inode, up to a page, besides another
    /// run that is needed too. The log must be empty.
    pub(crate) fn obtain_content(&self, content: &[u8], other: Ref) -> Result<Ref, Errno> {
        let lines = u32::of_bits(content.len().div_ceil(LINE_BYTES) as u64);
        if lines == 0 { Ok(Ref::NONE) } else { self.obtain_run_besides(lines, other) }
    }

    /// Fills in what is in an inode that nobody can reach yet, which takes that run.
    pub(crate) fn fill_content(
        &self,
        inode: Line<'_>,
        content: &[u8],
        run: Ref,
    ) -> Result<(), Errno> {
        self.fill(inode, cell::DATA, run.0);
        self.fill(inode, cell::FORM, u8::of_bits(content.len().div_ceil(LINE_BYTES) as u64));
        if content.is_empty() {
            return Ok(());
        }
        self.copy_in(run, 0, content)?;
        self.take_run(run)
    }

    /// Writes a first piece of it.
    fn write_piece(
        &self,
        at: Ref,
        inode: Line<'a>,
        offset: u64,
        from: &[u8],
    ) -> Result<usize, Errno> {
        let Some(map) = self.map_of(inode)? else {
            let end = offset + from.len() as u64;
            if end.max(inode.load(cell::SIZE)) <= PAGE_BYTES {
                return self.write_run(at, inode, offset, from);
            }
            self.begin_map(at, inode)?;
            return Ok(0);
        };
        let (page, within) = split(offset)?;
        let place = self.place(&map, page)?;
        let pages = within.saturating_add(from.len()).div_ceil(PAGE_LENGTH);
        let pages = u32::try_from(pages).unwrap_or(u32::MAX).min(place.pages);
        if place.at.is_some() {
            let from = first(from, pages, within);
            self.copy_in(place.at, within, from)?;
            self.grown(at, inode, offset + from.len() as u64);
            self.commit();
            return Ok(from.len());
        }
        let (run, pages) = self.obtain_pages(pages.min(zone::RUN_PAGES_MOST))?;
        let from = first(from, pages, within);
        self.fill_run(run, pages * PAGE, within, from)?;
        self.put_extent(at, &map, (page, pages), run)?;
        self.grown(at, inode, offset + from.len() as u64);
        self.commit();
        Ok(from.len())
    }

    /// Sees to it that so many pages in a row are in stock, or as many as there are.
    fn obtain_pages(&self, pages: u32) -> Result<(Ref, u32), Errno> {
        match self.obtain_run(pages * PAGE) {
            Err(Errno::NOSPC) if pages > 1 => self.obtain_pages(pages / 2),
            run => Ok((run?, pages)),
        }
    }

    /// Writes into a run that nobody else can reach, with zeros before and behind.
    fn fill_run(&self, run: Ref, lines: u32, within: usize, from: &[u8]) -> Result<(), Errno> {
        let bytes = lines as usize * LINE_BYTES;
        self.zero_bytes(run, 0, within)?;
        self.copy_in(run, within, from)?;
        self.zero_bytes(run, within + from.len(), bytes - within - from.len())
    }

    /// Zeroes what lies behind the end of a file, which is to be moved to `to` or farther.
    fn zero_gap(&self, inode: Line<'a>, to: u64) -> Result<(), Errno> {
        let size = inode.load(cell::SIZE);
        if to <= size {
            return Ok(());
        }
        let Some(map) = self.map_of(inode)? else {
            let bytes = usize::from(inode.load(cell::FORM)) * LINE_BYTES;
            let from = usize::try_from(size).unwrap_or(usize::MAX).min(bytes);
            return self.zero_bytes(Ref(inode.load(cell::DATA)), from, bytes - from);
        };
        let (page, within) = split(size)?;
        let place = self.place(&map, page)?;
        let is_there = place.at.is_some() && within > 0;
        if is_there { self.zero_bytes(place.at, within, PAGE_LENGTH - within) } else { Ok(()) }
    }

    /// Puts into the log that a file reaches to `end` at least, and has just been written.
    fn grown(&self, at: Ref, inode: Line<'_>, end: u64) {
        if end > inode.load(cell::SIZE) {
            self.put(at, cell::SIZE, end);
        }
        let now = self.seams().now_ns();
        self.put(at, cell::MTIME, now);
        self.put(at, cell::CTIME, now);
    }

    /// Writes into a file that stays within a page.
    fn write_run(
        &self,
        at: Ref,
        inode: Line<'a>,
        offset: u64,
        from: &[u8],
    ) -> Result<usize, Errno> {
        let within = usize::try_from(offset).map_err(|_| Errno::CORRUPT)?;
        let end = within + from.len();
        let (old, old_lines) = (Ref(inode.load(cell::DATA)), u32::from(inode.load(cell::FORM)));
        let needed = u32::of_bits(end.div_ceil(LINE_BYTES) as u64);
        if needed <= old_lines {
            self.copy_in(old, within, from)?;
            self.grown(at, inode, end as u64);
            self.commit();
            return Ok(from.len());
        }
        // What is written at once is as large as it is to be; what is added to may be again.
        let lines = if old_lines == 0 { needed } else { needed.max(old_lines * 3 / 2).min(PAGE) };
        let run = self.obtain_run(lines)?;
        let old_bytes = old_lines as usize * LINE_BYTES;
        self.arena().copy(old, run, old_bytes)?;
        self.zero_bytes(run, old_bytes, lines as usize * LINE_BYTES - old_bytes)?;
        self.copy_in(run, within, from)?;
        self.take_run(run)?;
        if old_lines > 0 {
            self.give_run(old, old_lines)?;
        }
        self.put(at, cell::DATA, run.0);
        self.put(at, cell::FORM, u8::of_bits(u64::from(lines)));
        self.grown(at, inode, end as u64);
        self.commit();
        Ok(from.len())
    }

    /// Gives a file a map, in which what it has so far is the first page.
    fn begin_map(&self, at: Ref, inode: Line<'a>) -> Result<(), Errno> {
        let (old, old_lines) = (Ref(inode.load(cell::DATA)), u32::from(inode.load(cell::FORM)));
        // One run for the page, and another for the map.
        let page = if old_lines > 0 { self.obtain_run(PAGE)? } else { Ref::NONE };
        let map = self.obtain_run_besides(1, page)?;
        self.zero(map, 1)?;
        if old_lines > 0 {
            let old_bytes = old_lines as usize * LINE_BYTES;
            self.arena().copy(old, page, old_bytes)?;
            self.zero_bytes(page, old_bytes, PAGE_LENGTH - old_bytes)?;
            let line = self.line(map)?;
            self.fill(line, content::WORD, 1 | 1 << 32);
            self.fill(line, content::WORD.element(1), map::extent(0, page));
            self.take_run(page)?;
        }
        self.take_run(map)?;
        if old_lines > 0 {
            self.give_run(old, old_lines)?;
        }
        self.put(at, cell::DATA, map.0);
        self.put(at, cell::FORM, content::MAP);
        self.commit();
        Ok(())
    }

    /// Gives a file this size: what lies behind is gone, and what is new reads as zeros.
    ///
    /// # Errors
    /// [`Errno::ISDIR`], [`Errno::INVAL`] for anything but a file, [`Errno::FBIG`].
    pub fn truncate(&self, node: Node, size: u64) -> Result<(), Errno> {
        if size > SIZE_MOST {
            return Err(Errno::FBIG);
        }
        let inode = self.lock_node(node)?;
        let done = self.check_file(inode).and_then(|()| {
            if self.mode(inode.load(cell::MODE))?.mode & TYPE != FILE {
                return Err(Errno::INVAL);
            }
            self.zero_gap(inode, size)?;
            self.cut(node.at, inode, size)?;
            let now = self.seams().now_ns();
            self.put(node.at, cell::SIZE, size);
            self.put(node.at, cell::MTIME, now);
            self.put(node.at, cell::CTIME, now);
            self.commit();
            Ok(())
        });
        self.forget();
        self.unlock(node.at);
        self.settle_if_possible();
        done
    }

    /// Gives back what a file, which is locked, has behind `size`, a little at a time. Each time
    /// it is smaller, so that whoever goes on with it finds a whole file.
    fn cut(&self, at: Ref, inode: Line<'a>, size: u64) -> Result<(), Errno> {
        if size > 0 && size >= inode.load(cell::SIZE) {
            return Ok(());
        }
        let pages = u32::try_from(size.div_ceil(PAGE_BYTES)).map_err(|_| Errno::FBIG)?;
        while let Some(map) = self.map_of(inode)? {
            self.ready_to_give()?;
            if map.extents == 0 {
                self.give_run(map.at, map.lines())?;
                self.put(at, cell::DATA, 0_u32);
                self.put(at, cell::FORM, 0_u8);
                self.put(at, cell::SIZE, 0_u64);
                self.commit();
            } else if map.end > pages {
                self.cut_extent(at, inode, &map, pages)?;
            } else {
                return Ok(());
            }
        }
        self.ready_to_give()?;
        self.cut_run(at, inode, size)
    }

    /// Gives back pages of the last extent, those from `pages` on.
    fn cut_extent(&self, at: Ref, inode: Line<'a>, map: &Map, pages: u32) -> Result<(), Errno> {
        let last = map.extents.checked_sub(1).ok_or(Errno::CORRUPT)?;
        let (first, place) = self.extent(map, last)?;
        if first >= map.end {
            return Err(Errno::CORRUPT);
        }
        let from = first.max(pages).max(map.end.saturating_sub(zone::RUN_PAGES_MOST));
        if place.is_some() {
            let run = place.plus(lines_of(from - first)?);
            self.give_run(run, lines_of(map.end - from)?)?;
        }
        let from = if place.is_some() { from } else { first.max(pages) };
        let left = if from == first { last } else { map.extents };
        let (header_at, header) = map.word(0);
        self.put(header_at, header, u64::from(left) | u64::from(from) << 32);
        let size = u64::from(from) * PAGE_BYTES;
        self.put(at, cell::SIZE, size.min(inode.load(cell::SIZE)));
        self.commit();
        Ok(())
    }

    /// Gives back the last lines of a small file.
    fn cut_run(&self, at: Ref, inode: Line<'a>, size: u64) -> Result<(), Errno> {
        let lines = u32::from(inode.load(cell::FORM));
        let size = size.min(inode.load(cell::SIZE));
        let left = u32::of_bits(size.div_ceil(LINE_BYTES as u64).min(lines.into()));
        let old = Ref(inode.load(cell::DATA));
        if left == 0 && lines > 0 {
            self.give_run(old, lines)?;
            self.put(at, cell::FORM, 0_u8);
            self.put(at, cell::DATA, 0_u32);
        } else if left < lines && lines < PAGE {
            self.give_run(old.plus(left), lines - left)?;
            self.put(at, cell::FORM, u8::of_bits(left.into()));
        } else if left < lines {
            // A page has no lines of its own: it is exchanged for some, if there are any.
            if let Ok(run) = self.obtain_run(left) {
                self.arena().copy(old, run, left as usize * LINE_BYTES)?;
                self.take_run(run)?;
                self.give_run(old, lines)?;
                self.put(at, cell::DATA, run.0);
                self.put(at, cell::FORM, u8::of_bits(left.into()));
            }
        }
        self.put(at, cell::SIZE, size);
        self.commit();
        Ok(())
    }

    /// Puts into the log that an inode, which is locked, has neither names nor users: it goes, or
    /// if it has much, it is noted to be taken apart by [`Self::bury`].
    pub(crate) fn let_go(&self, at: Ref, inode: Line<'_>) -> Result<(), Errno> {
        let form = inode.load(cell::FORM);
        let is_directory = self.mode(inode.load(cell::MODE))?.is_directory();
        if is_directory || form == 0 {
            return self.give_cell(at);
        }
        if form <= content::RUN_MOST {
            self.give_run(Ref(inode.load(cell::DATA)), form.into())?;
            return self.give_cell(at);
        }
        self.put(self.slot_line(slot::STATE), slot::DYING, at.0);
        Ok(())
    }

    /// Takes apart what [`Self::let_go`] has noted.
    #[inline]
    pub(crate) fn bury(&self) -> Result<(), Errno> {
        match Ref(self.dying()) {
            Ref::NONE => Ok(()),
            at => self.take_apart(at),
        }
    }

    #[cold]
    #[inline(never)]
    fn take_apart(&self, at: Ref) -> Result<(), Errno> {
        let inode = self.lock(at)?;
        let buried = self.cut(at, inode, 0).and_then(|()| {
            self.ready_to_give()?;
            self.give_cell(at)?;
            self.put(self.slot_line(slot::STATE), slot::DYING, 0_u32);
            self.commit();
            Ok(())
        });
        self.forget();
        self.unlock(at);
        buried
    }
}

/// Lines of so many pages.
fn lines_of(pages: u32) -> Result<u32, Errno> {
    pages.checked_mul(PAGE).ok_or(Errno::CORRUPT)
}

/// The page of a file, and the byte of the page.
fn split(offset: u64) -> Result<(u32, usize), Errno> {
    let page = u32::try_from(offset / PAGE_BYTES).map_err(|_| Errno::FBIG)?;
    Ok((page, (offset % PAGE_BYTES) as usize))
}

/// As much as fits into so many pages behind the first bytes of the first one.
fn first(from: &[u8], pages: u32, within: usize) -> &[u8] {
    let most = (pages as usize).saturating_mul(PAGE_LENGTH).saturating_sub(within);
    &from[..most.min(from.len())]
}
