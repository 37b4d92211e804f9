//! Removing directories of ours without ever touching what is not ours.
//!
//! A tree is walked by descriptors: no symbolic link is followed and no mount point is entered
//! (`openat2` with `RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV`), so that whatever was linked or
//! mounted inside, or put in the tree's place, keeps its content.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, openat2, unlinkat};

/// Names taken from a directory at a time: bounds memory, whatever the directory holds.
const NAMES_AT_A_TIME: usize = 4096;
/// Each level holds a descriptor; no tree of ours is deeper.
const LEVELS: usize = 200;

/// Removes an empty directory, a cgroup too; one that is gone already is removed.
pub(crate) fn remove_empty(path: &Path) -> io::Result<()> {
    gone_is_fine(fs::remove_dir(path))
}

/// Removes a file; one that is gone already is removed.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    gone_is_fine(fs::remove_file(path))
}

/// Removes a cgroup in which no process is left.
pub(crate) fn remove_cgroup(path: &Path) -> io::Result<()> {
    // Pages still charged would keep a v1 memory group alive in the kernel, invisible, after its
    // directory is gone. Other kinds of group have no such file.
    let _absent_elsewhere = fs::write(path.join("memory.force_empty"), "0");
    remove_empty(path)
}

/// Removes the directory of that name in `parent`, and all in it that lies on the same mount; one
/// that is gone already is removed.
pub(crate) fn remove_tree(parent: impl AsFd, name: &CStr) -> io::Result<()> {
    gone_is_fine(remove_directory(parent, name, LEVELS))
}

/// Removes all in a directory that lies on the same mount.
pub(crate) fn empty(directory: &OwnedFd) -> io::Result<()> {
    empty_levels(directory, LEVELS)
}

/// Whether nothing lies in a directory.
pub(crate) fn is_empty(directory: &OwnedFd) -> io::Result<bool> {
    Ok(some_entries(directory)?.is_empty())
}

pub(crate) fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn remove_directory(parent: impl AsFd, name: &CStr, levels: usize) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV | ResolveFlags::BENEATH;
    let directory = openat2(&parent, name, flags, Mode::empty(), resolve)?;
    empty_levels(&directory, levels)?;
    unlinkat(&parent, name, AtFlags::REMOVEDIR)?;
    Ok(())
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
                unlinkat(directory, &name, AtFlags::empty())?;
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
