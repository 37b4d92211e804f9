//! A descriptor that gets another's description, in one step with losing its own: nobody sees it
//! closed in between, nor takes its place.

use super::table::{Entry, Place, entry_of};
use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::{cell, description};
use crate::member::Member;
use crate::seams::Seams;

impl<'a, S: Seams> Member<'a, S> {
    /// Makes a descriptor refer to what another does, which is closed first if it is open.
    ///
    /// # Errors
    /// As [`Self::duplicate`].
    pub fn duplicate_to(&self, descriptor: u32, to: u32, flags: u32) -> Result<(), Errno> {
        let of = self.process();
        let (from, to) = (Place::of(descriptor)?, Place::of(to)?);
        self.entry(of, from)?;
        if from == to {
            return Ok(());
        }
        loop {
            let done = self.copy_entry(of, from, flags, |member| member.vacant_at(of, to));
            match done {
                Err(Errno::AGAIN) => self.lengthen(of, to)?,
                Err(Errno::BUSY) => match self.replace(from, to, flags) {
                    // Somebody has closed it just now.
                    Err(Errno::AGAIN) => {}
                    done => return done,
                },
                done => return done.map(drop),
            }
        }
    }

    /// The same of one that is open; [`Errno::AGAIN`] if it is not any more.
    fn replace(&self, from: Place, to: Place, flags: u32) -> Result<(), Errno> {
        self.again(|| {
            self.ready(0)?;
            let new = self.entry(self.process(), from)?;
            let old = match self.entry(self.process(), to) {
                Err(Errno::BADF) => return Err(Errno::AGAIN),
                old => old?,
            };
            let line = self.lock_description(old)?;
            let done = self.replace_locked((from, new), (to, old), line, flags);
            if done.is_ok() {
                self.commit();
            }
            self.forget();
            self.unlock_all();
            self.settle_if_possible();
            if done == Err(Errno::BUSY) {
                let inode = self.inode_of_entry(from, &new)?;
                self.await_release(inode, self.line(inode)?)?;
                return Err(Errno::STALE);
            }
            done
        })
    }

    /// Puts it into the log; the old description is locked. [`Errno::BUSY`] if somebody holds the
    /// new one's inode: either may come first in the order of locks, so it is not waited for.
    fn replace_locked(
        &self,
        (from, new): (Place, Entry),
        (to, old): (Place, Entry),
        line: Line<'a>,
        flags: u32,
    ) -> Result<(), Errno> {
        let of = self.process();
        let inode = Ref(line.load(description::INODE));
        let inode_line = self.lock(inode)?;
        let target = self.line(new.description())?;
        let other = self.inode_of_entry(from, &new)?;
        if other != inode && !self.try_lock(other)? {
            return Err(Errno::BUSY);
        }
        // As long as its inode is locked, nobody closes the new one.
        let is_same = self.entry(of, from)?.value == new.value;
        if !is_same || target.load(description::INODE) != other.0 {
            return Err(Errno::STALE);
        }
        if inode_line.load(cell::FORM) == cell::ANNEX {
            self.drop_locks_of_closed(of, old, (inode, inode_line))?;
        }
        let record = self.lock(of)?;
        let references = target.load(description::REFERENCES);
        // Whoever looks at the place takes no lock: it is never empty.
        let becomes = entry_of(new.description(), flags);
        self.give_up((to, old), (line, record), (inode, inode_line), becomes)?;
        // If both are the same, it has one less and one more.
        let is_one = new.description() == old.description();
        let references = references.checked_add(u16::from(!is_one)).ok_or(Errno::NFILE)?;
        self.put(new.description(), description::REFERENCES, references);
        Ok(())
    }
}
