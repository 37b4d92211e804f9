//! The table of descriptors of each process.

use super::flags;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::annex::InodeCell;
use crate::arena::{Field, LINES_PER_PAGE, Line, Ref, Word};
use crate::errno::Errno;
use crate::file_locks::LockOwner;
use crate::layout::{cell, description, process};
use crate::member::Member;
use crate::opens::Opens;
use crate::seams::Seams;

/// An index into a table of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TableIndex(pub(super) u32);

impl TableIndex {
    /// The working directory's.
    pub(super) const WORKING: Self = Self(process::WORKING);
    /// The first of the mapped files.
    pub(super) const MAPPINGS: Self = Self(process::MAPPINGS);

    /// A descriptor's.
    #[inline(always)]
    pub(super) fn from_descriptor(descriptor: u32) -> Result<Self, Errno> {
        descriptor.checked_add(process::FIRST).map(Self).ok_or(Errno::BADF)
    }

    /// The descriptor with this index.
    pub(super) fn descriptor(self) -> u32 {
        self.0.wrapping_sub(process::FIRST)
    }

    /// Its entry in its line.
    #[inline(always)]
    fn field(self) -> Field<u64> {
        process::ENTRY.element((self.0 % process::ENTRIES_PER_LINE) as usize)
    }
}

/// The table of a process: where it begins, and its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DescriptorTable {
    pub(crate) start: Ref,
    bits: Option<u32>,
}

impl DescriptorTable {
    /// The table of the process with this record.
    #[inline(always)]
    pub(crate) fn from_record(record: Line<'_>) -> Self {
        Self::from_word(record.load(process::TABLE))
    }

    pub(super) fn from_word(word: u64) -> Self {
        let bits = u32::from_bits(word >> 32).checked_sub(1);
        Self {
            start: Ref(u32::from_bits(word)),
            bits: bits.map(|bits| bits.min(process::BITS_MAX)),
        }
    }

    fn word(self) -> u64 {
        u64::from(self.start.0) | self.bits.map_or(0, |bits| u64::from(bits + 1) << 32)
    }

    /// How many lines it has; possibly none.
    pub(crate) fn lines(self) -> u32 {
        self.bits.map_or(0, |bits| 1 << bits)
    }

    /// How many entries it has, including empty ones.
    fn entries(self) -> u32 {
        self.lines() * process::ENTRIES_PER_LINE
    }

    /// The indices of its entries, including empty ones.
    pub(super) fn indices(self) -> impl Iterator<Item = TableIndex> {
        (0..self.entries()).map(TableIndex)
    }

    /// The positions of its entries, including empty ones.
    pub(crate) fn positions(self) -> impl Iterator<Item = (Ref, Field<u64>)> {
        self.indices().filter_map(move |index| self.position(index))
    }

    /// The positions of the entries that refer to descriptions by descriptors.
    pub(crate) fn positions_of_descriptors(self) -> impl Iterator<Item = (Ref, Field<u64>)> {
        let are = self.indices().filter(|&index| index != TableIndex::MAPPINGS);
        are.filter_map(move |index| self.position(index))
    }

    /// The position of an entry; none if the table is too short.
    pub(super) fn position(self, index: TableIndex) -> Option<(Ref, Field<u64>)> {
        Some((self.line_of(index)?, index.field()))
    }

    /// The line with an entry; none if the table is too short.
    #[inline(always)]
    fn line_of(self, index: TableIndex) -> Option<Ref> {
        let line = self.start.plus(index.0 / process::ENTRIES_PER_LINE);
        (index.0 < self.entries()).then_some(line)
    }
}

/// An entry of a table, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableEntry {
    pub(super) index: TableIndex,
    /// Its line.
    pub(super) line: Ref,
    /// Its content; 0 if it is empty.
    pub(super) value: u64,
    /// The word with the table's position, as it was then.
    table: u64,
}

impl TableEntry {
    pub(super) fn description(self) -> Ref {
        Ref(u32::from_bits(self.value))
    }

    pub(super) fn closes_on_exec(self) -> bool {
        self.value >> 32 != 0
    }
}

/// The table entry for a descriptor.
pub(super) fn entry_of(description: Ref, flags: u32) -> u64 {
    let closes_on_exec = u64::from(flags & flags::CLOSE_ON_EXEC != 0);
    u64::from(description.0) | closes_on_exec << 32
}

