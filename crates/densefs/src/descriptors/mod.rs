//! Open files: the descriptors of processes, and the open descriptions they refer to.
//!
//! They are stored in the arena, so that processes can share a description and its offset, and so
//! that the files of a process that died are closed by whoever finds out. A description is a cell;
//! each process has a table of references to descriptions, indexed by descriptor. The inode's lock
//! protects how often an inode is open and how many descriptors a description has; the lock of the
//! process' record protects the table; the description's own lock protects the offset. Locks are
//! taken in the order: description, directory, inode, process.

mod at_once;
mod control;
mod heir;
mod locks;
mod mappings;
mod open;
mod record;
mod replace;
mod table;
mod working;

use crate::arena::Line;
use crate::content::SeekTarget;
use crate::errno::Errno;
use crate::layout::{cell, description};
use crate::listing::EntrySink;
use crate::member::{Evidence, Member, Node, OpenEvidence};
use crate::modes::Caller;
use crate::seams::Seams;
use crate::tree::EntryName;
pub use locks::RangeHolder;
pub use mappings::{MapAccess, MappedFile};
pub use open::flags;
pub(crate) use table::DescriptorTable;
use table::{TableEntry, TableIndex};

/// What an offset is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    /// The beginning of the file.
    Start,
    /// The current offset.
    Current,
    /// The end of the file.
    End,
    /// The next data at or after the offset: `SEEK_DATA`.
    Data,
    /// The next hole at or after the offset, or the end: `SEEK_HOLE`.
    Hole,
}

/// What a descriptor refers to.
#[derive(Clone, Copy, Debug)]
struct OpenFile<'a> {
    node: Node,
    /// Its entry in the process' table.
    entry: TableEntry,
    /// The description.
    line: Line<'a>,
    flags: u32,
}

