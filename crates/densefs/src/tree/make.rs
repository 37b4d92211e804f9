//! New names: of new inodes, and of those that there are.

use super::{LINKS_MOST, Node, Parent, Stat};
use crate::arena::{Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::cell;
use crate::member::Member;
use crate::modes::{Caller, DIRECTORY, FILE, Mode, SETGID, SYMLINK, TYPE};
use crate::name::Name;
use crate::seams::Seams;

/// Most bytes of a symbolic link's target: those of a path.
const TARGET_MOST: usize = 4_095;

impl<'a, S: Seams> Member<'a, S> {
    /// Makes an inode with a name: a directory, or an empty file of any other type.
    ///
    /// # Errors
    /// [`Errno::EXIST`], [`Errno::NOSPC`], [`Errno::MLINK`], [`Errno::ACCES`] and others as the
    /// system has them.
    pub fn make_at(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        name: &[u8],
        mode: u32,
    ) -> Result<Stat, Errno> {
        self.make_with(caller, (directory, name), mode & !caller.umask, &[])
    }

    /// Makes a symbolic link.
    ///
    /// # Errors
    /// As [`Self::make_at`]; [`Errno::NOENT`] for an empty target, [`Errno::NAMETOOLONG`] for one
    /// of more than 4,095 bytes.
    pub fn symlink_at(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        name: &[u8],
        target: &[u8],
    ) -> Result<Stat, Errno> {
        match target.len() {
            0 => Err(Errno::NOENT),
            1..=TARGET_MOST => self.make_with(caller, (directory, name), SYMLINK | 0o777, target),
            _ => Err(Errno::NAMETOOLONG),
        }
    }

    /// Makes an inode with a name and what is in it, up to a page.
    fn make_with(
        &self,
        caller: &Caller<'_>,
        (directory, name): (Node, &[u8]),
        mode: u32,
        content: &[u8],
    ) -> Result<Stat, Errno> {
        let name = self.new_name(name, Errno::EXIST)?;
        let is_directory = mode & TYPE == DIRECTORY;
        self.change(caller, directory, 1, |parent| {
            if self.find(parent.line, &name)?.is_some() {
                return Err(Errno::EXIST);
            }
            let links = parent.line.load(cell::LINKS);
            if is_directory && links >= LINKS_MOST {
                return Err(Errno::MLINK);
            }
            let index = self.index_of(inherited(caller, parent.mode, mode))?;
            let name_run = self.prepare(parent, &name)?;
            let run = self.obtain_content(content, name_run)?;
            let now = self.seams().now_ns();
            let at = self.take_cell()?;
            let line = self.line(at)?;
            self.fill_name(line, &name, name_run)?;
            self.fill(line, cell::MODE, index);
            self.fill(line, cell::LINKS, if is_directory { 2 } else { 1 });
            self.fill(line, cell::SIZE, content.len() as u64);
            if is_directory {
                self.fill(line, cell::PARENT, parent.at.0);
            }
            self.fill(line, cell::MTIME, now);
            self.fill(line, cell::CTIME, now);
            self.fill(line, cell::OPENS, 0);
            self.fill_content(line, content, run)?;
            self.place_entry(parent.at, parent.line, &name, at)?;
            self.put(parent.at, cell::ENTRIES, parent.entries().wrapping_add(1));
            if is_directory {
                self.put(parent.at, cell::LINKS, links + 1);
            }
            self.touch(parent, now);
            self.stat_of(at, line)
        })
    }

    /// Gives an inode another name.
    ///
    /// # Errors
    /// [`Errno::EXIST`], [`Errno::MLINK`], [`Errno::PERM`] for directories, and others as the
    /// system has them.
    pub fn link_at(
        &self,
        caller: &Caller<'_>,
        inode: Node,
        directory: Node,
        name: &[u8],
    ) -> Result<(), Errno> {
        let name = self.new_name(name, Errno::EXIST)?;
        // What it is never changes. A directory must not be locked here: it may be above.
        if self.mode(self.line(inode.0)?.load(cell::MODE))?.is_directory() {
            return Err(Errno::PERM);
        }
        self.change(caller, directory, 1, |parent| {
            if self.find(parent.line, &name)?.is_some() {
                return Err(Errno::EXIST);
            }
            let name_run = self.prepare(parent, &name)?;
            let target = self.lock(inode.0)?;
            let links = target.load(cell::LINKS);
            if links == 0 {
                return Err(Errno::NOENT);
            }
            if links >= LINKS_MOST {
                return Err(Errno::MLINK);
            }
            let now = self.seams().now_ns();
            let at = self.take_cell()?;
            let line = self.line(at)?;
            self.fill_name(line, &name, name_run)?;
            self.fill(line, cell::MODE, cell::LINK_MARK);
            self.fill(line, cell::TARGET, inode.0.0);
            self.place_entry(parent.at, parent.line, &name, at)?;
            self.put(parent.at, cell::ENTRIES, parent.entries().wrapping_add(1));
            self.put(inode.0, cell::LINKS, links + 1);
            self.put(inode.0, cell::CTIME, now);
            self.touch(parent, now);
            Ok(())
        })
    }

    /// Sees to it that an entry of this name can be added, while the log is still empty; the run
    /// in stock for a long one.
    #[inline]
    pub(super) fn prepare(&self, parent: &Parent<'a>, name: &Name<'_>) -> Result<Ref, Errno> {
        self.make_room(parent.at, parent.line)?;
        if name.is_short() { Ok(Ref::NONE) } else { self.obtain_run(name.lines()) }
    }

    /// Writes a name into a cell that nobody can reach, and takes the lines that a long one needs.
    #[inline]
    fn fill_name(&self, line: Line<'_>, name: &Name<'_>, run: Ref) -> Result<(), Errno> {
        for (index, word) in name.words().into_iter().enumerate() {
            self.fill(line, cell::NAME.element(index), word);
        }
        self.fill(line, cell::NAME_LENGTH, u8::of_bits(name.bytes().len() as u64));
        if name.is_short() { Ok(()) } else { self.fill_long_name(line, name, run) }
    }

    #[cold]
    #[inline(never)]
    fn fill_long_name(&self, line: Line<'_>, name: &Name<'_>, run: Ref) -> Result<(), Errno> {
        self.take_run(run)?;
        self.copy_in(run, 0, name.bytes())?;
        self.fill(line, cell::LONG_NAME, run.0);
        Ok(())
    }
}

/// What a new inode in this directory is: its type and permissions are given.
fn inherited(caller: &Caller<'_>, parent: Mode, mode: u32) -> Mode {
    let mode = if mode & TYPE == 0 { mode | FILE } else { mode };
    if parent.mode & SETGID == 0 {
        return Mode { uid: caller.uid, gid: caller.gid, mode };
    }
    let passed_on = if mode & TYPE == DIRECTORY { SETGID } else { 0 };
    Mode { uid: caller.uid, gid: parent.gid, mode: mode | passed_on }
}
