//! The working directory of a process: a description at an index reserved for it.
//!
//! Each thread caches it, with the number of times the process had changed it by then. That number
//! alone then shows that the directory is still the same, and still open.

use core::sync::atomic::{Ordering, compiler_fence};

use super::flags;
use super::table::{TableIndex, entry_of};
use crate::annex::InodeCell;
use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::{cell, description, process};
use crate::member::{Evidence, Member, Node, WorkingDirectory};
use crate::modes::Caller;
use crate::opens::Opens;
use crate::seams::Seams;
use crate::stamp::Stamp;

/// The flags it is opened with.
const HOW: u32 = flags::PATH | flags::DIRECTORY;

impl<'a, S: Seams> Member<'a, S> {
    /// The working directory: the root if it was never changed.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if the arena has no root; [`Errno::STALE`] if it has just been changed.
    #[inline(always)]
    pub fn working_directory(&self) -> Result<Node, Errno> {
        if !self.is_still_working() {
            self.look_at_working_directory()?;
        }
        // If it changes right after this, the code that uses it notices, and starts over.
        let working = self.working.get().ok_or(Errno::STALE)?;
        Ok(Node { at: working.at, evidence: Evidence::Working })
    }

    /// Caches the working directory as it is now.
    #[cold]
    #[inline(never)]
    fn look_at_working_directory(&self) -> Result<(), Errno> {
        let changes = self.record().load(process::CHANGES);
        compiler_fence(Ordering::SeqCst);
        let node = match self.open_at(TableIndex::WORKING) {
            Err(Errno::BADF) => self.root()?,
            open => open?.node,
        };
        self.working.set(Some(WorkingDirectory { at: node.at, changes }));
        Ok(())
    }

    /// Changes the working directory.
    ///
    /// # Errors
    /// [`Errno::NOTDIR`], [`Errno::ACCES`], [`Errno::STALE`].
    pub fn set_working_directory(&self, caller: &Caller<'_>, to: Node) -> Result<(), Errno> {
        loop {
            self.ready_to_open()?;
            let done = self.put_working_directory(caller, to);
            self.conclude(done.is_ok());
            match done {
                Err(Errno::AGAIN) => self.lengthen(self.process(), TableIndex::WORKING)?,
                Err(Errno::BUSY) => {
                    self.await_release(to.at, self.line(to.at)?)?;
                    return Err(Errno::STALE);
                }
                done => return done,
            }
        }
    }

    /// Logs the change. [`Errno::BUSY`] if another thread holds the new directory's lock: either it
    /// or the old one may come first in the lock order, so this must not wait.
    fn put_working_directory(&self, caller: &Caller<'_>, to: Node) -> Result<(), Errno> {
        let old = match self.entry(self.process(), TableIndex::WORKING) {
            Err(Errno::BADF) => return self.put_first(caller, to),
            old => old?,
        };
        let description = self.lock_description(old)?;
        let at = Ref(description.load(description::INODE));
        let inode = InodeCell { at, line: self.lock(at)? };
        if at != to.at && !self.try_lock(to.at)? {
            return Err(Errno::BUSY);
        }
        let new = self.line(to.at)?;
        self.recognise(&to, || Stamp::before_lock(new))?;
        self.check_open(caller, new, HOW)?;
        if at == to.at {
            return Ok(());
        }
        let record = self.lock(self.process())?;
        let becomes = self.put_opened(to.at, new)?;
        // Readers of this entry take no lock, so it must never be empty.
        self.release_entry(old, description, record, inode, becomes)?;
        self.put_change(self.process(), record);
        Ok(())
    }

    /// Like [`Self::put_working_directory`], if none is set yet.
    fn put_first(&self, caller: &Caller<'_>, to: Node) -> Result<(), Errno> {
        let new = self.lock_node(&to)?;
        self.check_open(caller, new, HOW)?;
        let record = self.lock(self.process())?;
        let vacant = match self.vacant_at(self.process(), TableIndex::WORKING) {
            // Another thread was faster.
            Err(Errno::BUSY) => return Err(Errno::STALE),
            vacant => vacant?,
        };
        let value = self.put_opened(to.at, new)?;
        self.put_entry(vacant, value);
        self.put_change(self.process(), record);
        Ok(())
    }

    /// Logs that an inode, which is locked, is opened once more; returns the table entry for it.
    fn put_opened(&self, at: Ref, line: Line<'a>) -> Result<u64, Errno> {
        let (opens, how) = Opens::from_inode(line).opened(HOW)?;
        self.put(at, cell::OPENS, opens.0);
        Ok(entry_of(self.fill_description(at, how)?, how))
    }

    /// Logs that a process, whose record is locked, has changed its working directory. Must come
    /// after the entry itself in the log, so that a thread that sees the new count also sees the
    /// new directory.
    pub(super) fn put_change(&self, of: Ref, record: Line<'a>) {
        self.put(of, process::CHANGES, record.load(process::CHANGES).wrapping_add(1));
    }
}
