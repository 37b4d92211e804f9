//! Permissions and owners: changing them, and checking what they allow.

use std::ffi::{c_char, c_int};
use std::path::Path;

use densefs_process::{Base, Errno, Ids, Owner};

use crate::answer::{fail, result};
use crate::arguments::{base, follow, is_itself, itself, number, path};
use crate::attached::{attached, usable};

/// Changes permissions.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_chmod(name: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    result(name.and_then(|name| attached()?.set_mode(Base::Working, name, mode)))
}

/// Like [`dfs_chmod`], relative to a directory, and with flags.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fchmodat(
    directory: c_int,
    name: *const c_char,
    mode: libc::mode_t,
    how: c_int,
) -> c_int {
    if how & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    result(name.and_then(|name| {
        if is_itself(name, how) {
            return attached()?.set_mode_of_base(itself(directory)?, mode);
        }
        attached()?.set_mode_at(base(directory, name)?, name, follow(how), mode)
    }))
}

/// Like [`dfs_chmod`], for an open file.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_fchmod(file: c_int, mode: libc::mode_t) -> c_int {
    result(number(file).and_then(|file| attached()?.set_mode_of(file, mode)))
}

/// Changes owner and group.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_chown(
    name: *const c_char,
    uid: libc::uid_t,
    gid: libc::gid_t,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_fchownat(libc::AT_FDCWD, name, uid, gid, 0) }
}

/// Like [`dfs_chown`], but does not follow a final symbolic link.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_lchown(
    name: *const c_char,
    uid: libc::uid_t,
    gid: libc::gid_t,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_fchownat(libc::AT_FDCWD, name, uid, gid, libc::AT_SYMLINK_NOFOLLOW) }
}

/// Like [`dfs_chown`], relative to a directory, and with flags.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fchownat(
    directory: c_int,
    name: *const c_char,
    uid: libc::uid_t,
    gid: libc::gid_t,
    how: c_int,
) -> c_int {
    if how & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    result(name.and_then(|name| {
        if is_itself(name, how) {
            return attached()?.set_owner_of_base(itself(directory)?, owner(uid, gid));
        }
        attached()?.set_owner(base(directory, name)?, name, follow(how), owner(uid, gid))
    }))
}

/// Like [`dfs_chown`], for an open file.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_fchown(file: c_int, uid: libc::uid_t, gid: libc::gid_t) -> c_int {
    result(
        usable(file).and_then(|file| {
            attached()?.set_owner_of_base(Base::Descriptor(file), owner(uid, gid))
        }),
    )
}

/// A new owner and group, from the arguments of a call, where -1 means that one stays.
fn owner(uid: u32, gid: u32) -> Owner {
    let given = |id: u32| (id != u32::MAX).then_some(id);
    Owner { uid: given(uid), gid: given(gid) }
}

/// Checks whether the process may read, write or execute a file.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_access(name: *const c_char, wanted: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_faccessat(libc::AT_FDCWD, name, wanted, 0) }
}

/// Like [`dfs_access`], relative to a directory, and with flags.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_faccessat(
    directory: c_int,
    name: *const c_char,
    wanted: c_int,
    how: c_int,
) -> c_int {
    const FLAGS: c_int = libc::AT_EACCESS | libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH;
    let wanted = wanted.cast_unsigned();
    if wanted > 7 || how & !FLAGS != 0 {
        return fail(libc::EINVAL);
    }
    let ids = if how & libc::AT_EACCESS == 0 { Ids::Real } else { Ids::Effective };
    let check = |name: &Path| -> Result<(), Errno> {
        if is_itself(name, how) {
            return attached()?.check_access_to_base(itself(directory)?, wanted, ids);
        }
        attached()?.check_access_to(base(directory, name)?, name, follow(how), wanted, ids)
    };
    // SAFETY: guaranteed by the caller.
    result(unsafe { path(name) }.and_then(check))
}
