//! Operations on names (look up, create, link, remove, rename), and on the inodes they refer to.
//!
//! Directories passed to an operation must stay while it works: the root, or ones that are open. An
//! operation locks the directories it changes, then inodes in them. An operation that changes two
//! directories holds the rename lock first, so that concurrent ones cannot form a cycle. Lookups
//! take no locks; they start over if anything changed meanwhile.

mod attributes;
mod glance;
mod last_name;
mod make;
mod path;
mod rename;
mod walk;

use core::borrow::Borrow;

use crate::annex::{InodeCell, accessed};
use crate::arena::{LINE_BYTES, Line, Ref};
use crate::directory::{Entry, Table};
use crate::errno::Errno;
use crate::layout::cell;
use crate::member::{Member, Node};
use crate::modes::{Caller, EXECUTE, Mode, STICKY, WRITE, is_device};
use crate::name::{Name, lines_of_name};
use crate::opens::Opens;
use crate::seams::Seams;

pub use attributes::{NewTime, NewTimes, Owner};
pub use glance::{Start, Unclear};
pub use last_name::is_refused_unseen;
pub use path::{Follow, LastName, is_only_name};
pub(crate) use path::{MissingName, Reached};
pub use rename::Rename;
pub(crate) use walk::FOLLOWED_MAX;
pub use walk::PATH_MAX;

/// Most names of an inode; for a directory, most subdirectories plus two.
const LINKS_MAX: u16 = 65_000;

/// The attributes of an inode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Its number: unique among existing inodes, but possibly reused.
    pub ino: u64,
    /// Owner, group, type and permissions.
    pub mode: Mode,
    /// How many names it has; for a directory, its subdirectories plus two.
    pub links: u32,
    /// Its size in bytes; for a directory, its number of entries.
    pub size: u64,
    /// The device number, in Linux's 32-bit encoding; 0 if it is not a device.
    pub device: u32,
    /// Units of 512 bytes taken by its content, or by a directory's table.
    pub blocks: u64,
    /// The access time, in nanoseconds since 1970. It is the modification time unless it has been
    /// set.
    pub atime_ns: i64,
    /// The modification time, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// The time of the last change of content or attributes, in nanoseconds since 1970.
    pub ctime_ns: i64,
}

/// The name of an entry, which need not exist, and its directory.
#[derive(Clone, Copy, Debug)]
pub struct EntryName<'n> {
    /// The directory.
    pub directory: &'n Node,
    /// The name in it.
    pub name: &'n [u8],
}

/// A directory that an operation changes, locked.
#[derive(Clone, Copy, Debug)]
struct Parent<'a> {
    at: Ref,
    line: Line<'a>,
    mode: Mode,
}

