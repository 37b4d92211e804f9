//! Opening an existing inode, or creating one.

use super::table::{TableEntry, TableIndex, entry_of};
use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::{cell, description};
use crate::member::{Member, Node};
use crate::modes::{AsCaller, Caller, DIRECTORY, FILE, READ, STICKY, SYMLINK, TYPE, WRITE};
use crate::opens::Opens;
use crate::seams::Seams;
use crate::tree::{EntryName, FOLLOWED_MAX, Follow, LastName, MissingName, Reached, Start};

/// The flags of open(2), with their values on Linux for x86-64.
pub mod flags {
    use crate::errno::Errno;

    /// The bits of the access mode: 0 for reading, [`WRITE`], or [`READ_WRITE`].
    pub const ACCESS: u32 = 3;
    /// For writing.
    pub const WRITE: u32 = 1;
    /// For reading and writing.
    pub const READ_WRITE: u32 = 2;
    /// Create the file if it does not exist.
    pub const CREATE: u32 = 0o100;
    /// Fail if it exists.
    pub const EXCLUSIVE: u32 = 0o200;
    /// Truncate it to 0 bytes.
    pub const TRUNCATE: u32 = 0o1000;
    /// Writes go to the end of the file.
    pub const APPEND: u32 = 0o2000;
    /// Do not wait, which reads and writes never do.
    pub const NON_BLOCKING: u32 = 0o4000;
    /// Bypass the page cache, of which there is none.
    pub const DIRECT: u32 = 0o40_000;
    /// Do not set the access time, which is not kept.
    pub const NO_ATIME: u32 = 0o1_000_000;
    /// Fail if it is not a directory.
    pub const DIRECTORY: u32 = 0o200_000;
    /// Fail if it is a symbolic link.
    pub const NO_FOLLOW: u32 = 0o400_000;
    /// Close the descriptor when the process executes another program.
    pub const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    /// Only refer to the file, without access to its content.
    pub const PATH: u32 = super::description::PATH;
    /// Like [`PATH`], but only see to it that no other inode gets the same number: what a file
    /// contains goes with its last name, unless it is also open in another way. It can then no
    /// longer be opened. For servers that must recognise what they once found.
    pub const NUMBER_ONLY: u32 = super::description::NUMBER_ONLY;
    /// Create a file without a name in this directory.
    pub const TEMPORARY: u32 = 0o20_000_000;

    /// Flags that the fast path does not handle.
    pub const NEED_CARE: u32 = CREATE | TEMPORARY | TRUNCATE | PATH;

    /// Flags for which there is more to check.
    pub(crate) const RARE: u32 = PATH | TEMPORARY | DIRECTORY;

    /// The flags of open(2) without those that have no effect beside the others.
    ///
    /// # Errors
    /// [`Errno::INVAL`] for flags that exclude each other.
    #[inline]
    pub fn usual(how: u32) -> Result<u32, Errno> {
        if how & RARE == 0 || how & NEED_CARE == 0 { Ok(how) } else { usual_of_rare(how) }
    }

