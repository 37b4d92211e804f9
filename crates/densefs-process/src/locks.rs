//! File locks, with waiting.

use std::cell::OnceCell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

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

/// How long a file that was closed through a mount may stay locked. The kernel tells the process
/// that serves the mount only after the program has gone on, so another one may be faster.
pub const SETTLES_WITHIN: Duration = Duration::from_millis(20);

/// Asked whether to give up waiting for a file lock.
static IS_GIVEN_UP: OnceLock<fn() -> bool> = OnceLock::new();

/// From now on, calls of this process that wait for file locks ask this every few milliseconds
/// whether to give up, and then fail with [`Errno::INTR`]: for those who hold signals back until a
/// call has ended. Only the first of these counts.
pub fn give_up_waiting_if(asks: fn() -> bool) {
    IS_GIVEN_UP.get_or_init(|| asks);
}

impl DenseFs {
    /// Locks a whole file for the open description, exclusively or shared, or unlocks it.
    ///
    /// # Errors
    /// As flock(2): [`Errno::AGAIN`] without `waits`, [`Errno::INTR`] with it.
    pub fn lock(&self, descriptor: u32, exclusive: Option<bool>, waits: bool) -> Result<(), Errno> {
        let conflict = || {
            let exclusive = exclusive.unwrap_or(false);
            self.with_core(|member| member.conflicting_lock_of_open(descriptor, exclusive))
        };
        let lock = |goes_on: &dyn Fn() -> bool| self.lock_for(0, descriptor, exclusive, goes_on);
        self.lock_or_settle(waits, conflict, lock)
    }

    /// Like [`Self::lock`], for another process, and waits as long as `goes_on` says so, which is
    /// asked again every few milliseconds.
    ///
    /// # Errors
    /// As [`Self::lock`]; [`Errno::AGAIN`] if the lock could not be had by then.
    pub fn lock_for(
        &self,
        pid: u32,
        descriptor: u32,
        exclusive: Option<bool>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), Errno> {
        let take = || self.with_core(|member| member.lock_open(descriptor, exclusive, pid));
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
        let conflict = || self.conflict(descriptor, range, exclusive.unwrap_or(false));
        let lock = |goes_on: &dyn Fn() -> bool| {
            self.lock_range_while(descriptor, range, exclusive, goes_on)
        };
        self.lock_or_settle(waits, conflict, lock)
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

    /// Takes a lock, and waits for it if `waits`; if not, waits for what may have been closed
    /// through a mount.
    fn lock_or_settle(
        &self,
        waits: bool,
        conflict: impl Fn() -> Result<Option<FileLock>, Errno>,
        lock: impl Fn(&dyn Fn() -> bool) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        if waits {
            let goes_on = || !IS_GIVEN_UP.get().is_some_and(|asks| asks());
            return lock(&goes_on)
                .map_err(|why| if why == Errno::AGAIN { Errno::INTR } else { why });
        }
        let until = OnceCell::new();
        let may_settle = || {
            let until = until.get_or_init(|| Instant::now() + SETTLES_WITHIN);
            // If there is none any more, it has just been released.
            let may_end = |lock: FileLock| lock.is_for_another();
            conflict().is_ok_and(|found| found.is_none_or(may_end)) && Instant::now() < *until
        };
        lock(&may_settle).map_err(|why| if why == Errno::INTR { Errno::AGAIN } else { why })
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
        self.conflict(descriptor, range, is_exclusive)
    }

    fn conflict(
        &self,
        descriptor: u32,
        range: LockRange,
        is_exclusive: bool,
    ) -> Result<Option<FileLock>, Errno> {
        let (bytes, holder) = (range.start..range.end, self.holder_of(range));
        self.with_core(|member| {
            member.conflicting_lock_of_range(descriptor, bytes.clone(), is_exclusive, holder)
        })
    }

    /// Whether another process serves a mount of the arena.
    #[must_use]
    pub fn is_served_by_others(&self) -> bool {
        self.attachment.is_served_by_others()
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
