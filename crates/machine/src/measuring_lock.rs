//! A lock by which runs take turns: only one at a time measures on a computer.
//!
//! Two runs would share processors, memory and disks, so each would measure the other, and evict
//! what the other has warmed up. Runs that only count, in guests, do not disturb each other, so
//! they share the lock. It is a file lock, which the kernel releases once the process that
//! holds it, and everything it has forked, is gone.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{
    FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, fchmod, flock, fstat, futimens,
    major, minor, open,
};
use rustix::io::Errno;

/// Directories for lock files; the first that everyone may write to is used.
const DIRECTORIES: [&str; 2] = ["/run/lock", "/tmp"];
/// The file that is locked. It stays empty and is never removed.
const NAME: &str = "fsprism.lock";
const READABLE: Mode = Mode::from_raw_mode(0o644);
/// Locked by a run that waits to time, so that no new counting runs start before it.
const NEXT: &str = "fsprism-next.lock";

/// The right to measure, until it is dropped.
#[derive(Debug)]
pub struct MeasuringLock {
    _lock: OwnedFd,
}

/// What a run uses the lock for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Timing, with nothing else running.
    Time,
    /// Counting in guests, which other counting runs may do at the same time.
    Count,
}

/// The run that has the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process ID.
    pub pid: u32,
    /// When it got the lock, if it is timing and its user owns the lock file; otherwise the
    /// earliest moment at which it can have got it.
    pub since: SystemTime,
}

/// The outcome of an attempt to get the lock.
#[derive(Debug)]
pub enum LockAttempt {
    /// We have it.
    Acquired(MeasuringLock),
    /// Someone else has it; who, if this process can see that.
    Held(Option<Holder>),
}

/// A run that wants the lock, and asks until it gets it.
#[derive(Debug)]
pub struct LockWaiter {
    directory: PathBuf,
    purpose: Purpose,
    /// Held by the first run in line to time.
    next: Option<OwnedFd>,
}

impl LockWaiter {
    /// Starts waiting.
    #[must_use]
    pub fn new(purpose: Purpose) -> Self {
        let all_may = |directory: &&str| {
            let metadata = fs::metadata(directory);
            metadata.is_ok_and(|it| it.is_dir() && it.mode() & 0o2 != 0)
        };
        let directory = DIRECTORIES.into_iter().find(all_may).unwrap_or("/tmp").into();
        Self { directory, purpose, next: None }
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// If the lock file, which the error names, cannot be opened or locked.
    pub fn ask(&mut self) -> io::Result<LockAttempt> {
        let lock = opened(&self.directory.join(NAME))?;
        let operation = match self.purpose {
            Purpose::Time => FlockOperation::NonBlockingLockExclusive,
            Purpose::Count => FlockOperation::NonBlockingLockShared,
        };
        let is_after_another = !self.is_next()?;
        if is_after_another || !try_lock(&lock, operation)? {
            return Ok(LockAttempt::Held(holder(lock.as_fd())));
        }
        self.next = None;
        if self.purpose == Purpose::Time {
            note_now(&lock);
        }
        Ok(LockAttempt::Acquired(MeasuringLock { _lock: lock }))
    }

    /// Whether no other run is first in line to time. Once a timing run is first in line, it stays
    /// so.
    fn is_next(&mut self) -> io::Result<bool> {
        if self.next.is_some() {
            return Ok(true);
        }
        let next = opened(&self.directory.join(NEXT))?;
        match self.purpose {
            Purpose::Time => {
                let is_next = try_lock(&next, FlockOperation::NonBlockingLockExclusive)?;
                self.next = is_next.then_some(next);
                Ok(is_next)
            }
            Purpose::Count => try_lock(&next, FlockOperation::NonBlockingLockShared),
        }
    }
}

impl MeasuringLock {
    /// Waits for the lock to time. For tests, which have nobody to report the waiting to.
    ///
    /// # Errors
    /// As [`LockWaiter::ask`].
    pub fn wait() -> io::Result<Self> {
        Self::wait_to(Purpose::Time)
    }

