//! The directory that is mounted on: if it is not there, it is made, and removed afterwards.
//!
//! A process of its own makes it, and removes it when nobody is left who could. It is there before
//! the directory, so the directory stays only if everybody who knows of it is killed.
//!
//! Several commands may use one prefix at the same time, each with mounts of its own. Removing the
//! directory would take the mount from all of them. So each holds a shared lock on it, and whoever
//! has made it removes it as soon as nobody else holds one.

use std::ffi::CStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};

use system_calls::close_all_but;

use crate::ExecError;
use crate::detached::{self, pipe};

/// The name of the process that removes the directory.
pub(crate) const REMOVER: &CStr = c"densefs-remover";
/// What that process tells if it has made the directory; otherwise it tells an error's number.
const MADE: [u8; 4] = 0_i32.to_ne_bytes();

/// A mount point that stays while this lives, and all of its copies in other processes.
#[derive(Debug)]
pub(crate) struct Point {
    path: PathBuf,
    /// Open and locked, if it can be read. The copies in other processes share the lock.
    directory: Option<File>,
    /// What the remover sees closed when all copies are gone, if there is one.
    alive: Option<OwnedFd>,
    holds_files: bool,
}

impl Point {
    /// Finds the directory, or makes it.
    pub(crate) fn open(path: &Path) -> Result<Self, ExecError> {
        let prefix = || path.to_owned();
        loop {
            let not_made = |why| ExecError::NotMade { prefix: prefix(), why };
            let alive = match fs::symlink_metadata(path) {
                Ok(_) => None,
                Err(why) if why.kind() == io::ErrorKind::NotFound => {
                    match start_remover(path).map_err(not_made)? {
                        Ok(alive) => Some(alive),
                        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => continue,
                        Err(why) => return Err(not_made(why)),
                    }
                }
                Err(why) => return Err(not_made(why)),
            };
            let found = match fs::metadata(path) {
                Err(why) if why.kind() == io::ErrorKind::NotFound => continue,
                found => found.ok().filter(Metadata::is_dir),
            };
            let found = found.ok_or_else(|| ExecError::NoDirectory { prefix: prefix() })?;
            let directory = File::open(path).ok();
            if let Some(directory) = &directory {
                let failed = |why| ExecError::Kernel { doing: "locking the mount point", why };
                lock(directory, FlockOperation::LockShared).map_err(failed)?;
                // Its maker may just have removed it.
                if !is_same(directory, path) {
                    continue;
                }
            }
            let holds_files = match fs::read_dir(path) {
                Ok(mut names) => names.next().is_some(),
                Err(_) => found.nlink() > 2,
            };
            return Ok(Self { path: prefix(), directory, alive, holds_files });
        }
    }

    /// Whether there are files in it, which the mount hides.
    pub(crate) fn holds_files(&self) -> bool {
        self.holds_files
    }

    /// What a process must keep open that uses the directory.
    pub(crate) fn open_files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let directory = self.directory.as_ref().map(AsFd::as_fd);
        directory.into_iter().chain(self.alive.as_ref().map(AsFd::as_fd))
    }

    /// Removes the directory if it was made for this, once nobody else uses it. The other process
    /// does the same as soon as this is dropped everywhere, unless it was killed.
    pub(crate) fn remove(self) {
        let Self { path, directory, alive, .. } = self;
        let is_made = alive.is_some();
        // The remover waits for this, with a lock of its own.
        drop(alive);
        if let Some(directory) = directory.filter(|_| is_made) {
            remove(&directory, &path);
        }
    }
}

