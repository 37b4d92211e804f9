//! Open files.

use std::ffi::{c_char, c_int, c_uint, c_void};

use densefs_process::{Base, Errno, Whence, flags};

use crate::answer::{descriptor, fail, length, offset, result, write_stat};
use crate::arguments::{LENGTH_MAX, base, bytes, bytes_mut, non_negative, number, path};
use crate::attached::{attached, usable};

/// Opens a file; `mode` is used if it is created.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_open(name: *const c_char, how: c_int, mode: libc::mode_t) -> c_int {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    let how = how.cast_unsigned();
    descriptor(
        name.and_then(|name| attached()?.open_descriptor(Base::Working, name, how, mode & 0o7777)),
    )
}

/// Like [`dfs_open`], relative to a directory.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_openat(
    directory: c_int,
    name: *const c_char,
    how: c_int,
    mode: libc::mode_t,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    let opened = flags::usual(how.cast_unsigned()).and_then(|how| {
        let name = name?;
        attached()?.open_descriptor(base(directory, name)?, name, how, mode & 0o7777)
    });
    descriptor(opened)
}

/// Creates a file, or truncates it to 0 bytes.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_creat(name: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { dfs_open(name, libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC, mode) }
}

/// Closes a descriptor.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_close(file: c_int) -> c_int {
    result(number(file).and_then(|file| attached()?.close(file)))
}

/// Reads.
///
/// # Safety
/// There must be room for `count` bytes.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_read(file: c_int, into: *mut c_void, count: usize) -> isize {
    // SAFETY: guaranteed by the caller.
    let into = unsafe { bytes_mut(into, count) };
    length(number(file).and_then(|file| attached()?.read(file, into?)))
}

/// Writes.
///
/// # Safety
/// There must be `count` bytes.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_write(file: c_int, from: *const c_void, count: usize) -> isize {
    // SAFETY: guaranteed by the caller.
    let from = unsafe { bytes(from, count) };
    length(number(file).and_then(|file| attached()?.write(file, from?)))
}

/// Reads at an offset.
///
/// # Safety
/// There must be room for `count` bytes.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_pread(
    file: c_int,
    into: *mut c_void,
    count: usize,
    at: libc::off_t,
) -> isize {
    // SAFETY: guaranteed by the caller.
    let into = unsafe { bytes_mut(into, count) };
    length(non_negative(at).and_then(|at| attached()?.read_from(number(file)?, at, into?)))
}

/// Writes at an offset.
///
/// # Safety
/// There must be `count` bytes.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_pwrite(
    file: c_int,
    from: *const c_void,
    count: usize,
    at: libc::off_t,
) -> isize {
    // SAFETY: guaranteed by the caller.
    let from = unsafe { bytes(from, count) };
    length(non_negative(at).and_then(|at| attached()?.write_to(number(file)?, at, from?)))
}

/// Moves the offset.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_lseek(file: c_int, by: libc::off_t, whence: c_int) -> libc::off_t {
    let from = match whence {
        libc::SEEK_SET => Whence::Start,
        libc::SEEK_CUR => Whence::Current,
        libc::SEEK_END => Whence::End,
        libc::SEEK_DATA => Whence::Data,
        libc::SEEK_HOLE => Whence::Hole,
        _ => {
            let is_open = number(file).and_then(|file| attached()?.seek(file, 0, Whence::Current));
            return fail(is_open.map_or_else(|why| why.0, |_| libc::EINVAL)).into();
        }
    };
    offset(number(file).and_then(|file| attached()?.seek(file, by, from)))
}

/// Truncates a file, or extends it with zeros.
///
/// # Safety
/// `name` must be a C string.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_truncate(name: *const c_char, size: libc::off_t) -> c_int {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { path(name) };
    result(non_negative(size).and_then(|size| attached()?.truncate(name?, size)))
}

/// Like [`dfs_truncate`], for an open file.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_ftruncate(file: c_int, size: libc::off_t) -> c_int {
    result(non_negative(size).and_then(|size| attached()?.truncate_descriptor(number(file)?, size)))
}

/// Only checks that the file is open: what was written is in memory, and stays there.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_fsync(file: c_int) -> c_int {
    result(usable(file).map(drop))
}

