//! New names, of new inodes and of existing ones.

use super::{EntryName, LINKS_MAX, Parent, Stat};
use crate::arena::{Line, Ref, Word};
use crate::directory::Search;
use crate::errno::Errno;
use crate::layout::{cell, superblock};
use crate::member::{Member, Node};
use crate::modes::{
    CHARACTERS, Caller, DIRECTORY, FILE, Mode, SETGID, SYMLINK, TYPE, WRITE, is_device,
};
use crate::name::Name;
use crate::seams::Seams;
use crate::stamp::later;

/// The longest target of a symbolic link: as long as a path.
const TARGET_MAX: usize = 4_095;

impl<'a, S: Seams> Member<'a, S> {
    /// Creates an inode with a name: a directory, or an empty file of any other type.
    ///
    /// # Errors
    /// [`Errno::EXIST`], [`Errno::NOSPC`], [`Errno::MLINK`], [`Errno::ACCES`] and others, as for
    /// the system call.
    pub fn make_at(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        name: &[u8],
        mode: u32,
    ) -> Result<Stat, Errno> {
        let new = NewInode { mode: mode & !caller.umask, content: &[], device: 0, opens: 0 };
        self.make_with(caller, EntryName { directory: &directory, name }, &new)
    }

    /// Creates a device, which cannot be opened in DenseFS. Its number is in Linux's 32-bit
    /// encoding.
    ///
    /// # Errors
    /// As [`Self::make_at`]; [`Errno::PERM`] if the caller is not root, [`Errno::INVAL`] for any
    /// other type.
    pub fn make_device_at(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        name: &[u8],
        mode: u32,
        device: u32,
    ) -> Result<Stat, Errno> {
        if !is_device(mode) {
            return Err(Errno::INVAL);
        }
        // Anybody may create what marks a removed name in an overlay.
        let is_whiteout = mode & TYPE == CHARACTERS && device == 0;
        if !caller.may_all() && !is_whiteout {
            return match self.stat_at(caller, directory, name) {
                Ok(_) => Err(Errno::EXIST),
                Err(Errno::NOENT) => {
                    let parent = self.stat(directory)?;
                    // Nothing can be made in a directory that has been removed.
                    if parent.links == 0 {
                        return Err(Errno::NOENT);
                    }
                    parent.mode.allow(caller, WRITE)?;
                    Err(Errno::PERM)
                }
                Err(why) => Err(why),
            };
        }
        let new = NewInode { mode: mode & !caller.umask, content: &[], device, opens: 0 };
        self.make_with(caller, EntryName { directory: &directory, name }, &new)
    }

