//! Replaces a descriptor's description in one step: nobody ever sees the descriptor closed, or
//! takes its place in between.

use super::table::{TableEntry, TableIndex, entry_of};
use crate::annex::InodeCell;
use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::{cell, description};
use crate::member::Member;
use crate::seams::Seams;

impl<'a, S: Seams> Member<'a, S> {
    /// Makes the descriptor `to` refer to the same description as another. If `to` is open, it is
    /// closed.
    ///
    /// # Errors
    /// As [`Self::duplicate`].
    pub fn duplicate_to(&self, descriptor: u32, to: u32, flags: u32) -> Result<(), Errno> {
        let of = self.process();
        let (from, to) =
            (TableIndex::from_descriptor(descriptor)?, TableIndex::from_descriptor(to)?);
        self.entry(of, from)?;
        if from == to {
            return Ok(());
        }
        loop {
            let done = self.copy_entry(of, from, flags, |member| member.vacant_at(of, to));
            match done {
                Err(Errno::AGAIN) => self.lengthen(of, to)?,
                Err(Errno::BUSY) => match self.replace(from, to, flags) {
                    // It has just been closed.
                    Err(Errno::AGAIN) => {}
                    done => return done,
                },
                done => return done.map(drop),
            }
        }
    }

    /// Like [`Self::duplicate_to`], if `to` is open; [`Errno::AGAIN`] if it no longer is.
    fn replace(&self, from: TableIndex, to: TableIndex, flags: u32) -> Result<(), Errno> {
        self.retry(|| {
            self.ready(0)?;
            let new = self.entry(self.process(), from)?;
            let old = match self.entry(self.process(), to) {
                Err(Errno::BADF) => return Err(Errno::AGAIN),
                old => old?,
            };
            let line = self.lock_description(old)?;
            let done = self.replace_locked(new, old, line, flags);
            self.conclude(done.is_ok());
            if done == Err(Errno::BUSY) {
                let inode = self.inode_of_entry(&new)?;
                self.await_release(inode, self.line(inode)?)?;
                return Err(Errno::STALE);
            }
            done
        })
    }

    /// Logs the replacement; `description`, the old one, is locked. [`Errno::BUSY`] if another
    /// thread holds the new inode's lock: either inode may come first in the lock order, so this
    /// must not wait.
    fn replace_locked(
        &self,
        new: TableEntry,
        old: TableEntry,
        description: Line<'a>,
        flags: u32,
    ) -> Result<(), Errno> {
        let of = self.process();
        let at = Ref(description.load(description::INODE));
        let inode = InodeCell { at, line: self.lock(at)? };
        let target = self.line(new.description())?;
        let other = self.inode_of_entry(&new)?;
        if other != at && !self.try_lock(other)? {
            return Err(Errno::BUSY);
        }
        // As long as its inode is locked, nobody can close the new one.
        let is_same = self.entry(of, new.index)?.value == new.value;
        if !is_same || target.load(description::INODE) != other.0 {
            return Err(Errno::STALE);
        }
        if inode.line.load(cell::FORM) == cell::ANNEX {
            self.drop_locks_of_closed(of, old, inode)?;
        }
        let record = self.lock(of)?;
        let references = target.load(description::REFERENCES);
        // Readers of this entry take no lock, so it must never be empty.
        let becomes = entry_of(new.description(), flags);
        self.release_entry(old, description, record, inode, becomes)?;
        // If both are the same, it loses one reference and gains one.
        let is_one = new.description() == old.description();
        let references = references.checked_add(u16::from(!is_one)).ok_or(Errno::NFILE)?;
        self.put(new.description(), description::REFERENCES, references);
        Ok(())
    }
}
