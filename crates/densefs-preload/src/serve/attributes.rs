//! Attributes of files: reading and changing them.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::{c_char, c_void};

use densefs_c::{attributes as dfs, extended, files, permissions, status};

use super::files::with_number;
use super::paths::{AT_FIRST, FIRST, with_path};
use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision;
use crate::inside::Inside;
use crate::outcome::{call as calling, error, length};
use crate::raw::int;

fn pointer<T>(argument: usize) -> *mut T {
    std::ptr::with_exposed_provenance_mut(argument)
}

fn id(argument: usize) -> u32 {
    int(argument).cast_unsigned()
}

macro_rules! with_paths {
    ($($name:ident, $which:expr, |$inside:ident, $arguments:pat_param| $act:expr;)*) => {
        $(
            pub(super) fn $name(call: &mut SystemCall) -> Decision {
                with_path(call, $which, |call, $inside| {
                    let $arguments = call.arguments;
                    // SAFETY: the program vouches for its pointers.
                    #[allow(unused_unsafe, reason = "some calls have no pointers")]
                    unsafe { $act }
                })
            }
        )*
    };
}

with_paths! {
    stat, FIRST, |inside, [_, into, ..]|
        calling(|| dfs::dfs_fstatat(inside.directory, inside.path, pointer(into), 0));
    lstat, FIRST, |inside, [_, into, ..]| calling(|| {
        let how = libc::AT_SYMLINK_NOFOLLOW;
        dfs::dfs_fstatat(inside.directory, inside.path, pointer(into), how)
    });
    fstatat, AT_FIRST, |inside, [_, _, into, how, ..]| calling(|| {
        dfs::dfs_fstatat(inside.directory, or_empty(inside), pointer(into), int(how))
    });
    statx, AT_FIRST, |inside, [_, _, how, mask, into, _]| calling(|| {
        status::dfs_statx(inside.directory, or_empty(inside), int(how), id(mask), pointer(into))
    });
    access, FIRST, |inside, [_, wanted, ..]|
        calling(|| permissions::dfs_faccessat(inside.directory, inside.path, int(wanted), 0));
    faccessat, AT_FIRST, |inside, [_, _, wanted, ..]|
        calling(|| permissions::dfs_faccessat(inside.directory, inside.path, int(wanted), 0));
    faccessat2, AT_FIRST, |inside, [_, _, wanted, how, ..]| calling(|| {
        permissions::dfs_faccessat(inside.directory, inside.path, int(wanted), int(how))
    });
    chmod, FIRST, |inside, [_, mode, ..]|
        calling(|| permissions::dfs_fchmodat(inside.directory, inside.path, id(mode), 0));
    fchmodat, AT_FIRST, |inside, [_, _, mode, ..]|
        calling(|| permissions::dfs_fchmodat(inside.directory, inside.path, id(mode), 0));
    fchmodat2, AT_FIRST, |inside, [_, _, mode, how, ..]|
        calling(|| permissions::dfs_fchmodat(inside.directory, inside.path, id(mode), int(how)));
    chown, FIRST, |inside, [_, uid, gid, ..]|
        calling(|| permissions::dfs_fchownat(inside.directory, inside.path, id(uid), id(gid), 0));
    lchown, FIRST, |inside, [_, uid, gid, ..]| calling(|| {
        let how = libc::AT_SYMLINK_NOFOLLOW;
        permissions::dfs_fchownat(inside.directory, inside.path, id(uid), id(gid), how)
    });
    fchownat, AT_FIRST, |inside, [_, _, uid, gid, how, _]| calling(|| {
        permissions::dfs_fchownat(inside.directory, inside.path, id(uid), id(gid), int(how))
    });
    statfs, FIRST, |inside, [_, into, ..]| {
        let mut usage = std::mem::zeroed();
        let known = calling(|| status::dfs_statvfs(inside.path, &raw mut usage));
        write_statfs(known, &usage, pointer(into))
    };
    setxattr, FIRST, |inside, [_, name, value, size, how, _]| calling(|| {
        extended::dfs_setxattr(inside.path, pointer(name), pointer(value), size, int(how))
    });
    lsetxattr, FIRST, |inside, [_, name, value, size, how, _]| calling(|| {
        extended::dfs_lsetxattr(inside.path, pointer(name), pointer(value), size, int(how))
    });
    getxattr, FIRST, |inside, [_, name, into, size, ..]|
        length(|| extended::dfs_getxattr(inside.path, pointer(name), pointer(into), size));
    lgetxattr, FIRST, |inside, [_, name, into, size, ..]|
        length(|| extended::dfs_lgetxattr(inside.path, pointer(name), pointer(into), size));
    listxattr, FIRST, |inside, [_, into, size, ..]|
        length(|| extended::dfs_listxattr(inside.path, pointer(into), size));
    llistxattr, FIRST, |inside, [_, into, size, ..]|
        length(|| extended::dfs_llistxattr(inside.path, pointer(into), size));
    removexattr, FIRST, |inside, [_, name, ..]|
        calling(|| extended::dfs_removexattr(inside.path, pointer(name)));
    lremovexattr, FIRST, |inside, [_, name, ..]|
        calling(|| extended::dfs_lremovexattr(inside.path, pointer(name)));
    utime, FIRST, |inside, [_, times, ..]| {
        let times: *const libc::utimbuf = pointer(times);
        let both = times.as_ref().map(|times| {
            [times.actime, times.modtime].map(|tv_sec| libc::timespec { tv_sec, tv_nsec: 0 })
        });
        set_times(inside, both.as_ref(), 0)
    };
    utimes, FIRST, |inside, [_, times, ..]| set_by_timevals(inside, pointer(times));
    futimesat, AT_FIRST, |inside, [_, _, times, ..]| set_by_timevals(inside, pointer(times));
    utimensat, AT_FIRST, |inside, [_, _, times, how, ..]|
        set_times(inside, pointer::<[libc::timespec; 2]>(times).as_ref(), int(how));
}

