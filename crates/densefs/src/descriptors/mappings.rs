//! Files that processes have mapped.
//!
//! A process notes each of them by a description without a descriptor, in a list that begins at an
//! index of its table reserved for it. As long as any process has noted a file, its pages stay
//! where they are: what is cut off or punched out is only zeroed. If a process dies, whoever reaps
//! its record also empties its list.

use super::flags;
use super::table::{TableIndex, entry_of};
use crate::annex::Inode;
use crate::arena::{Line, Ref, Word};
use crate::content::MappedRun;
use crate::errno::Errno;
use crate::layout::{annex, cell, description, process};
use crate::member::{Evidence, Member, Node};
use crate::modes::{FILE, TYPE};
use crate::opens::Opens;
use crate::seams::Seams;

/// A file that the process has mapped, and keeps so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MappedFile(Ref);

impl MappedFile {
    /// The description in the list is the evidence, and stays.
    fn node(self) -> Node {
        Node { at: self.0, evidence: Evidence::Stays }
    }
}

/// How a file is to be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapAccess {
    /// Whether the program may write to the mapping.
    pub writes: bool,
    /// Whether others see what it writes, and it sees what they write.
    pub is_shared: bool,
}

/// A description in a list, and the one before it; none if it is the first.
#[derive(Clone, Copy, Debug)]
struct Listed {
    at: Ref,
    before: Option<Ref>,
}

impl<'a, S: Seams> Member<'a, S> {
    /// Notes that the process maps these bytes of an open file, and gives them whole pages as far
    /// as the file goes. For a shared mapping, holes are filled.
    ///
    /// # Errors
    /// As mmap(2): [`Errno::BADF`], [`Errno::ACCES`] if it was not opened for that,
    /// [`Errno::NODEV`] if it is not a regular file; [`Errno::NOSPC`].
    pub fn map_open(
        &self,
        descriptor: u32,
        offset: u64,
        length: u64,
        access: MapAccess,
    ) -> Result<MappedFile, Errno> {
        self.with(descriptor, |open| {
            if open.flags & flags::PATH != 0 {
                return Err(Errno::BADF);
            }
            let may_write = open.check_writable().is_ok();
            if open.check_readable().is_err() || access.writes && access.is_shared && !may_write {
                return Err(Errno::ACCES);
            }
            let is_new = self.note_mapping(self.process(), &open.node)?;
            let file = MappedFile(open.node.at);
            match self.prepare_pages(file.node(), offset, length, access.is_shared) {
                Ok(()) => Ok(file),
                Err(why) => {
                    if is_new {
                        self.unmap(file)?;
                    }
                    Err(why)
                }
            }
        })
    }

    /// Calls `each` with these pages of a mapped file, as far as the file has any.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`], [`Errno::INTR`].
    pub fn each_mapped_run(
        &self,
        file: MappedFile,
        first: u32,
        pages: u32,
        each: &mut impl FnMut(MappedRun),
    ) -> Result<(), Errno> {
        self.each_run_of_pages(file.node(), first, pages, each)
    }

    /// Forgets that the process maps a file. Nothing of it must be mapped any more.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it does not.
    pub fn unmap(&self, file: MappedFile) -> Result<(), Errno> {
        self.drop_mapping(self.process(), file.0)
    }

    /// Notes for another process all that this one maps: what a forked child starts with. No other
    /// thread of this process must map or unmap anything meanwhile.
    ///
    /// # Errors
    /// [`Errno::NFILE`], [`Errno::NOSPC`], [`Errno::CORRUPT`].
    pub fn copy_mappings(&self, to: u32) -> Result<(), Errno> {
        let to = self.geometry().process(to)?;
        let mut next = self.first_mapping(self.process())?;
        while next.is_some() {
            let line = self.line(next)?;
            self.note_mapping(to, &MappedFile(Ref(line.load(description::INODE))).node())?;
            next = Ref(line.load(description::NEXT));
        }
        Ok(())
    }

    /// Empties the list of a process that is dead, or does nothing more.
    pub(super) fn drop_mappings(&self, of: Ref) -> Result<(), Errno> {
        loop {
            let first = self.first_mapping(of)?;
            if !first.is_some() {
                return Ok(());
            }
            self.drop_mapping(of, Ref(self.line(first)?.load(description::INODE)))?;
        }
    }

    /// The first description in the list of the process with this record.
    fn first_mapping(&self, of: Ref) -> Result<Ref, Errno> {
        match self.entry(of, TableIndex::MAPPINGS) {
            Err(Errno::BADF) => Ok(Ref::NONE),
            entry => Ok(entry?.description()),
        }
    }

