//! A process of the program: what it says while it runs and at its end, and killing it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, pidfd_open,
    waitid,
};
use serde_json::Value;

use crate::place::Place;

/// How a process ended, and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Its exit status, or the number of the signal that ended it, negated.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

fn code_of(status: ExitStatus) -> Option<i32> {
    status.code().or(status.signal().map(|signal| -signal))
}

impl Outcome {
    pub(crate) fn from_output(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("plain text");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self { code: code_of(output.status), stdout, stderr }
    }

    /// The program's last sentence on standard error.
    pub(crate) fn sentence(&self) -> &str {
        let begins =
            |line: &str| ["fsprism: ", "error: "].iter().any(|name| line.starts_with(name));
        let mut at = self.stderr.len();
        for line in self.stderr.split_inclusive('\n').rev() {
            at -= line.len();
            if begins(line) {
                return &self.stderr[at..];
            }
        }
        ""
    }

    /// Checks that the command was refused, and that the last sentence contains all `words`.
    #[track_caller]
    pub(crate) fn assert_refused(&self, words: &[&str]) {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        self.assert_says(words);
    }

    #[track_caller]
    pub(crate) fn assert_says(&self, words: &[&str]) {
        let sentence = self.sentence();
        for word in words {
            assert!(sentence.contains(word), "no `{word}` in `{sentence}`: {self:?}");
        }
        assert!(!sentence.contains("panicked"), "{self:?}");
    }

    /// Checks the exit status.
    #[track_caller]
    pub(crate) fn assert_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Standard output, parsed as a single JSON document.
    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A running process. Its standard output goes to a file, so that it never blocks on a reader.
pub(crate) struct Running {
    child: Child,
    stdout: PathBuf,
    errors: BufReader<ChildStderr>,
    stderr: String,
    /// The children that it had when it was signalled; they may outlive it for a moment.
    children: Vec<OwnedFd>,
}

impl Running {
    /// Starts a command in its own process group, as a shell at a terminal would.
    pub(crate) fn start(place: &Place, mut command: Command) -> Self {
        let stdout = place.path("stdout");
        let file = File::create(&stdout).expect("the place is ours");
        command.stdout(file).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().expect("it can be started");
        let errors = BufReader::new(child.stderr.take().expect("piped"));
        Self { child, stdout, errors, stderr: String::new(), children: Vec::new() }
    }

    /// Waits until it prints a line on standard error that contains `text`.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) {
        while let Some(line) = self.next_line() {
            if line.contains(text) {
                return;
            }
        }
        panic!("it ended without `{text}`: {}", self.stderr);
    }

    /// Waits for its next line on standard error; `None` if there are no more.
    fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.errors.read_line(&mut line).expect("plain text");
        self.stderr.push_str(&line);
        (length > 0).then_some(line)
    }

    /// Waits at most `milliseconds` for it to end. Returns whether it did.
    pub(crate) fn ends_within(&self, milliseconds: u32) -> bool {
        ends_within(&self.child, milliseconds)
    }

    /// The image of its only scratch target, which has no name. Files that a benchmark has removed
    /// have no name either, but are elsewhere.
    pub(crate) fn image(&self) -> File {
        let directory = format!("/proc/{}/fd", self.child.id());
        let paths = fs::read_dir(directory).expect("root may look").flatten().map(|fd| fd.path());
        let is_image = |path: &PathBuf| {
            let file = fs::read_link(path).unwrap_or_default();
            let file = file.to_string_lossy();
            file.contains("/scratch/#") && file.ends_with("(deleted)")
        };
        let path = paths.into_iter().find(is_image).expect("it is open");
        File::options().write(true).open(path).expect("root may")
    }

    /// Its child with this name.
    pub(crate) fn child_named(&self, name: &str) -> Pid {
        let pid = self.child.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children = children.expect("it lives");
        let is_it = |child: &&str| {
            let found = fs::read_to_string(format!("/proc/{child}/comm"));
            found.is_ok_and(|found| found.trim_end() == name)
        };
        let child = children.split_whitespace().find(is_it).expect("it has one");
        Pid::from_raw(child.parse().expect("a number")).expect("not 0")
    }

    /// Stops only this process, and continues it once it has stopped.
    pub(crate) fn stop_and_continue(&self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::STOP).expect("it is not waited for yet");
        let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(pid), options).expect("it is ours");
        kill_process(pid, Signal::CONT).expect("it is not waited for yet");
    }

    /// Signals the whole process group, as a key at the terminal does.
    pub(crate) fn signal_group(&mut self, signal: Signal) {
        self.children.extend(children_of(&self.child));
        kill_process_group(Pid::from_child(&self.child), signal).expect("it lives");
    }

    /// Waits for its end, and checks that it left nothing behind.
    #[track_caller]
    pub(crate) fn finish(mut self, place: &Place) -> Outcome {
        while self.errors.read_line(&mut self.stderr).expect("plain text") > 0 {}
        let code = code_of(self.child.wait().expect("it is ours"));
        self.children.iter().for_each(wait_for_end);
        place.assert_nothing_left(self.child.id());
        let stdout = fs::read_to_string(&self.stdout).expect("plain text");
        Outcome { code, stdout, stderr: std::mem::take(&mut self.stderr) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After a failed check, the process must not run on forever.
        let _dead_already = self.child.kill();
    }
}

/// Kills a process as `kill -9` does, then waits for the end of its children, which notice its
/// death: the guardian, which cleans up, and perhaps a mkfs.
///
/// The process is stopped first, so that all its children are known. That does not make the moment
/// any less random.
pub(crate) fn kill(child: &mut Child) {
    let pid = Pid::from_child(child);
    kill_process(pid, Signal::STOP).expect("it is not waited for yet");
    let stopped = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid), stopped).expect("it is ours");
    let children = children_of(child);
    kill_process(pid, Signal::KILL).expect("it is not waited for yet");
    child.wait().expect("it is ours");
    children.iter().for_each(wait_for_end);
}

/// Waits at most `milliseconds` for a process to end. Returns whether it did.
pub(crate) fn ends_within(child: &Child, milliseconds: u32) -> bool {
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).expect("it is ours");
    wait_at_most(&end, milliseconds)
}

/// Waits at most `milliseconds` for a descriptor to become readable. Returns whether it did.
pub(crate) fn wait_at_most(descriptor: &impl AsFd, milliseconds: u32) -> bool {
    let nanoseconds = i64::from(milliseconds % 1000) * 1_000_000;
    let timeout = Timespec { tv_sec: i64::from(milliseconds / 1000), tv_nsec: nanoseconds };
    let mut events = [PollFd::new(descriptor, PollFlags::IN)];
    poll(&mut events, Some(&timeout)).expect("it can be waited for") > 0
}

fn children_of(child: &Child) -> Vec<OwnedFd> {
    let path = format!("/proc/{0}/task/{0}/children", child.id());
    let pids = fs::read_to_string(Path::new(&path)).unwrap_or_default();
    let pids = pids.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
    pids.filter_map(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).collect()
}

fn wait_for_end(process: &OwnedFd) {
    const LONG: u32 = 60_000;
    assert!(wait_at_most(process, LONG), "a child process outlives its parent by a minute");
}