impl<'a, S: Seams> Member<'a, S> {
    /// An entry of a process' table.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it is empty.
    #[inline]
    pub(super) fn entry(&self, of: Ref, index: TableIndex) -> Result<TableEntry, Errno> {
        let entry = self.any_entry(of, index)?;
        if entry.value == 0 { Err(Errno::BADF) } else { Ok(entry) }
    }

    /// An entry of a process' table, which may be empty.
    #[inline(always)]
    pub(super) fn any_entry(&self, of: Ref, index: TableIndex) -> Result<TableEntry, Errno> {
        let record = self.line(of)?;
        let word = record.load(process::TABLE);
        let line = DescriptorTable::from_word(word).line_of(index).ok_or(Errno::BADF)?;
        let value = self.line(line)?.load(index.field());
        if !S::IS_SHARED || record.load(process::TABLE) == word {
            Ok(TableEntry { index, line, value, table: word })
        } else {
            // The table has just grown.
            Err(Errno::STALE)
        }
    }

    /// Whether an entry of a process' table still has this content.
    #[inline(always)]
    pub(crate) fn is_still_entry(&self, of: Ref, index: u32, value: u64) -> Result<bool, Errno> {
        Ok(!S::IS_SHARED || self.any_entry(of, TableIndex(index))?.value == value)
    }

    /// The inode of the description that an entry of our own process refers to.
    ///
    /// # Errors
    /// [`Errno::STALE`] if the entry has changed: the cell may have become anything since.
    #[inline(always)]
    pub(super) fn inode_of_entry(&self, entry: &TableEntry) -> Result<Ref, Errno> {
        let inode = Ref(self.line(entry.description())?.load(description::INODE));
        compiler_fence(Ordering::SeqCst);
        let is_same = self.is_still_entry(self.process(), entry.index.0, entry.value)?;
        if is_same { Ok(inode) } else { Err(Errno::STALE) }
    }

    /// The first empty entry from `from` on. The record must be locked.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if the table has to grow first.
    #[inline(always)]
    pub(super) fn vacant(&self, record: Line<'a>, from: TableIndex) -> Result<TableEntry, Errno> {
        let word = record.load(process::TABLE);
        let table = DescriptorTable::from_word(word);
        let lowest = record.load(process::LOWEST).max(process::FIRST);
        let mut index = TableIndex(lowest.max(from.0));
        while let Some(line) = table.line_of(index) {
            if self.line(line)?.load(index.field()) == 0 {
                // Not logged: it is true whether or not this entry gets used.
                if from.0 <= lowest && index.0 > lowest {
                    self.fill(record, process::LOWEST, index.0);
                }
                return Ok(TableEntry { index, line, value: 0, table: word });
            }
            index.0 += 1;
        }
        Err(Errno::AGAIN)
    }

    /// This entry, if it is empty. The record must be locked.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if the table has to grow first; [`Errno::BUSY`] if it is not empty.
    pub(super) fn vacant_at(&self, of: Ref, index: TableIndex) -> Result<TableEntry, Errno> {
        let entry = self.any_entry(of, index).map_err(|_| Errno::AGAIN)?;
        if entry.value == 0 { Ok(entry) } else { Err(Errno::BUSY) }
    }

    /// Logs that an empty entry gets a value; returns its index.
    pub(super) fn put_entry(&self, vacant: TableEntry, value: u64) -> TableIndex {
        self.put(vacant.line, vacant.index.field(), value);
        vacant.index
    }

    /// Grows a process' table: at least to twice its size, and enough to contain this index.
    ///
    /// # Errors
    /// [`Errno::MFILE`] if the table would be too large; [`Errno::NFILE`] if there is no space for
    /// it.
    #[cold]
    #[inline(never)]
    pub(super) fn lengthen(&self, of: Ref, index: TableIndex) -> Result<(), Errno> {
        let record = self.lock(of)?;
        let done = self.lengthen_locked(of, record.load(process::TABLE), index);
        self.forget();
        self.unlock();
        done
    }

