//! What is mapped into a program while it runs.
//!
//! The program writes to a pipe that is full: so it comes to a place where it waits, and can be
//! looked at.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Child, Stdio};

use rustix::event::{Timespec, poll};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use super::execution::Execution;

/// How often a program is looked at.
const INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
/// The number of `write`, and the standard output, as in `/proc/PID/syscall`.
const WRITING: &str = "1 0x1 ";
/// The smallest size of a pipe.
const PIPE_BYTES: usize = 4096;

/// Executes a program, and returns what is mapped into it when it writes.
pub(super) fn maps(of: &Execution<'_>) -> Result<String, String> {
    let said = |error: std::io::Error| format!("{}: {error}", of.program);
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| said(error.into()))?;
    let bytes = fcntl_setpipe_size(&write, PIPE_BYTES).map_err(|error| said(error.into()))?;
    let (mut read, mut write) = (File::from(read), File::from(write));
    write.write_all(&vec![0; bytes]).map_err(said)?;
    let mut child = of.start(Stdio::from(write))?;
    let maps = when_it_writes(&mut child);
    let mut answer = Vec::new();
    read.read_to_end(&mut answer).map_err(said)?;
    child.wait().map_err(said)?;
    maps.ok_or_else(|| format!("{} ended without an answer", of.program))
}

/// The maps of a process that waits until it can write; `None` if it ends before.
fn when_it_writes(child: &mut Child) -> Option<String> {
    let process = format!("/proc/{}", child.id());
    while matches!(child.try_wait(), Ok(None)) {
        let call = fs::read_to_string(format!("{process}/syscall")).unwrap_or_default();
        if call.starts_with(WRITING) {
            return fs::read_to_string(format!("{process}/maps")).ok();
        }
        let _time_is_up = poll(&mut [], Some(&INTERVAL));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::execution::WayIn;
    use super::*;

    #[test]
    fn what_is_mapped_is_seen_when_a_program_writes() {
        let execution = |script: &str| Execution {
            way_in: &WayIn::Kernel,
            program: "/bin/sh",
            arguments: vec!["-c".to_owned(), script.to_owned()],
        };
        let maps = maps(&execution("echo one")).expect("it writes");
        assert!(maps.contains("libc.so.6") && maps.contains("[stack]"), "{maps}");
        let why = super::maps(&execution(":")).expect_err("it does not write");
        assert_eq!(why, "/bin/sh ended without an answer");
    }
}