/// The kernel takes a null pointer for an empty path.
fn or_empty(inside: Inside) -> *const c_char {
    if inside.path.is_null() { c"".as_ptr() } else { inside.path }
}

/// Sets the times of the file at a path, or of an open file if there is no path.
fn set_times(inside: Inside, times: Option<&[libc::timespec; 2]>, how: i32) -> Answer {
    let times = times.map_or(std::ptr::null(), |times| times.as_ptr());
    // SAFETY: the program vouches for its strings.
    calling(|| unsafe {
        if inside.path.is_null() {
            if how != 0 {
                *libc::__errno_location() = libc::EINVAL;
                return -1;
            }
            return dfs::dfs_futimens(inside.directory, times);
        }
        dfs::dfs_utimensat(inside.directory, inside.path, times, how)
    })
}

fn set_by_timevals(inside: Inside, times: *const [libc::timeval; 2]) -> Answer {
    // SAFETY: the program vouches for its pointers.
    let times = unsafe { times.as_ref() };
    let is_wrong = |one: &libc::timeval| !(0..1_000_000).contains(&one.tv_usec);
    if times.is_some_and(|times| times.iter().any(is_wrong)) {
        return error(libc::EINVAL);
    }
    let fine =
        |one: &libc::timeval| libc::timespec { tv_sec: one.tv_sec, tv_nsec: one.tv_usec * 1000 };
    let times = times.map(|times| times.each_ref().map(fine));
    set_times(inside, times.as_ref(), 0)
}

macro_rules! with_numbers {
    ($($name:ident: |$file:ident, $arguments:pat_param| $act:expr;)*) => {
        $(
            pub(super) fn $name(call: &mut SystemCall) -> Decision {
                with_number(call, |$file, &$arguments| {
                    // SAFETY: the program vouches for its pointers.
                    #[allow(unused_unsafe, reason = "some calls have no pointers")]
                    unsafe { $act }
                })
            }
        )*
    };
}

with_numbers! {
    fstat: |file, [_, into, ..]| calling(|| files::dfs_fstat(file, pointer(into)));
    fchmod: |file, [_, mode, ..]| calling(|| permissions::dfs_fchmod(file, id(mode)));
    fchown: |file, [_, uid, gid, ..]|
        calling(|| permissions::dfs_fchown(file, id(uid), id(gid)));
    fsetxattr: |file, [_, name, value, size, how, _]| calling(|| {
        extended::dfs_fsetxattr(file, pointer(name), pointer(value), size, int(how))
    });
    fgetxattr: |file, [_, name, into, size, ..]|
        length(|| extended::dfs_fgetxattr(file, pointer(name), pointer(into), size));
    flistxattr: |file, [_, into, size, ..]|
        length(|| extended::dfs_flistxattr(file, pointer(into), size));
    fremovexattr: |file, [_, name, ..]|
        calling(|| extended::dfs_fremovexattr(file, pointer(name)));
    fstatfs: |file, [_, into, ..]| {
        let mut usage = std::mem::zeroed();
        let known = calling(|| status::dfs_fstatvfs(file, &raw mut usage));
        write_statfs(known, &usage, pointer(into))
    };
}

/// The type of file system that the kernel shows for the mounted arena.
const FUSE_SUPER_MAGIC: libc::c_long = 0x6573_5546;

/// Writes what statfs(2) tells.
///
/// # Safety
/// `into` must be null or valid for writing.
unsafe fn write_statfs(known: Answer, usage: &libc::statvfs, into: *mut libc::statfs) -> Answer {
    if known < 0 {
        return known;
    }
    if into.is_null() {
        return error(libc::EFAULT);
    }
    // SAFETY: guaranteed by the caller; all zeros is a valid value.
    unsafe {
        into.cast::<c_void>().write_bytes(0, size_of::<libc::statfs>());
        (*into).f_type = FUSE_SUPER_MAGIC;
        (*into).f_bsize = usage.f_bsize.cast_signed();
        (*into).f_frsize = usage.f_frsize.cast_signed();
        (*into).f_blocks = usage.f_blocks;
        (*into).f_bfree = usage.f_bfree;
        (*into).f_bavail = usage.f_bavail;
        (*into).f_files = usage.f_files;
        (*into).f_ffree = usage.f_ffree;
        (*into).f_namelen = usage.f_namemax.cast_signed();
    }
    0
}
