//! What a process gets that takes another one's place: a program that the other has executed.
//!
//! It has a record of its own, to which the other copies what stays open before it executes the
//! program. The other's record is then that of a dead process. The locks of byte ranges that belong
//! to the process, however, are passed on by whoever reaps that record, for they would go with it.

use super::table::{DescriptorTable, TableEntry, TableIndex};
use crate::annex::InodeCell;
use crate::arena::{Ref, Word};
use crate::errno::Errno;
use crate::file_locks::LockOwner;
use crate::layout::description;
use crate::member::Member;
use crate::seams::Seams;

impl<'a, S: Seams> Member<'a, S> {
    /// Copies the descriptors of this process that are not closed when it executes another program,
    /// and the working directory, to another process.
    ///
    /// # Errors
    /// [`Errno::NFILE`], [`Errno::CORRUPT`].
    pub fn copy_descriptors_for_exec(&self, to: u32) -> Result<(), Errno> {
        self.copy_descriptors_that(to, |entry| !entry.closes_on_exec())
    }

    /// Closes the descriptors of this process that are closed when it executes another program, for
    /// a process that keeps its record then.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`], [`Errno::INTR`].
    pub fn close_for_exec(&self) -> Result<(), Errno> {
        let of = self.process();
        for index in DescriptorTable::from_record(self.line(of)?).indices() {
            let is_descriptor = index != TableIndex::MAPPINGS && index != TableIndex::WORKING;
            let ends = self.entry(of, index).is_ok_and(TableEntry::closes_on_exec);
            if is_descriptor && ends {
                self.close_if_open(of, index)?;
            }
        }
        Ok(())
    }

    /// Makes the locks of byte ranges that a dead process has those of its heir. As they end when a
    /// process closes any descriptor of the file, they do so for files of which a descriptor is
    /// closed on exec, or which the heir has closed already. Only one thread may do this at a time;
    /// if it dies, another can start over.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`], [`Errno::INTR`].
    pub fn pass_locks(&self, dead: u32, heir: u32) -> Result<(), Errno> {
        let (of, to) = (self.geometry().process(dead)?, self.geometry().process(heir)?);
        let table = DescriptorTable::from_record(self.line(of)?);
        for ends in [true, false] {
            for index in table.indices() {
                let is_descriptor = index != TableIndex::MAPPINGS && index != TableIndex::WORKING;
                let entry = if is_descriptor { self.entry(of, index) } else { continue };
                if entry.is_ok_and(|entry| entry.closes_on_exec() == ends) {
                    self.pass_locks_of(of, index, (!ends).then_some(to))?;
                }
            }
        }
        Ok(())
    }

    /// Passes on the locks of the file that an entry of a dead process refers to, or releases them
    /// if nobody is to get them.
    fn pass_locks_of(&self, of: Ref, index: TableIndex, to: Option<Ref>) -> Result<(), Errno> {
        self.retry(|| {
            self.ready(0)?;
            let entry = match self.entry(of, index) {
                Err(Errno::BADF) => return Ok(()),
                entry => entry?,
            };
            let description = self.lock_description(entry)?;
            let at = Ref(description.load(description::INODE));
            let done = self.lock(at).and_then(|line| {
                let is_theirs = |owner| owner == LockOwner::Process { record: of.0 };
                if !self.has_lock(line, &is_theirs)? {
                    return Ok(());
                }
                let inode = InodeCell { at, line };
                match to {
                    // As long as the inode is locked, the heir cannot close its descriptor, which
                    // would release what it has by then.
                    Some(to) if self.has_open(to, at)? => self.pass_locks_to(inode, of, to),
                    Some(_) | None => self.drop_locks(inode, &is_theirs),
                }
            });
            self.conclude(done.is_ok());
            done
        })
    }

    /// Whether a process has a descriptor of an inode.
    fn has_open(&self, of: Ref, inode: Ref) -> Result<bool, Errno> {
        let record = self.lock(of)?;
        let mut positions = DescriptorTable::from_record(record).positions_of_descriptors();
        let found = positions.try_fold(false, |found, (line, field)| {
            let value = self.line(line)?.load(field);
            if found || value == 0 {
                return Ok(found);
            }
            let description = self.line(Ref(u32::from_bits(value)))?;
            Ok(description.load(description::INODE) == inode.0)
        });
        self.unlock();
        found
    }
}
