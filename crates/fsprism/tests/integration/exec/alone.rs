//! Commands whose mount is dead before they begin: what they see of the arena, the library serves.

use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use super::programs::is_long;
use super::{Dense, LONG, until};
use crate::process::Outcome;

/// Long enough for programs that may take long.
const LONGER: Duration = Duration::from_secs(1800);

impl Dense {
    /// Runs a shell's script below the prefix, where only the library reaches the arena: a call
    /// that comes to the mount fails.
    pub(super) fn alone(&self, script: &str) -> Outcome {
        // If the directory were the command's own, it would be removed with the server's end, and
        // the mount with it.
        let is_missing = !self.prefix.exists();
        if is_missing {
            fs::create_dir(&self.prefix).expect("the place is ours");
        }
        let run = format!("read go && exec <&- </dev/null && cd % && {script}");
        let mut command = self.command(&["sh", "-c", &run]);
        command.stdin(Stdio::piped());
        command.stdin(Stdio::piped());
        let mut child = InTime::start(command);
        let input = child.process.stdin.take().expect("piped");
        self.kill_mount(&child.process);
        begin(input);
        let outcome = child.finish();
        if is_missing {
            fs::remove_dir(&self.prefix).expect("nothing is in it");
        }
        outcome
    }

    /// Kills the server of a command that waits for a line, and sees that the mount is dead.
    fn kill_mount(&self, command: &Child) {
        let directory = format!("/proc/{}", command.id());
        until("the command has begun", || {
            fs::read_to_string(format!("{directory}/comm")).is_ok_and(|name| name == "sh\n")
        });
        self.kill("densefs-server");
        let seen = format!("{directory}/root{}", self.prefix.display());
        until("the mount is dead", || {
            fs::metadata(&seen).is_err_and(|why| is(&why, Errno::NOTCONN))
        });
    }
}

fn is(why: &io::Error, what: Errno) -> bool {
    why.raw_os_error() == Some(what.raw_os_error())
}

/// Lets a command begin that waits for a line.
fn begin(mut input: ChildStdin) {
    input.write_all(b"\n").expect("it waits");
}

/// A process that is killed with all that it has started, unless it ends in time.
pub(super) struct InTime {
    process: Child,
    end: mpsc::Sender<()>,
}

impl InTime {
    /// Starts it; what it prints can be read.
    pub(super) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = command.process_group(0).spawn().expect("it can be started");
        let (end, ended) = mpsc::channel::<()>();
        let group = Pid::from_child(&process);
        let limit = if is_long() { LONGER } else { LONG };
        std::thread::spawn(move || {
            if ended.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                // It may have just ended.
                let _gone = kill_process_group(group, Signal::KILL);
            }
        });
        Self { process, end }
    }

    /// Waits until it has ended, and nobody can print in its name any more.
    pub(super) fn finish(self) -> Outcome {
        let output = self.process.wait_with_output().expect("it is ours");
        drop(self.end);
        Outcome::from_output(output)
    }
}