    #[cold]
    #[inline(never)]
    fn usual_of_rare(how: u32) -> Result<u32, Errno> {
        if how & PATH != 0 {
            const KEPT: u32 = PATH | DIRECTORY | NO_FOLLOW | CLOSE_ON_EXEC;
            return Ok(how & KEPT);
        }
        let (is_directory, creates) = (how & DIRECTORY != 0, how & CREATE != 0);
        let is_temporary = how & TEMPORARY != 0;
        let is_wrong =
            is_directory && creates || is_temporary && (!is_directory || how & ACCESS == 0);
        if is_wrong { Err(Errno::INVAL) } else { Ok(how) }
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// Opens a path, relative to a directory; `mode` is used for a new file. The descriptor is the
    /// lowest free one.
    ///
    /// # Errors
    /// As open(2); [`Errno::STALE`] if the caller must try again.
    #[inline]
    pub fn open(
        &self,
        caller: &Caller<'_>,
        from: Node,
        path: &[u8],
        how: u32,
        mode: u32,
    ) -> Result<u32, Errno> {
        let follow = if how & flags::NO_FOLLOW == 0 { Follow::Yes } else { Follow::No };
        if how & (flags::CREATE | flags::TEMPORARY) == 0 {
            let at_once = if how & flags::PATH == 0 { Follow::No } else { follow };
            let found = self.walk(caller, from, path, at_once)?;
            return match self.open_node(caller, found, how) {
                Err(Errno::LOOP | Errno::NOTDIR) if follow == Follow::Yes => {
                    self.open_node(caller, self.walk(caller, from, path, follow)?, how)
                }
                opened => opened,
            };
        }
        self.open_or_make(caller, from, path, how, mode)
    }

    /// Opens an existing file by a glance at its path; none if that is not enough.
    #[inline(always)]
    pub fn open_at_a_glance(
        &self,
        caller: &impl AsCaller,
        from: Start<'_>,
        path: &[u8],
        how: u32,
    ) -> Option<Result<u32, Errno>> {
        if how & flags::NEED_CARE != 0 {
            return None;
        }
        let Some(found) = self.glance_at(caller, from, path, Follow::No).ok()? else {
            return Some(Err(Errno::NOENT));
        };
        match self.open_found(&caller.as_caller(), &found, how) {
            Err(Errno::STALE | Errno::LOOP | Errno::NOTDIR | Errno::NFILE) => None,
            opened => Some(opened.map(TableIndex::descriptor)),
        }
    }

    #[inline(never)]
    fn open_or_make(
        &self,
        caller: &Caller<'_>,
        from: Node,
        path: &[u8],
        how: u32,
        mode: u32,
    ) -> Result<u32, Errno> {
        if how & flags::TEMPORARY != 0 && how & flags::DIRECTORY != 0 {
            let follow = if how & flags::NO_FOLLOW == 0 { Follow::Yes } else { Follow::No };
            let directory = self.walk(caller, from, path, follow)?;
            return self.open_temporary(caller, directory, how, mode);
        }
        let mut last = LastName::unknown();
        self.walk_to_last(caller, &from, path, &mut last)?;
        self.open_last(caller, &last, how, mode)
    }

    /// Opens an inode.
    ///
    /// # Errors
    /// As open(2); [`Errno::STALE`] if it must be looked up again.
    #[inline]
    pub fn open_node(&self, caller: &Caller<'_>, node: Node, how: u32) -> Result<u32, Errno> {
        let descriptor = self.open_found(caller, &node, how)?.descriptor();
        if how & flags::TRUNCATE != 0 && how & flags::PATH == 0 {
            let opened = self.node(descriptor)?;
            if let Err(why) = self.truncate(opened, 0) {
                self.close(descriptor)?;
                return Err(why);
            }
        }
        Ok(descriptor)
    }

    /// Opens an inode with the first free descriptor.
    fn open_found(&self, caller: &Caller<'_>, node: &Node, how: u32) -> Result<TableIndex, Errno> {
        loop {
            self.ready_to_open()?;
            let line = self.lock_node(node)?;
            let opened = self.check_open(caller, line, how).and_then(|()| {
                let vacant = self.vacant_in_place()?;
                let (opens, how) = Opens::from_inode(line).opened(how)?;
                self.put(node.at, cell::OPENS, opens.0);
                self.describe(node.at, how, vacant)
            });
            self.conclude(opened.is_ok());
            match opened {
                Err(Errno::AGAIN) => self.lengthen(self.process(), TableIndex::WORKING)?,
                opened => return opened,
            }
        }
    }

    /// Checks that the caller may open an inode with these flags.
    #[inline]
    pub(super) fn check_open(
        &self,
        caller: &Caller<'_>,
        line: Line<'_>,
        how: u32,
    ) -> Result<(), Errno> {
        let mode = self.mode(line.load(cell::MODE))?;
        if how & flags::DIRECTORY != 0 && !mode.is_directory() {
            return Err(Errno::NOTDIR);
        }
        if how & flags::PATH != 0 {
            return Ok(());
        }
        let wanted = wanted(how);
        match mode.mode & TYPE {
            FILE if line.load(cell::LINKS) == 0 => check_content(line)?,
            FILE => {}
            DIRECTORY if wanted & WRITE != 0 => return Err(Errno::ISDIR),
            DIRECTORY => {}
            SYMLINK => return Err(Errno::LOOP),
            _ => return Err(Errno::NXIO),
        }
        mode.allow(caller, wanted)
    }

    /// The first empty entry of the table of descriptors, for what changes the arena in place, and
    /// must know before it does; none for what is logged.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if the table has to grow first.
    #[inline(always)]
    fn vacant_in_place(&self) -> Result<Option<TableEntry>, Errno> {
        if !Self::IN_PLACE {
            return Ok(None);
        }
        self.vacant(self.record(), TableIndex::WORKING).map(Some)
    }

    /// Logs a new description of an inode, and a descriptor for it. The caller updates the inode's
    /// open count.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if the table of descriptors has to grow first.
    #[inline(always)]
    fn describe(
        &self,
        inode: Ref,
        how: u32,
        vacant: Option<TableEntry>,
    ) -> Result<TableIndex, Errno> {
        let record = self.lock(self.process())?;
        let vacant = match vacant {
            Some(vacant) => vacant,
            None => self.vacant(record, TableIndex::WORKING)?,
        };
        let at = self.fill_description(inode, how)?;
        Ok(self.put_entry(vacant, entry_of(at, how)))
    }

    /// Takes a cell from the stock, in the log, and makes it a description.
    #[inline(always)]
    pub(super) fn fill_description(&self, inode: Ref, how: u32) -> Result<Ref, Errno> {
        let at = self.take_cell()?;
        let line = self.line(at)?;
        self.fill(line, cell::MODE, cell::DESCRIPTION_MARK);
        self.fill(line, description::REFERENCES, 1);
        self.fill(line, description::OFFSET, 0);
        self.fill(line, description::FLAGS, how);
        self.fill(line, description::INODE, inode.0);
        self.fill(line, cell::NAME_LENGTH, 0);
        Ok(at)
    }

    /// Opens a path's last name, and creates the file if there is none.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_last(
        &self,
        caller: &Caller<'_>,
        last: &LastName<'_>,
        how: u32,
        mode: u32,
    ) -> Result<u32, Errno> {
        if last.is_directory || last.name.first().is_none_or(|&byte| byte == b'.') {
            self.check_file_name(caller, last, how)?;
        }
        if how & flags::DIRECTORY != 0 {
            return Err(Errno::INVAL);
        }
        let new = self.open_new(caller, &last.directory, last.name, how, mode);
        if new.as_ref().is_err_and(|&why| why == Errno::NAMETOOLONG) {
            // That there is no such directory comes first.
            self.step(caller, last.directory, b".")?;
            self.read_node(last.directory, |line| self.directory_mode(line))?;
        }
        let found = match new? {
            Opened::New(descriptor) => return Ok(descriptor),
            Opened::NameTaken if how & flags::EXCLUSIVE != 0 => return Err(Errno::EXIST),
            Opened::NameTaken => self.step(caller, last.directory, last.name)?,
        };
        self.check_not_directory(found)?;
        match self.open_node(caller, found, how) {
            Err(Errno::LOOP) => {
                let link = Reached { directory: last.directory, node: found };
                if how & flags::NO_FOLLOW == 0 {
                    self.open_through(caller, link, how, mode)
                } else {
                    Err(self.why_not_followed(caller, link)?)
                }
            }
            opened => opened,
        }
    }

