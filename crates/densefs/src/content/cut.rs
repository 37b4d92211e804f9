//! Freeing a file's content: truncation, and removal with the file.

use super::map::{Entry, Map};
use super::{PAGE, PAGE_BYTES, SIZE_MAX, lines_of};
use crate::annex::{Inode, InodeCell};
use crate::arena::{LINE_BYTES, Ref, Word};
use crate::errno::Errno;
use crate::layout::{annex, cell, content, slot, zone};
use crate::member::{Member, Node};
use crate::modes::{FILE, TYPE};
use crate::opens::Opens;
use crate::seams::Seams;

impl<'a, S: Seams> Member<'a, S> {
    /// Sets a file's size. Bytes past the new end are lost; new bytes read as zeros.
    ///
    /// The file has its new size at once. If this thread dies before all that is past it has been
    /// freed, the rest stays until the file is truncated again or removed, and is zeroed if the
    /// file grows over it.
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
            let keeps_pages = self.is_mapped(&inode) && self.map_of(inode.body)?.is_some();
            let (now, old) = (self.seams().now_ns(), inode.line.load(cell::SIZE));
            if keeps_pages && size < old {
                self.fill(inode.body, annex::HAS_EXCESS, 1);
            }
            self.put_later(node.at, cell::SIZE, size);
            self.put_written(node.at, inode.line, now);
            self.commit();
            match size < old || size == 0 {
                true if keeps_pages => self.zero_there(&inode, size, old),
                true => self.cut(&inode, size),
                false => Ok(()),
            }
        });
        self.finish();
        done
    }

    /// Frees what a file, which is locked, has past `size`, a little at a time, so that a thread
    /// that continues after a crash finds a consistent file. The file keeps its size.
    fn cut(&self, inode: &Inode<'a>, size: u64) -> Result<(), Errno> {
        let pages = u32::try_from(size.div_ceil(PAGE_BYTES)).map_err(|_| Errno::FBIG)?;
        while let Some(map) = self.map_of(inode.body)? {
            self.ready_to_give()?;
            if map.root.count == 0 {
                self.give_run(map.root.at, map.root.lines())?;
                self.put_later(inode.body_at, cell::DATA, 0_u32);
                self.put_later(inode.body_at, cell::FORM, 0_u8);
                self.commit();
            } else if map.end > pages {
                self.cut_extent(&map, pages)?;
            } else {
                return self.lower_root(inode);
            }
        }
        self.ready_to_give()?;
        self.cut_run(inode, size)
    }

    /// Frees the pages of the last extent from `pages` on. The file keeps its size.
    pub(super) fn cut_extent(&self, map: &Map, pages: u32) -> Result<(), Errno> {
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
        self.commit();
        Ok(())
    }

    /// Frees the last lines of a small file.
    fn cut_run(&self, inode: &Inode<'a>, size: u64) -> Result<(), Errno> {
        let lines = u32::from(inode.body.load(cell::FORM));
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
            let opens = Opens::from_inode(line).freed();
            self.cut(&inode, 0)?;
            self.ready_to_give()?;
            if opens.is_none() {
                self.give_annex(&inode)?;
                self.give_cell(at)?;
            } else {
                self.put_later(at, cell::OPENS, opens.0);
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
