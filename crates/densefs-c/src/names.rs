//! Names: creating, linking, renaming and removing files.

use std::ffi::{c_char, c_int, c_uint};
use std::os::unix::ffi::OsStrExt;

use densefs_process::{Errno, Follow, Rename};

use crate::answer::{fail, length, result};
use crate::arguments::{base, itself, number, path};
use crate::attached::attached;

/// Creates a directory.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mkdir(name: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_mkdirat(libc::AT_FDCWD, name, mode) }
}

/// Like [`dfs_mkdir`], relative to a directory.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mkdirat(
    directory: c_int,
    name: *const c_char,
    mode: libc::mode_t,
) -> c_int {
    let mode = mode & 0o1777 | libc::S_IFDIR;
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    result(name.and_then(|name| attached()?.make_from(base(directory, name)?, name, mode)))
}

/// Creates an empty file of any type. Only root can create devices, and they cannot be opened.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mknod(
    name: *const c_char,
    mode: libc::mode_t,
    device: libc::dev_t,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_mknodat(libc::AT_FDCWD, name, mode, device) }
}

/// Like [`dfs_mknod`], relative to a directory.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mknodat(
    directory: c_int,
    name: *const c_char,
    mode: libc::mode_t,
    device: libc::dev_t,
) -> c_int {
    match mode & libc::S_IFMT {
        0 | libc::S_IFREG | libc::S_IFIFO | libc::S_IFSOCK | libc::S_IFCHR | libc::S_IFBLK => {}
        libc::S_IFDIR => return fail(libc::EPERM),
        _ => return fail(libc::EINVAL),
    }
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    result(name.and_then(|name| {
        let device = u32::try_from(device).map_err(|_| Errno::INVAL)?;
        attached()?.make_node(base(directory, name)?, name, mode, device)
    }))
}

/// Creates a fifo, which cannot be opened yet.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mkfifo(name: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_mkfifoat(libc::AT_FDCWD, name, mode) }
}

/// Like [`dfs_mkfifo`], relative to a directory.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_mkfifoat(
    directory: c_int,
    name: *const c_char,
    mode: libc::mode_t,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_mknodat(directory, name, mode & 0o7777 | libc::S_IFIFO, 0) }
}

/// Removes a directory.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_rmdir(name: *const c_char) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_unlinkat(libc::AT_FDCWD, name, libc::AT_REMOVEDIR) }
}

/// Removes a name of anything except a directory.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_unlink(name: *const c_char) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_unlinkat(libc::AT_FDCWD, name, 0) }
}

/// Removes a name or a directory, relative to a directory.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_unlinkat(directory: c_int, name: *const c_char, how: c_int) -> c_int {
    if how & !libc::AT_REMOVEDIR != 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    let removed =
        name.and_then(|name| attached()?.remove_from(base(directory, name)?, name, how != 0));
    result(removed)
}

/// Gives a file an additional name.
///
/// # Safety
/// Both must be C strings.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_link(old: *const c_char, new: *const c_char) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_linkat(libc::AT_FDCWD, old, libc::AT_FDCWD, new, 0) }
}

/// Like [`dfs_link`], relative to directories.
///
/// # Safety
/// Both must be C strings.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_linkat(
    old_directory: c_int,
    old: *const c_char,
    new_directory: c_int,
    new: *const c_char,
    how: c_int,
) -> c_int {
    if how & !(libc::AT_SYMLINK_FOLLOW | libc::AT_EMPTY_PATH) != 0 {
        return fail(libc::EINVAL);
    }
    let follow = if how & libc::AT_SYMLINK_FOLLOW == 0 { Follow::No } else { Follow::Yes };
    // SAFETY: guaranteed by the caller.
    let (old, new) = unsafe { (path(old), path(new)) };
    result((|| {
        let (files, old, new) = (attached()?, old?, new?);
        if how & libc::AT_EMPTY_PATH != 0 && old.as_os_str().is_empty() {
            if old_directory != libc::AT_FDCWD {
                let file = number(old_directory)?;
                files.stat_descriptor(file)?;
                return files.link_open(file, base(new_directory, new)?, new);
            }
            return files.link_base(itself(old_directory)?, base(new_directory, new)?, new);
        }
        let from = base(old_directory, old)?;
        let link = |to| files.link_from(from, old, to, new, follow);
        match base(new_directory, new) {
            Ok(to) => link(to),
            // That the file is not there comes first.
            Err(why) => files.stat_from(from, old, follow).and(Err(why)),
        }
    })())
}

/// Creates a symbolic link.
///
/// # Safety
/// Both must be C strings.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_symlink(target: *const c_char, name: *const c_char) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_symlinkat(target, libc::AT_FDCWD, name) }
}