    /// Like [`Self::wait`], for any purpose.
    ///
    /// # Errors
    /// As [`LockWaiter::ask`].
    pub fn wait_to(purpose: Purpose) -> io::Result<Self> {
        let mut waiting = LockWaiter::new(purpose);
        loop {
            if let LockAttempt::Acquired(lock) = waiting.ask()? {
                return Ok(lock);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Tries to lock a file; `false` if someone else has locked it.
fn try_lock(lock: &OwnedFd, operation: FlockOperation) -> io::Result<bool> {
    match flock(lock, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Opens or creates a lock file, which any user may have created: it is never read or written,
/// symbolic links are not followed, and opening does not block on a FIFO in its place.
fn opened(path: &Path) -> io::Result<OwnedFd> {
    let named = |error: Errno| {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    loop {
        match open(path, flags, Mode::empty()) {
            Err(Errno::NOENT) => {}
            other => return other.map_err(named),
        }
        // In a world-writable directory, others may only be able to open an existing file without
        // `O_CREAT` (fs.protected_regular).
        match open(path, flags | OFlags::CREATE | OFlags::EXCL, READABLE) {
            Err(Errno::EXIST) => {}
            Err(error) => return Err(named(error)),
            Ok(file) => {
                // Others must be able to open it, whatever this user's umask.
                let _as_it_is = fchmod(&file, READABLE);
                return Ok(file);
            }
        }
    }
}

/// Sets the file's times to now, which tells others since when it has been locked. A file of
/// another user keeps its times.
fn note_now(file: impl AsFd) {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let _not_ours = futimens(file, &Timestamps { last_access: now, last_modification: now });
}

/// Who has locked this file, according to the kernel's list of locks.
fn holder(file: impl AsFd) -> Option<Holder> {
    let stat = fstat(file).ok()?;
    let of_file = format!("{:02x}:{:02x}:{}", major(stat.st_dev), minor(stat.st_dev), stat.st_ino);
    let pid = holder_in(&fs::read_to_string("/proc/locks").ok()?, &of_file)?;
    let up_s: f64 = fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
    let began_s = start_ticks(pid)? as f64 / rustix::param::clock_ticks_per_second() as f64;
    let age = Duration::try_from_secs_f64(up_s - began_s).unwrap_or_default();
    let now = SystemTime::now();
    let began = now.checked_sub(age)?;
    let noted_s = Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
    let noted = SystemTime::UNIX_EPOCH.checked_add(noted_s)?;
    Some(Holder { pid, since: since(noted, began, now) })
}

/// Since when a process that started at `began` has had the lock, given the time noted on the file:
/// one before `began` is from an earlier holder, and one in the future is bogus.
fn since(noted: SystemTime, began: SystemTime, now: SystemTime) -> SystemTime {
    if noted > now { began } else { noted.max(began) }
}

/// The process that holds the lock on a file, given as device and inode, in the format of proc(5).
fn holder_in(locks: &str, of_file: &str) -> Option<u32> {
    let of_line = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_held = words.next()? == "FLOCK";
        let pid = words.nth(2)?.parse().ok()?;
        (is_held && words.next()? == of_file).then_some(pid)
    };
    locks.lines().find_map(of_line)
}

/// Start time of a process in ticks: field 22 of /proc/PID/stat. Field 2 is a name in parentheses
/// that may contain anything.
#[must_use]
pub fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(directory: &Path, purpose: Purpose) -> LockWaiter {
        LockWaiter { directory: directory.to_owned(), purpose, next: None }
    }

    fn ours(waiting: &mut LockWaiter) -> MeasuringLock {
        match waiting.ask().expect("the file can be opened") {
            LockAttempt::Acquired(lock) => lock,
            LockAttempt::Held(holder) => panic!("it is {holder:?}'s"),
        }
    }

    fn theirs(waiting: &mut LockWaiter) -> Option<Holder> {
        match waiting.ask().expect("the file can be opened") {
            LockAttempt::Acquired(_) => panic!("nobody has it"),
            LockAttempt::Held(holder) => holder,
        }
    }

    #[test]
    fn the_second_is_told_who_has_it_and_gets_it_once_the_first_is_done() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let new = |purpose| waiting(directory.path(), purpose);
        let first = ours(&mut new(Purpose::Time));
        let (mut second, mut third) = (new(Purpose::Time), new(Purpose::Count));
        for one in [&mut second, &mut third] {
            assert_eq!(theirs(one).expect("/proc is mounted").pid, std::process::id());
        }
        drop(first);
        ours(&mut second);
        ours(&mut third);
    }

    #[test]
    fn those_that_count_share_the_lock_until_one_waits_to_time() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let new = |purpose| waiting(directory.path(), purpose);
        let counting = [ours(&mut new(Purpose::Count)), ours(&mut new(Purpose::Count))];
        let (mut to_time, mut late) = (new(Purpose::Time), new(Purpose::Count));
        theirs(&mut to_time);
        theirs(&mut late);
        drop(counting);
        theirs(&mut late);
        let timing = ours(&mut to_time);
        theirs(&mut late);
        drop(timing);
        ours(&mut late);
    }

    #[test]
    fn one_that_no_longer_waits_to_time_keeps_nobody_off() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let new = |purpose| waiting(directory.path(), purpose);
        let counting = ours(&mut new(Purpose::Count));
        let mut to_time = new(Purpose::Time);
        theirs(&mut to_time);
        drop(to_time);
        ours(&mut new(Purpose::Count));
        drop(counting);
    }

    #[test]
    fn the_time_of_the_lock_is_told_and_none_from_before_its_process() {
        let at = |minute: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(60 * minute);
        assert_eq!(since(at(20), at(10), at(30)), at(20));
        assert_eq!(since(at(5), at(10), at(30)), at(10));
        assert_eq!(since(at(40), at(10), at(30)), at(10));
    }

    #[test]
    fn who_is_to_time_notes_when_and_who_counts_leaves_that_alone() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join(NAME);
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        for (purpose, is_noted) in [(Purpose::Time, true), (Purpose::Count, false)] {
            let file = opened(&path).expect("ours");
            fs::File::from(file).set_modified(hour_ago).expect("ours");
            ours(&mut waiting(directory.path(), purpose));
            let modified = fs::metadata(&path).and_then(|it| it.modified()).expect("ours");
            assert_eq!(modified > hour_ago, is_noted, "{purpose:?}");
        }
    }

    #[test]
    fn no_link_is_followed_and_no_pipe_waited_for() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join(NAME);
        std::os::unix::fs::symlink("/etc/passwd", &path).expect("the directory is ours");
        assert!(waiting(directory.path(), Purpose::Time).ask().is_err());
        fs::remove_file(&path).expect("it is ours");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::RWXU).expect("it is ours");
        ours(&mut waiting(directory.path(), Purpose::Time));
    }

    #[test]
    fn holders_are_those_that_have_the_lock_not_those_that_wait() {
        let locks = "1: POSIX  ADVISORY  WRITE 10 08:01:7 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 20 00:19:7 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 30 08:01:7 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 40 08:01:7 0 EOF\n";
        assert_eq!(holder_in(locks, "08:01:7"), Some(30));
        assert_eq!(holder_in(locks, "08:01:8"), None);
        assert_eq!(holder_in("nonsense\n\n1:\n", "08:01:7"), None);
    }
}