impl OpenFile<'_> {
    // An access mode of 3 asks for both permissions, and gives neither.

    fn check_readable(&self) -> Result<(), Errno> {
        let may = self.flags & (flags::WRITE | flags::PATH) == 0;
        if may { Ok(()) } else { Err(Errno::BADF) }
    }

    fn check_writable(&self) -> Result<(), Errno> {
        let how = self.flags & (flags::ACCESS | flags::PATH);
        if matches!(how, flags::WRITE | flags::READ_WRITE) { Ok(()) } else { Err(Errno::BADF) }
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// The inode that a descriptor refers to.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    #[inline]
    pub fn node(&self, descriptor: u32) -> Result<Node, Errno> {
        Ok(self.open_file(descriptor)?.node)
    }

    /// The flags with which a descriptor was opened.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    pub fn flags(&self, descriptor: u32) -> Result<u32, Errno> {
        Ok(self.open_file(descriptor)?.flags)
    }

    #[inline]
    fn open_file(&self, descriptor: u32) -> Result<OpenFile<'a>, Errno> {
        self.open_at(TableIndex::from_descriptor(descriptor)?)
    }

    #[inline]
    fn open_at(&self, index: TableIndex) -> Result<OpenFile<'a>, Errno> {
        let entry = self.entry(self.process(), index)?;
        let line = self.line(entry.description())?;
        let flags = line.load(description::FLAGS);
        let (of, value) = (self.process(), entry.value);
        let evidence = Evidence::Open(OpenEvidence { of, index: index.0, entry: value, flags });
        let node = Node { at: self.inode_of_entry(&entry)?, evidence };
        Ok(OpenFile { node, entry, line, flags })
    }

    /// Does something with a descriptor's inode, again if the descriptor was closed meanwhile.
    #[inline(always)]
    fn with<T>(
        &self,
        descriptor: u32,
        mut act: impl FnMut(OpenFile<'a>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.retry(|| act(self.open_file(descriptor)?))
    }

    /// Reads at a descriptor's offset, and advances it.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it is not open for reading; [`Errno::ISDIR`].
    pub fn read_on(&self, descriptor: u32, into: &mut [u8]) -> Result<usize, Errno> {
        self.with(descriptor, |open| {
            open.check_readable()?;
            self.lock_description(open.entry)?;
            let offset = open.line.load(description::OFFSET);
            let read = self.read_at(open.node, offset, into);
            if let Ok(length) = read {
                self.fill(open.line, description::OFFSET, offset + length as u64);
            }
            self.unlock();
            read
        })
    }

    /// Writes at a descriptor's offset, and advances it; at the end of the file if it was opened
    /// for appending.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it is not open for writing; as [`Member::write_at`].
    pub fn write_on(&self, descriptor: u32, from: &[u8]) -> Result<usize, Errno> {
        self.with(descriptor, |open| {
            open.check_writable()?;
            self.lock_description(open.entry)?;
            let written = self.write_there(&open, from);
            if let Ok((length, offset)) = written {
                self.fill(open.line, description::OFFSET, offset + length as u64);
            }
            self.unlock();
            written.map(|(length, _)| length)
        })
    }

    fn write_there(&self, open: &OpenFile<'_>, from: &[u8]) -> Result<(usize, u64), Errno> {
        let offset = open.line.load(description::OFFSET);
        if open.flags & flags::APPEND != 0 {
            let (length, end) = self.append(open.node, from)?;
            // To write nothing moves nothing.
            return Ok((length, if length == 0 { offset } else { end }));
        }
        Ok((self.write_at(open.node, offset, from)?, offset))
    }

    /// Reads at an offset.
    ///
    /// # Errors
    /// As [`Self::read_on`].
    #[inline]
    pub fn read_from(&self, descriptor: u32, offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        self.with(descriptor, |open| {
            open.check_readable()?;
            self.read_at(open.node, offset, into)
        })
    }

    /// Writes at an offset; like Linux, at the end of the file if it was opened for appending.
    ///
    /// # Errors
    /// As [`Self::write_on`].
    #[inline]
    pub fn write_to(&self, descriptor: u32, offset: u64, from: &[u8]) -> Result<usize, Errno> {
        self.with(descriptor, |open| {
            open.check_writable()?;
            if open.flags & flags::APPEND != 0 {
                return Ok(self.append(open.node, from)?.0);
            }
            self.write_at(open.node, offset, from)
        })
    }

    /// Moves a descriptor's offset; returns the new one.
    ///
    /// # Errors
    /// [`Errno::BADF`]; [`Errno::INVAL`] if the new offset is negative or does not fit into 63
    /// bits; [`Errno::NXIO`] as for [`Member::look_for`].
    pub fn seek(&self, descriptor: u32, by: i64, from: Whence) -> Result<u64, Errno> {
        self.with(descriptor, |open| {
            if open.flags & flags::PATH != 0 {
                return Err(Errno::BADF);
            }
            self.lock_description(open.entry)?;
            let sought = |what| {
                let offset = u64::try_from(by).map_err(|_| Errno::NXIO)?;
                Ok(self.look_for(open.node, offset, what)?.wrapping_sub(offset))
            };
            let start = match from {
                Whence::Data => sought(SeekTarget::Data),
                Whence::Hole => sought(SeekTarget::Hole),
                Whence::Start => Ok(0),
                Whence::Current => Ok(open.line.load(description::OFFSET)),
                Whence::End => self.read_node(open.node, |line| Ok(line.load(cell::SIZE))),
            };
            let to = start.and_then(|start| {
                let to = start.checked_add_signed(by).ok_or(Errno::INVAL)?;
                i64::try_from(to).map_err(|_| Errno::INVAL)?;
                self.fill(open.line, description::OFFSET, to);
                Ok(to)
            });
            self.unlock();
            to
        })
    }

    /// Truncates a file, or extends it with zeros.
    ///
    /// # Errors
    /// [`Errno::BADF`], [`Errno::INVAL`] if it is not open for writing; otherwise as
    /// [`Member::truncate`].
    pub fn truncate_open(&self, descriptor: u32, size: u64) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            let is_path = open.flags & flags::PATH != 0;
            let unwritable = if is_path { Errno::BADF } else { Errno::INVAL };
            open.check_writable().map_err(|_| unwritable)?;
            self.truncate(open.node, size)
        })
    }

    /// Makes sure that writes to these bytes of an open file will find space.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it is not open for writing; otherwise as [`Member::allocate`].
    pub fn allocate_open(
        &self,
        descriptor: u32,
        offset: u64,
        length: u64,
        keeps_size: bool,
    ) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            if length == 0 {
                return Err(Errno::INVAL);
            }
            open.check_writable()?;
            self.allocate(open.node, offset, length, keeps_size)
        })
    }

    /// Punches a hole in an open file.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it is not open for writing; otherwise as [`Member::punch`].
    pub fn punch_open(&self, descriptor: u32, offset: u64, length: u64) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            if length == 0 {
                return Err(Errno::INVAL);
            }
            open.check_writable()?;
            self.punch(open.node, offset, length)
        })
    }

    /// Gives a file that was created without a name its first name.
    ///
    /// # Errors
    /// [`Errno::NOENT`] if it has had a name and lost it; otherwise as [`Member::link_at`].
    pub fn link_open(
        &self,
        caller: &Caller<'_>,
        descriptor: u32,
        directory: Node,
        name: &[u8],
    ) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            const NEVER: u32 = flags::EXCLUSIVE;
            let may_be_first = open.flags & (flags::TEMPORARY | NEVER) == flags::TEMPORARY;
            self.link(caller, open.node, EntryName { directory: &directory, name }, may_be_first)
        })
    }

    /// Lists a directory from the descriptor's offset, and advances that past what the sink kept.
    /// Permissions were checked when it was opened.
    /// Positions 0 to 3 are reserved for the caller's `.` and `..`.
    ///
    /// # Errors
    /// As [`Member::list`].
    pub fn list_on(&self, descriptor: u32, sink: &mut impl EntrySink) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            open.check_readable()?;
            self.lock_description(open.entry)?;
            let mut next = open.line.load(description::OFFSET);
            let listed = self.list(&Caller::ROOT, open.node, &mut next, sink);
            self.fill(open.line, description::OFFSET, next);
            self.unlock();
            listed
        })
    }
}