/// Starts the process that makes a directory and removes it. Returns what it sees closed when it is
/// to do so, or why it did not make it.
fn start_remover(path: &Path) -> io::Result<io::Result<OwnedFd>> {
    let (ends, alive) = pipe()?;
    let (told, tells) = pipe()?;
    detached::start(REMOVER, move || {
        close_all_but(&[ends.as_fd(), tells.as_fd()]);
        let made = make(path);
        let number = |why: &io::Error| why.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
        let answer = made.as_ref().map_or_else(|why| number(why).to_ne_bytes(), |_| MADE);
        // If nobody listens any more, the other pipe has ended too.
        let _nobody_listens = File::from(tells).write_all(&answer);
        let directory = made?;
        let _nothing = File::from(ends).read(&mut [0]);
        remove(&directory, path);
        Ok(())
    })?;
    let mut answer = [0; 4];
    // Without an answer, the process was killed. Who made the directory is then unknown, so that it
    // stays, as that of the user might.
    File::from(told).read_exact(&mut answer)?;
    Ok(match answer {
        MADE => Ok(alive),
        number => Err(io::Error::from_raw_os_error(i32::from_ne_bytes(number))),
    })
}

/// Makes a directory, and locks it before anybody else can.
fn make(path: &Path) -> io::Result<File> {
    fs::create_dir(path)?;
    let made = File::open(path)?;
    lock(&made, FlockOperation::LockShared)?;
    Ok(made)
}

fn lock(directory: &File, how: FlockOperation) -> io::Result<()> {
    Ok(retry_on_intr(|| flock(directory, how))?)
}

/// Removes a directory, once nobody else uses it, if it is still the same. If somebody has put
/// files there meanwhile, it stays.
fn remove(directory: &File, path: &Path) {
    if lock(directory, FlockOperation::LockExclusive).is_ok() && is_same(directory, path) {
        let _stays: Result<(), Errno> = rustix::fs::rmdir(path);
    }
}

/// Whether a path still leads to a directory.
fn is_same(directory: &File, path: &Path) -> bool {
    let identity = |found: Metadata| (found.dev(), found.ino());
    let opened = directory.metadata().map(identity);
    let there = fs::symlink_metadata(path).map(identity);
    matches!((opened, there), (Ok(opened), Ok(there)) if opened == there)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Point {
        Point::open(path).unwrap_or_else(|why| panic!("{why}"))
    }

    fn until(mut is_true: impl FnMut() -> bool) {
        while !is_true() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_was_made_is_removed_when_the_last_has_left() {
        let place = tempfile::tempdir().expect("there is room");
        let path = place.path().join("point");
        let (first, second) = (open(&path), open(&path));
        assert!(first.alive.is_some() && second.alive.is_none() && !first.holds_files());
        let inode = fs::metadata(&path).expect("it was made").ino();
        drop(first);
        until(|| {
            let locks = fs::read_to_string("/proc/locks").expect("/proc is mounted");
            let mut waiting = locks.lines().filter(|line| line.contains("->"));
            waiting.any(|line| line.contains(&format!(":{inode} ")))
        });
        assert!(path.exists());
        second.remove();
        until(|| !path.exists());
    }

    #[test]
    fn another_directory_in_its_place_stays() {
        let place = tempfile::tempdir().expect("there is room");
        let path = place.path().join("point");
        let mut point = open(&path);
        // The other process believes that this was the end, and this one that it still waits.
        drop(point.alive.replace(pipe().expect("there is room").1));
        rustix::fs::flock(point.directory.as_ref().expect("open"), FlockOperation::Unlock)
            .expect("it was locked");
        until(|| !path.exists());
        fs::create_dir(&path).expect("the place is ours");
        point.remove();
        assert!(path.exists());
    }

    #[test]
    fn what_was_there_stays() {
        let place = tempfile::tempdir().expect("there is room");
        let path = place.path().join("point");
        fs::create_dir(&path).expect("the place is ours");
        fs::write(path.join("file"), "").expect("there is room");
        let point = open(&path);
        assert!(point.holds_files() && point.alive.is_none());
        point.remove();
        assert!(path.join("file").exists());
        let refused = |path: &Path| Point::open(path).expect_err("it is refused").to_string();
        assert!(refused(&path.join("file")).contains("file is not a directory"));
        assert!(refused(&place.path().join("none/point")).contains("cannot make the directory"));
    }
}