/// Like [`dfs_symlink`], relative to a directory.
///
/// # Safety
/// Both must be C strings.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_symlinkat(
    target: *const c_char,
    directory: c_int,
    name: *const c_char,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let (target, name) = unsafe { (path(target), path(name)) };
    result((|| {
        let (target, name) = (target?, name?);
        if target.as_os_str().is_empty() {
            return Err(Errno::NOENT);
        }
        attached()?.make_link_from(target, base(directory, name)?, name)
    })())
}

/// The target of a symbolic link, without a terminating zero.
///
/// # Safety
/// `name` must be a C string, and there must be room for `size` bytes.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_readlink(
    name: *const c_char,
    into: *mut c_char,
    size: usize,
) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_readlinkat(libc::AT_FDCWD, name, into, size) }
}

/// Like [`dfs_readlink`], relative to a directory.
///
/// # Safety
/// As for [`dfs_readlink`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_readlinkat(
    directory: c_int,
    name: *const c_char,
    into: *mut c_char,
    size: usize,
) -> isize {
    if size == 0 {
        return fail(libc::EINVAL) as isize;
    }
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    length((|| {
        let (files, name) = (attached()?, name?);
        let target = if name.as_os_str().is_empty() && directory != libc::AT_FDCWD {
            files.read_link_of(number(directory)?)?
        } else {
            files.read_link_from(base(directory, name)?, name)?
        };
        let target = target.as_os_str().as_bytes();
        let bytes = target.len().min(size);
        if into.is_null() {
            return Err(Errno::FAULT);
        }
        // SAFETY: the caller guarantees the room, and both are that long.
        unsafe { std::ptr::copy_nonoverlapping(target.as_ptr(), into.cast(), bytes) };
        Ok(bytes)
    })())
}

/// Renames a file or directory.
///
/// # Safety
/// Both must be C strings.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_rename(old: *const c_char, new: *const c_char) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_renameat2(libc::AT_FDCWD, old, libc::AT_FDCWD, new, 0) }
}

/// Like [`dfs_rename`], relative to directories.
///
/// # Safety
/// Both must be C strings.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_renameat(
    old_directory: c_int,
    old: *const c_char,
    new_directory: c_int,
    new: *const c_char,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_renameat2(old_directory, old, new_directory, new, 0) }
}

/// Like [`dfs_renameat`], with flags.
///
/// # Safety
/// Both must be C strings.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_renameat2(
    old_directory: c_int,
    old: *const c_char,
    new_directory: c_int,
    new: *const c_char,
    how: c_uint,
) -> c_int {
    const NO_REPLACE_WHITEOUT: c_uint = libc::RENAME_NOREPLACE | libc::RENAME_WHITEOUT;
    let how = match how {
        0 => Rename::Replace,
        libc::RENAME_NOREPLACE => Rename::NoReplace,
        libc::RENAME_EXCHANGE => Rename::Exchange,
        libc::RENAME_WHITEOUT => Rename::Whiteout,
        NO_REPLACE_WHITEOUT => Rename::NoReplaceWhiteout,
        _ => return fail(libc::EINVAL),
    };
    // SAFETY: guaranteed by the caller.
    let (old, new) = unsafe { (path(old), path(new)) };
    result((|| {
        let (old, new) = (old?, new?);
        let (from, to) = (base(old_directory, old)?, base(new_directory, new));
        match to {
            Ok(to) => attached()?.rename_from(from, old, to, new, how),
            // That the old directory is not there comes first.
            Err(why) => attached()?.check_directory(from, old).and(Err(why)),
        }
    })())
}

/// Changes the working directory.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_chdir(name: *const c_char) -> c_int {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    result(name.and_then(|name| attached()?.change_directory(name)))
}

/// Like [`dfs_chdir`], to an open directory.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_fchdir(file: c_int) -> c_int {
    result(number(file).and_then(|file| attached()?.change_directory_to(file)))
}

/// The path of the working directory.
///
/// # Safety
/// There must be room for `size` bytes at `into`. If it is null, the result must be released with
/// free(3).
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_getcwd(into: *mut c_char, size: usize) -> *mut c_char {
    let found = attached().and_then(|files| files.directory());
    let path = match &found {
        Ok(path) => path.as_os_str().as_bytes(),
        Err(why) => {
            fail(why.0);
            return std::ptr::null_mut();
        }
    };
    let needed = path.len() + 1;
    let size = if into.is_null() && size == 0 { needed } else { size };
    if size < needed {
        fail(libc::ERANGE);
        return std::ptr::null_mut();
    }
    // SAFETY: malloc accepts any size.
    let into = if into.is_null() { unsafe { libc::malloc(size) }.cast() } else { into };
    if into.is_null() {
        return into;
    }
    // SAFETY: there is room for the path and a zero.
    unsafe {
        std::ptr::copy_nonoverlapping(path.as_ptr(), into.cast(), path.len());
        into.add(path.len()).write(0);
    }
    into
}
