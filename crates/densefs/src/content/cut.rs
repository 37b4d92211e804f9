//! Freeing a file's content: truncation, and removal with the file.

use super::map::{Entry, Map};
use super::{PAGE, PAGE_BYTES, SIZE_MAX, lines_of};
use crate::annex::{Inode, InodeCell};
use crate::arena::{LINE_BYTES, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, content, slot, zone};
use crate::member::{Member, Node};
use crate::modes::{FILE, TYPE};
use crate::opens::Opens;
use crate::seams::Seams;

impl<'a, S: Seams> Member<'a, S> {
    /// Sets a file's size. Bytes past the new end are lost; new bytes read as zeros.
    ///
    /// # Errors
    /// [`Errno::ISDIR`], [`Errno::INVAL`] for anything but a regular file, [`Errno::FBIG`].
    pub fn truncate(&self, node: Node, size: u64) -> Result<(), Errno> {
        if size > SIZE_MAX {
            return Err(Errno::FBIG);
        }
        let inode = self.lock_node(&node)?;
        let done = self.begin_change(node.at, inode, true).and_then(|()| {
            if self.mode(inode.load(cell::MODE))?.mode & TYPE != FILE {
                return Err(Errno::INVAL);
            }
            let inode = self.inode(node.at, inode)?;
            self.zero_gap(&inode, size)?;
            if self.is_mapped(&inode) && self.map_of(inode.body)?.is_some() {
                self.empty_past(&inode, size)?;
            } else {
                self.cut(&inode, size)?;
            }
            let now = self.seams().now_ns();
            self.put_later(node.at, cell::SIZE, size);
            self.put_written(node.at, inode.line, now);
            self.commit();
            Ok(())
        });
        self.finish();
        done
    }

    /// Frees what a file, which is locked, has past `size`, a little at a time. The file shrinks
    /// with each step, so a thread that continues after a crash finds a consistent file.
    fn cut(&self, inode: &Inode<'a>, size: u64) -> Result<(), Errno> {
        if size > 0 && size >= inode.line.load(cell::SIZE) {
            return Ok(());
        }
        let pages = u32::try_from(size.div_ceil(PAGE_BYTES)).map_err(|_| Errno::FBIG)?;
        while let Some(map) = self.map_of(inode.body)? {
            self.ready_to_give()?;
            if map.root.count == 0 {
                self.give_run(map.root.at, map.root.lines())?;
                self.put_later(inode.body_at, cell::DATA, 0_u32);
                self.put_later(inode.body_at, cell::FORM, 0_u8);
                self.put_later(inode.at, cell::SIZE, 0_u64);
                self.commit();
            } else if map.end > pages {
                self.cut_extent(inode, &map, pages, false)?;
            } else {
                return self.lower_root(inode);
            }
        }
        self.ready_to_give()?;
        self.cut_run(inode, size)
    }

    /// Frees the pages of the last extent from `pages` on. The file shrinks with them, unless
    /// `keeps_size` is set.
    pub(super) fn cut_extent(
        &self,
        inode: &Inode<'a>,
        map: &Map,
        pages: u32,
        keeps_size: bool,
    ) -> Result<(), Errno> {
        let way = self.way_to(map, map.end)?;
        let Entry { page: first, at: start } = self.map_entry(way.leaf(), way.step(0).index)?;
        if first >= map.end {
            return Err(Errno::CORRUPT);
        }
        let from = first.max(pages).max(map.end.saturating_sub(zone::RUN_PAGES_MAX));
        if start.is_some() {
            let run = start.plus(lines_of(from - first)?);
            let lines = if map.tail > 0 { map.tail } else { lines_of(map.end - from)? };
            self.give_run(run, lines)?;
        }
        let from = if start.is_some() { from } else { first.max(pages) };
        self.put_shorter(map, from, from == first)?;
        if !keeps_size {
            let size = u64::from(from) * PAGE_BYTES;
            self.put_later(inode.at, cell::SIZE, size.min(inode.line.load(cell::SIZE)));
        }
        self.commit();
        Ok(())
    }

