//! File locks, by descriptor.

use core::ops::Range;

use super::{OpenFile, flags};
use crate::errno::Errno;
use crate::file_locks::{FileLock, LockOwner};
use crate::member::Member;
use crate::seams::Seams;

/// On whose behalf a range of bytes is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeHolder {
    /// This process.
    Process {
        /// Its number.
        pid: u32,
    },
    /// The open description.
    Description {
        /// The process that is named to those who ask who holds the lock, which need not be this
        /// one; [`Self::NOBODY`] if none is.
        pid: u32,
    },
}

impl RangeHolder {
    /// Stands for no process.
    pub const NOBODY: u32 = u32::MAX;
}

impl<'a, S: Seams> Member<'a, S> {
    /// Locks the whole file on behalf of the open description, exclusively or shared, or unlocks
    /// it: flock(2). A process that does so for another one names that; others name 0.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if another owner's lock conflicts; [`Errno::BADF`].
    pub fn lock_open(
        &self,
        descriptor: u32,
        exclusive: Option<bool>,
        pid: u32,
    ) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            open.check_not_path()?;
            if exclusive.is_some() {
                // Either will do.
                open.check_readable().or_else(|_| open.check_writable())?;
            }
            let lock = FileLock { pid, ..open.whole_lock(exclusive.unwrap_or(false)) };
            match exclusive {
                Some(_) => self.lock_file(open.node, lock),
                None => self.unlock_file(open.node, lock.owner, lock.start..lock.end),
            }
        })
    }

    /// Locks a range of bytes, or unlocks it: fcntl(2).
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if another owner's lock conflicts; [`Errno::BADF`] if the descriptor is not
    /// open for that kind of access.
    pub fn lock_range(
        &self,
        descriptor: u32,
        range: Range<u64>,
        exclusive: Option<bool>,
        holder: RangeHolder,
    ) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            open.check_not_path()?;
            match exclusive {
                Some(true) => open.check_writable()?,
                Some(false) => open.check_readable()?,
                None => {}
            }
            let lock = self.range_lock(&open, &range, exclusive.unwrap_or(false), holder);
            match exclusive {
                Some(_) => self.lock_file(open.node, lock),
                None => self.unlock_file(open.node, lock.owner, range.clone()),
            }
        })
    }

    /// A lock that conflicts with locking the whole file.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    pub fn conflicting_lock_of_open(
        &self,
        descriptor: u32,
        exclusive: bool,
    ) -> Result<Option<FileLock>, Errno> {
        self.with(descriptor, |open| {
            open.check_not_path()?;
            self.conflicting_lock(open.node, &open.whole_lock(exclusive))
        })
    }

    /// A lock that conflicts with locking this range.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    pub fn conflicting_lock_of_range(
        &self,
        descriptor: u32,
        range: Range<u64>,
        exclusive: bool,
        holder: RangeHolder,
    ) -> Result<Option<FileLock>, Errno> {
        self.with(descriptor, |open| {
            open.check_not_path()?;
            self.conflicting_lock(open.node, &self.range_lock(&open, &range, exclusive, holder))
        })
    }

    /// Waits briefly until a conflicting lock may have been released: for a lock of a range, as for
    /// [`Self::lock_range`], or of the whole file.
    ///
    /// # Errors
    /// [`Errno::INTR`], [`Errno::BADF`].
    pub fn await_unlocked(
        &self,
        descriptor: u32,
        range: Option<(&Range<u64>, RangeHolder)>,
        exclusive: bool,
    ) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            let lock = match range {
                Some((range, holder)) => self.range_lock(&open, range, exclusive, holder),
                None => open.whole_lock(exclusive),
            };
            self.await_lock(open.node, &lock)
        })
    }

    fn range_lock(
        &self,
        open: &OpenFile<'a>,
        range: &Range<u64>,
        is_exclusive: bool,
        holder: RangeHolder,
    ) -> FileLock {
        let (owner, pid) = match holder {
            RangeHolder::Process { pid } => (LockOwner::Process { record: self.process().0 }, pid),
            RangeHolder::Description { pid } => {
                (LockOwner::Description { description: open.entry.description().0 }, pid)
            }
        };
        let &Range { start, end } = range;
        FileLock { owner, is_exclusive, start, end, pid }
    }
}

impl OpenFile<'_> {
    fn check_not_path(&self) -> Result<(), Errno> {
        if self.flags & flags::PATH != 0 { Err(Errno::BADF) } else { Ok(()) }
    }

    fn whole_lock(&self, is_exclusive: bool) -> FileLock {
        let owner = LockOwner::Whole { description: self.entry.description().0 };
        FileLock { owner, is_exclusive, start: 0, end: u64::MAX, pid: 0 }
    }
}
