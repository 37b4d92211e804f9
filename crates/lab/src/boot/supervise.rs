//! QEMU's process: started, waited for, ended for certain.

use std::fs::File;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::error::BootError;

/// When a guest is ended early.
pub(super) struct Limits<'a> {
    pub(super) time: Duration,
    pub(super) stop: Option<&'a AtomicBool>,
    /// A file that the guest's words are written to: once there is no room for it, the guest waits
    /// in vain.
    pub(super) written: &'a File,
}

/// How QEMU ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, as it does when a guest powers off or panics.
    Well,
    /// By itself, with an error.
    Failed,
    /// It was killed, as its time was over.
    Late,
    /// It was killed, as the caller asked for it.
    Stopped,
    /// It was killed, as there is no room for what it writes.
    Full,
}

/// A process that does not outlive this.
#[derive(Debug)]
pub(crate) struct Guarded(Child);

impl Guarded {
    /// Starts it.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(Self)
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether it has ended, as far as can be told.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        self.0.wait().map(drop)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // A process that has ended and was waited for is not killed.
        let _ended_already = self.0.kill();
        let _reaped_already = self.0.wait();
    }
}

/// How often the wish to stop is looked at, should a signal arrive between look and wait, and the
/// room that is left.
const LOOK: Duration = Duration::from_millis(250);

/// Runs QEMU to its end.
pub(super) fn run(command: &mut Command, limits: &Limits<'_>) -> Result<End, BootError> {
    let mut child = Guarded::spawn(command)?;
    let start = Instant::now();
    let pid = Pid::from_child(&child.0);
    let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from)?;
    loop {
        if let Some(status) = child.0.try_wait()? {
            return Ok(if status.success() { End::Well } else { End::Failed });
        }
        if limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(End::Stopped);
        }
        if has_no_room(limits.written) {
            return Ok(End::Full);
        }
        let Some(left) = limits.time.checked_sub(start.elapsed()) else { return Ok(End::Late) };
        let wait = Timespec::try_from(left.min(LOOK)).map_err(io::Error::other)?;
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
