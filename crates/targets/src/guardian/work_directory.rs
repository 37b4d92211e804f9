//! The directory that is made inside a directory target, and removed with everything in it.
//!
//! At its top there are a marker, which says that we made it, and the directory that is handed out,
//! which is empty like a new file system. No tree is removed without the marker, because the name
//! alone may also be a user's.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{
    AtFlags, CWD, FileType, IFlags, Mode, OFlags, fchmod, fstat, ioctl_getflags, ioctl_setflags,
    mkdirat, openat, renameat, statat,
};
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, UnmountFlags, move_mount, open_tree, unmount};

use crate::guardian::owner::lock_as_owner;
use crate::removal::{self, parent_of};

/// An empty file that nobody makes by chance.
const MARKER: &CStr = c".made-by-fsprism-and-removed-with-all-that-lies-here";
/// The directory that is handed out.
const ROOT: &CStr = c"work";
/// How directories are held open.
const HOLD: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A work directory of ours. It is held open by descriptors from the start, because the directory
/// around it may belong to another user, who could put something else at its path.
#[derive(Debug)]
pub(crate) struct WorkDirectory {
    parent: OwnedFd,
    name: CString,
    top: OwnedFd,
    path: PathBuf,
    root: PathBuf,
    /// Where it is also mounted, so that no other user can replace it.
    bound: Option<PathBuf>,
    /// Shows others that the owner is alive.
    _lock: Option<OwnedFd>,
}

impl WorkDirectory {
    /// Makes it at `path`, which the guardian has already been told about.
    pub(crate) fn make(path: &Path) -> io::Result<Self> {
        let (parent, name) = parent_of(path)?;
        mkdirat(&parent, &name, Mode::from_raw_mode(0o777))?;
        let lock = lock_as_owner(&parent, &name).ok();
        let root = path.join(OsStr::from_bytes(ROOT.to_bytes()));
        match fill(&parent, &name) {
            Ok(top) => {
                let (path, bound) = (path.to_owned(), None);
                Ok(Self { parent, name, top, path, root, bound, _lock: lock })
            }
            Err(error) => {
                let _guardian_tries_again = remove(&parent, &name);
                Err(error)
            }
        }
    }

    /// The directory as a whole, with the marker.
    pub(crate) fn top(&self) -> &Path {
        &self.path
    }

    /// Mounts it at this directory as well, and works there: otherwise another user who owns a
    /// directory on the way to it could put links in its place.
    pub(crate) fn bind_at(&mut self, mount_point: &Path) -> io::Result<()> {
        let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let tree = open_tree(&self.top, c"", clone | OpenTreeFlags::AT_EMPTY_PATH)?;
        move_mount(&tree, c"", CWD, mount_point, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        self.root = mount_point.join(OsStr::from_bytes(ROOT.to_bytes()));
        self.bound = Some(mount_point.to_owned());
        Ok(())
    }

    /// The directory to work in.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Gives it a new directory to work in.
    pub(crate) fn remake(&self) -> io::Result<()> {
        removal::remove_tree(&self.top, ROOT)?;
        make_root(&self.top)
    }

    /// Removes it.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let unbound = self.bound.as_ref().map_or(Ok(()), |mount_point| {
            unmount(mount_point, UnmountFlags::DETACH)?;
            removal::remove_empty(mount_point)
        });
        remove(&self.parent, &self.name).and(unbound)
    }
}