    /// Checks that a name can be a file's.
    #[cold]
    #[inline(never)]
    fn check_file_name(
        &self,
        caller: &Caller<'_>,
        last: &LastName<'_>,
        how: u32,
    ) -> Result<(), Errno> {
        let is_there = matches!(last.name, b"" | b"." | b"..");
        if !is_there && !last.is_directory {
            return Ok(());
        }
        self.check_search(caller, last.directory)?;
        let is_exclusive = is_there && how & flags::EXCLUSIVE != 0;
        Err(if is_exclusive { Errno::EXIST } else { Errno::ISDIR })
    }

    /// Why a call that creates a file does not open this symbolic link. In a sticky directory that
    /// everybody may write to, others' links are refused first, as `may_create_in_sticky` of Linux
    /// does.
    #[cold]
    #[inline(never)]
    fn why_not_followed(&self, caller: &Caller<'_>, link: Reached) -> Result<Errno, Errno> {
        const EVERYBODY_WRITES: u32 = STICKY | WRITE;
        let (directory, link) = (self.stat(link.directory)?.mode, self.stat(link.node)?.mode);
        let is_others = ![directory.uid, caller.uid].contains(&link.uid);
        let is_refused = is_others && directory.mode & EVERYBODY_WRITES == EVERYBODY_WRITES;
        Ok(if is_refused { Errno::ACCES } else { Errno::LOOP })
    }