/// As [`dfs_fsync`].
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_fdatasync(file: c_int) -> c_int {
    dfs_fsync(file)
}

/// The attributes of an open file.
///
/// # Safety
/// `into` must be valid for writing.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_fstat(file: c_int, into: *mut libc::stat) -> c_int {
    match number(file).and_then(|file| attached()?.stat_descriptor(file)) {
        Ok(stat) => {
            // SAFETY: guaranteed by the caller.
            unsafe { write_stat(&stat, into) };
            0
        }
        Err(why) => fail(why.0),
    }
}

/// Duplicates a descriptor.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_dup(file: c_int) -> c_int {
    descriptor(number(file).and_then(|file| attached()?.duplicate(file, 0, 0)))
}

/// Makes the descriptor `to` refer to the same open file as another.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_dup2(file: c_int, to: c_int) -> c_int {
    let done = number(file).and_then(|file| {
        let to = number(to)?;
        attached()?.duplicate_to(file, to, 0)?;
        Ok(to)
    });
    descriptor(done)
}

/// Like [`dfs_dup2`], with flags; the descriptors must differ.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_dup3(file: c_int, to: c_int, how: c_int) -> c_int {
    if file == to || how & !libc::O_CLOEXEC != 0 {
        return fail(libc::EINVAL);
    }
    let done = number(file).and_then(|file| {
        let to = number(to)?;
        attached()?.duplicate_to(file, to, how.cast_unsigned())?;
        Ok(to)
    });
    descriptor(done)
}

/// Makes sure that writes will find space, or punches a hole.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_fallocate(
    file: c_int,
    how: c_int,
    at: libc::off_t,
    count: libc::off_t,
) -> c_int {
    result(allocate(file, how, at, count))
}

/// Makes sure that writes will find space; returns the error number, and leaves `errno` alone.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub extern "C" fn dfs_posix_fallocate(file: c_int, at: libc::off_t, count: libc::off_t) -> c_int {
    allocate(file, 0, at, count).err().map_or(0, |why| why.0)
}

fn allocate(file: c_int, how: c_int, at: libc::off_t, count: libc::off_t) -> Result<(), Errno> {
    const PUNCH: c_int = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let file = usable(file)?;
    let (at, count) = (non_negative(at)?, non_negative(count)?);
    if count == 0 {
        return Err(Errno::INVAL);
    }
    match how {
        0 => attached()?.allocate(file, at, count, false),
        libc::FALLOC_FL_KEEP_SIZE => attached()?.allocate(file, at, count, true),
        PUNCH => attached()?.punch(file, at, count),
        _ => Err(Errno::OPNOTSUPP),
    }
}

/// Copies bytes from one file to another.
///
/// # Safety
/// The offsets must be null, or valid for reading and writing.
#[cfg_attr(feature = "names", unsafe(no_mangle))]
pub unsafe extern "C" fn dfs_copy_file_range(
    from: c_int,
    from_at: *mut libc::off_t,
    to: c_int,
    to_at: *mut libc::off_t,
    count: usize,
    how: c_uint,
) -> isize {
    // SAFETY: guaranteed by the caller.
    let (mut from_at, mut to_at) = unsafe { (from_at.as_mut(), to_at.as_mut()) };
    length((|| {
        usable(from)?;
        usable(to)?;
        if how != 0 {
            return Err(Errno::INVAL);
        }
        let count = count.min(LENGTH_MAX);
        let offset = |at: &Option<&mut libc::off_t>| {
            let Some(at) = at.as_deref() else { return Ok(None) };
            match u64::try_from(*at) {
                Ok(at) => Ok(Some(at)),
                // How the files were opened comes first.
                Err(_) => {
                    attached()?.copy_range(number(from)?, Some(0), number(to)?, Some(0), 0)?;
                    Err(if count > 0 { Errno::OVERFLOW } else { Errno::INVAL })
                }
            }
        };
        let (from, from_offset) = (number(from)?, offset(&from_at)?);
        let (to, to_offset) = (number(to)?, offset(&to_at)?);
        let copied = attached()?.copy_range(from, from_offset, to, to_offset, count)?;
        for at in [&mut from_at, &mut to_at].into_iter().flatten() {
            **at = at.saturating_add_unsigned(copied as u64);
        }
        Ok(copied)
    })())
}
