//! File locks, with waiting.

use densefs::{Errno, FileLock, RangeHolder};

use crate::dense_fs::DenseFs;

/// On whose behalf a range of bytes is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolder {
    /// The process, until it closes any descriptor of the file.
    Process,
    /// The open description.
    Description,
    /// Likewise, by a process that serves others: those who ask who holds the lock are told that
    /// it is the process with this number.
    DescriptionFor {
        /// The other process.
        pid: u32,
    },
}

/// A range of bytes to lock, and on whose behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRange {
    /// The first byte.
    pub start: u64,
    /// The byte after the last one; `u64::MAX` for everything up to the end, wherever that will be.
    pub end: u64,
    /// On whose behalf.
    pub holder: LockHolder,
}

impl DenseFs {
    /// Locks a whole file for the open description, exclusively or shared, or unlocks it.
    ///
    /// # Errors
    /// As flock(2): [`Errno::AGAIN`] without `waits`, [`Errno::INTR`] with it.
    pub fn lock(&self, descriptor: u32, exclusive: Option<bool>, waits: bool) -> Result<(), Errno> {
        self.lock_while(descriptor, exclusive, &|| waits)
    }

    /// Like [`Self::lock`], and waits as long as `goes_on` says so, which is asked again every few
    /// milliseconds.
    ///
    /// # Errors
    /// As [`Self::lock`]; [`Errno::AGAIN`] if the lock could not be had by then.
    pub fn lock_while(
        &self,
        descriptor: u32,
        exclusive: Option<bool>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), Errno> {
        let take = || self.with_core(|member| member.lock_open(descriptor, exclusive));
        let wait = || {
            let exclusive = exclusive.unwrap_or(false);
            self.with_core(|member| member.await_unlocked(descriptor, None, exclusive))
        };
        self.take_lock(goes_on, take, wait)
    }

    /// Locks a range of a file, exclusively or shared, or unlocks it. Deadlocks are not detected.
    ///
    /// # Errors
    /// As fcntl(2) with `F_SETLK`: [`Errno::AGAIN`] without `waits`, [`Errno::INTR`] with it;
    /// [`Errno::NOLCK`] for more than 512 locks of a file.
    pub fn lock_range(
        &self,
        descriptor: u32,
        range: LockRange,
        exclusive: Option<bool>,
        waits: bool,
    ) -> Result<(), Errno> {
        self.lock_range_while(descriptor, range, exclusive, &|| waits)
    }

    /// Like [`Self::lock_range`], and waits as long as `goes_on` says so, which is asked again
    /// every few milliseconds.
    ///
    /// # Errors
    /// As [`Self::lock_range`]; [`Errno::AGAIN`] if the lock could not be had by then.
    pub fn lock_range_while(
        &self,
        descriptor: u32,
        range: LockRange,
        exclusive: Option<bool>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), Errno> {
        let (bytes, holder) = (range.start..range.end, self.holder_of(range));
        let take = || {
            self.with_core(|member| member.lock_range(descriptor, bytes.clone(), exclusive, holder))
        };
        let wait = || {
            let exclusive = exclusive.unwrap_or(false);
            self.with_core(|member| {
                member.await_unlocked(descriptor, Some((&bytes, holder)), exclusive)
            })
        };
        self.take_lock(goes_on, take, wait)
    }

    /// A lock that conflicts with locking a range.
    ///
    /// # Errors
    /// As fcntl(2) with `F_GETLK`.
    pub fn conflicting_lock_of_range(
        &self,
        descriptor: u32,
        range: LockRange,
        is_exclusive: bool,
    ) -> Result<Option<FileLock>, Errno> {
        self.sweep()?;
        let (bytes, holder) = (range.start..range.end, self.holder_of(range));
        self.with_core(|member| {
            member.conflicting_lock_of_range(descriptor, bytes.clone(), is_exclusive, holder)
        })
    }

    fn holder_of(&self, range: LockRange) -> RangeHolder {
        match range.holder {
            LockHolder::Process => RangeHolder::Process { pid: self.attachment.pid() },
            LockHolder::Description => RangeHolder::Description { pid: RangeHolder::NOBODY },
            LockHolder::DescriptionFor { pid } => RangeHolder::Description { pid },
        }
    }

    fn take_lock(
        &self,
        goes_on: &dyn Fn() -> bool,
        take: impl Fn() -> Result<(), Errno>,
        wait: impl Fn() -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        loop {
            match take() {
                Err(Errno::AGAIN) => {}
                done => return done,
            }
            // The owner of the conflicting lock may be dead.
            self.sweep()?;
            match take() {
                Err(Errno::AGAIN) if goes_on() => wait()?,
                done => return done,
            }
        }
    }
}
