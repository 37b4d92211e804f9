//! Removes our directories without ever touching what is not ours.
//!
//! A tree is walked by descriptors: no symbolic link is followed and no mount point is entered
//! (`openat2` with `RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV`; if a container's filter refuses that
//! call, `O_NOFOLLOW` name by name, and a check whether the directory is a mount's root). So
//! whatever was linked or mounted inside, or put in the tree's place, keeps its content.

use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, StatxAttributes, StatxFlags, fstat,
    openat, openat2, statx, unlinkat,
};
use rustix::io::Errno;

use crate::filtered::is_refused;

/// Names read from a directory at a time: bounds memory, however large the directory.
const NAMES_AT_A_TIME: usize = 4096;
/// Each level keeps a descriptor open; none of our trees is deeper.
const LEVELS: usize = 200;

/// How directories are opened.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes an empty directory or a cgroup. Succeeds if it is already gone.
pub(crate) fn remove_empty(path: &Path) -> io::Result<()> {
    let removed = match fs::remove_dir(path) {
        Err(error) if is_refused(&error) => Ok(unlinkat(CWD, path, AtFlags::REMOVEDIR)?),
        removed => removed,
    };
    gone_is_fine(removed)
}

/// Removes a file. Succeeds if it is already gone.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    gone_is_fine(fs::remove_file(path))
}

/// Removes a cgroup in which no process is left.
pub(crate) fn remove_cgroup(path: &Path) -> io::Result<()> {
    // Pages still charged would keep a v1 memory group alive in the kernel, invisibly, after its
    // directory is gone. Other kinds of group do not have this file.
    let _absent_elsewhere = fs::write(path.join("memory.force_empty"), "0");
    remove_empty(path)
}

/// Opens the directory that contains a path, and returns it with the path's name in it.
pub(crate) fn parent_of(path: &Path) -> io::Result<(OwnedFd, CString)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = openat(CWD, parent, DIRECTORY, Mode::empty())?;
    Ok((parent, CString::new(name.as_encoded_bytes())?))
}

/// Removes the directory of that name in `parent`, with everything in it that is on the same mount.
/// Succeeds if it is already gone.
pub(crate) fn remove_tree(parent: impl AsFd, name: &CStr) -> io::Result<()> {
    gone_is_fine(remove_directory(parent, name, LEVELS))
}

/// Removes everything in a directory that is on the same mount.
pub(crate) fn empty(directory: &OwnedFd) -> io::Result<()> {
    empty_levels(directory, LEVELS)
}

/// Whether a directory is empty.
pub(crate) fn is_empty(directory: &OwnedFd) -> io::Result<bool> {
    Ok(some_entries(directory)?.is_empty())
}

/// Removes a name in a directory, falling back to another system call if this one is refused.
pub(crate) fn unlink_in(parent: impl AsFd, name: &CStr, flags: AtFlags) -> io::Result<()> {
    let refused = match unlinkat(&parent, name, flags).map_err(io::Error::from) {
        Err(error) if is_refused(&error) => error,
        done => return done,
    };
    let parent = format!("/proc/self/fd/{}", parent.as_fd().as_raw_fd());
    let path = Path::new(&parent).join(OsStr::from_bytes(name.to_bytes()));
    let is_directory = flags.contains(AtFlags::REMOVEDIR);
    let done = if is_directory { fs::remove_dir(path) } else { fs::remove_file(path) };
    done.map_err(|_| refused)
}

pub(crate) fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn remove_directory(parent: impl AsFd, name: &CStr, levels: usize) -> io::Result<()> {
    let directory = open_directory(&parent, name)?;
    empty_levels(&directory, levels)?;
    unlink_in(&parent, name, AtFlags::REMOVEDIR)
}

/// Opens a directory in `parent` that is on the same mount and is not a link.
fn open_directory(parent: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV | ResolveFlags::BENEATH;
    match openat2(&parent, name, DIRECTORY, Mode::empty(), resolve) {
        // Kernels before 5.6, and system call filters.
        Err(Errno::NOSYS | Errno::PERM) => open_step_by_step(parent, name),
        opened => Ok(opened?),
    }
}

