//! Locks that programs take through the mount, beside those taken by library calls.

mod lockers;
mod place;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use densefs_process::{DenseFs, Errno, File, LockHolder, LockRange, flags};
use lockers::{Locker, STORY, assert_told, compiled, told};
use place::mounted;
use rustix::process::Signal;

const RANGE: LockRange = LockRange { start: 0, end: 10, holder: LockHolder::Process };
const OF_DESCRIPTION: LockRange = LockRange { holder: LockHolder::Description, ..RANGE };

/// The program, which is compiled when it is needed first.
fn program(point: &Path) -> PathBuf {
    let program = point.with_file_name("locker");
    if !program.exists() {
        let within = point.parent().expect("it is in the place");
        compiled(within, "locker", &[]).expect("there is a compiler");
    }
    program
}

fn locker(point: &Path) -> Locker {
    Locker::start(Command::new(program(point)), point)
}

fn open(files: &DenseFs) -> File {
    files.open("file", flags::READ_WRITE | flags::CREATE, 0o666).expect("there is room")
}

#[test]
fn programs_exclude_each_other_as_on_a_tmpfs() {
    mounted("programs_exclude_each_other_as_on_a_tmpfs", |point, _| {
        let tmpfs = tempfile::tempdir_in("/dev/shm").expect("there is room");
        let start = || Locker::start(Command::new(program(point)), tmpfs.path());
        let theirs = told(STORY, start(), start());
        assert_told(&told(STORY, locker(point), locker(point)), &theirs);
    });
}

/// As long as memory shows a file, it is open.
#[test]
fn what_is_mapped_stays_locked() {
    mounted("what_is_mapped_stays_locked", |point, _| {
        let (mut one, mut two) = (locker(point), locker(point));
        fs::write(point.join("file"), "content").expect("there is room");
        for does in ["open 1 file", "ofd 1 w 0 0", "map 1", "close 1"] {
            assert_eq!(one.does(does), "ok", "{does}");
        }
        assert_eq!(two.does("open 1 file"), "ok");
        assert_eq!(two.does("ofd 1 w 0 1"), "EAGAIN");
        one.kill();
        assert_eq!(two.does("ofd 1 w 0 1"), "ok");
    });
}

/// What a program does through the mount, and how the library does the same.
struct Same {
    take: &'static str,
    release: &'static str,
    take_by_library: fn(&DenseFs, u32, Option<bool>, bool) -> Result<(), Errno>,
}

const KINDS: [Same; 3] = [
    Same {
        take: "posix 1 w 0 10",
        release: "posix 1 u 0 10",
        take_by_library: |files, file, how, waits| files.lock_range(file, RANGE, how, waits),
    },
    Same {
        take: "ofd 1 w 0 10",
        release: "ofd 1 u 0 10",
        take_by_library: |files, file, how, waits| {
            files.lock_range(file, OF_DESCRIPTION, how, waits)
        },
    },
    Same { take: "flock 1 w", release: "flock 1 u", take_by_library: DenseFs::lock },
];

#[test]
fn programs_and_library_calls_exclude_each_other() {
    mounted("programs_and_library_calls_exclude_each_other", |point, files| {
        let mut locker = locker(point);
        let file = open(files);
        let number = file.descriptor();
        for Same { take, release, take_by_library } in KINDS {
            let takes = |how, waits| take_by_library(files, number, how, waits);
            assert_eq!(locker.does("open 1 file"), "ok");
            takes(Some(true), false).expect("nobody has it");
            assert_eq!(locker.does(take), "EAGAIN");
            locker.begins(&format!("wait {take}"));
            takes(None, false).expect("it is ours");
            assert_eq!(locker.answer(), "ok");
            for ends in [release, "close 1"] {
                assert_eq!(locker.does(take), "ok");
                assert_eq!(takes(Some(true), false), Err(Errno::AGAIN), "{take}");
                thread::scope(|scope| {
                    let waits = scope.spawn(|| takes(Some(true), true));
                    assert_eq!(locker.does(ends), "ok");
                    assert_eq!(waits.join().expect("it does not panic"), Ok(()), "{take}");
                });
                takes(None, false).expect("it is ours");
            }
        }
    });
}

