//! The table of modes: each combination of owner, group, type and permissions that any inode has
//! had, once. Inodes hold its index. Entries are never taken away, so that an index always means
//! the same; when all 65,535 are in use, a call that needs another fails with `ENOSPC`.

use core::cell::Cell;

use crate::arena::{LINES_PER_PAGE, Line, Ref};
use crate::errno::Errno;
use crate::layout::{mode_entry, superblock};
use crate::member::Member;
use crate::seams::Seams;

/// Bits of a mode that say which type of file it is.
pub const TYPE: u32 = 0o170_000;
/// A directory.
pub const DIRECTORY: u32 = 0o040_000;
/// A regular file.
pub const FILE: u32 = 0o100_000;
/// A symbolic link.
pub const SYMLINK: u32 = 0o120_000;
/// A device of characters.
pub const CHARACTERS: u32 = 0o020_000;
/// A device of blocks.
pub const BLOCKS: u32 = 0o060_000;
/// Set-user-ID.
pub const SETUID: u32 = 0o4000;
/// Set-group-ID.
pub const SETGID: u32 = 0o2000;
/// The sticky bit.
pub const STICKY: u32 = 0o1000;

/// Modes that a thread remembers: what an index means never changes.
pub(crate) const MODES_KNOWN: usize = 8;
/// What a thread remembers that remembers nothing.
#[derive(Debug)]
pub(crate) struct KnownMode {
    index: Cell<u32>,
    uid: Cell<u32>,
    gid: Cell<u32>,
    mode: Cell<u32>,
}

impl KnownMode {
    /// None.
    pub(crate) const fn new() -> Self {
        const fn zero() -> Cell<u32> {
            Cell::new(0)
        }
        Self { index: Cell::new(u32::MAX), uid: zero(), gid: zero(), mode: zero() }
    }
}

/// To read.
pub const READ: u32 = 4;
/// To write.
pub const WRITE: u32 = 2;
/// To execute, or to search.
pub const EXECUTE: u32 = 1;

/// Whether this is the mode of a device.
#[inline(always)]
#[must_use]
pub fn is_device(mode: u32) -> bool {
    matches!(mode & TYPE, CHARACTERS | BLOCKS)
}

/// Owner, group, type and permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// Type and permissions, as in `st_mode`.
    pub mode: u32,
}

/// On whose behalf something is done.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'c> {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// Further groups.
    pub groups: &'c [u32],
    /// Permissions that new files do not get.
    pub umask: u32,
    /// Whether somebody else has checked that it may, as the kernel does for a mount.
    pub is_checked: bool,
}

/// Who says on whose behalf something is done, when that matters.
pub trait AsCaller {
    /// On whose.
    fn as_caller(&self) -> Caller<'_>;
}

impl AsCaller for Caller<'_> {
    #[inline(always)]
    fn as_caller(&self) -> Caller<'_> {
        *self
    }
}

impl Caller<'_> {
    /// Root, who may do everything.
    pub const ROOT: Caller<'static> =
        Caller { uid: 0, gid: 0, groups: &[], umask: 0o022, is_checked: true };

    /// Whether it may do everything.
    #[inline(always)]
    #[must_use]
    pub fn may_all(&self) -> bool {
        self.is_checked || self.uid == 0
    }

    /// Whether it is of that group.
    #[must_use]
    pub fn is_in(&self, gid: u32) -> bool {
        self.gid == gid || self.groups.contains(&gid)
    }
}

impl Mode {
    /// Whether it is that of a directory.
    #[inline(always)]
    #[must_use]
    pub fn is_directory(self) -> bool {
        self.mode & TYPE == DIRECTORY
    }

    /// Checks that the caller may do all of `wanted`: [`READ`], [`WRITE`], [`EXECUTE`].
    ///
    /// # Errors
    /// [`Errno::ACCES`].
    #[inline(always)]
    pub fn allow(self, caller: &impl AsCaller, wanted: u32) -> Result<(), Errno> {
        // What everybody may needs no look at who it is.
        let all = wanted << 6 | wanted << 3 | wanted;
        if all & !self.mode == 0 { Ok(()) } else { self.allow_by_class(caller, wanted) }
    }