    fn lengthen_locked(&self, of: Ref, word: u64, index: TableIndex) -> Result<(), Errno> {
        let old = DescriptorTable::from_word(word);
        let needed = old.entries().max(index.0).saturating_add(1);
        let lines = needed.div_ceil(process::ENTRIES_PER_LINE).max(1);
        let bits = lines.checked_next_power_of_two().map_or(u32::MAX, u32::ilog2);
        // A run has fewer lines than a page, or whole pages; a power of two is always one of these.
        if bits > process::BITS_MAX {
            return Err(Errno::MFILE);
        }
        let lines = 1 << bits;
        debug_assert!(lines < LINES_PER_PAGE || lines.is_multiple_of(LINES_PER_PAGE));
        let start = self.obtain_table(lines)?;
        self.zero(start, lines)?;
        for line in 0..old.lines() {
            let (from, into) = (self.line(old.start.plus(line))?, self.line(start.plus(line))?);
            for entry in 0..process::ENTRIES_PER_LINE as usize {
                let field = process::ENTRY.element(entry);
                self.fill(into, field, from.load(field));
            }
        }
        self.take_run(start)?;
        self.give_table(old)?;
        self.put(of, process::TABLE, DescriptorTable { start, bits: Some(bits) }.word());
        self.commit();
        Ok(())
    }

    /// Logs that the run of a table is freed, if it has one.
    pub(super) fn give_table(&self, table: DescriptorTable) -> Result<(), Errno> {
        if table.bits.is_none() { Ok(()) } else { self.give_run(table.start, table.lines()) }
    }

    /// Closes a descriptor. An inode without names is freed with its last descriptor.
    ///
    /// # Errors
    /// [`Errno::BADF`] if it is not open.
    #[inline]
    pub fn close(&self, descriptor: u32) -> Result<(), Errno> {
        self.close_entry(self.process(), TableIndex::from_descriptor(descriptor)?)
    }

    /// Empties an entry, if it is not empty.
    pub(super) fn close_if_open(&self, of: Ref, index: TableIndex) -> Result<(), Errno> {
        match self.close_entry(of, index) {
            Err(Errno::BADF) => Ok(()),
            done => done,
        }
    }

    #[inline]
    fn close_entry(&self, of: Ref, index: TableIndex) -> Result<(), Errno> {
        self.retry(|| {
            self.ready(0)?;
            let entry = self.entry(of, index)?;
            let description = self.lock_description(entry)?;
            let at = Ref(description.load(description::INODE));
            let done = self.lock(at).and_then(|line| {
                let inode = InodeCell { at, line };
                if line.load(cell::FORM) == cell::ANNEX {
                    self.drop_locks_of_closed(of, entry, inode)?;
                }
                let record = self.lock(of)?;
                self.release_entry(entry, description, record, inode, 0)?;
                if index == TableIndex::WORKING {
                    self.put_change(of, record);
                }
                Ok(())
            });
            self.conclude(done.is_ok());
            done
        })
    }

    /// Releases the file locks that end with a descriptor: those of the process, and those of the
    /// description if this is its last descriptor.
    pub(super) fn drop_locks_of_closed(
        &self,
        of: Ref,
        entry: TableEntry,
        inode: InodeCell<'a>,
    ) -> Result<(), Errno> {
        let closed = entry.description();
        let is_last = self.line(closed)?.load(description::REFERENCES) <= 1;
        self.drop_locks(inode, &|owner| match owner {
            LockOwner::Process { record } => record == of.0,
            LockOwner::Whole { description } | LockOwner::Description { description } => {
                is_last && description == closed.0
            }
        })
    }

