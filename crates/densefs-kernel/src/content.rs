//! What files contain.
#![expect(unsafe_code, reason = "names that C knows, and its buffers")]

use densefs::modes::{Caller, FILE, TYPE, WRITE};
use densefs::{Errno, Follow, Stat, Whence};

use crate::answer::answer;
use crate::path::PathArgument;
use crate::process::Process;

/// read(2).
///
/// # Safety
/// `into` must have room for that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_read(
    process: &Process,
    descriptor: u32,
    into: *mut u8,
    length: usize,
) -> i64 {
    // SAFETY: guaranteed by the caller.
    let into = unsafe { core::slice::from_raw_parts_mut(into, length) };
    answer(process.core().read_on(descriptor, into))
}

/// write(2).
///
/// # Safety
/// `from` must have that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_write(
    process: &Process,
    descriptor: u32,
    from: *const u8,
    length: usize,
) -> i64 {
    // SAFETY: guaranteed by the caller.
    let from = unsafe { core::slice::from_raw_parts(from, length) };
    answer(process.core().write_on(descriptor, from))
}

/// pread(2).
///
/// # Safety
/// `into` must have room for that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_pread(
    process: &Process,
    descriptor: u32,
    into: *mut u8,
    length: usize,
    offset: i64,
) -> i64 {
    // SAFETY: guaranteed by the caller.
    let into = unsafe { core::slice::from_raw_parts_mut(into, length) };
    let Ok(offset) = u64::try_from(offset) else { return answer::<()>(Err(Errno::INVAL)) };
    answer(process.core().read_from(descriptor, offset, into))
}

/// pwrite(2).
///
/// # Safety
/// `from` must have that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_pwrite(
    process: &Process,
    descriptor: u32,
    from: *const u8,
    length: usize,
    offset: i64,
) -> i64 {
    // SAFETY: guaranteed by the caller.
    let from = unsafe { core::slice::from_raw_parts(from, length) };
    let Ok(offset) = u64::try_from(offset) else { return answer::<()>(Err(Errno::INVAL)) };
    answer(process.core().write_to(descriptor, offset, from))
}

/// truncate(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_truncate(process: &Process, path: &PathArgument, size: i64) -> i64 {
    let Ok(size) = u64::try_from(size) else { return answer::<()>(Err(Errno::INVAL)) };
    answer(process.with_node(path, Follow::Yes, |core, caller, node| {
        let Stat { mode, size: old_size, .. } = core.stat(node)?;
        if mode.is_directory() {
            return Err(Errno::ISDIR);
        }
        mode.allow(caller, WRITE)?;
        if mode.mode & TYPE == FILE && size == old_size {
            // Unlike ftruncate, this does not even set the modification time then.
            let left = mode.without_set_ids(caller);
            let keeps_mode = caller.may_all() || left == mode.mode;
            return if keeps_mode { Ok(()) } else { core.set_mode(&Caller::ROOT, node, left) };
        }
        core.truncate(node, size)
    }))
}

/// ftruncate(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_ftruncate(process: &Process, descriptor: u32, size: i64) -> i64 {
    let Ok(size) = u64::try_from(size) else { return answer::<()>(Err(Errno::INVAL)) };
    answer(process.core().truncate_open(descriptor, size))
}

/// fallocate(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_fallocate(
    process: &Process,
    descriptor: u32,
    how: u32,
    offset: i64,
    length: i64,
) -> i64 {
    const KEEP_SIZE: u32 = 1;
    const PUNCH_HOLE: u32 = 2;
    let core = process.core();
    let (Ok(offset), Ok(length @ 1..)) = (u64::try_from(offset), u64::try_from(length)) else {
        let is_open = core.seek(descriptor, 0, Whence::Current);
        return answer(is_open.and(Err::<(), _>(Errno::INVAL)));
    };
    answer(match how {
        0 | KEEP_SIZE => core.allocate_open(descriptor, offset, length, how == KEEP_SIZE),
        how if how == KEEP_SIZE | PUNCH_HOLE => core.punch_open(descriptor, offset, length),
        _ => Err(Errno::OPNOTSUPP),
    })
}

/// fsync(2), fdatasync(2): nothing is written anywhere.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_fsync(process: &Process, descriptor: u32) -> i64 {
    let how = process.core().flags(descriptor);
    let is_path = |how: u32| how & densefs::flags::PATH != 0;
    answer(how.and_then(|how| if is_path(how) { Err(Errno::BADF) } else { Ok(()) }))
}
