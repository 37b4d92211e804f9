//! The names of everything made outside a target: who owns it, and whether the owner is alive.
//!
//! They begin with `fsprism-<pid>-<start>`, where `start` is the process's start time in clock
//! ticks since boot: together these identify one process, even after its PID has been reused. Names
//! must match completely, because users may have a `fsprism-2026-11` of their own.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, flock, openat};
use rustix::path::Arg;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::guardian::work_directory;
use crate::read_ahead;
use crate::removal;

/// Part of the names of everything that fsprism leaves around for a while.
const PREFIX: &str = "fsprism-";

/// A process that makes targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pid: u32,
    start_ticks: u64,
}

/// What we may leave behind on the host under a name; each kind has names of one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// An empty directory, `fsprism-<pid>-<start>-mounts`.
    MountArea,
    /// A control group, `fsprism-<pid>-<start>-<n>`.
    Cgroup,
    /// A directory with everything in it, `.fsprism-<pid>-<start>-<n>`.
    WorkDirectory,
    /// A file, `fsprism-<pid>-<start>-<n>.img`.
    Image,
    /// A file, `fsprism-<pid>-<start>-<n>.arena`.
    Arena,
    /// A link that names a setting and its former value, `fsprism-<pid>-<start>-<n>.setting`.
    Setting,
}

impl Leftover {
    /// The owner that a name gives, if it has exactly the form of this kind.
    pub(crate) fn owner_of(self, name: &str) -> Option<Owner> {
        let (before, after, numbers) = match self {
            Self::MountArea => ("", "-mounts", 2),
            Self::Cgroup => ("", "", 3),
            Self::WorkDirectory => (".", "", 3),
            Self::Image => ("", ".img", 3),
            Self::Arena => ("", ".arena", 3),
            Self::Setting => ("", ".setting", 3),
        };
        let name = name.strip_prefix(before)?.strip_prefix(PREFIX)?.strip_suffix(after)?;
        let found: Vec<u64> = name.split('-').map(plain_number).collect::<Option<_>>()?;
        let owner =
            Owner { pid: u32::try_from(*found.first()?).ok()?, start_ticks: *found.get(1)? };
        (found.len() == numbers).then_some(owner)
    }
}

impl Owner {
    /// This process.
    pub(crate) fn this() -> io::Result<Self> {
        let pid = std::process::id();
        let start_ticks = machine::start_ticks(pid).ok_or_else(|| {
            io::Error::other("/proc/self/stat does not say when this process started; mount /proc")
        })?;
        Ok(Self { pid, start_ticks })
    }

    /// Another process.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let start_ticks = machine::start_ticks(pid).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { pid, start_ticks })
    }

    /// The process that a path names as [`fmt::Display`] writes it.
    pub(crate) fn from_path(path: &Path) -> Option<Self> {
        let numbers = path.to_str()?.strip_prefix(PREFIX)?;
        let (pid, start_ticks) = numbers.split_once('-')?;
        let pid = u32::try_from(plain_number(pid)?).ok()?;
        Some(Self { pid, start_ticks: plain_number(start_ticks)? })
    }

    /// Whether it is gone, or dead and not yet reaped by its parent.
    pub(crate) fn has_ended(self) -> bool {
        let Some(process) = self.open() else { return true };
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&now));
        ended.is_ok_and(|ended| ended > 0)
    }

    /// Whether it is on its way out: `PF_EXITING` among the flags, field 9 of `/proc/PID/stat`
    /// (proc(5); include/linux/sched.h).
    pub(crate) fn is_dying(self) -> bool {
        const EXITING: u64 = 0x4;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid));
        let flags = stat.ok().and_then(|stat| {
            let (_, fields) = stat.rsplit_once(')')?;
            fields.split_ascii_whitespace().nth(6)?.parse::<u64>().ok()
        });
        !self.is_gone() && flags.is_some_and(|flags| flags & EXITING != 0)
    }

    /// Kills it.
    pub(crate) fn kill(self) {
        let Some(process) = self.open() else { return };
        let _dead_already = pidfd_send_signal(&process, Signal::KILL);
    }

    /// A descriptor of it, if it is there.
    fn open(self) -> Option<OwnedFd> {
        let pid = Pid::from_raw(i32::try_from(self.pid).ok()?)?;
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // Only now can its number not be given to another process.
        (!self.is_gone()).then_some(process)
    }

    /// Whether no process with this PID and start time exists (as /proc shows it to this process).
    fn is_gone(self) -> bool {
        machine::start_ticks(self.pid) != Some(self.start_ticks)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{}-{}", self.pid, self.start_ticks)
    }
}