/// Like [`open_directory`], without `openat2`.
fn open_step_by_step(parent: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    if name.to_bytes().contains(&b'/') || matches!(name.to_bytes(), b"." | b"..") {
        return Err(Errno::XDEV.into());
    }
    let directory = openat(&parent, name, DIRECTORY, Mode::empty())?;
    // A mount of the same file system has the same device number; only the kernel can tell it
    // apart, since Linux 5.8.
    let seen = statx(&directory, c"", AtFlags::EMPTY_PATH, StatxFlags::empty());
    let is_mounted = seen.is_ok_and(|seen| {
        (seen.stx_attributes_mask & seen.stx_attributes).contains(StatxAttributes::MOUNT_ROOT)
    });
    if is_mounted || fstat(&directory)?.st_dev != fstat(&parent)?.st_dev {
        return Err(Errno::XDEV.into());
    }
    Ok(directory)
}

fn empty_levels(directory: &OwnedFd, levels: usize) -> io::Result<()> {
    if levels == 0 {
        return Err(io::Error::other("the tree is too deep to have been made by fsprism"));
    }
    loop {
        let entries = some_entries(directory)?;
        if entries.is_empty() {
            return Ok(());
        }
        for (name, kind) in entries {
            if is_directory(directory, &name, kind)? {
                remove_directory(directory, &name, levels - 1)?;
            } else {
                unlink_in(directory, &name, AtFlags::empty())?;
            }
        }
    }
}

fn some_entries(directory: &OwnedFd) -> io::Result<Vec<(CString, FileType)>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            entries.push((entry.file_name().to_owned(), entry.file_type()));
        }
        if entries.len() == NAMES_AT_A_TIME {
            break;
        }
    }
    Ok(entries)
}

fn is_directory(directory: &OwnedFd, name: &CString, kind: FileType) -> io::Result<bool> {
    if kind != FileType::Unknown {
        return Ok(kind == FileType::Directory);
    }
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("removal-{name}-{}", std::process::id()));
        fs::create_dir_all(&place).expect("temporary directory");
        place
    }

    #[test]
    fn without_openat2_links_and_mounts_are_left_alone_too() {
        let place = place("steps");
        fs::create_dir_all(place.join("plain")).expect("fresh");
        symlink(&place, place.join("link")).expect("fresh");
        fs::write(place.join("file"), "x").expect("fresh");
        let parent = File::open(&place).expect("fresh");
        open_step_by_step(&parent, c"plain").expect("a directory");
        for other in [c"link", c"file", c"..", c"plain/.", c"gone"] {
            open_step_by_step(&parent, other).expect_err("it is no directory of ours");
        }
        // Every Linux has a tmpfs mounted there.
        let devices = File::open("/dev").expect("there are devices");
        open_step_by_step(&devices, c"shm").expect_err("it is a mount");
        fs::remove_dir_all(&place).expect("it is ours");
    }

    #[test]
    fn a_tree_goes_and_what_it_links_to_stays() {
        let place = place("links");
        let outside = place.join("outside");
        fs::create_dir_all(outside.join("kept")).expect("fresh");
        let tree = place.join("tree");
        fs::create_dir_all(tree.join("a/b")).expect("fresh");
        symlink(&outside, tree.join("a/link")).expect("fresh");
        for number in 0..NAMES_AT_A_TIME + 10 {
            fs::write(tree.join(format!("a/b/{number}")), "x").expect("fresh");
        }
        let parent = File::open(&place).expect("fresh");
        remove_tree(&parent, c"tree").expect("all of it is removable");
        assert!(!tree.exists() && outside.join("kept").exists());
        remove_tree(&parent, c"tree").expect("removing what is gone is no error");
        symlink(&outside, &tree).expect("its place is free");
        remove_tree(&parent, c"tree").expect_err("a link in the tree's place is not followed");
        assert!(outside.join("kept").exists());
        fs::remove_dir_all(&place).expect("it is ours");
    }
}
