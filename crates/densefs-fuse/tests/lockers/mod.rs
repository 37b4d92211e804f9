//! Programs that take locks as they are told, and stories of what two of them do.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Long enough for whatever is awaited.
const LONG: Duration = Duration::from_secs(60);

/// The system calls in which a program may wait for a lock: fcntl, flock, futex.
const WAITING: [&str; 3] = ["72", "73", "202"];

/// What two programs, A and B, do one after another. With `!` in front, a program begins something
/// that must wait; with `=`, it ends. `kill` and `signal` are what happens to it.
pub(crate) const STORY: &str = "\
A open 1 file
B open 1 file
A posix 1 w 0 10
B posix 1 r 5 10
B posix 1 w 10 10
B ask posix 1 w 0 20
A ask posix 1 r 0 0
A posix 1 w 10 1
A posix 1 u 3 2
B ask posix 1 r 3 2
B posix 1 r 3 2
A posix 1 w 3 2
B posix 1 u 0 0
A posix 1 r 0 10
B posix 1 r 0 10
B posix 1 w 0 10
A posix 1 u 0 0
B posix 1 w 0 10
A ask posix 1 w 0 0
B posix 1 u 0 0
A posix 1 w 100 0
B ask posix 1 r 0 0
B posix 1 r 9223372036854775806 1
A open 2 file
A close 2
B posix 1 w 0 0
B posix 1 u 0 0
A posix 1 w 0 10
A child close 1
B posix 1 w 0 10
A child posix 1 w 0 10
A child posix 1 u 0 10
B posix 1 r 0 10
A child open 2 file
B posix 1 r 0 10
A posix 1 u 0 10
A ofd 1 w 0 10
A ask ofd 1 w 0 10
A posix 1 w 0 10
A open 2 file
A ofd 2 r 5 1
A close 2
B posix 1 w 5 10
B ofd 1 w 5 10
A dup 1 3
A close 1
B ofd 1 w 5 10
A child ofd 3 u 0 5
B ofd 1 w 0 5
A child close 3
A close 3
B ofd 1 w 0 10
B ofd 1 u 0 0
A open 1 another
B open 1 another
A flock 1 w
B flock 1 r
B posix 1 w 0 10
B ofd 1 w 20 10
A flock 1 r
B flock 1 r
B flock 1 w
A child flock 1 u
B flock 1 w
A open 2 another
A flock 2 r
A dup 2 3
A close 2
B posix 1 u 0 10
B flock 1 u
A flock 3 w
B flock 1 r
A close 3
B flock 1 w
B flock 1 u
A posix 1 w 0 10
B!wait posix 1 w 5 10
A posix 1 u 0 7
A posix 1 u 7 3
B=
A!wait posix 1 r 0 0
B posix 1 u 0 15
B close 1
A=
B open 1 another
B!wait posix 1 w 0 1
A close 1
B=
A open 1 another
A!wait ofd 1 r 0 1
B posix 1 u 0 1
A=
B!wait ofd 1 w 0 1
A close 1
B=
A open 1 another
B flock 1 w
A!wait flock 1 r
B flock 1 u
A=
B!wait flock 1 w
A flock 1 u
B=
A!wait flock 1 r
B close 1
A=
B open 1 another
B handler interrupts
A posix 1 w 0 1
B!wait posix 1 r 0 1
B signal
B=
B handler restarts
B!wait posix 1 r 0 1
B signal
B!
A posix 1 u 0 1
B=
B handler interrupts
B!wait flock 1 w
B signal
B=
B posix 1 u 0 0
A posix 1 r 0 1
A ofd 1 r 10 1
A flock 1 w
B!wait posix 1 w 0 20
A kill
B=
B ofd 1 w 20 0
B flock 1 w
";

/// A program that takes locks.
pub(crate) struct Locker {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Locker {
    /// Starts one by a command, which is to begin in the directory that is its last argument.
    pub(crate) fn start(mut command: Command, directory: &Path) -> Self {
        command.arg(directory).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it can be started");
        let commands = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut locker = Self { child, commands, answers };
        assert_eq!(locker.answer(), "ready");
        locker
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has it do something that does not wait.
    pub(crate) fn does(&mut self, what: &str) -> String {
        self.begin(what);
        self.answer()
    }

    fn begin(&mut self, what: &str) {
        writeln!(self.commands, "{what}").expect("it lives");
    }

    /// Has it do something that waits, until it does.
    pub(crate) fn begins(&mut self, what: &str) {
        self.begin(what);
        self.await_waiting();
    }

    pub(crate) fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it is a pipe");
        line.trim_end().to_owned()
    }

    /// Waits until the program waits for a lock: by a system call for that, or asleep in a library.
    pub(crate) fn await_waiting(&self) {
        let began = Instant::now();
        loop {
            let call = fs::read_to_string(format!("/proc/{}/syscall", self.pid()));
            let call = call.expect("it lives");
            if WAITING.contains(&call.split(' ').next().unwrap_or_default()) {
                return;
            }
            assert!(began.elapsed() < LONG, "it does not wait, but is in {call}");
            std::thread::yield_now();
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it lives");
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it lives");
        self.child.wait().expect("it is ours");
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Has two programs do what the story says; returns it with what came of each line.
pub(crate) fn told(story: &str, mut a: Locker, mut b: Locker) -> String {
    let pids = [(&a, 'A'), (&b, 'B')].map(|(one, name)| (format!(" by {}", one.pid()), name));
    let mut told = String::new();
    for line in story.lines() {
        let who = if line.starts_with('A') { &mut a } else { &mut b };
        let came = match &line[1..] {
            "!" => {
                who.await_waiting();
                String::new()
            }
            "=" => who.answer(),
            " kill" => {
                who.kill();
                String::new()
            }
            " signal" => {
                who.signal(Signal::USR1);
                String::new()
            }
            what if what.starts_with('!') => {
                who.begins(&what[1..]);
                String::new()
            }
            what => who.does(what.trim_start()),
        };
        let came =
            pids.iter().fold(came, |came, (by, name)| came.replace(by, &format!(" by {name}")));
        // For whoever reads why it stopped.
        eprintln!("{line}: {came}");
        told += &format!("{line}: {came}\n");
    }
    told
}

/// Checks that two stories came out alike.
#[track_caller]
pub(crate) fn assert_told(ours: &str, theirs: &str) {
    for (number, (ours, theirs)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {} of the story", number + 1);
    }
    assert_eq!(ours.len(), theirs.len());
}

/// Compiles the program, with these options; none if that is not possible.
pub(crate) fn compiled(within: &Path, name: &str, options: &[&str]) -> Option<PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../densefs-fuse/tests/lockers/locker.c");
    let program = within.join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]).args(options);
    let built = compiler.arg("-o").arg(&program).arg(source).output().expect("cc can be started");
    let is_built = built.status.success();
    assert!(is_built || !options.is_empty(), "{}", String::from_utf8_lossy(&built.stderr));
    is_built.then_some(program)
}
