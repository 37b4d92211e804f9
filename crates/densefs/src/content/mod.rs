//! The content of files: reading, writing, truncating.
//!
//! A file of up to a page is a single run of lines. A larger one has a map of extents, which are
//! whole pages. Holes read as zeros. The rest of the last line or page past the end of a file is
//! undefined, and is zeroed before the end moves past it. Bytes are copied once; a reader that
//! races with a writer reads again.
//!
//! A call that fails for space changes nothing: all runs that it needs are in stock before it takes
//! the first one, or it gives back what it took.

mod balance;
mod cut;
mod edit;
mod holes;
mod map;
mod mapped;
#[cfg(test)]
mod tests;
mod wanted;
mod write;

use crate::arena::{LINE_BYTES, LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{cell, content, superblock};
use crate::member::{Member, Node};
use crate::modes::{FILE, Mode, SETGID, SETUID, SYMLINK, TYPE};
use crate::seams::Seams;

pub use holes::SeekTarget;
pub use mapped::MappedRun;

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
            self.put_later(at, cell::MODE, index);
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
