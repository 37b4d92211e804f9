//! The guest that reads: a mount of what is served, with a cache below or without.

use std::ffi::CString;
use std::path::Path;

use lab::inside::load_modules_for;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::messages::{Measured, Version};
use crate::server::{EXPORT, MOUNT_PORT, measured};
use crate::task::Task;

/// Where it is mounted.
pub(crate) const MOUNT: &str = "/mnt";

/// Mounts. The options are the same with a cache and without: whether there is one to use is
/// decided by whether one was started.
pub(crate) fn mount_served(version: Version, server: &str, client: &str) -> Result<(), String> {
    load_modules_for("nfs").map_err(|error| error.to_string())?;
    let (file_system, root) = match version {
        Version::V3 => ("nfs", EXPORT),
        Version::V40 | Version::V41 | Version::V42 => ("nfs4", "/"),
    };
    let options = match version {
        // Locks would need a service of their own; nothing here locks.
        Version::V3 => format!(
            "fsc,vers=3,addr={server},nolock,proto=tcp,port=2049,mountproto=tcp,mountvers=3,\
             mountaddr={server},mountport={MOUNT_PORT}"
        ),
        Version::V40 | Version::V41 | Version::V42 => {
            format!("fsc,vers={version},addr={server},clientaddr={client}")
        }
    };
    let options = CString::new(options).map_err(|error| error.to_string())?;
    let source = format!("{server}:{root}");
    mount(source, MOUNT, file_system, MountFlags::empty(), Some(options.as_c_str()))
        .map_err(|error| format!("cannot mount NFS version {version}: {error}"))
}

/// Does something on the mount; the cache's disk is counted.
pub(crate) fn perform(task: Task, disk: &str) -> Result<Measured, String> {
    let root = Path::new(MOUNT);
    measured(Some(root), Some(disk), || task.perform(root))
}

/// Unmounts, by which what was cached is committed.
pub(crate) fn unmount_served() -> Result<(), String> {
    unmount(MOUNT, UnmountFlags::empty()).map_err(|error| format!("cannot unmount: {error}"))
}
