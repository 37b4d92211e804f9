//! File locks, by descriptor.

use core::ops::Range;

use super::{OpenFile, flags};
use crate::errno::Errno;
use crate::file_locks::{FileLock, LockOwner};
use crate::member::Member;
use crate::seams::Seams;

impl<'a, S: Seams> Member<'a, S> {
    /// Locks the whole file on behalf of the open description, exclusively or shared, or unlocks
    /// it: flock(2).
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if another owner's lock conflicts; [`Errno::BADF`].
    pub fn lock_open(&self, descriptor: u32, exclusive: Option<bool>) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            open.check_not_path()?;
            if exclusive.is_some() {
                // Either will do.
                open.check_readable().or_else(|_| open.check_writable())?;
            }
            let lock = open.whole_lock(exclusive.unwrap_or(false));
            match exclusive {
                Some(_) => self.lock_file(open.node, lock),
                None => self.unlock_file(open.node, lock.owner, lock.start..lock.end),
            }
        })
    }

    /// Locks a range of bytes for the process, or for the open description if there is no `pid`; or
    /// unlocks it: fcntl(2).
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if another owner's lock conflicts; [`Errno::BADF`] if the descriptor is not
    /// open for that kind of access.
    pub fn lock_range(
        &self,
        descriptor: u32,
        range: Range<u64>,
        exclusive: Option<bool>,
        pid: Option<u32>,
    ) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            open.check_not_path()?;
            match exclusive {
                Some(true) => open.check_writable()?,
                Some(false) => open.check_readable()?,
                None => {}
            }
            let lock = self.range_lock(&open, &range, exclusive.unwrap_or(false), pid);
            match exclusive {
                Some(_) => self.lock_file(open.node, lock),
                None => self.unlock_file(open.node, lock.owner, range.clone()),
            }
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
        pid: Option<u32>,
    ) -> Result<Option<FileLock>, Errno> {
        self.with(descriptor, |open| {
            open.check_not_path()?;
            self.conflicting_lock(open.node, &self.range_lock(&open, &range, exclusive, pid))
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
        range: Option<(&Range<u64>, Option<u32>)>,
        exclusive: bool,
    ) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            let lock = match range {
                Some((range, pid)) => self.range_lock(&open, range, exclusive, pid),
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
        pid: Option<u32>,
    ) -> FileLock {
        let owner = if pid.is_some() {
            LockOwner::Process { record: self.process().0 }
        } else {
            LockOwner::Description { description: open.entry.description().0 }
        };
        let &Range { start, end } = range;
        FileLock { owner, is_exclusive, start, end, pid: pid.unwrap_or(u32::MAX) }
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
