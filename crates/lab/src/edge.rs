//! A thin wrapper around what the standard library allows only between fork and exec.
#![expect(unsafe_code, reason = "a closure between fork and exec has no safe wrapper")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::FdFlags;
use rustix::process::{Pid, Signal};

/// Has the child killed when the thread that starts it dies.
pub fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let before_exec = move || is_killed_with(parent);
    // SAFETY: the closure makes system calls only; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(before_exec) };
}

/// Has this process killed when its parent dies; an error if the parent is already dead.
fn is_killed_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before the signal was set up.
    if rustix::process::getppid() == Some(parent) {
        Ok(())
    } else {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

/// Has the child killed when the thread that starts it dies, puts it into its own process group,
/// and lets it inherit these files under the same descriptor numbers.
pub(crate) fn guard(command: &mut Command, inherited: &[&File]) {
    let inherited: Vec<RawFd> = inherited.iter().map(|file| file.as_raw_fd()).collect();
    let parent = rustix::process::getpid();
    let before_exec = move || {
        is_killed_with(parent)?;
        for &number in &inherited {
            // SAFETY: the caller holds these files open until the child has been started, and fork
            // has copied all of their descriptors.
            let file = unsafe { BorrowedFd::borrow_raw(number) };
            rustix::io::fcntl_setfd(file, FdFlags::empty())?;
        }
        Ok(())
    };
    command.process_group(0);
    // SAFETY: the closure makes system calls only; it allocates nothing, takes no lock, and reads a
    // vector that was made before the fork.
    unsafe { command.pre_exec(before_exec) };
}