    /// Creates a symbolic link.
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
        let new = NewInode { mode: SYMLINK | 0o777, content: target, device: 0, opens: 0 };
        match target.len() {
            0 => Err(Errno::NOENT),
            1..=TARGET_MAX => {
                self.make_with(caller, EntryName { directory: &directory, name }, &new)
            }
            _ => Err(Errno::NAMETOOLONG),
        }
    }

    /// Creates an inode with a name and up to a page of content.
    fn make_with(
        &self,
        caller: &Caller<'_>,
        entry: EntryName<'_>,
        new: &NewInode<'_>,
    ) -> Result<Stat, Errno> {
        let name = self.new_name(entry.name, Errno::EXIST)?;
        self.change(caller, entry.directory, 1, |parent| {
            let at = self.make_entry(caller, parent, &name, new)?;
            self.stat_of(at, self.line(at)?)
        })
    }

    /// Creates an empty file with a name. The closure does what else is needed to open it once.
    #[inline]
    pub(crate) fn make_open<T>(
        &self,
        caller: &Caller<'_>,
        entry: EntryName<'_>,
        mode: u32,
        describe: impl FnOnce(Ref) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let name = self.new_name(entry.name, Errno::EXIST)?;
        self.change(caller, entry.directory, 2, |parent| {
            let new = NewInode { mode: mode & !TYPE | FILE, content: &[], device: 0, opens: 1 };
            describe(self.make_entry(caller, parent, &name, &new)?)
        })
    }

    /// Creates an empty file without a name. The closure does what else is needed to open it once.
    pub(crate) fn make_unnamed<T>(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        mode: u32,
        describe: impl FnOnce(Ref) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.change(caller, &directory, 2, |parent| {
            parent.mode.allow(caller, WRITE)?;
            let new = NewInode { mode: mode & !TYPE | FILE, content: &[], device: 0, opens: 1 };
            let index = self.index_of(inherited(caller, parent.mode, new.mode))?;
            let at = self.make_inode(parent, index, &new, Ref::NONE, self.seams().now_ns())?;
            let line = self.line(at)?;
            self.fill(line, cell::LINKS, 0);
            self.fill(line, cell::NAME_LENGTH, 0);
            describe(at)
        })
    }

    /// Creates an inode with a name that is not taken.
    #[inline]
    fn make_entry(
        &self,
        caller: &Caller<'_>,
        parent: &Parent<'a>,
        name: &Name<'_>,
        new: &NewInode<'_>,
    ) -> Result<Ref, Errno> {
        let links = parent.line.load(cell::LINKS);
        let (vacancy, index) = loop {
            let search = self.search(parent.at, parent.line, name)?;
            if matches!(search, Search::Found(_)) {
                return Err(Errno::EXIST);
            }
            parent.mode.allow(caller, WRITE)?;
            if new.is_directory() && links >= LINKS_MAX {
                return Err(Errno::MLINK);
            }
            let index = self.index_of(inherited(caller, parent.mode, new.mode))?;
            if let Search::Vacant(vacancy) = search {
                break (vacancy, index);
            }
            // A table must not grow for an entry for which there is no space.
            let name_run = self.obtain_name(name)?;
            let run = self.obtain_content(new.content, name_run)?;
            self.grow(parent.at, parent.line, &[name_run, run])?;
        };
        let name_run = self.obtain_name(name)?;
        let run = self.obtain_content(new.content, name_run)?;
        let now = self.seams().now_ns();
        let at = self.make_inode(parent, index, new, run, now)?;
        self.fill_name(self.line(at)?, name, name_run)?;
        self.place_entry(&vacancy, at);
        self.put(parent.at, cell::ENTRIES, parent.entries().wrapping_add(1));
        if new.is_directory() {
            self.put(parent.at, cell::LINKS, links + 1);
        }
        self.touch(parent, now);
        Ok(at)
    }

    /// Creates an inode without a name yet, with the run obtained for its content.
    #[inline]
    fn make_inode(
        &self,
        parent: &Parent<'a>,
        index: u16,
        new: &NewInode<'_>,
        run: Ref,
        now: u64,
    ) -> Result<Ref, Errno> {
        let at = self.take_cell()?;
        let line = self.line(at)?;
        self.fill(line, cell::MODE, index);
        self.fill(line, cell::LINKS, if new.is_directory() { 2 } else { 1 });
        self.fill(line, cell::SIZE, new.content.len() as u64);
        if new.is_directory() {
            self.fill(line, cell::PARENT, parent.at.0);
        }
        self.fill(line, cell::MTIME, now);
        self.fill(line, cell::CTIME, later(line, now));
        self.fill(line, cell::OPENS, new.opens);
        self.fill_content(line, new.content, run)?;
        if new.device != 0 {
            self.fill(line, cell::DATA, new.device);
        }
        Ok(at)
    }

    /// Makes sure that the table of modes needs no more room for a whiteout in this directory: the
    /// lock for that would be one too many later. The log must be empty.
    #[cold]
    #[inline(never)]
    pub(super) fn ready_for_whiteout(
        &self,
        caller: &Caller<'_>,
        parent: &Parent<'a>,
    ) -> Result<(), Errno> {
        self.index_of(inherited(caller, parent.mode, CHARACTERS))?;
        if self.holds(self.line(superblock::MODES)?) {
            self.unlock();
        }
        Ok(())
    }

    /// Makes a device with the number 0, which marks a name in an overlay as removed. `run` was
    /// obtained for the name, which the caller enters in the directory. The log must be empty.
    #[cold]
    #[inline(never)]
    pub(super) fn make_whiteout(
        &self,
        caller: &Caller<'_>,
        parent: &Parent<'a>,
        name: &Name<'_>,
        run: Ref,
        now: u64,
    ) -> Result<Ref, Errno> {
        let new = NewInode { mode: CHARACTERS, content: &[], device: 0, opens: 0 };
        let index = self.index_of(inherited(caller, parent.mode, new.mode))?;
        let at = self.make_inode(parent, index, &new, Ref::NONE, now)?;
        self.fill_name(self.line(at)?, name, run)?;
        Ok(at)
    }

    /// Gives an inode an additional name.
    ///
    /// # Errors
    /// [`Errno::EXIST`], [`Errno::MLINK`], [`Errno::PERM`] for directories, and others, as for the
    /// system call.
    pub fn link_at(
        &self,
        caller: &Caller<'_>,
        inode: Node,
        directory: Node,
        name: &[u8],
    ) -> Result<(), Errno> {
        self.link(caller, inode, EntryName { directory: &directory, name }, false)
    }

    /// Like [`Self::link_at`], but with `may_be_first`, the file may have no name yet.
    pub(crate) fn link(
        &self,
        caller: &Caller<'_>,
        inode: Node,
        entry: EntryName<'_>,
        may_be_first: bool,
    ) -> Result<(), Errno> {
        let name = self.new_name(entry.name, Errno::EXIST)?;
        // Read before the lock is taken: an inode that is a directory itself must not be locked
        // after the directory, as it may be above it.
        let mode = self.read_node(inode, |line| self.mode(line.load(cell::MODE)))?;
        self.change(caller, entry.directory, 1, |parent| {
            // If the inode has been freed, that is the error, whatever has the new name by now.
            self.check_unchanged(&inode)?;
            let vacancy = loop {
                let search = self.search(parent.at, parent.line, &name)?;
                if matches!(search, Search::Found(_)) {
                    return Err(Errno::EXIST);
                }
                mode.check_may_link(caller)?;
                parent.mode.allow(caller, WRITE)?;
                if mode.is_directory() {
                    return Err(Errno::PERM);
                }
                if let Search::Vacant(vacancy) = search {
                    break vacancy;
                }
                let run = self.obtain_name(&name)?;
                self.grow(parent.at, parent.line, &[run])?;
            };
            let name_run = self.obtain_name(&name)?;
            let target = self.lock_node(&inode)?;
            let links = target.load(cell::LINKS);
            if links == 0 && !may_be_first {
                return Err(Errno::NOENT);
            }
            if links >= LINKS_MAX {
                return Err(Errno::MLINK);
            }
            let now = self.seams().now_ns();
            let at = self.take_cell()?;
            let line = self.line(at)?;
            self.fill_name(line, &name, name_run)?;
            self.fill(line, cell::MODE, cell::LINK_MARK);
            self.fill(line, cell::TARGET, inode.at.0);
            self.place_entry(&vacancy, at);
            self.put(parent.at, cell::ENTRIES, parent.entries().wrapping_add(1));
            self.put(inode.at, cell::LINKS, links + 1);
            self.put_changed(inode.at, target, now);
            self.touch(parent, now);
            Ok(())
        })
    }

    /// Makes sure that a run for a long name is in stock, while the log is still empty.
    #[inline]
    pub(super) fn obtain_name(&self, name: &Name<'_>) -> Result<Ref, Errno> {
        if name.is_short() { Ok(Ref::NONE) } else { self.obtain_run(name.lines()) }
    }

    /// Like [`Self::obtain_name`], but another run than `other`, which is needed as well.
    pub(super) fn obtain_name_besides(&self, name: &Name<'_>, other: Ref) -> Result<Ref, Errno> {
        if name.is_short() {
            return Ok(Ref::NONE);
        }
        self.obtain_run_besides(name.lines(), &[other])
    }

    /// Writes a name to a cell that nobody can reach, and takes the run for a long one.
    #[inline]
    fn fill_name(&self, line: Line<'_>, name: &Name<'_>, run: Ref) -> Result<(), Errno> {
        self.fill_short_name(line, name);
        if name.is_short() { Ok(()) } else { self.fill_long_name(line, name, run) }
    }

    /// Writes what a cell has of a name: all of a short one.
    #[inline(always)]
    pub(crate) fn fill_short_name(&self, line: Line<'_>, name: &Name<'_>) {
        let [first, second, third] = name.words();
        self.fill(line, cell::NAME, first);
        self.fill(line, cell::NAME.element(1), second);
        self.fill(line, cell::NAME.element(2), third);
        self.fill(line, cell::NAME_LENGTH, u8::from_bits(name.bytes().len() as u64));
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

/// A new inode: its type and permissions, its content or device number, and how often it is open.
struct NewInode<'c> {
    mode: u32,
    content: &'c [u8],
    device: u32,
    opens: u16,
}

impl NewInode<'_> {
    fn is_directory(&self) -> bool {
        self.mode & TYPE == DIRECTORY
    }
}

/// The mode of a new inode in this directory; `mode` has its type and permissions.
fn inherited(caller: &Caller<'_>, parent: Mode, mode: u32) -> Mode {
    let mode = if mode & TYPE == 0 { mode | FILE } else { mode };
    if parent.mode & SETGID == 0 {
        return Mode { uid: caller.uid, gid: caller.gid, mode };
    }
    let passed_on = if mode & TYPE == DIRECTORY { SETGID } else { 0 };
    Mode { uid: caller.uid, gid: parent.gid, mode: mode | passed_on }
}