impl Parent<'_> {
    fn entries(&self) -> u32 {
        self.line.load(cell::ENTRIES)
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// Prepares a name for this arena.
    #[inline(always)]
    fn name<'n>(&self, bytes: &'n [u8]) -> Result<Name<'n>, Errno> {
        Name::new(bytes, self.secret())
    }

    /// The attributes of an inode.
    ///
    /// # Errors
    /// [`Errno::STALE`] if the node must be looked up again.
    #[inline]
    pub fn stat(&self, node: Node) -> Result<Stat, Errno> {
        self.read_node(node, |line| self.stat_of(node.at, line))
    }

    /// The attributes of the inode with this name.
    ///
    /// # Errors
    /// [`Errno::NOENT`], [`Errno::NOTDIR`], [`Errno::ACCES`] as for the system call.
    #[inline]
    pub fn stat_at(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        name: &[u8],
    ) -> Result<Stat, Errno> {
        self.retry(|| self.stat(self.step(caller, directory, name)?))
    }

    #[inline(always)]
    fn stat_of(&self, at: Ref, line: Line<'a>) -> Result<Stat, Errno> {
        let mode = self.mode(line.load(cell::MODE))?;
        let body = self.body(line)?;
        let (size, lines) = if mode.is_directory() {
            (line.load(cell::ENTRIES).into(), Table::from_body(body).map_or(0, Table::buckets))
        } else {
            (line.load(cell::SIZE), self.content_lines(body)?)
        };
        let mtime_ns = line.load(cell::MTIME).cast_signed();
        Ok(Stat {
            ino: self.ino_at(at),
            mode,
            links: line.load(cell::LINKS).into(),
            size,
            device: if is_device(mode.mode) { body.load(cell::DATA) } else { 0 },
            blocks: (u64::from(lines) * LINE_BYTES as u64).div_ceil(512),
            atime_ns: accessed(line, body).unwrap_or(mtime_ns),
            mtime_ns,
            ctime_ns: line.load(cell::CTIME).cast_signed(),
        })
    }

    /// The inode that an entry refers to.
    #[inline]
    pub(crate) fn inode_of(&self, entry: &Entry<'a>) -> Result<(Ref, Line<'a>), Errno> {
        if entry.line.load(cell::MODE) != cell::LINK_MARK {
            return Ok((entry.cell, entry.line));
        }
        let at = Ref(entry.line.load(cell::TARGET));
        Ok((at, self.line(at)?))
    }

    /// The mode of a directory, if it is one and has not been removed.
    #[inline]
    pub(crate) fn directory_mode(&self, line: Line<'_>) -> Result<Mode, Errno> {
        let mode = self.mode(line.load(cell::MODE))?;
        if !mode.is_directory() {
            return Err(Errno::NOTDIR);
        }
        if line.load(cell::LINKS) == 0 {
            return Err(Errno::NOENT);
        }
        Ok(mode)
    }

    /// The mode of a directory in which the caller may look for a name, if it has not been removed.
    #[inline(always)]
    fn searched_mode(&self, line: Line<'_>, caller: &Caller<'_>) -> Result<Mode, Errno> {
        let mode = self.mode(line.load(cell::MODE))?;
        if !mode.is_directory() {
            return Err(Errno::NOTDIR);
        }
        mode.allow(caller, EXECUTE)?;
        if line.load(cell::LINKS) == 0 {
            return Err(Errno::NOENT);
        }
        Ok(mode)
    }

    /// Locks a directory that is to be changed, if the caller may search it.
    #[inline(always)]
    fn parent(&self, caller: &Caller<'_>, directory: &Node) -> Result<Parent<'a>, Errno> {
        let line = self.lock_node(directory)?;
        match self.searched_mode(line, caller) {
            Ok(mode) => Ok(Parent { at: directory.at, line, mode }),
            Err(why) => {
                self.unlock();
                Err(why)
            }
        }
    }

    /// Runs `act` on a directory, locked, and commits what it logs; `cells` is the number of cells
    /// it takes.
    #[inline(always)]
    fn change<T>(
        &self,
        caller: &Caller<'_>,
        directory: &Node,
        cells: u32,
        act: impl FnOnce(&Parent<'a>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.ready(cells)?;
        let parent = self.parent(caller, directory)?;
        let done = act(&parent);
        self.conclude(done.is_ok());
        done
    }

    /// Prepares a name for something that gets it; `.` and `..` are refused with `dots`.
    #[inline(always)]
    fn new_name<'n>(&self, name: &'n [u8], dots: Errno) -> Result<Name<'n>, Errno> {
        if matches!(name, b"." | b"..") {
            return Err(dots);
        }
        self.name(name)
    }

    /// Logs a directory's new times. Nobody caches directories by their mtime, so it may stay the
    /// same until the clock ticks, which keeps logs short.
    #[inline]
    fn touch(&self, parent: &Parent<'_>, now: u64) {
        if parent.line.load(cell::MTIME) != now {
            self.put(parent.at, cell::MTIME, now);
        }
        self.put_changed(parent.at, parent.line, now);
    }

    /// Removes a name: of an empty directory, or of anything else.
    ///
    /// # Errors
    /// [`Errno::NOENT`], [`Errno::ISDIR`], [`Errno::NOTDIR`], [`Errno::NOTEMPTY`],
    /// [`Errno::ACCES`], [`Errno::PERM`] in sticky directories.
    #[inline]
    pub fn remove_at(
        &self,
        caller: &Caller<'_>,
        directory: impl Borrow<Node>,
        name: &[u8],
        what: Remove,
    ) -> Result<(), Errno> {
        let name = match (what, name) {
            (Remove::Directory, b".") => return Err(Errno::INVAL),
            (Remove::Directory, b"..") => return Err(Errno::NOTEMPTY),
            (Remove::Name, b"." | b"..") => return Err(Errno::ISDIR),
            _ => self.name(name)?,
        };
        self.change(caller, directory.borrow(), 0, |parent| {
            let entry = self.find(parent.line, &name)?.ok_or(Errno::NOENT)?;
            parent.mode.allow(caller, WRITE)?;
            let (at, _) = self.inode_of(&entry)?;
            let inode = self.lock(at)?;
            let mode = self.mode(inode.load(cell::MODE))?;
            may_remove(parent.mode, mode, caller)?;
            match what {
                Remove::Name if mode.is_directory() => return Err(Errno::ISDIR),
                Remove::Directory if !mode.is_directory() => return Err(Errno::NOTDIR),
                Remove::Directory if inode.load(cell::ENTRIES) != 0 => {
                    return Err(Errno::NOTEMPTY);
                }
                Remove::Name | Remove::Directory => {}
            }
            let now = self.seams().now_ns();
            let left = parent.entries().wrapping_sub(1);
            self.clear_entry(parent.at, parent.line, &entry, left)?;
            self.put(parent.at, cell::ENTRIES, left);
            self.drop_name(&entry, at)?;
            if mode.is_directory() {
                self.put(parent.at, cell::LINKS, parent.line.load(cell::LINKS).wrapping_sub(1));
            }
            self.touch(parent, now);
            self.lose_link(at, inode, mode, now)
        })
    }

    /// Logs that an inode, which must be locked, loses a name. If that was the last and it is not
    /// open, it is freed, as far as nobody keeps its number.
    #[inline]
    fn lose_link(&self, at: Ref, inode: Line<'a>, mode: Mode, now: u64) -> Result<(), Errno> {
        let left = if mode.is_directory() { 0 } else { inode.load(cell::LINKS).wrapping_sub(1) };
        self.put(at, cell::LINKS, left);
        self.put_changed(at, inode, now);
        let opens = Opens::from_inode(inode);
        let is_gone = left == 0 && !opens.has_content();
        if is_gone { self.let_go(InodeCell { at, line: inode }, opens) } else { Ok(()) }
    }

    /// Logs that the run of a long name is freed.
    fn drop_long_name(&self, entry: &Entry<'_>) -> Result<(), Errno> {
        let length = usize::from(entry.line.load(cell::NAME_LENGTH));
        if length <= cell::NAME_MAX {
            return Ok(());
        }
        self.give_run(Ref(entry.line.load(cell::LONG_NAME)), lines_of_name(length))
    }

    /// Logs that a cell loses its name; a cell that was only an additional name is freed.
    fn drop_name(&self, entry: &Entry<'_>, inode: Ref) -> Result<(), Errno> {
        self.drop_long_name(entry)?;
        if entry.cell == inode {
            self.put(entry.cell, cell::NAME_LENGTH, 0_u8);
            Ok(())
        } else {
            self.give_cell(entry.cell)
        }
    }
}

/// What to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remove {
    /// The name of anything but a directory: unlink(2).
    Name,
    /// An empty directory: rmdir(2).
    Directory,
}

/// In a sticky directory, an inode's name can only be removed by the directory's owner, the inode's
/// owner and root.
fn may_remove(parent: Mode, inode: Mode, caller: &Caller<'_>) -> Result<(), Errno> {
    let may = parent.mode & STICKY == 0
        || [parent.uid, inode.uid].contains(&caller.uid)
        || caller.may_all();
    if may { Ok(()) } else { Err(Errno::PERM) }
}
