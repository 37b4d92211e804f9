//! Mounts in a namespace of one's own, where any user may mount without a helper.
//!
//! Mounting and serving are apart here, so that different processes can do them: the mount ends
//! with the last process in its namespace, of which the server must not be one. The kernel keeps
//! what the processes ask for until the server is ready.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use densefs_process::DenseFs;
use fuser::{Session, SessionACL};
use rustix::mount::{MountFlags, mount};
use rustix::process::{getegid, geteuid};

use crate::negotiation::Negotiation;
use crate::server::FuseServer;
use crate::{DEVICE, Mount, config};

/// A mount that has no server yet. The mount is dead as soon as all copies of it are dropped.
#[derive(Debug)]
pub struct Unserved {
    device: OwnedFd,
    point: PathBuf,
}

/// Opens the door to the kernel, if this process may.
///
/// # Errors
/// The kernel's error.
pub fn open_device() -> io::Result<OwnedFd> {
    File::options().read(true).write(true).open(DEVICE).map(OwnedFd::from)
}

impl AsFd for Unserved {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl Unserved {
    /// Mounts what is going to be an arena on a directory, for all users. The process must have
    /// opened the device within its present user namespace, and must be allowed to mount.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn mount(device: OwnedFd, arena: &Path, point: &Path) -> io::Result<Self> {
        let options = format!(
            "fd={},rootmode=40000,user_id={},group_id={},default_permissions,allow_other,\
             subtype=densefs",
            device.as_raw_fd(),
            geteuid().as_raw(),
            getegid().as_raw(),
        );
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        let (source, options) =
            (CString::new(arena.as_os_str().as_bytes())?, CString::new(options)?);
        mount(source, point, c"fuse", flags, &*options)?;
        Ok(Self { device, point: point.to_owned() })
    }

    /// Prepares to serve it, until the kernel has accepted the server.
    ///
    /// # Errors
    /// Those of the arena and of the kernel.
    pub fn serve(self, files: DenseFs) -> io::Result<Mount> {
        let Self { device, point } = self;
        let server = FuseServer::new(files).map_err(io::Error::other)?;
        let all = SessionACL::All;
        let session = Session::from_fd(Negotiation, device, all, config(Vec::new(), all))?;
        server.files.declare_server();
        Ok(Mount { session, server, point })
    }
}
