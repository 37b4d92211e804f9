//! The process that serves the mount.
//!
//! It is nobody's child, so that the command, which may wait for its children, does not know of it.
//! It has a copy of the mounts, without the one that it serves. As it neither waits for the command
//! nor watches it, it cannot miss its end: the kernel tells it when the last process that sees the
//! mount has ended. If the server itself is killed, the kernel ends the mount.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;

use densefs_calls::Counts;
use densefs_fuse::{Mount, Unserved};
use densefs_process::DenseFs;
use rustix::mount::{UnmountFlags, unmount};
use system_calls::close_all_but;

use crate::detached::{self, pipe};
use crate::point::{Point, REMOVER};
use crate::{ExecError, Place};

/// What is told by the server when the mount can be used; anything else is why it cannot.
const READY: &[u8] = b"ready";
/// The process' name.
const SERVER: &CStr = c"densefs-server";

/// Starts the process, and waits until it serves the mount.
pub(crate) fn start(
    unserved: Unserved,
    place: &Place,
    point: Point,
    counts: Option<&'static Counts>,
) -> Result<(), ExecError> {
    let failed = |why: io::Error| ExecError::Kernel { doing: "starting the server", why };
    let (told, tells) = pipe().map_err(failed)?;
    // What is moved into this is closed here.
    detached::start(SERVER, move || {
        let kept = [unserved.as_fd(), tells.as_fd()].into_iter().chain(point.open_files());
        close_all_but(&kept.collect::<Vec<_>>());
        let mut tells = File::from(tells);
        let prepared = leave_mount(place.prefix())
            .map_err(|why| why.to_string())
            .and_then(|()| prepare(unserved, place));
        let said = prepared.as_ref().map_or_else(String::as_bytes, |_| READY);
        let said = tells.write_all(said);
        drop(tells);
        let served = match (prepared, said) {
            (Ok(mut mount), Ok(())) => {
                if let Some(counts) = counts {
                    mount.count(counts);
                }
                mount.serve()
            }
            (_, said) => said,
        };
        // From here on, it is no more than a second remover.
        let _unnamed = rustix::thread::set_name(REMOVER);
        point.remove();
        served
    })
    .map_err(failed)?;
    let mut answer = Vec::new();
    File::from(told).read_to_end(&mut answer).map_err(failed)?;
    if answer == READY {
        return Ok(());
    }
    let answer = String::from_utf8_lossy(&answer);
    Err(ExecError::Server(if answer.is_empty() { "it has ended".into() } else { answer.into() }))
}

/// Leaves the namespace for one that does not have the mount.
fn leave_mount(prefix: &Path) -> io::Result<()> {
    system_calls::unshare_mounts()?;
    Ok(unmount(prefix, UnmountFlags::DETACH)?)
}

fn prepare(unserved: Unserved, place: &Place) -> Result<Mount, String> {
    let files = DenseFs::attach(place.arena()).map_err(|why| why.to_string())?;
    unserved.serve(files).map_err(|why| why.to_string())
}
