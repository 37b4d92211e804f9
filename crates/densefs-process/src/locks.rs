//! File locks, with waiting.

use densefs::{Errno, FileLock};

use crate::dense_fs::DenseFs;

/// A range of bytes to lock, and on whose behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRange {
    /// The first byte.
    pub start: u64,
    /// The byte after the last one; `u64::MAX` for everything up to the end, wherever that will be.
    pub end: u64,
    /// Whether it is locked for the process, until that closes any descriptor of the file, or for
    /// the open description.
    pub is_of_process: bool,
}

impl DenseFs {
    /// Locks a whole file for the open description, exclusively or shared, or unlocks it.
    ///
    /// # Errors
    /// As flock(2): [`Errno::AGAIN`] without `waits`, [`Errno::INTR`] with it.
    pub fn lock(&self, descriptor: u32, exclusive: Option<bool>, waits: bool) -> Result<(), Errno> {
        let take = || self.with_core(|member| member.lock_open(descriptor, exclusive));
        let wait = || {
            let exclusive = exclusive.unwrap_or(false);
            self.with_core(|member| member.await_unlocked(descriptor, None, exclusive))
        };
        self.take_lock(waits, take, wait)
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
        let (bytes, pid) = (range.start..range.end, self.pid_of(range));
        let take = || {
            self.with_core(|member| member.lock_range(descriptor, bytes.clone(), exclusive, pid))
        };
        let wait = || {
            let exclusive = exclusive.unwrap_or(false);
            self.with_core(|member| {
                member.await_unlocked(descriptor, Some((&bytes, pid)), exclusive)
            })
        };
        self.take_lock(waits, take, wait)
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
        self.with_core(|member| {
            let bytes = range.start..range.end;
            member.conflicting_lock_of_range(descriptor, bytes, is_exclusive, self.pid_of(range))
        })
    }

    /// The process for which a range is locked; none if it is for the open description.
    fn pid_of(&self, range: LockRange) -> Option<u32> {
        range.is_of_process.then(|| self.attachment.pid())
    }

    fn take_lock(
        &self,
        waits: bool,
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
                Err(Errno::AGAIN) if waits => wait()?,
                done => return done,
            }
        }
    }
}
