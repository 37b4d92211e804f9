//! The maker's side: the mount, the process that serves it, and their end.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::Delays;
use crate::image::reopen;
use crate::protocol::MODE;
use crate::server::NAME;

/// The device by which the kernel asks.
pub const DEVICE: &str = "/dev/fuse";

/// How long a server may take to end by itself, once nothing uses its file any more.
const ENDED_WITHIN: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// A file that shows an image slowly. It is mounted in the mount namespace of its maker.
#[derive(Debug)]
pub struct SlowFile {
    /// The file, which a loop device can be made of. `None` when it has been given up.
    file: Option<File>,
    point: PathBuf,
    is_direct: bool,
    server: Mutex<Child>,
}

impl SlowFile {
    /// Mounts a file at `point`, where there must be nothing, and starts its server, which lives in
    /// the mount namespace `apart`. The caller must be a program that calls
    /// [`serve`](crate::serve) when it is started as a server.
    ///
    /// # Errors
    /// If the kernel refuses to mount it, or the server does not start.
    pub fn start(image: &File, point: &Path, delays: Delays, apart: File) -> io::Result<Self> {
        let (image, is_direct) = reopen(image)?;
        let kernel = OwnedFd::from(File::options().read(true).write(true).open(DEVICE)?);
        File::create_new(point)?;
        let options = format!("fd={},rootmode={MODE:o},user_id=0,group_id=0", kernel.as_raw_fd());
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        let options = CString::new(options)?;
        let mounted = mount("fsprism-slow-device", point, c"fuse", flags, Some(&*options));
        if let Err(why) = mounted {
            fs::remove_file(point)?;
            return Err(why.into());
        }
        let started = {
            let mut command = Command::new("/proc/self/exe");
            command.arg0(NAME).args(delays.to_arguments()).current_dir("/").env_clear();
            // Not in the group that a terminal sends signals to. The descriptors are its own from
            // here on: the kernel sees that the server has died when there are no others.
            command.process_group(0).stdin(kernel).stdout(image).stderr(apart).spawn()
        };
        let server = match started {
            Ok(server) => Mutex::new(server),
            Err(why) => {
                let _already_failing = leave(point);
                return Err(why);
            }
        };
        let mut made = Self { file: None, point: point.to_owned(), is_direct, server };
        // Waits until the server has answered; fails if it has died.
        made.file = Some(File::options().read(true).write(true).open(point)?);
        Ok(made)
    }

    /// The file.
    ///
    /// # Panics
    /// If it has been given up ([`SlowFile::close`]).
    #[must_use]
    pub fn file(&self) -> &File {
        self.file.as_ref().expect("it is open until it is given up")
    }

    /// Whether the server bypasses the page cache of the file system that contains the image.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// The process that serves it.
    #[must_use]
    pub fn server_pid(&self) -> u32 {
        self.lock().id()
    }

    /// Whether its server is still there. Without it, the kernel fails every request.
    #[must_use]
    pub fn is_served(&self) -> bool {
        matches!(self.lock().try_wait(), Ok(None))
    }

    /// Unmounts it and waits for the server to end, which it does once nothing else uses the file.
    /// If it does not, it is killed: then, the kernel fails whatever is still asked for. A second
    /// call does nothing.
    ///
    /// # Errors
    /// If something of it is left.
    pub fn close(&mut self) -> io::Result<()> {
        if self.file.take().is_none() && !self.point.exists() {
            return Ok(());
        }
        let left = leave(&self.point);
        let mut server = self.lock();
        let began = Instant::now();
        while server.try_wait()?.is_none() {
            if began.elapsed() > ENDED_WITHIN {
                server.kill()?;
                server.wait()?;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        left
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Child> {
        self.server.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for SlowFile {
    fn drop(&mut self) {
        let _nobody_to_tell = self.close();
    }
}

/// Unmounts it, even while a loop device still uses it, and removes its mount point.
fn leave(point: &Path) -> io::Result<()> {
    unmount(point, UnmountFlags::DETACH)?;
    fs::remove_file(point)
}
