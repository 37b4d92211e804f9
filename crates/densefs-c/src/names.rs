//! Names, and what they stand for.

use std::ffi::{c_char, c_int, c_uint};
use std::os::unix::ffi::OsStrExt;

use densefs_process::{Base, Errno, Follow, Rename};

use crate::answer::{fail, length, result};
use crate::arguments::{base, number, path};
use crate::attached::attached;

/// Makes a directory.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_mkdir(name: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_mkdirat(libc::AT_FDCWD, name, mode) }
}

/// The same, from a directory on.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_mkdirat(
    directory: c_int,
    name: *const c_char,
    mode: libc::mode_t,
) -> c_int {
    let mode = mode & 0o1777 | libc::S_IFDIR;
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    result(name.and_then(|name| attached()?.make_from(base(directory)?, name, mode)))
}

/// Makes an empty file of any type; none but root makes devices, which cannot be opened.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_mknod(
    name: *const c_char,
    mode: libc::mode_t,
    device: libc::dev_t,
) -> c_int {
    if mode & libc::S_IFMT == libc::S_IFDIR {
        return fail(libc::EPERM);
    }
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    result(name.and_then(|name| {
        let device = u32::try_from(device).map_err(|_| Errno::INVAL)?;
        attached()?.make_node(Base::Working, name, (mode, device))
    }))
}

/// Makes a fifo, which cannot be opened yet.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_mkfifo(name: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_mknod(name, mode & 0o7777 | libc::S_IFIFO, 0) }
}

/// Removes a directory.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_rmdir(name: *const c_char) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_unlinkat(libc::AT_FDCWD, name, libc::AT_REMOVEDIR) }
}

/// Removes a name of anything but a directory.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_unlink(name: *const c_char) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_unlinkat(libc::AT_FDCWD, name, 0) }
}

/// Removes either, from a directory on.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_unlinkat(directory: c_int, name: *const c_char, how: c_int) -> c_int {
    if how & !libc::AT_REMOVEDIR != 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    result(name.and_then(|name| attached()?.remove_from(base(directory)?, name, how != 0)))
}

/// Gives a file another name.
///
/// # Safety
/// Both must be texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_link(old: *const c_char, new: *const c_char) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_linkat(libc::AT_FDCWD, old, libc::AT_FDCWD, new, 0) }
}

/// The same, from directories on.
///
/// # Safety
/// Both must be texts.
#[unsafe(no_mangle)]
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
    // SAFETY: the caller vouches for it.
    let (old, new) = unsafe { (path(old), path(new)) };
    result((|| {
        if how & libc::AT_EMPTY_PATH != 0 && old?.as_os_str().is_empty() {
            return attached()?.link_open(number(old_directory)?, base(new_directory)?, new?);
        }
        attached()?.link_from((base(old_directory)?, old?), (base(new_directory)?, new?), follow)
    })())
}

/// Makes a symbolic link.
///
/// # Safety
/// Both must be texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_symlink(target: *const c_char, name: *const c_char) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_symlinkat(target, libc::AT_FDCWD, name) }
}

/// The same, from a directory on.
///
/// # Safety
/// Both must be texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_symlinkat(
    target: *const c_char,
    directory: c_int,
    name: *const c_char,
) -> c_int {
    // SAFETY: the caller vouches for it.
    let (target, name) = unsafe { (path(target), path(name)) };
    result((|| attached()?.make_link_from(target?, (base(directory)?, name?)))())
}

/// Where a symbolic link leads, without a zero behind.
///
/// # Safety
/// `name` must be a text, and there must be room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_readlink(
    name: *const c_char,
    into: *mut c_char,
    size: usize,
) -> isize {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_readlinkat(libc::AT_FDCWD, name, into, size) }
}

/// The same, from a directory on.
///
/// # Safety
/// As for [`dfs_readlink`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_readlinkat(
    directory: c_int,
    name: *const c_char,
    into: *mut c_char,
    size: usize,
) -> isize {
    if size == 0 {
        return fail(libc::EINVAL) as isize;
    }
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    length((|| {
        let target = attached()?.read_link_from(base(directory)?, name?)?;
        let target = target.as_os_str().as_bytes();
        let bytes = target.len().min(size);
        if into.is_null() {
            return Err(Errno::FAULT);
        }
        // SAFETY: the caller vouches for the room, and both are that long.
        unsafe { std::ptr::copy_nonoverlapping(target.as_ptr(), into.cast(), bytes) };
        Ok(bytes)
    })())
}

/// Gives what has a name another one.
///
/// # Safety
/// Both must be texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_rename(old: *const c_char, new: *const c_char) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_renameat2(libc::AT_FDCWD, old, libc::AT_FDCWD, new, 0) }
}

/// The same, from directories on.
///
/// # Safety
/// Both must be texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_renameat(
    old_directory: c_int,
    old: *const c_char,
    new_directory: c_int,
    new: *const c_char,
) -> c_int {
    // SAFETY: the caller vouches for it.
    unsafe { dfs_renameat2(old_directory, old, new_directory, new, 0) }
}

/// The same, with flags.
///
/// # Safety
/// Both must be texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_renameat2(
    old_directory: c_int,
    old: *const c_char,
    new_directory: c_int,
    new: *const c_char,
    how: c_uint,
) -> c_int {
    let how = match how {
        0 => Rename::Replace,
        libc::RENAME_NOREPLACE => Rename::NoReplace,
        libc::RENAME_EXCHANGE => Rename::Exchange,
        _ => return fail(libc::EINVAL),
    };
    // SAFETY: the caller vouches for it.
    let (old, new) = unsafe { (path(old), path(new)) };
    result((|| {
        attached()?.rename_from((base(old_directory)?, old?), (base(new_directory)?, new?), how)
    })())
}

/// Changes the working directory.
///
/// # Safety
/// `name` must be a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfs_chdir(name: *const c_char) -> c_int {
    // SAFETY: the caller vouches for it.
    let name = unsafe { path(name) };
    result(name.and_then(|name| attached()?.change_directory(name)))
}

/// Changes it to a directory that is open.
#[unsafe(no_mangle)]
pub extern "C" fn dfs_fchdir(file: c_int) -> c_int {
    result(number(file).and_then(|file| attached()?.change_directory_to(file)))
}

/// The path of the working directory.
///
/// # Safety
/// There must be room for `size` bytes at `into`; if it is null, free(3) gives back what is
/// answered.
#[unsafe(no_mangle)]
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
    // SAFETY: any size may be asked for.
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