#[test]
fn each_is_told_who_has_a_lock() {
    mounted("each_is_told_who_has_a_lock", |point, files| {
        let mut locker = locker(point);
        let file = open(files);
        let number = file.descriptor();
        assert_eq!(locker.does("open 1 file"), "ok");
        files.lock_range(number, RANGE, Some(false), false).expect("nobody has it");
        let ours = format!("r 0 10 by {}", std::process::id());
        assert_eq!(locker.does("ask posix 1 w 5 1"), ours);
        assert_eq!(locker.does("ask posix 1 r 5 1"), "free");
        files.lock_range(number, RANGE, None, false).expect("it is ours");
        files.lock_range(number, OF_DESCRIPTION, Some(true), false).expect("nobody has it");
        assert_eq!(locker.does("ask ofd 1 w 5 1"), "w 0 10 by -1");
        // That is what the kernel makes of a process that is not there.
        assert_eq!(locker.does("ask posix 1 w 5 1"), "w 0 10 by 0");
        files.lock_range(number, OF_DESCRIPTION, None, false).expect("it is ours");
        for class in ["posix", "ofd"] {
            assert_eq!(locker.does(&format!("{class} 1 w 3 4")), "ok");
            let found = files.conflicting_lock_of_range(number, RANGE, false);
            let found = found.expect("it is open").expect("a program has it");
            assert_eq!((found.start, found.end, found.pid), (3, 7, locker.pid()));
            assert_eq!(locker.does(&format!("{class} 1 u 0 0")), "ok");
        }
        assert_eq!(files.conflicting_lock_of_range(number, RANGE, true), Ok(None));
    });
}

#[test]
fn a_program_that_waits_for_a_library_call_can_be_interrupted_and_killed() {
    let name = "a_program_that_waits_for_a_library_call_can_be_interrupted_and_killed";
    mounted(name, |point, files| {
        let file = open(files);
        files.lock(file.descriptor(), Some(true), false).expect("nobody has it");
        let mut one = locker(point);
        assert_eq!(one.does("open 1 file"), "ok");
        assert_eq!(one.does("handler interrupts"), "ok");
        for _ in 0..20 {
            one.begins("wait flock 1 r");
            one.signal(Signal::USR1);
            assert_eq!(one.answer(), "EINTR");
        }
        // While many wait, the mount serves others.
        let mut all: Vec<_> = (0..20).map(|_| locker(point)).collect();
        for locker in &mut all {
            assert_eq!(locker.does("open 1 file"), "ok");
            locker.begins("wait flock 1 r");
        }
        assert_eq!(one.does("open 2 another"), "ok");
        assert_eq!(one.does("flock 2 w"), "ok");
        all.drain(..10).for_each(|mut locker| locker.kill());
        files.lock(file.descriptor(), None, false).expect("it is ours");
        assert!(all.iter_mut().all(|locker| locker.answer() == "ok"));
        drop(all);
        assert_eq!(one.does("flock 1 w"), "ok");
    });
}

/// The kernel tells the server only after `close` has returned.
#[test]
fn a_lock_is_free_as_soon_as_its_file_is_closed() {
    mounted("a_lock_is_free_as_soon_as_its_file_is_closed", |point, files| {
        let mut two = locker(point);
        assert_eq!(two.does("open 1 file"), "ok");
        for class in ["flock", "ofd", "posix"] {
            assert_eq!(two.does(&format!("pass 2000 {class} 1")), "0", "{class}");
        }
        let file = open(files);
        for _ in 0..300 {
            for Same { take, take_by_library, .. } in KINDS {
                for does in ["open 2 file", &take.replacen('1', "2", 1), "close 2"] {
                    assert_eq!(two.does(does), "ok", "{does}");
                }
                let takes = |how| take_by_library(files, file.descriptor(), how, false);
                assert_eq!((takes(Some(true)), takes(None)), (Ok(()), Ok(())), "{take}");
            }
        }
        for _ in 0..50 {
            let mut killed = locker(point);
            for does in ["open 1 file", "ofd 1 w 0 10", "posix 1 w 20 0", "flock 1 r"] {
                assert_eq!(killed.does(does), "ok");
            }
            killed.kill();
            for does in ["ofd 1 w 0 0", "flock 1 w", "ofd 1 u 0 0", "flock 1 u"] {
                assert_eq!(two.does(does), "ok", "{does}");
            }
        }
    });
}