/// Puts the marker and the directory to work in into a directory that was just made.
fn fill(parent: &OwnedFd, name: &CStr) -> io::Result<OwnedFd> {
    let top = openat(parent, name, HOLD, Mode::empty())?;
    let replaced = || io::Error::other("another user has replaced the directory just made");
    if !removal::is_empty(&top)? {
        return Err(replaced());
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let marker = openat(&top, MARKER, flags, Mode::from_raw_mode(0o666))?;
    // Whatever user the file system maps this process to, both must belong to the same one.
    if fstat(&top)?.st_uid != fstat(&marker)?.st_uid {
        removal::unlink_in(&top, MARKER, AtFlags::empty())?;
        return Err(replaced());
    }
    // Overrides the umask and anything that the directory around it grants to others (acl(5)):
    // whoever can write to it can replace what is in it. Some file systems have no modes.
    let _has_no_modes = fchmod(&top, Mode::from_raw_mode(0o755));
    spread(&top);
    make_root(&top)?;
    Ok(top)
}

/// Whether another user can change what a path without symbolic links leads to, through a directory
/// on the way.
pub(crate) fn others_can_change(path: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    const WRITABLE: u32 = 0o022;
    path.ancestors().any(|directory| {
        let found = std::fs::metadata(directory);
        found
            .is_ok_and(|of| of.uid() != 0 || (of.mode() & WRITABLE != 0 && of.mode() & STICKY == 0))
    })
}

/// Asks ext4 to place directories in it as if they were at the top of the file system: each among
/// inodes of its own, not among those of the previous one.
///
/// Without a journal, ext4 does not reuse a deleted inode for a minute, or for six while its block
/// has not been written (`recently_deleted` in `fs/ext4/ialloc.c`), and tries one after the other
/// to find a free one: where 10,000 files have just been removed, making 10,000 takes ten times as
/// long. That cost would come from whatever was measured before.
fn spread(directory: &OwnedFd) {
    let flags = ioctl_getflags(directory);
    // Other file systems do not have this flag.
    let _only_ext4_has_it =
        flags.and_then(|flags| ioctl_setflags(directory, flags | IFlags::TOPDIR));
}

/// Makes the directory to work in, but not where ext4 placed the previous one of this name.
fn make_root(top: &OwnedFd) -> io::Result<()> {
    // ext4 places a directory by a hash of its name, so make it under a new name and rename it.
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let first_name = CString::new(format!("work-{nanos}"))?;
    mkdirat(top, &first_name, Mode::from_raw_mode(0o777))?;
    Ok(renameat(top, &first_name, top, ROOT)?)
}

/// Removes a work directory with the marker; without one, only if it is empty. Succeeds if it is
/// already gone.
pub(crate) fn remove(parent: impl AsFd, name: &CStr) -> io::Result<()> {
    let top = match openat(&parent, name, HOLD, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        top => top?,
    };
    let marker = statat(&top, MARKER, AtFlags::SYMLINK_NOFOLLOW);
    let is_ours =
        marker.is_ok_and(|marker| FileType::from_raw_mode(marker.st_mode) == FileType::RegularFile);
    if is_ours {
        // The marker goes last, so that if we die on the way, the rest can still be removed.
        removal::remove_tree(&top, ROOT)?;
        removal::empty(&top)?;
    }
    removal::gone_is_fine(removal::unlink_in(&parent, name, AtFlags::REMOVEDIR))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use rustix::process::geteuid;

    use super::*;

    const ROOT: &str = "work";
    const MARKER: &str = ".made-by-fsprism-and-removed-with-all-that-lies-here";

    fn remove_at(path: &Path) -> io::Result<()> {
        let (parent, name) = parent_of(path)?;
        remove(&parent, &name)
    }

    #[test]
    fn what_lacks_the_marker_is_removed_only_if_empty() {
        let place = tempfile::tempdir().expect("temporary directory");
        let top = place.path().join("top");
        fs::create_dir_all(top.join(ROOT)).expect("temporary directory");
        fs::create_dir(top.join(MARKER)).expect("a directory is no marker");
        remove_at(&top).expect_err("it is not ours");
        assert!(top.join(ROOT).exists());
        fs::remove_dir(top.join(MARKER)).expect("just made");
        fs::remove_dir(top.join(ROOT)).expect("just made");
        remove_at(&top).expect("it is empty");
        assert!(!top.exists());
        remove_at(&top).expect("removing what is gone is no error");
    }

    #[test]
    fn it_looks_empty_and_is_made_anew() {
        let place = tempfile::tempdir().expect("temporary directory");
        let top = place.path().join("top");
        let work = WorkDirectory::make(&top).expect("temporary directory");
        let entries = || fs::read_dir(work.root()).expect("it is there").count();
        assert_eq!(entries(), 0);
        fs::create_dir(work.root().join("inner")).expect("it is ours");
        assert_eq!(entries(), 1);
        work.remake().expect("it is ours");
        assert_eq!(entries(), 0);
        let at_top = || {
            let names = fs::read_dir(&top).expect("it is there").map(|entry| {
                let entry = entry.expect("it is there");
                entry.file_name().into_string().expect("plain text")
            });
            names.collect::<std::collections::BTreeSet<String>>()
        };
        assert_eq!(at_top(), [MARKER, ROOT].map(str::to_owned).into());
        WorkDirectory::make(&top).expect_err("it is there already");
        fs::create_dir(work.root().join("inner")).expect("the second attempt removed nothing");
        work.remove().expect("it bears the marker");
        assert!(!top.exists());
    }

    /// A user who can write to the directory that root measures in can put one of theirs in its
    /// place.
    #[test]
    fn one_that_another_user_has_put_there_is_not_used() {
        if !geteuid().is_root() {
            eprintln!("skipped: one_that_another_user_has_put_there_is_not_used: it needs root");
            return;
        }
        let place = tempfile::tempdir().expect("temporary directory");
        let top = place.path().join("top");
        fs::create_dir(&top).expect("temporary directory");
        std::os::unix::fs::chown(&top, Some(65534), None).expect("root");
        let (parent, name) = parent_of(&top).expect("it is there");
        let error = fill(&parent, &name).expect_err("it is another's");
        assert!(error.to_string().contains("another user has replaced"), "{error}");
        assert_eq!(fs::read_dir(&top).expect("it is there").count(), 0, "nothing is left in it");
        std::os::unix::fs::chown(&top, Some(0), None).expect("root");
        fs::set_permissions(&top, fs::Permissions::from_mode(0o777)).expect("root");
        fill(&parent, &name).expect("it is ours");
        let mode = fs::metadata(&top).expect("it is there").mode();
        assert_eq!(mode & 0o777, 0o755, "others cannot write to it");
    }

    /// The owner of the directory that root measures in could once make root delete another `work`.
    #[test]
    fn what_is_put_in_its_place_is_left_alone() {
        let place = tempfile::tempdir().expect("temporary directory");
        let (top, moved) = (place.path().join("top"), place.path().join("moved"));
        let theirs = place.path().join("theirs");
        fs::create_dir_all(theirs.join("work/kept")).expect("ours");
        fs::write(theirs.join(MARKER), "").expect("ours");
        let work = WorkDirectory::make(&top).expect("temporary directory");
        fs::rename(&top, &moved).expect("ours");
        symlink(&theirs, &top).expect("ours");
        work.remake().expect("it is held");
        work.remove().expect_err("a link is no work directory");
        assert!(theirs.join("work/kept").exists() && moved.join(ROOT).exists());
        // The same while the two are being swapped: at any moment one or the other is at the path.
        let swaps = std::thread::spawn({
            let (top, moved) = (top.clone(), moved.clone());
            move || {
                for _ in 0..2_000 {
                    let _some_fail = (
                        fs::remove_file(&top),
                        fs::rename(&moved, &top),
                        fs::rename(&top, &moved),
                        symlink(&theirs, &top),
                    );
                }
                theirs
            }
        });
        while !swaps.is_finished() {
            let _either_is_fine = work.remove();
            let _gone_by_now = work.remake();
        }
        let theirs = swaps.join().expect("no panic");
        assert!(theirs.join("work/kept").exists());
    }
}