    /// Frees the last lines of a small file.
    fn cut_run(&self, inode: &Inode<'a>, size: u64) -> Result<(), Errno> {
        let lines = u32::from(inode.body.load(cell::FORM));
        let size = size.min(inode.line.load(cell::SIZE));
        let left = u32::from_bits(size.div_ceil(LINE_BYTES as u64).min(lines.into()));
        let old = Ref(inode.body.load(cell::DATA));
        if left == 0 && lines > 0 {
            self.give_run(old, lines)?;
            self.put_later(inode.body_at, cell::FORM, 0_u8);
            self.put_later(inode.body_at, cell::DATA, 0_u32);
        } else if left < lines && lines < PAGE {
            self.give_run(old.plus(left), lines - left)?;
            self.put_later(inode.body_at, cell::FORM, u8::from_bits(left.into()));
        } else if left < lines {
            // A whole page cannot be freed line by line, so it is replaced by a shorter run if one
            // can be had.
            if let Ok(run) = self.obtain_run(left) {
                self.arena().copy(old, run, left as usize * LINE_BYTES)?;
                self.take_run(run)?;
                self.give_run(old, lines)?;
                self.put_later(inode.body_at, cell::DATA, run.0);
                self.put_later(inode.body_at, cell::FORM, u8::from_bits(left.into()));
            }
        }
        self.put_later(inode.at, cell::SIZE, size);
        self.commit();
        Ok(())
    }

    /// Logs that an inode, which is locked, has no names, and that nobody has its content open. It
    /// is freed at once if it has little content; otherwise it is noted, for [`Self::bury`] to take
    /// apart. If there are descriptions that keep its number, its cell stays.
    #[inline]
    pub(crate) fn let_go(&self, inode: InodeCell<'_>, opens: Opens) -> Result<(), Errno> {
        let InodeCell { at, line } = inode;
        if !opens.is_none() {
            return self.let_content_go(inode, opens);
        }
        let form = line.load(cell::FORM);
        let is_directory = self.mode(line.load(cell::MODE))?.is_directory();
        if form == 0 || is_directory && form != cell::ANNEX {
            return self.give_cell(at);
        }
        if form <= content::RUN_MAX {
            self.give_run(Ref(line.load(cell::DATA)), form.into())?;
            return self.give_cell(at);
        }
        self.put_later(self.slot_line(slot::STATE), slot::DYING, at.0);
        Ok(())
    }

    /// Logs that a file's content is freed, or is noted to be. Its attributes stay, including the
    /// size. Inodes of other types keep the little that they have.
    #[cold]
    #[inline(never)]
    fn let_content_go(&self, inode: InodeCell<'_>, opens: Opens) -> Result<(), Errno> {
        let InodeCell { at, line } = inode;
        let form = line.load(cell::FORM);
        if form == 0 || self.mode(line.load(cell::MODE))?.mode & TYPE != FILE {
            return Ok(());
        }
        if form <= content::RUN_MAX {
            self.give_run(Ref(line.load(cell::DATA)), form.into())?;
            self.put_later(at, cell::DATA, 0_u32);
            self.put_later(at, cell::FORM, 0_u8);
            return Ok(());
        }
        self.put_later(at, cell::OPENS, opens.freeing().0);
        self.put_later(self.slot_line(slot::STATE), slot::DYING, at.0);
        Ok(())
    }

    /// Takes apart the inode that [`Self::let_go`] has noted.
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
        let line = self.lock(at)?;
        let buried = self.inode(at, line).and_then(|inode| {
            let (opens, size) = (Opens::from_inode(line).freed(), line.load(cell::SIZE));
            self.cut(&inode, 0)?;
            self.ready_to_give()?;
            if opens.is_none() {
                self.give_annex(&inode)?;
                self.give_cell(at)?;
            } else {
                self.put_later(at, cell::OPENS, opens.0);
                self.put_later(at, cell::SIZE, size);
            }
            self.put_later(self.slot_line(slot::STATE), slot::DYING, 0_u32);
            self.commit();
            Ok(())
        });
        self.forget();
        self.unlock();
        buried
    }
}
