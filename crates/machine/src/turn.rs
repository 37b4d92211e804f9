//! Taking turns: one run at a time measures a computer.
//!
//! Two runs share its processors, its memory and its disks, so each would measure the other, and
//! what one of them has made warm the other throws out. Runs that only count, in guests, do not
//! disturb each other, so they share a turn. The turn is a lock on a file, which the kernel gives
//! back when the process that holds it, and whatever it has forked, is gone.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{
    FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, flock, fstat, futimens, major,
    minor, open,
};
use rustix::io::Errno;

/// Where users of a computer keep locks; the first that is there.
const DIRECTORIES: [&str; 2] = ["/run/lock", "/tmp"];
/// The file that is locked, which is empty and stays.
const NAME: &str = "fsprism.lock";

/// The right to measure, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _lock: OwnedFd,
}

/// What a run does with its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It times, and nothing may run beside it.
    Time,
    /// It counts in guests, which others that count may do as well.
    Count,
}

/// Who measures now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// Since when it has had the turn, or has been there if it could not note that.
    pub since: SystemTime,
}

/// What became of asking for the turn.
#[derive(Debug)]
pub enum Asked {
    /// It is ours.
    Ours(Turn),
    /// Another's; whose, as far as this process can see.
    Theirs(Option<Holder>),
}

impl Turn {
    /// Takes the turn if nobody has it.
    ///
    /// # Errors
    /// When the file of the lock, which the error names, cannot be opened or locked.
    pub fn ask(purpose: Purpose) -> io::Result<Asked> {
        let is_there = |directory: &&str| Path::new(directory).is_dir();
        let directory = DIRECTORIES.into_iter().find(is_there).unwrap_or("/tmp");
        let path = Path::new(directory).join(NAME);
        ask_at(&path, purpose)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// Waits for the turn to time. For tests, which have nobody to tell that they wait.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn wait() -> io::Result<Self> {
        loop {
            if let Asked::Ours(turn) = Self::ask(Purpose::Time)? {
                return Ok(turn);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn ask_at(path: &Path, purpose: Purpose) -> io::Result<Asked> {
    let lock = opened(path)?;
    let operation = match purpose {
        Purpose::Time => FlockOperation::NonBlockingLockExclusive,
        Purpose::Count => FlockOperation::NonBlockingLockShared,
    };
    match flock(&lock, operation) {
        Ok(()) => {
            note_now(&lock);
            Ok(Asked::Ours(Turn { _lock: lock }))
        }
        Err(Errno::WOULDBLOCK) => Ok(Asked::Theirs(holder(lock.as_fd()))),
        Err(error) => Err(error.into()),
    }
}

/// The file, which any user may have made: nothing is read from it or written to it, no link is
/// followed, and a pipe in its place is not waited for.
fn opened(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    loop {
        match open(path, flags, Mode::empty()) {
            Err(Errno::NOENT) => {}
            other => return Ok(other?),
        }
        // In a directory that all may write, what is there already can be opened by others only
        // without being asked to make it.
        match open(path, flags | OFlags::CREATE | OFlags::EXCL, Mode::from_raw_mode(0o644)) {
            Err(Errno::EXIST) => {}
            other => return Ok(other?),
        }
    }
}

/// Gives the file the present time, by which others are told since when it has been locked. Another
/// user's file keeps the time that it has.
fn note_now(file: impl AsFd) {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let _not_ours = futimens(file, &Timestamps { last_access: now, last_modification: now });
}

/// Who has locked this file, from the kernel's list of locks.
fn holder(file: impl AsFd) -> Option<Holder> {
    let stat = fstat(file).ok()?;
    let of_file = format!("{:02x}:{:02x}:{}", major(stat.st_dev), minor(stat.st_dev), stat.st_ino);
    let pid = holder_in(&fs::read_to_string("/proc/locks").ok()?, &of_file)?;
    let up_s: f64 = fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
    let began_s = start_ticks(pid)? as f64 / rustix::param::clock_ticks_per_second() as f64;
    let age = Duration::try_from_secs_f64(up_s - began_s).unwrap_or_default();
    let began = SystemTime::now().checked_sub(age)?;
    // A time from before the process began is an earlier holder's.
    let noted_s = Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
    let noted = SystemTime::UNIX_EPOCH.checked_add(noted_s)?;
    Some(Holder { pid, since: if noted > SystemTime::now() { began } else { noted.max(began) } })
}

/// The process that holds the lock of a file, given as device and inode, in the form of proc(5).
fn holder_in(locks: &str, of_file: &str) -> Option<u32> {
    let of_line = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_held = words.next()? == "FLOCK";
        let pid = words.nth(2)?.parse().ok()?;
        (is_held && words.next()? == of_file).then_some(pid)
    };
    locks.lines().find_map(of_line)
}

/// Field 22 of /proc/PID/stat; the second is a name in brackets that may hold anything.
#[must_use]
pub fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn lock_in(directory: &Path) -> PathBuf {
        directory.join(NAME)
    }

    fn ours(path: &Path, purpose: Purpose) -> Turn {
        match ask_at(path, purpose).expect("the file can be opened") {
            Asked::Ours(turn) => turn,
            Asked::Theirs(holder) => panic!("it is {holder:?}'s"),
        }
    }

    fn theirs(path: &Path, purpose: Purpose) -> Holder {
        match ask_at(path, purpose).expect("the file can be opened") {
            Asked::Ours(_) => panic!("nobody has it"),
            Asked::Theirs(holder) => holder.expect("/proc is mounted"),
        }
    }

    #[test]
    fn the_second_is_told_who_has_it_and_gets_it_once_the_first_is_done() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = lock_in(directory.path());
        let first = ours(&path, Purpose::Time);
        assert_eq!(theirs(&path, Purpose::Time).pid, std::process::id());
        assert_eq!(theirs(&path, Purpose::Count).pid, std::process::id());
        drop(first);
        ours(&path, Purpose::Time);
    }

    #[test]
    fn those_that_count_share_a_turn_which_none_that_times_gets() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = lock_in(directory.path());
        let counting = [ours(&path, Purpose::Count), ours(&path, Purpose::Count)];
        theirs(&path, Purpose::Time);
        drop(counting);
        ours(&path, Purpose::Time);
    }

    #[test]
    fn the_time_of_the_turn_is_told_and_none_from_before_its_process() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = lock_in(directory.path());
        let asked = SystemTime::now() - Duration::from_secs(2);
        let _turn = ours(&path, Purpose::Time);
        assert!(theirs(&path, Purpose::Time).since >= asked);
        let set = |time: SystemTime| {
            let file = fs::File::open(&path).expect("ours");
            file.set_modified(time).expect("ours");
            theirs(&path, Purpose::Time).since
        };
        let year = Duration::from_secs(365 * 86_400);
        let began = set(SystemTime::UNIX_EPOCH);
        assert!(began > SystemTime::now() - year, "{began:?}");
        let of_the_future = set(SystemTime::now() + year);
        assert!(of_the_future <= SystemTime::now(), "{of_the_future:?}");
    }

    #[test]
    fn no_link_is_followed_and_no_pipe_waited_for() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = lock_in(directory.path());
        std::os::unix::fs::symlink("/etc/passwd", &path).expect("the directory is ours");
        assert!(ask_at(&path, Purpose::Time).is_err());
        fs::remove_file(&path).expect("it is ours");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::RWXU).expect("it is ours");
        ours(&path, Purpose::Time);
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
