//! File locks that programs take through the mount: they are locks of the arena, like those that
//! are taken by library calls.
//!
//! The kernel names the owner of a lock by a number: of a process' open files for fcntl(2), and of
//! the open file for flock(2) and `F_OFD_SETLK`, without saying which of the two it is. In the
//! arena, a whole file is locked by the descriptor that the server has for the open file, and
//! ranges by another one that it opens for each owner. If the server dies, its locks go with it.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use densefs::{Errno, FileLock};
use densefs_process::{LockHolder, LockRange, SETTLES_WITHIN};

use crate::answer::{Answer, descriptor};
use crate::channel::Channel;
use crate::locks::{Key, Turn, Waits};
use crate::protocol::{OF_FLOCK, Reply, Request};
use crate::server::FuseServer;

/// The last byte of a lock that extends to the end of any file: the kernel's `OFFSET_MAX`.
const LAST: u64 = i64::MAX.cast_unsigned();

/// A lock as the kernel asks for it.
#[derive(Clone, Copy, Debug)]
struct AskedLock {
    key: Key,
    /// The descriptor of the open file.
    file: u32,
    start: u64,
    /// The byte after the last one.
    end: u64,
    /// Whether it is exclusive or shared; none if it is to be released.
    exclusive: Option<bool>,
    pid: u32,
    /// Whether it is one of flock(2).
    is_whole: bool,
}

impl AskedLock {
    /// `struct fuse_lk_in`.
    fn parse(request: &Request<'_>) -> Result<Self, Errno> {
        let mut fields = request.fields();
        let (file, owner) = (descriptor(&mut fields)?, fields.u64()?);
        let (start, last) = (fields.u64()?, fields.u64()?);
        let (kind, pid, how) = (fields.u32()?.cast_signed(), fields.u32()?, fields.u32()?);
        let exclusive = match kind {
            libc::F_RDLCK => Some(false),
            libc::F_WRLCK => Some(true),
            libc::F_UNLCK => None,
            _ => return Err(Errno::INVAL),
        };
        let end = if last >= LAST { u64::MAX } else { last + 1 };
        let (key, is_whole) = (Key { inode: request.node, owner }, how & OF_FLOCK != 0);
        Ok(Self { key, file, start, end, exclusive, pid, is_whole })
    }

    fn range(&self) -> LockRange {
        let &Self { start, end, pid, .. } = self;
        LockRange { start, end, holder: LockHolder::DescriptionFor { pid } }
    }
}

impl FuseServer {
    /// Takes or releases a lock without waiting for it.
    pub(crate) fn set_lock(
        &self,
        request: &Request<'_>,
        channel: &Arc<Channel>,
        turn: Turn<'_>,
    ) -> Result<Answer, Errno> {
        let asked = AskedLock::parse(request)?;
        let take = || self.take_lock(&asked, &|| false);
        let taken = match take() {
            Err(Errno::AGAIN) => {
                turn.settle_others();
                take()
            }
            done => done,
        };
        if taken == Err(Errno::AGAIN) && self.files.is_served_by_others() {
            // What has it may have been closed through another mount.
            let until = Some(Instant::now() + SETTLES_WITHIN);
            return self.await_lock(asked, request.unique, channel, until);
        }
        taken.map(|()| Answer::Now(Reply::empty()))
    }

    /// Takes a lock, or has another thread wait for it and answer.
    pub(crate) fn set_lock_or_wait(
        &self,
        request: &Request<'_>,
        channel: &Arc<Channel>,
    ) -> Result<Answer, Errno> {
        let asked = AskedLock::parse(request)?;
        match self.take_lock(&asked, &|| false) {
            Err(Errno::AGAIN) => self.await_lock(asked, request.unique, channel, None),
            done => done.map(|()| Answer::Now(Reply::empty())),
        }
    }

    /// Has a thread wait for a lock, until this time if there is one, and answer.
    fn await_lock(
        &self,
        asked: AskedLock,
        unique: u64,
        channel: &Arc<Channel>,
        until: Option<Instant>,
    ) -> Result<Answer, Errno> {
        // Only those that want to wait are to know of signals.
        let given_up = if until.is_some() { Errno::AGAIN } else { Errno::INTR };
        let wait = Waits::begin(&self.waits, unique).ok_or(given_up)?;
        let (server, channel) = (self.clone(), channel.clone());
        let waits = move || {
            let has_time = || until.is_none_or(|until| Instant::now() < until);
            let taken = server.take_lock_when_free(&asked, &|| wait.goes_on() && has_time());
            server.files.leave();
            let is_given_up = taken == Err(Errno::AGAIN);
            let taken = if is_given_up { Err(given_up) } else { taken };
            channel.answer(unique, taken.map(|()| Reply::empty()));
        };
        thread::Builder::new().spawn(waits).map_err(|_| Errno::NOLCK)?;
        Ok(Answer::NotNow)
    }

    fn take_lock_when_free(
        &self,
        asked: &AskedLock,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), Errno> {
        loop {
            match self.take_lock(asked, goes_on) {
                // A signal to the server.
                Err(Errno::INTR) => {}
                taken => return taken,
            }
        }
    }

    fn take_lock(&self, asked: &AskedLock, goes_on: &dyn Fn() -> bool) -> Result<(), Errno> {
        let taken = if asked.is_whole {
            self.files.lock_for(asked.pid, asked.file, asked.exclusive, goes_on)
        } else if asked.exclusive.is_none() && !self.locks.has(asked.key) {
            Ok(())
        } else {
            self.locks.change(&self.files, asked.key, asked.file, |descriptor| {
                let range = asked.range();
                self.files.lock_range_while(descriptor, range, asked.exclusive, goes_on)?;
                Ok(asked.exclusive.is_some())
            })
        };
        // Too many threads wait.
        taken.map_err(|why| if why == Errno::NFILE { Errno::NOLCK } else { why })
    }

    /// Says which lock conflicts with one.
    pub(crate) fn conflicting_lock(
        &self,
        request: &Request<'_>,
        turn: Turn<'_>,
    ) -> Result<Reply, Errno> {
        let asked = AskedLock::parse(request)?;
        let mut found = self.look_for_conflict(&asked)?;
        if found.is_some() {
            turn.settle_others();
            found = self.look_for_conflict(&asked)?;
        }
        Ok(Reply::lock(found.as_ref()))
    }

    fn look_for_conflict(&self, asked: &AskedLock) -> Result<Option<FileLock>, Errno> {
        let exclusive = asked.exclusive.ok_or(Errno::INVAL)?;
        let mut found = None;
        self.locks.change(&self.files, asked.key, asked.file, |descriptor| {
            let range = asked.range();
            found = self.files.conflicting_lock_of_range(descriptor, range, exclusive)?;
            Ok(false)
        })?;
        Ok(found)
    }

    /// Gives up a request that a thread waits for.
    pub(crate) fn interrupt(&self, request: &Request<'_>) -> Answer {
        if let Ok(unique) = request.fields().u64() {
            self.waits.interrupt(unique);
        }
        Answer::NotNow
    }
}
