//! The pages of mapped files, which stay where they are.

use super::holes::FilledHoles;
use super::{PAGE_BYTES, PAGE_LENGTH, length, split};
use crate::annex::Inode;
use crate::errno::Errno;
use crate::layout::{annex, cell};
use crate::member::{Member, Node};
use crate::seams::Seams;

/// Pages of a file that are contiguous in the arena, or all part of a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedRun {
    /// The first page of the file.
    pub page: u32,
    /// How many there are.
    pub pages: u32,
    /// The page of the arena with the first one; none for a hole.
    pub at: Option<u32>,
}

impl<'a, S: Seams> Member<'a, S> {
    /// Whether a file's pages must stay where they are.
    pub(super) fn is_mapped(&self, inode: &Inode<'a>) -> bool {
        inode.has_annex() && inode.body.load(annex::MAPPINGS) > 0
    }

    /// Gives a file that is mapped whole pages only, of which these bytes have all if `fills_holes`
    /// is set, as far as the file goes.
    pub(crate) fn prepare_pages(
        &self,
        node: Node,
        offset: u64,
        length: u64,
        fills_holes: bool,
    ) -> Result<(), Errno> {
        let line = self.lock_node(&node)?;
        let done = self.inode(node.at, line).and_then(|inode| {
            let done = self.make_pages(&inode, offset, length, fills_holes);
            if let Err(why) = done { self.failed(why) } else { Ok(()) }
        });
        self.finish();
        done
    }

    fn make_pages(
        &self,
        inode: &Inode<'a>,
        offset: u64,
        length: u64,
        fills_holes: bool,
    ) -> Result<(), Errno> {
        let end = offset.saturating_add(length).min(inode.line.load(cell::SIZE));
        if end <= offset {
            return Ok(());
        }
        self.ready_to_give()?;
        if self.map_of(inode.body)?.is_none() {
            self.begin_map(inode)?;
            self.ready_to_give()?;
        }
        let map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
        if map.tail > 0 {
            self.lengthen_tail(&map, PAGE_LENGTH)?;
        }
        if !fills_holes {
            return Ok(());
        }
        let mut filled = FilledHoles::new();
        self.allocate_locked(inode, offset, end, &mut filled).or_else(|why| {
            self.forget();
            self.free_again(inode, &filled)?;
            Err(why)
        })
    }

    /// Calls `each` with these pages of a mapped file, as far as the file has any.
    pub(crate) fn each_run_of_pages(
        &self,
        node: Node,
        first: u32,
        pages: u32,
        each: &mut impl FnMut(MappedRun),
    ) -> Result<(), Errno> {
        let line = self.lock_node(&node)?;
        let done = self.inode(node.at, line).and_then(|inode| {
            let size = inode.line.load(cell::SIZE);
            let end = u32::try_from(size.div_ceil(PAGE_BYTES)).unwrap_or(u32::MAX);
            let end = first.saturating_add(pages).min(end);
            let mut page = first;
            while page < end {
                let map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
                let location = self.locate_page(&map, page)?;
                let pages = location.pages.min(end - page);
                if pages == 0 || map.is_tail(page) && location.at.is_some() {
                    return Err(Errno::CORRUPT);
                }
                let at = location.at.is_some().then_some(location.at.0 / super::PAGE);
                each(MappedRun { page, pages, at });
                page += pages;
            }
            Ok(())
        });
        self.unlock();
        done
    }

    /// Zeroes the pages between the end of a file, which is about to move to `to`, and there, if it
    /// has kept any: programs may have written to them.
    #[cold]
    #[inline(never)]
    pub(super) fn zero_excess(&self, inode: &Inode<'a>, size: u64, to: u64) -> Result<(), Errno> {
        let has_excess = inode.body.load(annex::HAS_EXCESS) != 0;
        if has_excess { self.zero_there(inode, size, to) } else { Ok(()) }
    }

    /// Zeroes bytes of a file with a map, where it has pages.
    pub(super) fn zero_there(&self, inode: &Inode<'a>, from: u64, to: u64) -> Result<(), Errno> {
        let mut at = from;
        while at < to {
            let map = self.map_of(inode.body)?.ok_or(Errno::CORRUPT)?;
            let (page, within) = split(at)?;
            let location = self.locate_page(&map, page)?;
            let start = at - within as u64;
            let behind = start + u64::from(location.pages) * PAGE_BYTES;
            if location.pages == 0 {
                return Err(Errno::CORRUPT);
            }
            if location.at.is_some() {
                let stored = (start + location.bytes).min(to);
                self.zero_bytes(location.at, within, length(stored.saturating_sub(at)))?;
            }
            at = behind;
        }
        Ok(())
    }

    /// Frees the pages that a file has kept past its end only because it was mapped.
    pub(crate) fn cut_excess(&self, inode: &Inode<'a>) -> Result<(), Errno> {
        if inode.body.load(annex::HAS_EXCESS) == 0 {
            return Ok(());
        }
        let pages = inode.line.load(cell::SIZE).div_ceil(PAGE_BYTES);
        let pages = u32::try_from(pages).map_err(|_| Errno::FBIG)?;
        while let Some(map) = self.map_of(inode.body)?.filter(|map| map.end > pages) {
            self.ready_to_give()?;
            self.cut_extent(&map, pages)?;
        }
        if self.map_of(inode.body)?.is_some() {
            self.lower_root(inode)?;
        }
        self.fill(inode.body, annex::HAS_EXCESS, 0);
        Ok(())
    }
}