/// Takes the lock by which a directory's owner shows that it is alive, even where PIDs do not: a
/// container that shares the directory sees other PIDs, but the same lock.
pub(crate) fn lock_as_owner(parent: impl AsFd, name: impl Arg) -> io::Result<OwnedFd> {
    lock(parent, name, OFlags::DIRECTORY)
}

/// Like [`lock_as_owner`], for a file.
pub(crate) fn lock_file_as_owner(parent: impl AsFd, name: impl Arg) -> io::Result<OwnedFd> {
    lock(parent, name, OFlags::NONBLOCK)
}

fn lock(parent: impl AsFd, name: impl Arg, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = openat(parent, name, flags, Mode::empty())?;
    flock(&fd, FlockOperation::NonBlockingLockExclusive)?;
    Ok(fd)
}

/// Removes from `directory` what dead owners left in it. What cannot be removed stays, without an
/// error, since there is nobody left to report it to.
pub(crate) fn sweep(directory: &Path, leftover: Leftover) {
    // Entries are looked up relative to its descriptor, so that nobody can replace the directory.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(parent) = openat(CWD, directory, flags, Mode::empty()) else { return };
    let Ok(entries) = Dir::read_from(&parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().ok().and_then(|name| leftover.owner_of(name));
        let Some(owner) = owner.filter(|owner| owner.is_gone()) else { continue };
        // The lock is held until the leftover is gone. A setting has none of its own: its owner's
        // mount area is locked instead, which may already have been removed.
        let locked = match leftover {
            Leftover::Setting => lock_as_owner(&parent, format!("{owner}-mounts")),
            Leftover::Arena => lock_file_as_owner(&parent, name),
            Leftover::MountArea | Leftover::Cgroup | Leftover::WorkDirectory | Leftover::Image => {
                lock_as_owner(&parent, name)
            }
        };
        let is_there = |error: &io::Error| error.kind() != io::ErrorKind::NotFound;
        if locked.as_ref().is_err_and(|error| leftover != Leftover::Setting || is_there(error)) {
            continue;
        }
        let _stays_if_it_must = match leftover {
            Leftover::MountArea | Leftover::Cgroup => {
                removal::unlink_in(&parent, name, AtFlags::REMOVEDIR)
            }
            Leftover::WorkDirectory => work_directory::remove(&parent, name),
            Leftover::Arena => removal::unlink_in(&parent, name, AtFlags::empty()),
            // An image loses its name while its owner is alive, or by the owner's guardian.
            Leftover::Image => Ok(()),
            Leftover::Setting => read_ahead::put_back(&parent, name),
        };
    }
}