    /// Opens what a symbolic link refers to, and creates it if it does not exist.
    #[cold]
    #[inline(never)]
    fn open_through(
        &self,
        caller: &Caller<'_>,
        link: Reached,
        how: u32,
        mode: u32,
    ) -> Result<u32, Errno> {
        let mut missing = MissingName::new();
        let mut links = FOLLOWED_MAX;
        let found = match self.through(caller, link, &mut links, Some(&mut missing)) {
            Ok(found) => found,
            Err(Errno::NOENT) => {
                let directory = missing.directory.ok_or(Errno::NOENT)?;
                return match self.open_new(caller, &directory, missing.name(), how, mode)? {
                    Opened::New(descriptor) => Ok(descriptor),
                    Opened::NameTaken => Err(Errno::STALE),
                };
            }
            Err(why) => return Err(why),
        };
        self.check_not_directory(found)?;
        self.open_node(caller, found, how)
    }

    /// Checks that what would have been created is not a directory.
    fn check_not_directory(&self, found: Node) -> Result<(), Errno> {
        if self.stat(found)?.mode.is_directory() { Err(Errno::ISDIR) } else { Ok(()) }
    }

    /// Creates a file and opens it, in one step.
    #[inline]
    fn open_new(
        &self,
        caller: &Caller<'_>,
        directory: &Node,
        name: &[u8],
        how: u32,
        mode: u32,
    ) -> Result<Opened, Errno> {
        loop {
            let entry = EntryName { directory, name };
            let vacant = self.vacant_in_place();
            let made = vacant.and_then(|vacant| {
                let mode = mode & !caller.umask;
                self.make_open(caller, entry, mode, |at| self.describe(at, how, vacant))
            });
            match made {
                Ok(index) => return Ok(Opened::New(index.descriptor())),
                Err(Errno::AGAIN) => self.lengthen(self.process(), TableIndex::WORKING)?,
                Err(Errno::EXIST) => return Ok(Opened::NameTaken),
                Err(why) => return Err(why),
            }
        }
    }

    /// Creates a file without a name, and opens it.
    fn open_temporary(
        &self,
        caller: &Caller<'_>,
        directory: Node,
        how: u32,
        mode: u32,
    ) -> Result<u32, Errno> {
        if how & flags::ACCESS == 0 {
            return Err(Errno::INVAL);
        }
        loop {
            let vacant = self.vacant_in_place();
            let made = vacant.and_then(|vacant| {
                self.make_unnamed(caller, directory, mode & !caller.umask, |at| {
                    self.describe(at, how & !flags::DIRECTORY, vacant)
                })
            });
            match made {
                Err(Errno::AGAIN) => self.lengthen(self.process(), TableIndex::WORKING)?,
                made => return Ok(made?.descriptor()),
            }
        }
    }
}

/// What [`Member::open_new`] did.
enum Opened {
    New(u32),
    /// Nothing: the name is taken.
    NameTaken,
}

/// Checks that a file without names still has its content.
#[cold]
#[inline(never)]
fn check_content(line: Line<'_>) -> Result<(), Errno> {
    let opens = Opens::from_inode(line);
    if opens.has_content() && !opens.is_being_freed() { Ok(()) } else { Err(Errno::NOENT) }
}

/// The permissions needed to open a file with these flags.
fn wanted(how: u32) -> u32 {
    let access = match how & flags::ACCESS {
        0 => READ,
        flags::WRITE => WRITE,
        _ => READ | WRITE,
    };
    if how & flags::TRUNCATE != 0 { access | WRITE } else { access }
}
