//! Processes that nobody waits for.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{WaitOptions, chdir, setsid, waitpid};
use system_calls::{duplicate_onto, fork_blocking_signals};

/// A pipe, of which no other program gets an end: first the one to read from.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}

/// Starts a process that is nobody's child, in a session of its own, so that neither the caller nor
/// a terminal knows of it. It has everything open that this process has, and a name for lists of
/// processes.
pub(crate) fn start(name: &CStr, body: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let between = fork_blocking_signals(|| {
        let started = fork_blocking_signals(|| {
            let _unnamed = rustix::thread::set_name(name);
            i32::from(leave().and_then(|()| body()).is_err())
        });
        i32::from(started.is_err())
    })?;
    loop {
        return match waitpid(Some(between), WaitOptions::empty()) {
            Err(Errno::INTR) => continue,
            // The caller has decided that ended children are not to be waited for.
            Err(Errno::CHILD) => Ok(()),
            Ok(Some((_, status))) if status.exit_status() != Some(0) => {
                Err(io::Error::other("a process cannot be started"))
            }
            waited => waited.map(drop).map_err(io::Error::from),
        };
    }
}

/// Leaves the caller's session, directory and streams.
fn leave() -> io::Result<()> {
    setsid()?;
    chdir("/")?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    (0..=2).try_for_each(|standard| duplicate_onto(&nothing, standard))
}
