//! Taking turns: one run at a time measures a computer.
//!
//! Two runs share its processors, its memory and its disks, so each would measure the other, and
//! what one of them has made warm the other throws out. The turn is a lock on a file, which the
//! kernel gives back when the process that holds it, and whatever it has forked, is gone.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, major, minor, open};
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

/// Who measures now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// For how long that process has been there.
    pub age: Duration,
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
    pub fn ask() -> io::Result<Asked> {
        let is_there = |directory: &&str| Path::new(directory).is_dir();
        let directory = DIRECTORIES.into_iter().find(is_there).unwrap_or("/tmp");
        let path = Path::new(directory).join(NAME);
        ask_at(&path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// Waits for the turn. For tests, which have nobody to tell that they wait.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn wait() -> io::Result<Self> {
        loop {
            if let Asked::Ours(turn) = Self::ask()? {
                return Ok(turn);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn ask_at(path: &Path) -> io::Result<Asked> {
    let lock = opened(path)?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Asked::Ours(Turn { _lock: lock })),
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

/// Who has locked this file, from the kernel's list of locks.
fn holder(file: impl AsFd) -> Option<Holder> {
    let stat = fstat(file).ok()?;
    let of_file = format!("{:02x}:{:02x}:{}", major(stat.st_dev), minor(stat.st_dev), stat.st_ino);
    let pid = holder_in(&fs::read_to_string("/proc/locks").ok()?, &of_file)?;
    let up_s: f64 = fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
    let began_s = start_ticks(pid)? as f64 / rustix::param::clock_ticks_per_second() as f64;
    Some(Holder { pid, age: Duration::try_from_secs_f64(up_s - began_s).unwrap_or_default() })
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

    #[test]
    fn the_second_is_told_who_has_it_and_gets_it_once_the_first_is_done() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = lock_in(directory.path());
        let Asked::Ours(first) = ask_at(&path).expect("it can be made") else { panic!("nobody's") };
        let Asked::Theirs(holder) = ask_at(&path).expect("it is there") else { panic!("taken") };
        let holder = holder.expect("/proc is mounted");
        assert_eq!(holder.pid, std::process::id());
        assert!(holder.age < Duration::from_secs(86_400), "{holder:?}");
        drop(first);
        assert!(matches!(ask_at(&path), Ok(Asked::Ours(_))));
    }

    #[test]
    fn no_link_is_followed_and_no_pipe_waited_for() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = lock_in(directory.path());
        std::os::unix::fs::symlink("/etc/passwd", &path).expect("the directory is ours");
        assert!(ask_at(&path).is_err());
        fs::remove_file(&path).expect("it is ours");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::RWXU).expect("it is ours");
        assert!(matches!(ask_at(&path), Ok(Asked::Ours(_))));
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