    #[inline(never)]
    fn allow_by_class(self, caller: &impl AsCaller, wanted: u32) -> Result<(), Errno> {
        let caller = caller.as_caller();
        let granted = if caller.uid == self.uid {
            self.mode >> 6
        } else if caller.uid != 0 && caller.is_in(self.gid) {
            self.mode >> 3
        } else {
            self.mode
        };
        if wanted & !granted == 0 {
            return Ok(());
        }
        // Root may do everything, but execute only what somebody may.
        let executes_nothing = wanted & EXECUTE != 0 && !self.is_directory();
        if caller.may_all() && !(executes_nothing && self.mode & 0o111 == 0) {
            return Ok(());
        }
        Err(Errno::ACCES)
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// The mode with this index.
    #[inline(always)]
    pub(crate) fn mode(&self, index: u16) -> Result<Mode, Errno> {
        let known = &self.modes[usize::from(index) % MODES_KNOWN];
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
        if u32::from(index) < table.load(superblock::MODE_COUNT).min(mode_entry::MOST) {
            let known = &self.modes[usize::from(index) % MODES_KNOWN];
            known.index.set(index.into());
            known.uid.set(mode.uid);
            known.gid.set(mode.gid);
            known.mode.set(mode.mode);
        }
        Ok(mode)
    }

    /// The line of an entry, and its place there.
    #[inline]
    fn mode_line(&self, index: u32) -> Result<(Line<'a>, usize), Errno> {
        let (page, within) = (index / mode_entry::PER_PAGE, index % mode_entry::PER_PAGE);
        let pages = self.line(superblock::MODE_PAGES.plus(page / 16))?;
        let page = Ref(pages.load(PAGE.element((page % 16) as usize)));
        if !page.is_some() {
            return Err(Errno::CORRUPT);
        }
        let line = self.line(page.plus(within / mode_entry::PER_LINE))?;
        Ok((line, (within % mode_entry::PER_LINE) as usize))
    }

    /// The index of a mode, which is added if the table lacks it. The log must be empty.
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
        let count = table.load(superblock::MODE_COUNT).min(mode_entry::MOST);
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

    /// Adds a mode to the table, which is locked, unless another has since it was looked for.
    fn add_mode(&self, mode: Mode, from: u32, table: Line<'a>) -> Result<u16, Errno> {
        let count = table.load(superblock::MODE_COUNT);
        if let Some(index) = self.mode_among(mode, from, count.min(mode_entry::MOST))? {
            return Ok(index);
        }
        if count >= mode_entry::MOST {
            return Err(Errno::NOSPC);
        }
        if count.is_multiple_of(mode_entry::PER_PAGE) {
            let run = self.obtain_run(LINES_PER_PAGE)?;
            let page = count / mode_entry::PER_PAGE;
            let at = superblock::MODE_PAGES.plus(page / 16);
            self.take_run(run)?;
            self.put(at, PAGE.element((page % 16) as usize), run.0);
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

/// The first reference to a page of the table in a line of such.
pub(crate) const PAGE: crate::arena::Field<u32> = crate::arena::Field::at(0);

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(uid: u32, gid: u32, groups: &[u32]) -> Caller<'_> {
        Caller { uid, gid, groups, umask: 0, is_checked: false }
    }

    #[test]
    fn the_first_class_that_fits_decides() {
        let mode = Mode { uid: 1, gid: 2, mode: FILE | 0o074 };
        // The owner may less than its group.
        assert_eq!(mode.allow(&caller(1, 2, &[]), READ), Err(Errno::ACCES));
        assert_eq!(mode.allow(&caller(3, 2, &[]), READ | WRITE | EXECUTE), Ok(()));
        assert_eq!(mode.allow(&caller(3, 4, &[5, 2]), WRITE), Ok(()));
        assert_eq!(mode.allow(&caller(3, 4, &[5]), READ), Ok(()));
        assert_eq!(mode.allow(&caller(3, 4, &[5]), WRITE), Err(Errno::ACCES));
    }

    #[test]
    fn what_one_class_lacks_it_may_not() {
        let callers = [caller(1, 9, &[]), caller(9, 2, &[]), caller(9, 9, &[])];
        for (class, lacking) in [0o077, 0o707, 0o770].into_iter().enumerate() {
            let mode = Mode { uid: 1, gid: 2, mode: FILE | lacking };
            for (place, one) in callers.iter().enumerate() {
                let expected = if place == class { Err(Errno::ACCES) } else { Ok(()) };
                assert_eq!(mode.allow(one, READ), expected, "{lacking:o} {one:?}");
            }
        }
    }

    #[test]
    fn root_may_everything_but_execute_what_nobody_may() {
        let root = Caller::ROOT;
        let file = Mode { uid: 1, gid: 1, mode: FILE };
        assert_eq!(file.allow(&root, READ | WRITE), Ok(()));
        assert_eq!(file.allow(&root, EXECUTE), Err(Errno::ACCES));
        assert_eq!(Mode { mode: FILE | 0o100, ..file }.allow(&root, EXECUTE), Ok(()));
        assert_eq!(Mode { mode: DIRECTORY, ..file }.allow(&root, EXECUTE), Ok(()));
    }
}
