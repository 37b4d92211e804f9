//! Locks of files, waited for.

use densefs::{Errno, FileLock};

use crate::dense_fs::DenseFs;

/// Some bytes of a file, and for whom they are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first byte.
    pub start: u64,
    /// The byte behind the last one; `u64::MAX` for all to the end, wherever that comes to be.
    pub end: u64,
    /// For the process, until it closes any descriptor of the file; otherwise for whoever has the
    /// open description.
    pub is_of_process: bool,
}

impl Range {
    fn pid(self) -> Option<u32> {
        self.is_of_process.then(std::process::id)
    }
}

impl DenseFs {
    /// Locks a whole file for whoever has the open description, exclusively or not, or gives that
    /// lock back.
    ///
    /// # Errors
    /// As flock(2): [`Errno::AGAIN`] if it does not wait, [`Errno::INTR`] if it does.
    pub fn lock(&self, descriptor: u32, exclusive: Option<bool>, waits: bool) -> Result<(), Errno> {
        let take = || self.with(|member, _| member.lock_open(descriptor, exclusive));
        let wait = || {
            let exclusive = exclusive.unwrap_or(false);
            self.with(|member, _| member.await_unlocked(descriptor, None, exclusive))
        };
        self.take_lock(waits, take, wait)
    }

    /// Locks some bytes of a file, exclusively or not, or gives that lock back. Processes that wait
    /// for each other wait for ever.
    ///
    /// # Errors
    /// As fcntl(2) with `F_SETLK`: [`Errno::AGAIN`] if it does not wait, [`Errno::INTR`] if it
    /// does; [`Errno::NOLCK`] for more than 512 stretches of a file.
    pub fn lock_range(
        &self,
        descriptor: u32,
        range: Range,
        exclusive: Option<bool>,
        waits: bool,
    ) -> Result<(), Errno> {
        let (bytes, pid) = ((range.start, range.end), range.pid());
        let take = || self.with(|member, _| member.lock_range(descriptor, bytes, exclusive, pid));
        let wait = || {
            let (range, exclusive) = (Some((bytes, pid)), exclusive.unwrap_or(false));
            self.with(|member, _| member.await_unlocked(descriptor, range, exclusive))
        };
        self.take_lock(waits, take, wait)
    }

    /// A lock that is in the way of one of some bytes.
    ///
    /// # Errors
    /// As fcntl(2) with `F_GETLK`.
    pub fn range_in_the_way(
        &self,
        descriptor: u32,
        range: Range,
        is_exclusive: bool,
    ) -> Result<Option<FileLock>, Errno> {
        self.sweep()?;
        let (bytes, pid) = ((range.start, range.end), range.pid());
        self.with(|member, _| member.range_in_the_way(descriptor, bytes, is_exclusive, pid))
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
            // Whoever has it may be dead.
            self.sweep()?;
            match take() {
                Err(Errno::AGAIN) if waits => wait()?,
                done => return done,
            }
        }
    }
}
