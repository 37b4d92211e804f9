//! The table of modes: every combination of owner, group, type and permissions that any inode has
//! had, once. Inodes refer to it by index. Entries are never removed, so the meaning of an index
//! never changes. When all 65,534 are in use, a call that needs another fails with `ENOSPC`.

use crate::arena::{LINES_PER_PAGE, Line, Ref};
use crate::errno::Errno;
use crate::layout::{mode_entry, superblock};
use crate::member::{MODES_CACHED, Member};
use crate::modes::Mode;
use crate::seams::Seams;

impl<'a, S: Seams> Member<'a, S> {
    /// The mode with this index.
    #[inline(always)]
    pub(crate) fn mode(&self, index: u16) -> Result<Mode, Errno> {
        let known = &self.modes[usize::from(index) % MODES_CACHED];
        if known.index.get() == u32::from(index) {
            return Ok(Mode { uid: known.uid.get(), gid: known.gid.get(), mode: known.mode.get() });
        }
        self.load_mode(index)
    }

    #[cold]
    #[inline(never)]
    fn load_mode(&self, index: u16) -> Result<Mode, Errno> {
        let (line, place) = self.mode_line(u32::from(index))?;
        let mode = Mode {
            uid: line.load(mode_entry::UID.element(4 * place)),
            gid: line.load(mode_entry::GID.element(4 * place)),
            mode: line.load(mode_entry::MODE.element(4 * place)),
        };
        let table = self.line(superblock::MODES)?;
        if u32::from(index) < table.load(superblock::MODE_COUNT).min(mode_entry::MAX) {
            let known = &self.modes[usize::from(index) % MODES_CACHED];
            known.index.set(index.into());
            known.uid.set(mode.uid);
            known.gid.set(mode.gid);
            known.mode.set(mode.mode);
        }
        Ok(mode)
    }

    /// The line of an entry, and its index in the line.
    #[inline]
    fn mode_line(&self, index: u32) -> Result<(Line<'a>, usize), Errno> {
        let (page, within) = (index / mode_entry::PER_PAGE, index % mode_entry::PER_PAGE);
        let pages = self.line(superblock::MODE_PAGES.plus(page / 16))?;
        let page = Ref(pages.load(superblock::MODE_PAGE.element((page % 16) as usize)));
        if !page.is_some() {
            return Err(Errno::CORRUPT);
        }
        let line = self.line(page.plus(within / mode_entry::PER_LINE))?;
        Ok((line, (within % mode_entry::PER_LINE) as usize))
    }

    /// The index of a mode, which is added if it is not in the table yet. The log must be empty.
    #[inline]
    pub(crate) fn index_of(&self, mode: Mode) -> Result<u16, Errno> {
        if let Some(last) = self.last_mode.get()
            && self.mode(last)? == mode
        {
            return Ok(last);
        }
        let index = self.look_mode_up(mode)?;
        self.last_mode.set(Some(index));
        Ok(index)
    }

    #[cold]
    #[inline(never)]
    fn look_mode_up(&self, mode: Mode) -> Result<u16, Errno> {
        let table = self.line(superblock::MODES)?;
        let count = table.load(superblock::MODE_COUNT).min(mode_entry::MAX);
        if let Some(index) = self.mode_among(mode, 0, count)? {
            return Ok(index);
        }
        self.lock(superblock::MODES)?;
        let added = self.add_mode(mode, count, table);
        self.forget();
        self.unlock();
        added
    }

    fn mode_among(&self, mode: Mode, from: u32, to: u32) -> Result<Option<u16>, Errno> {
        for index in from..to {
            let index = u16::try_from(index).map_err(|_| Errno::CORRUPT)?;
            if self.mode(index)? == mode {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Adds a mode to the table, which must be locked, unless another thread has added it since the
    /// search up to `from`.
    fn add_mode(&self, mode: Mode, from: u32, table: Line<'a>) -> Result<u16, Errno> {
        let count = table.load(superblock::MODE_COUNT);
        if let Some(index) = self.mode_among(mode, from, count.min(mode_entry::MAX))? {
            return Ok(index);
        }
        if count >= mode_entry::MAX {
            return Err(Errno::NOSPC);
        }
        if count.is_multiple_of(mode_entry::PER_PAGE) {
            let run = self.obtain_run(LINES_PER_PAGE)?;
            let page = count / mode_entry::PER_PAGE;
            let at = superblock::MODE_PAGES.plus(page / 16);
            self.take_run(run)?;
            self.put(at, superblock::MODE_PAGE.element((page % 16) as usize), run.0);
            self.commit();
        }
        let (line, place) = self.mode_line(count)?;
        self.fill(line, mode_entry::UID.element(4 * place), mode.uid);
        self.fill(line, mode_entry::GID.element(4 * place), mode.gid);
        self.fill(line, mode_entry::MODE.element(4 * place), mode.mode);
        self.put(superblock::MODES, superblock::MODE_COUNT, count + 1);
        self.commit();
        u16::try_from(count).map_err(|_| Errno::CORRUPT)
    }
}
