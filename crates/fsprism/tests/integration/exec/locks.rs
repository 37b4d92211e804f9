//! Programs that use the arena by the library and by the mount exclude each other by file locks.

#[path = "../../../../densefs-fuse/tests/lockers/mod.rs"]
mod lockers;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use self::lockers::{Locker, STORY, assert_told, compiled, told};
use super::{Dense, until};
use crate::place::say_skipped;

/// An arena, and two programs that are told what to do in it.
struct Lockers {
    dense: Dense,
    by_library: PathBuf,
    by_mount: PathBuf,
}

impl Lockers {
    fn new(test: &str) -> Option<Self> {
        let dense = Dense::mounted(test)?;
        let within = dense.arena.parent().expect("it is in the place");
        let by_library = compiled(within, "locker", &[]).expect("there is a compiler");
        let Some(by_mount) = compiled(within, "static-locker", &["-static"]) else {
            say_skipped(test, "there is no static C library");
            return None;
        };
        Some(Self { dense, by_library, by_mount })
    }

    /// A program that runs in a command of its own, so each has another mount.
    fn start(&self, program: &Path) -> Locker {
        let command = self.dense.command(&[program.to_str().expect("plain text")]);
        Locker::start(command, &self.dense.prefix)
    }
}

#[test]
fn programs_exclude_each_other_however_they_come_to_the_arena() {
    let name = "programs_exclude_each_other_however_they_come_to_the_arena";
    let Some(lockers) = Lockers::new(name) else { return };
    let Lockers { dense, by_library, by_mount } = &lockers;
    let elsewhere = dense.place.path("elsewhere");
    std::fs::create_dir(&elsewhere).expect("the place is ours");
    let plain = || Locker::start(Command::new(by_library), &elsewhere);
    let expected = told(STORY, plain(), plain());
    for pair in [[by_library, by_mount], [by_mount, by_library], [by_mount; 2], [by_library; 2]] {
        let [a, b] = pair.map(|program| lockers.start(program));
        assert_told(&told(STORY, a, b), &expected);
        dense.shell("rm %/*").assert_code(0);
    }
    dense.assert_gone();
}

/// Both within one command.
#[test]
fn what_a_shell_locks_is_locked_for_static_programs_that_it_starts() {
    let name = "what_a_shell_locks_is_locked_for_static_programs_that_it_starts";
    let Some(Lockers { dense, by_library, by_mount }) = Lockers::new(name) else { return };
    let script = |taker: &Path, asker: &Path| {
        let (taker, asker) = (taker.display(), asker.display());
        dense.shell(&format!(
            "mkfifo go; (echo open 1 file; echo posix 1 w 0 10; cat go) | {taker} % >taken & \
             until grep -q ok taken && [ $(grep -c ok taken) = 2 ]; do :; done; \
             (echo open 1 file; echo posix 1 r 9 1; echo posix 1 r 10 1) | {asker} %; \
             echo >go; wait; rm go taken"
        ))
    };
    for (taker, asker) in [(&by_library, &by_mount), (&by_mount, &by_library)] {
        assert_eq!(script(taker, asker).assert_code(0).stdout, "ready\nok\nEAGAIN\nok\n");
    }
    dense.assert_gone();
}

/// Its locks are those of a dead process then.
#[test]
fn locks_go_with_the_server_that_took_them() {
    let name = "locks_go_with_the_server_that_took_them";
    let Some(lockers) = Lockers::new(name) else { return };
    let mut by_mount = lockers.start(&lockers.by_mount);
    for what in ["open 1 file", "posix 1 w 0 10", "ofd 1 w 10 10", "flock 1 w"] {
        assert_eq!(by_mount.does(what), "ok", "{what}");
    }
    let dense = &lockers.dense;
    let server = dense.processes("densefs-server");
    let mut by_library = lockers.start(&lockers.by_library);
    assert_eq!(by_library.does("open 1 file"), "ok");
    assert_eq!(by_library.does("posix 1 w 0 0"), "EAGAIN");
    by_library.begins("wait flock 1 w");
    for pid in server {
        rustix::process::kill_process(pid, Signal::KILL).expect("it is ours");
    }
    assert_eq!(by_library.answer(), "ok");
    assert_eq!(by_library.does("posix 1 w 0 0"), "ok");
    assert_eq!(by_mount.does("posix 1 w 0 10"), "ENOTCONN");
    drop((by_mount, by_library));
    until("the servers have ended", || dense.processes("densefs-server").is_empty());
    dense.assert_gone();
}

/// At whatever moment the signal comes.
#[test]
fn signals_end_each_wait() {
    let Some(lockers) = Lockers::new("signals_end_each_wait") else { return };
    let mut holder = lockers.start(&lockers.by_mount);
    for does in ["open 1 file", "flock 1 w", "posix 1 w 0 10"] {
        assert_eq!(holder.does(does), "ok");
    }
    for program in [&lockers.by_library, &lockers.by_mount] {
        let mut waiting = lockers.start(program);
        for does in ["open 1 file", "handler interrupts"] {
            assert_eq!(waiting.does(does), "ok");
        }
        for round in 0..200 {
            for waits in ["wait flock 1 r", "wait posix 1 w 5 9"] {
                waiting.begins(waits);
                // Those who wait look every 5 ms whether the lock is free.
                let began = Instant::now();
                while began.elapsed() < Duration::from_micros(round * 61 % 6000) {
                    std::thread::yield_now();
                }
                waiting.signal(Signal::USR1);
                assert_eq!(waiting.answer(), "EINTR", "{waits}, round {round}");
            }
        }
    }
    drop(holder);
    let dense = &lockers.dense;
    until("the servers have ended", || dense.processes("densefs-server").is_empty());
    dense.assert_gone();
}