    /// Locks the description that an entry refers to.
    ///
    /// # Errors
    /// [`Errno::STALE`] if the entry no longer refers to it.
    #[inline(always)]
    pub(super) fn lock_description(&self, entry: TableEntry) -> Result<Line<'a>, Errno> {
        let at = entry.description();
        let line = self.lock(at)?;
        if !S::IS_SHARED || self.line(entry.line)?.load(entry.index.field()) == entry.value {
            return Ok(line);
        }
        self.unlock();
        Err(Errno::STALE)
    }

    /// Logs that an entry gets new content, or 0 for none, with all that follows from that. Its old
    /// description, that one's inode, and the process' record must be locked.
    #[inline(always)]
    pub(super) fn release_entry(
        &self,
        entry: TableEntry,
        description: Line<'a>,
        record: Line<'a>,
        inode: InodeCell<'a>,
        becomes: u64,
    ) -> Result<(), Errno> {
        // The table may have grown, and the entry may have moved.
        let (index, field) = (entry.index, entry.index.field());
        let is_there = record.load(process::TABLE) == entry.table;
        if S::IS_SHARED && (!is_there || self.line(entry.line)?.load(field) != entry.value) {
            return Err(Errno::STALE);
        }
        // Not logged: it is true now, whatever happens to this entry.
        let is_free = becomes == 0 && index.0 >= process::FIRST;
        if is_free && index.0 < record.load(process::LOWEST) {
            self.fill(record, process::LOWEST, index.0);
        }
        self.put(entry.line, field, becomes);
        let references = description.load(description::REFERENCES).wrapping_sub(1);
        if references != 0 {
            self.put(entry.description(), description::REFERENCES, references);
            return Ok(());
        }
        self.give_description(entry.description())?;
        let how = description.load(description::FLAGS);
        let opens = Opens::from_inode(inode.line).closed(how)?;
        self.put(inode.at, cell::OPENS, opens.0);
        let is_gone = inode.line.load(cell::LINKS) == 0 && !opens.has_content();
        if is_gone { self.let_go(inode, opens) } else { Ok(()) }
    }

    /// Duplicates a descriptor, to the lowest free one from `lowest` on.
    ///
    /// # Errors
    /// [`Errno::BADF`], [`Errno::MFILE`], [`Errno::NFILE`].
    pub fn duplicate(&self, descriptor: u32, lowest: u32, flags: u32) -> Result<u32, Errno> {
        let lowest = TableIndex::from_descriptor(lowest).map_err(|_| Errno::INVAL)?;
        let of = self.process();
        loop {
            let done =
                self.copy_entry(of, TableIndex::from_descriptor(descriptor)?, flags, |member| {
                    member.vacant(member.line(of)?, lowest)
                });
            match done {
                Err(Errno::AGAIN) => self.lengthen(of, lowest)?,
                done => return Ok(done?.descriptor()),
            }
        }
    }

    /// Copies all descriptors of this process to another, and the working directory: what a forked
    /// child starts with.
    ///
    /// # Errors
    /// [`Errno::NFILE`], [`Errno::CORRUPT`].
    pub fn copy_descriptors(&self, to: u32) -> Result<(), Errno> {
        self.copy_descriptors_that(to, |_| true)
    }

    /// Copies some of the descriptors, and the working directory.
    pub(super) fn copy_descriptors_that(
        &self,
        to: u32,
        is_kept: impl Fn(&TableEntry) -> bool,
    ) -> Result<(), Errno> {
        let (of, to) = (self.process(), self.geometry().process(to)?);
        for index in DescriptorTable::from_record(self.line(of)?).indices() {
            if index == TableIndex::MAPPINGS {
                continue;
            }
            let Some(entry) = self.entry(of, index).ok().filter(&is_kept) else { continue };
            let flags = if entry.closes_on_exec() { flags::CLOSE_ON_EXEC } else { 0 };
            loop {
                match self.copy_entry(to, index, flags, |member| member.vacant_at(to, index)) {
                    Err(Errno::AGAIN) => self.lengthen(to, index)?,
                    // It has just been closed.
                    Err(Errno::BADF) => break,
                    Err(why) => return Err(why),
                    Ok(_) => break,
                }
            }
        }
        Ok(())
    }

    /// Copies entry `from` of our own process to the one that the closure chooses, in a table that
    /// may be another process'.
    pub(super) fn copy_entry(
        &self,
        to: Ref,
        from: TableIndex,
        flags: u32,
        vacant: impl Fn(&Self) -> Result<TableEntry, Errno>,
    ) -> Result<TableIndex, Errno> {
        self.retry(|| {
            let entry = self.entry(self.process(), from)?;
            let at = entry.description();
            let inode = self.inode_of_entry(&entry)?;
            self.lock(inode)?;
            let done = self.lock(to).and_then(|_| {
                let line = self.line(at)?;
                let is_same = self.entry(self.process(), from)?.value == entry.value;
                if !is_same || line.load(description::INODE) != inode.0 {
                    return Err(Errno::STALE);
                }
                let references = line.load(description::REFERENCES).checked_add(1);
                let (references, vacant) = (references.ok_or(Errno::NFILE)?, vacant(self)?);
                self.put(at, description::REFERENCES, references);
                Ok(self.put_entry(vacant, entry_of(at, flags)))
            });
            self.conclude(done.is_ok());
            done
        })
    }
}
