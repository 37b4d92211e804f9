//! The guest that reads: it mounts what is served, with or without a cache.

use std::ffi::CString;
use std::path::Path;

use lab::inside::load_modules_for;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::messages::{TaskMeasurement, Version};
use crate::server::{EXPORT, MOUNT_PORT, measured};
use crate::task::Task;

/// The mount point.
pub(crate) const MOUNT: &str = "/mnt";

/// Mounts the export. The options are the same with and without a cache: a cache is used if one has
/// been started.
pub(crate) fn mount_served(version: Version, server: &str, client: &str) -> Result<(), String> {
    load_modules_for("nfs").map_err(|error| error.to_string())?;
    let (file_system, root) = match version {
        Version::V3 => ("nfs", EXPORT),
        Version::V40 | Version::V41 | Version::V42 => ("nfs4", "/"),
    };
    let options = match version {
        // Locking would need another service, and nothing here uses locks.
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

/// Performs a task on the mount, counting I/O on the cache's disk.
pub(crate) fn perform(task: Task, disk: &str) -> Result<TaskMeasurement, String> {
    let root = Path::new(MOUNT);
    measured(Some(root), Some(disk), || task.perform(root))
}

/// Unmounts, which commits what was cached.
pub(crate) fn unmount_served() -> Result<(), String> {
    unmount(MOUNT, UnmountFlags::empty()).map_err(|error| format!("cannot unmount: {error}"))
}
