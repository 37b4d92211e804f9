//! QEMU's process: started, waited for, and sure to end.

use std::fs::File;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::error::BootError;

/// What ends a guest early.
pub(super) struct Limits<'a> {
    pub(super) time: Duration,
    pub(super) stop: Option<&'a AtomicBool>,
    /// A file that the guest's output is written to. If its file system is full, the guest blocks
    /// forever.
    pub(super) written: &'a File,
}

/// How QEMU exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QemuExit {
    /// By itself and successfully, as after a guest powers off or panics.
    Well,
    /// By itself with an error.
    Failed,
    /// Killed because its time was up.
    Late,
    /// Killed at the caller's request.
    Stopped,
    /// Killed because there was no space left for its output.
    Full,
}

/// A child process that is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct ChildGuard(Child);

impl ChildGuard {
    /// Starts the process.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(Self)
    }

    /// The process ID.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether it has exited; also true if that cannot be determined.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Waits for it to exit.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        self.0.wait().map(drop)
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // `kill` does nothing to a process that has exited and been waited for.
        let _ended_already = self.0.kill();
        let _reaped_already = self.0.wait();
    }
}

/// How often to check the stop flag (a signal may arrive between the check and the wait) and the
/// space left on disk.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Runs QEMU to its end.
pub(super) fn run(command: &mut Command, limits: &Limits<'_>) -> Result<QemuExit, BootError> {
    let mut child = ChildGuard::spawn(command)?;
    let start = Instant::now();
    let pid = Pid::from_child(&child.0);
    let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from)?;
    loop {
        if let Some(status) = child.0.try_wait()? {
            return Ok(if status.success() { QemuExit::Well } else { QemuExit::Failed });
        }
        if limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(QemuExit::Stopped);
        }
        if has_no_room(limits.written) {
            return Ok(QemuExit::Full);
        }
        let Some(left) = limits.time.checked_sub(start.elapsed()) else {
            return Ok(QemuExit::Late);
        };
        let wait = Timespec::try_from(left.min(POLL_INTERVAL)).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&wait)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(BootError::Io(error.into())),
        }
    }
}

/// Whether the file system of a file is full.
fn has_no_room(file: &File) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|found| found.f_blocks > 0 && found.f_bfree == 0)
}
