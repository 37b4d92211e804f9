//! Mounts a DenseFS by FUSE, for programs that know nothing of DenseFS.
//!
//! The kernel caches no names, attributes or content without revalidating them, so changes that
//! other processes make by library calls are visible at once. The kernel checks the permissions of
//! its callers, with the attributes it gets.

mod answer;
mod filesystem;
mod known_inodes;
mod server;

use std::io;
use std::num::NonZero;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use densefs_process::DenseFs;
use fuser::{Config, MountOption, Session, SessionACL, SessionUnmounter};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use server::FuseServer;

/// The kernel's interface to file systems in user space.
const DEVICE: &str = "/dev/fuse";

/// Why a DenseFS cannot be mounted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The kernel does not support it, or does not allow it here.
    #[error(
        "there is no {DEVICE}: load the kernel's module fuse (`modprobe fuse`), or give a \
         container the device"
    )]
    NoFuse,
    /// The device is there, and this user may not use it.
    #[error(
        "cannot open {DEVICE}: {why}; mount it as root, or allow users to read and write {DEVICE}"
    )]
    Closed {
        /// Why.
        why: io::Error,
    },
    /// Only root may mount, and the program that does it for others is missing.
    #[error(
        "only root can mount without the program fusermount3: install it (package fuse3), or \
         mount it as root"
    )]
    NoHelper,
    /// The mount point is not a directory.
    #[error("{path} is not a directory; make it, or name another mount point")]
    NoDirectory {
        /// The mount point.
        path: PathBuf,
    },
    /// Something is mounted there already.
    #[error("something is mounted on {path} already; unmount it, or name another mount point")]
    Busy {
        /// The mount point.
        path: PathBuf,
    },
    /// Mounting failed.
    #[error("cannot mount it on {path}: {why}")]
    Refused {
        /// The mount point.
        path: PathBuf,
        /// Why.
        why: io::Error,
    },
}

/// Unmounts a DenseFS.
#[derive(Debug)]
pub struct Unmounter {
    session: SessionUnmounter,
    point: PathBuf,
    has_tried: bool,
}

impl Unmounter {
    /// Unmounts it, if it is still mounted.
    ///
    /// # Errors
    /// The kernel's error. A file system that is in use stays mounted, and can be unmounted later.
    pub fn unmount(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_tried, true) {
            return self.session.unmount();
        }
        // After the first try, the session no longer knows its mount, whatever the outcome.
        match rustix::mount::unmount(&self.point, UnmountFlags::empty()) {
            // It is no longer a mount point.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
            Err(why) => Err(why.into()),
        }
    }
}

/// A mounted DenseFS, served once [`Self::serve`] is called.
#[derive(Debug)]
pub struct Mount {
    session: Session<FuseServer>,
    point: PathBuf,
}

impl Mount {
    /// Mounts a DenseFS on a directory.
    ///
    /// # Errors
    /// [`MountError`].
    pub fn on(directory: &Path, files: DenseFs) -> Result<Self, MountError> {
        let path = || directory.to_owned();
        let door = std::fs::metadata(DEVICE);
        if !door.is_ok_and(|door| door.file_type().is_char_device()) {
            return Err(MountError::NoFuse);
        }
        let opened = std::fs::File::options().read(true).write(true).open(DEVICE);
        opened.map_err(|why| MountError::Closed { why })?;
        let there = std::fs::metadata(directory).ok().filter(std::fs::Metadata::is_dir);
        let there = there.ok_or_else(|| MountError::NoDirectory { path: path() })?;
        let above = std::fs::metadata(directory.join(".."));
        if above.is_ok_and(|above| above.dev() != there.dev() || above.ino() == there.ino()) {
            return Err(MountError::Busy { path: path() });
        }
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName(files.path().to_string_lossy().into_owned()),
            // fuser's own option for the subtype does not reach the kernel.
            MountOption::CUSTOM("subtype=densefs".to_owned()),
            MountOption::DefaultPermissions,
            MountOption::NoDev,
            MountOption::NoSuid,
        ];
        let is_root = rustix::process::geteuid().is_root();
        config.acl = if is_root { SessionACL::All } else { SessionACL::Owner };
        config.n_threads = Some(std::thread::available_parallelism().map_or(1, NonZero::get));
        config.clone_fd = true;
        let refused = |why| {
            if is_root || has_helper() {
                MountError::Refused { path: path(), why }
            } else {
                MountError::NoHelper
            }
        };
        let served = FuseServer::new(files).map_err(|why| refused(io::Error::other(why)))?;
        let session = Session::new(served, directory, &config).map_err(refused)?;
        Ok(Self { session, point: path() })
    }

    /// A handle for unmounting it from another thread.
    pub fn unmounter(&mut self) -> Unmounter {
        let (session, point) = (self.session.unmount_callable(), self.point.clone());
        Unmounter { session, point, has_tried: false }
    }

    /// Answers the kernel until it is unmounted.
    ///
    /// # Errors
    /// Errors of the kernel's side.
    pub fn serve(self) -> io::Result<()> {
        after_unmount(self.session.run())
    }
}

/// Whether the program is there that mounts for users other than root.
fn has_helper() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path);
    places
        .flat_map(|place| ["fusermount3", "fusermount"].map(|name| place.join(name)))
        .any(|program| program.is_file())
}

/// The outcome of serving. If a thread has just taken a request when the file system is unmounted,
/// the kernel aborts that request and reports this (ECONNABORTED), instead of the device being gone
/// (`fuse_dev_do_read` in fs/fuse/dev.c). That is not a failure.
fn after_unmount(ended: io::Result<()>) -> io::Result<()> {
    match ended {
        Err(why) if why.kind() == io::ErrorKind::ConnectionAborted => Ok(()),
        ended => ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_unmounting_takes_back_is_no_failure() {
        let ended = |why: Errno| after_unmount(Err(why.into()));
        assert!(ended(Errno::CONNABORTED).is_ok());
        assert!(ended(Errno::IO).is_err());
        assert!(after_unmount(Ok(())).is_ok());
    }
}
