//! Locks of files, taken by descriptors.

use super::{Open, flags};
use crate::errno::Errno;
use crate::file_locks::{FileLock, LockOwner};
use crate::member::Member;
use crate::seams::Seams;

impl<'a, S: Seams> Member<'a, S> {
    /// Takes a lock of the whole file for whoever has the open description, exclusive or not, or
    /// gives it back: flock(2).
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if another's is in the way; [`Errno::BADF`].
    pub fn lock_open(&self, descriptor: u32, exclusive: Option<bool>) -> Result<(), Errno> {
        self.with(descriptor, |open| {
            open.check_not_path()?;
            let lock = open.whole_lock(exclusive.unwrap_or(false));
            match exclusive {
                Some(_) => self.lock_file(open.node, lock),
                None => self.unlock_file(open.node, lock.owner, (lock.start, lock.end)),
            }
        })
    }

    /// Takes a lock of some bytes for the process, or with no `pid` for the open description; or
    /// gives it back: fcntl(2).
    ///
    /// # Errors
    /// [`Errno::AGAIN`] if another's is in the way; [`Errno::BADF`] if it is not open for that.
    pub fn lock_range(
        &self,
        descriptor: u32,
        range: (u64, u64),
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
            let lock = self.range_lock(&open, range, exclusive.unwrap_or(false), pid);
            match exclusive {
                Some(_) => self.lock_file(open.node, lock),
                None => self.unlock_file(open.node, lock.owner, range),
            }
        })
    }

    /// The lock that is in the way of one of some bytes.
    ///
    /// # Errors
    /// [`Errno::BADF`].
    pub fn range_in_the_way(
        &self,
        descriptor: u32,
        range: (u64, u64),
        exclusive: bool,
        pid: Option<u32>,
    ) -> Result<Option<FileLock>, Errno> {
        self.with(descriptor, |open| {
            open.check_not_path()?;
            self.lock_in_the_way(open.node, &self.range_lock(&open, range, exclusive, pid))
        })
    }

    /// Waits a little until what is in the way of a lock may have been given back: of a range, as
    /// [`Self::lock_range`] has it, or of the whole file.
    ///
    /// # Errors
    /// [`Errno::INTR`], [`Errno::BADF`].
    pub fn await_unlocked(
        &self,
        descriptor: u32,
        range: Option<((u64, u64), Option<u32>)>,
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
        open: &Open<'a>,
        (start, end): (u64, u64),
        is_exclusive: bool,
        pid: Option<u32>,
    ) -> FileLock {
        let owner = if pid.is_some() {
            LockOwner::Process { record: self.process().0 }
        } else {
            LockOwner::Description { description: open.entry.description().0 }
        };
        FileLock { owner, is_exclusive, start, end, pid: pid.unwrap_or(u32::MAX) }
    }
}

impl Open<'_> {
    fn check_not_path(&self) -> Result<(), Errno> {
        if self.flags & flags::PATH != 0 { Err(Errno::BADF) } else { Ok(()) }
    }

    fn whole_lock(&self, is_exclusive: bool) -> FileLock {
        let owner = LockOwner::Whole { description: self.entry.description().0 };
        FileLock { owner, is_exclusive, start: 0, end: u64::MAX, pid: 0 }
    }
}
