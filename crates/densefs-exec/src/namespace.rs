//! Mounts that only a command and its descendants see.

use std::fs;
use std::io;
use std::path::Path;

use densefs_fuse::{Unserved, open_device};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{Gid, Uid, WaitOptions, getegid, geteuid, waitpid};

/// How this process comes to mounts of its own.
#[derive(Debug)]
pub(crate) enum Way {
    /// It may mount.
    Directly,
    /// It may mount within a user namespace, in which it is the only user.
    AsUser { user: Uid, group: Gid },
}

/// Whether this is how the kernel says that a process may not mount, or that it cannot.
pub(crate) fn is_refusal(why: &io::Error) -> bool {
    const REFUSALS: [Errno; 7] = [
        Errno::PERM,
        Errno::ACCESS,
        Errno::NOSYS,
        Errno::NODEV,
        Errno::INVAL,
        Errno::NOSPC,
        Errno::USERS,
    ];
    Errno::from_io_error(why).is_some_and(|why| REFUSALS.contains(&why))
}

impl Way {
    /// How this process may mount, or in a few words why it may not.
    pub(crate) fn find() -> Result<Self, String> {
        open_device().map_err(|why| format!("/dev/fuse cannot be opened: {why}"))?;
        if geteuid().is_root() {
            return Ok(Self::Directly);
        }
        let way = Self::AsUser { user: geteuid(), group: getegid() };
        // There is no way back from a user namespace, so a child tries.
        let tried = tried(|| way.enter().and_then(|()| try_to_mount()));
        tried.map_err(|why| format!("a user namespace in which you could mount fails: {why}"))?;
        Ok(way)
    }

    /// Separates this process' mounts from the others'. What is unmounted elsewhere goes away here
    /// too, so that nobody's disk stays busy; nothing propagates the other way.
    pub(crate) fn enter(&self) -> io::Result<()> {
        match self {
            Self::Directly => system_calls::unshare_mounts()?,
            Self::AsUser { user, group } => {
                system_calls::unshare_user_and_mounts()?;
                // A user who could leave groups could read what these are kept from.
                fs::write("/proc/self/setgroups", "deny")?;
                fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
                fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
            }
        }
        // Not possible in the root of a chroot, if that is not a mount of its own.
        Ok(mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?)
    }
}

/// Mounts something that nobody serves, where only this process sees it.
fn try_to_mount() -> io::Result<()> {
    Unserved::mount(open_device()?, Path::new("none"), Path::new("/")).map(drop)
}

/// The outcome of something that a child tries and that ends with it.
fn tried(body: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let number = |why: io::Error| why.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
    let child = system_calls::fork_blocking_signals(|| body().map_or_else(number, |()| 0))?;
    let waited = loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            waited => break waited?,
        }
    };
    let status = waited.and_then(|(_, status)| status.exit_status());
    match status {
        Some(0) => Ok(()),
        Some(number) => Err(io::Error::from_raw_os_error(number)),
        None => Err(io::ErrorKind::Interrupted.into()),
    }
}