/// A number as [`fmt::Display`] writes it: digits without leading zeros.
fn plain_number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const KINDS: [Leftover; 6] = [
        Leftover::MountArea,
        Leftover::Cgroup,
        Leftover::WorkDirectory,
        Leftover::Image,
        Leftover::Arena,
        Leftover::Setting,
    ];

    #[test]
    fn each_kind_has_names_of_one_form() {
        let owner = Owner::this().expect("/proc is mounted");
        let names = [
            format!("{owner}-mounts"),
            format!("{owner}-3"),
            format!(".{owner}-3"),
            format!("{owner}-3.img"),
            format!("{owner}-3.arena"),
            format!("{owner}-3.setting"),
        ];
        for (of, name) in names.iter().enumerate() {
            for (index, kind) in KINDS.into_iter().enumerate() {
                let expected = (index == of).then_some(owner);
                assert_eq!(kind.owner_of(name), expected, "{kind:?} {name}");
            }
        }
        assert!(!owner.is_gone());
        assert!(Owner { start_ticks: owner.start_ticks + 1, ..owner }.is_gone());
    }

    #[test]
    fn names_that_users_give_tell_no_owner() {
        for name in [
            "fsprism-",
            "fsprism-1",
            "fsprism-x-1",
            "other-1-2",
            "fsprism-runs",
            "fsprism-1-2-x",
            "fsprism-2025-01",
            "fsprism-2025-01-results",
            ".fsprism-2026-11",
            ".fsprism-2026-11-02",
            ".fsprism-1-2-3-4",
            ".fsprism-1-2-3.old",
            ".fsprism-1-2-+3",
            ".fsprism-1-2-3 ",
            ".fsprism-1--2-3",
            "fsprism-1-2.img",
            "..fsprism-1-2-3",
            "fsprism-2026-11-02",
            "fsprism-2026-11",
            ".fsprism-1-2-mounts",
            "fsprism-mounts",
        ] {
            for kind in KINDS {
                assert_eq!(kind.owner_of(name), None, "{kind:?} {name}");
            }
        }
        // This date has the form of a cgroup's name, but lacks the leading dot.
        assert_eq!(Leftover::WorkDirectory.owner_of("fsprism-2026-11-12"), None);
    }

    #[test]
    fn a_sweep_takes_the_dead_and_leaves_the_living() {
        let mine = Owner::this().expect("/proc is mounted");
        let place = std::env::temp_dir().join(format!("sweep-{mine}"));
        let dead = Owner { start_ticks: mine.start_ticks + 1, ..mine };
        fs::create_dir_all(&place).expect("temporary directory");
        for owner in [dead, mine] {
            let made = work_directory::WorkDirectory::make(&place.join(format!(".{owner}-1")));
            drop(made.expect("temporary directory"));
        }
        let theirs = ["fsprism-runs", "fsprism-2026-11", "fsprism-2025-01-results"]
            .map(str::to_owned)
            .into_iter()
            // Names of our form for things that we did not make.
            .chain([
                format!("{dead}-1"),
                format!(".{dead}-2"),
                format!(".{dead}"),
                dead.to_string(),
            ]);
        let theirs: Vec<_> = theirs.map(|name| place.join(name).join("inner")).collect();
        for inner in &theirs {
            fs::create_dir_all(inner).expect("temporary directory");
        }
        let left = place.join(format!(".{dead}-1"));
        let lock = lock_as_owner(CWD, &left).expect("nobody else locks it");
        sweep(&place, Leftover::WorkDirectory);
        assert!(left.exists(), "somebody whose numbers differ holds it");
        drop(lock);
        fs::create_dir(place.join(format!(".{dead}-3"))).expect("temporary directory");
        for kind in KINDS {
            sweep(&place, kind);
        }
        assert!(!left.exists());
        assert!(!place.join(format!(".{dead}-3")).exists(), "death came before the marker");
        assert!(place.join(format!(".{mine}-1")).exists());
        for inner in &theirs {
            assert!(inner.exists(), "{}", inner.display());
        }
        fs::remove_dir_all(&place).expect("it is ours");
    }

    #[test]
    fn a_sweep_takes_the_arenas_of_the_dead_unless_they_are_locked() {
        let mine = Owner::this().expect("/proc is mounted");
        let place = std::env::temp_dir().join(format!("sweep-arenas-{mine}"));
        fs::create_dir_all(&place).expect("temporary directory");
        let dead = Owner { start_ticks: mine.start_ticks + 1, ..mine };
        let files = [
            format!("{dead}-1.arena"),
            format!("{dead}-2.arena"),
            format!("{mine}-1.arena"),
            format!("{dead}-1.arena.old"),
        ];
        let files = files.map(|name| place.join(name));
        for file in &files {
            fs::write(file, "").expect("temporary directory");
        }
        let lock = lock_file_as_owner(CWD, files[1].as_path()).expect("nobody else locks it");
        sweep(&place, Leftover::Arena);
        assert_eq!(files.each_ref().map(|file| file.exists()), [false, true, true, true]);
        drop(lock);
        sweep(&place, Leftover::Arena);
        assert_eq!(files.each_ref().map(|file| file.exists()), [false, false, true, true]);
        fs::remove_dir_all(&place).expect("it is ours");
    }
}
