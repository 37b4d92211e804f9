//! Mounts a DenseFS by FUSE, for programs that know nothing of DenseFS.
//!
//! The kernel caches no names, attributes or content without revalidating them, so changes that
//! other processes make by library calls are visible at once. The kernel checks the permissions of
//! its callers, with the attributes it gets.

mod alarm;
mod answer;
mod attributes;
mod channel;
mod contested;
mod entry;
mod filesystem;
mod known_inodes;
mod lock_requests;
mod locks;
mod negotiation;
mod open_files;
mod private;
mod protocol;
mod server;
mod serving;
mod sweeper;

use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use densefs_calls::Counts;
use densefs_process::DenseFs;
use fuser::{Config, MountOption, Session, SessionACL, SessionUnmounter};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

pub use private::{Unserved, open_device};

use channel::Channel;
use negotiation::Negotiation;
use server::FuseServer;
use sweeper::sweep;

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
    session: Session<Negotiation>,
    server: FuseServer,
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
        let there = match std::fs::metadata(directory) {
            // The server of what is mounted there is dead.
            Err(why) if why.kind() == io::ErrorKind::NotConnected => {
                return Err(MountError::Busy { path: path() });
            }
            there => there.ok().filter(std::fs::Metadata::is_dir),
        };
        let there = there.ok_or_else(|| MountError::NoDirectory { path: path() })?;
        let above = std::fs::metadata(directory.join(".."));
        if above.is_ok_and(|above| above.dev() != there.dev() || above.ino() == there.ino()) {
            return Err(MountError::Busy { path: path() });
        }
        let arena = files.path().canonicalize().unwrap_or_else(|_| files.path().to_owned());
        let options = vec![
            MountOption::FSName(arena.to_string_lossy().into_owned()),
            // fuser's own option for the subtype does not reach the kernel.
            MountOption::CUSTOM("subtype=densefs".to_owned()),
            MountOption::DefaultPermissions,
            MountOption::NoDev,
            MountOption::NoSuid,
        ];
        let is_root = rustix::process::geteuid().is_root();
        let config = config(options, if is_root { SessionACL::All } else { SessionACL::Owner });
        let refused = |why| {
            if is_root || has_helper() {
                MountError::Refused { path: path(), why }
            } else {
                MountError::NoHelper
            }
        };
        let server = FuseServer::new(files).map_err(|why| refused(io::Error::other(why)))?;
        let session = Session::new(Negotiation, directory, &config).map_err(refused)?;
        server.files.declare_server();
        Ok(Self { session, server, point: path() })
    }

    /// A handle for unmounting it from another thread.
    pub fn unmounter(&mut self) -> Unmounter {
        let (session, point) = (self.session.unmount_callable(), self.point.clone());
        Unmounter { session, point, has_tried: false }
    }

    /// Counts what processes ask for from now on.
    pub fn count(&mut self, counts: &'static Counts) {
        self.server.counts = Some(counts);
    }

    /// Answers the kernel until it is unmounted, and then detaches the arena.
    ///
    /// # Errors
    /// Errors of the kernel's side.
    pub fn serve(self) -> io::Result<()> {
        let Self { session, server, .. } = self;
        let (notifier, swept) = (session.notifier(), server.clone());
        let sweeper = std::thread::spawn(move || {
            sweep(&swept.files, &swept.known, &swept.contested, &notifier);
        });
        let channel = Channel::new(session.as_fd()).map(Arc::new);
        let ended = channel.and_then(|channel| server.answer_all(&channel));
        drop(session);
        server.known.alarm.end();
        sweeper.join().map_err(|_| io::Error::other("the thread that sweeps has panicked"))?;
        // The process may take its time to end: it has much memory mapped.
        server.files.detach().map_err(io::Error::other)?;
        after_unmount(ended)
    }
}

fn config(mount_options: Vec<MountOption>, acl: SessionACL) -> Config {
    let mut config = Config::default();
    config.mount_options = mount_options;
    config.acl = acl;
    config
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

    /// It forgets what library calls have removed, but for what a program still refers to.
    #[test]
    fn the_kernel_forgets_what_is_gone() {
        use densefs_process::{NewArena, flags, make};
        if !rustix::process::geteuid().is_root() || !Path::new(DEVICE).exists() {
            eprintln!("skipped: the_kernel_forgets_what_is_gone: it needs root and {DEVICE}");
            return;
        }
        let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
        let (arena, point) = (place.path().join("arena"), place.path().join("point"));
        std::fs::create_dir(&point).expect("the place is ours");
        let root = DenseFs::new_root(0o755);
        make(&arena, &NewArena::new(16 << 20, root)).expect("room");
        let files = DenseFs::attach(&arena).expect("it was made");
        let mounted = Mount::on(&point, DenseFs::attach(&arena).expect("it was made"));
        let mut mount = mounted.unwrap_or_else(|why| panic!("{why}"));
        let (mut unmounter, known) = (mount.unmounter(), mount.server.known.clone());
        let server = std::thread::spawn(move || mount.serve());
        let names = || (0..3_000).map(|number| format!("{number}"));
        for name in names() {
            files.open(&name, flags::WRITE | flags::CREATE, 0o644).expect("there is room");
            std::fs::metadata(point.join(&name)).expect("it is there");
        }
        assert!(known.count() > 1_000, "the kernel has no reason to forget them");
        let how = rustix::fs::OFlags::PATH;
        let referred = rustix::fs::open(point.join("7"), how, rustix::fs::Mode::empty());
        let referred = referred.expect("it is there");
        names().for_each(|name| files.remove(name).expect("it is there"));
        let await_count = |wanted| {
            while known.count() != wanted {
                std::thread::yield_now();
            }
        };
        await_count(2);
        assert_eq!(rustix::fs::fstat(&referred).map(|stat| stat.st_nlink), Ok(0));
        drop(referred);
        await_count(1);
        unmounter.unmount().expect("it is not in use");
        server.join().expect("it does not panic").expect("the kernel is content");
        files.check().expect("it is unmounted").unwrap_or_else(|problem| panic!("{problem}"));
    }
}
