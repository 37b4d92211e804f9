//! A DenseFS as a mounted file system, for programs that know nothing of it.
//!
//! The kernel keeps no name, no attribute and no content without asking again, so what other
//! processes do by library calls is seen at once. It checks permissions, with the attributes that
//! it is told, for whoever calls.

mod answer;
mod asked;
mod known;
mod served;

use std::io;
use std::num::NonZero;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use densefs_process::DenseFs;
use fuser::{Config, MountOption, Session, SessionACL, SessionUnmounter};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use asked::Served;

/// The kernel's door to file systems of processes.
const DEVICE: &str = "/dev/fuse";

/// Why a DenseFS cannot be mounted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The kernel cannot, or may not here.
    #[error(
        "there is no {DEVICE}: load the kernel's module fuse (`modprobe fuse`), or give a \
         container the device"
    )]
    NoFuse,
    /// There is no directory to mount it on.
    #[error("{path} is not a directory; make it, or name another mount point")]
    NoDirectory {
        /// The mount point.
        path: PathBuf,
    },
    /// Something is mounted there.
    #[error("something is mounted on {path} already; unmount it, or name another mount point")]
    Busy {
        /// The mount point.
        path: PathBuf,
    },
    /// The kernel refuses.
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
    /// Unmounts it, if it still is mounted.
    ///
    /// # Errors
    /// What the kernel says: one that is in use stays, and can be unmounted later.
    pub fn unmount(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_tried, true) {
            return self.session.unmount();
        }
        // The session forgets its mount when it tries, whatever comes of that.
        match rustix::mount::unmount(&self.point, UnmountFlags::empty()) {
            // It is no mount point any more.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
            Err(why) => Err(why.into()),
        }
    }
}

/// A DenseFS that is mounted, and served as soon as [`Self::serve`] is called.
#[derive(Debug)]
pub struct Mount {
    session: Session<Served>,
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
        let there = std::fs::metadata(directory).ok().filter(std::fs::Metadata::is_dir);
        let there = there.ok_or_else(|| MountError::NoDirectory { path: path() })?;
        let above = std::fs::metadata(directory.join(".."));
        if above.is_ok_and(|above| above.dev() != there.dev() || above.ino() == there.ino()) {
            return Err(MountError::Busy { path: path() });
        }
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName(files.path().to_string_lossy().into_owned()),
            // Its own word for that does not reach the kernel.
            MountOption::CUSTOM("subtype=densefs".to_owned()),
            MountOption::DefaultPermissions,
            MountOption::NoDev,
            MountOption::NoSuid,
        ];
        let is_root = rustix::process::geteuid().is_root();
        config.acl = if is_root { SessionACL::All } else { SessionACL::Owner };
        config.n_threads = Some(std::thread::available_parallelism().map_or(1, NonZero::get));
        config.clone_fd = true;
        let refused = |why| MountError::Refused { path: path(), why };
        let served = Served::of(files).map_err(|why| refused(io::Error::other(why)))?;
        let session = Session::new(served, directory, &config).map_err(refused)?;
        Ok(Self { session, point: path() })
    }

    /// What unmounts it, from another thread.
    pub fn unmounter(&mut self) -> Unmounter {
        let (session, point) = (self.session.unmount_callable(), self.point.clone());
        Unmounter { session, point, has_tried: false }
    }

    /// Answers the kernel until it is unmounted.
    ///
    /// # Errors
    /// What the kernel says of its side.
    pub fn serve(self) -> io::Result<()> {
        after_unmount(self.session.run())
    }
}

/// How serving has ended. Of a thread that has just taken a request when it is unmounted, the
/// kernel takes it back and says so, instead of that the device is gone (`fuse_dev_do_read` in
/// fs/fuse/dev.c).
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