    /// Notes that a process maps an inode; returns whether it had not done so before.
    fn note_mapping(&self, of: Ref, node: &Node) -> Result<bool, Errno> {
        loop {
            self.ready_to_open()?;
            let line = self.lock_node(node)?;
            let done = self
                .inode(node.at, line)
                .and_then(|inode| {
                    let mode = self.mode(line.load(cell::MODE))?;
                    if mode.mode & TYPE == FILE { Ok(inode) } else { Err(Errno::NODEV) }
                })
                .and_then(|inode| self.with_annex(inode, Ref::NONE))
                .and_then(|inode| self.put_mapping(of, &inode));
            self.conclude(done.is_ok());
            match done {
                Err(Errno::AGAIN) => self.lengthen(of, TableIndex::MAPPINGS)?,
                done => return done,
            }
        }
    }

    fn put_mapping(&self, of: Ref, inode: &Inode<'a>) -> Result<bool, Errno> {
        self.lock(of)?;
        let first = self.any_entry(of, TableIndex::MAPPINGS).map_err(|_| Errno::AGAIN)?;
        if self.listed(first.description(), inode.at)?.is_some() {
            return Ok(false);
        }
        let (opens, _) = Opens::from_inode(inode.line).opened(0)?;
        let mappings = inode.body.load(annex::MAPPINGS).checked_add(1).ok_or(Errno::NFILE)?;
        let at = self.fill_description(inode.at, 0)?;
        self.fill(self.line(at)?, description::NEXT, first.description().0);
        self.put(inode.at, cell::OPENS, opens.0);
        self.put(inode.body_at, annex::MAPPINGS, mappings);
        self.put_entry(first, entry_of(at, 0));
        Ok(true)
    }

    /// The description of an inode in the list that begins with `first`.
    fn listed(&self, first: Ref, inode: Ref) -> Result<Option<Listed>, Errno> {
        let (mut at, mut before) = (first, None);
        // A list that goes round in circles ends as well.
        for _ in 0..self.arena().lines() {
            if !at.is_some() {
                return Ok(None);
            }
            let line = self.line(at)?;
            if line.load(description::INODE) == inode.0 {
                return Ok(Some(Listed { at, before }));
            }
            (before, at) = (Some(at), Ref(line.load(description::NEXT)));
        }
        Err(Errno::CORRUPT)
    }

    fn drop_mapping(&self, of: Ref, at: Ref) -> Result<(), Errno> {
        self.ready(0)?;
        let line = self.lock(at)?;
        let done = self.inode(at, line).and_then(|inode| {
            if inode.has_annex() && inode.body.load(annex::MAPPINGS) == 1 {
                self.cut_excess(&inode)?;
            }
            self.ready_to_give()?;
            self.lock(of)?;
            self.put_unmapped(of, &inode)
        });
        self.conclude(done.is_ok());
        done
    }

    /// Logs that an inode, which is locked like the process' record, leaves the process' list.
    fn put_unmapped(&self, of: Ref, inode: &Inode<'a>) -> Result<(), Errno> {
        let first = self.any_entry(of, TableIndex::MAPPINGS)?;
        let listed = self.listed(first.description(), inode.at)?.ok_or(Errno::BADF)?;
        let next = self.line(listed.at)?.load(description::NEXT);
        match listed.before {
            None => drop(self.put_entry(first, next.into())),
            Some(before) => self.put(before, description::NEXT, next),
        }
        self.give_description(listed.at)?;
        if inode.has_annex() {
            let mappings = inode.body.load(annex::MAPPINGS).wrapping_sub(1);
            self.put(inode.body_at, annex::MAPPINGS, mappings);
        }
        let opens = Opens::from_inode(inode.line).closed(0)?;
        self.put(inode.at, cell::OPENS, opens.0);
        let is_gone = inode.line.load(cell::LINKS) == 0 && !opens.has_content();
        if is_gone { self.let_go(inode.cell(), opens) } else { Ok(()) }
    }

    /// The inodes in the list of a process' table, each with its description.
    pub(crate) fn each_mapping(
        &self,
        record: Line<'a>,
        mut each: impl FnMut(Ref) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let table = super::DescriptorTable::from_record(record);
        let Some((line, field)) = table.position(TableIndex::MAPPINGS) else { return Ok(()) };
        let mut at = Ref(u32::from_bits(self.line(line)?.load(field)));
        for _ in 0..self.arena().lines() {
            if !at.is_some() {
                return Ok(());
            }
            each(at)?;
            at = Ref(self.line(at)?.load(description::NEXT));
        }
        Err(Errno::CORRUPT)
    }
}

const _: () = assert!(process::MAPPINGS != process::WORKING && process::MAPPINGS < process::FIRST);
