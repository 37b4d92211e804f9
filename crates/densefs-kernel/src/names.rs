//! Names: creating, linking, renaming and removing files, and following symbolic links.
#![expect(unsafe_code, reason = "names that C knows, and its buffers")]

use densefs::modes::EXECUTE;
use densefs::{Errno, Follow, LastName, Remove, Rename};

use crate::answer::answer;
use crate::path::{PathArgument, node_of_base};
use crate::process::Process;

/// mkdir(2), and mknod(2) with a device number as Linux has it in 32 bits.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_mknod(
    process: &Process,
    path: &PathArgument,
    mode: u32,
    device: u32,
) -> i64 {
    answer(process.with_last(path, |core, caller, last| core.make_last(caller, last, mode, device)))
}

/// unlink(2), or rmdir(2).
#[inline(always)]
fn remove(process: &Process, path: &PathArgument, what: Remove) -> i64 {
    answer(process.with_last(path, |core, caller, last| core.remove_last(caller, last, what)))
}

/// unlink(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_unlink(process: &Process, path: &PathArgument) -> i64 {
    remove(process, path, Remove::Name)
}

/// rmdir(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_rmdir(process: &Process, path: &PathArgument) -> i64 {
    remove(process, path, Remove::Directory)
}

/// renameat2(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_rename(
    process: &Process,
    old: &PathArgument,
    new: &PathArgument,
    how: u32,
) -> i64 {
    const NO_REPLACE: u32 = 1;
    const EXCHANGE: u32 = 2;
    const WHITEOUT: u32 = 4;
    const NO_REPLACE_WHITEOUT: u32 = NO_REPLACE | WHITEOUT;
    let how = match how {
        0 => Rename::Replace,
        NO_REPLACE => Rename::NoReplace,
        EXCHANGE => Rename::Exchange,
        WHITEOUT => Rename::Whiteout,
        NO_REPLACE_WHITEOUT => Rename::NoReplaceWhiteout,
        _ => return answer::<()>(Err(Errno::INVAL)),
    };
    answer(rename(process, old, new, how))
}

#[inline(always)]
fn rename(
    process: &Process,
    old: &PathArgument,
    new: &PathArgument,
    how: Rename,
) -> Result<(), Errno> {
    let (core, caller) = (process.core(), process.caller());
    let done = core.retry(|| {
        let (mut from, mut to) = (LastName::unknown(), LastName::unknown());
        old.find_last(core, caller, &mut from)?;
        new.find_last(core, caller, &mut to)?;
        core.rename_last(caller, &from, &to, how)
    });
    if done.is_err() {
        old.check_search_of_last(core, caller)?;
        new.check_search_of_last(core, caller)?;
    }
    done
}

/// linkat(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_link(
    process: &Process,
    old: &PathArgument,
    new: &PathArgument,
    follows: bool,
) -> i64 {
    let follow = if follows { Follow::Yes } else { Follow::No };
    let (core, caller) = (process.core(), process.caller());
    let found = || core.walk(caller, old.from(core)?, old.bytes(), follow);
    let done = core.retry(|| {
        let node = found()?;
        let mut to = LastName::unknown();
        new.find_last(core, caller, &mut to)?;
        core.link_last(caller, node, &to)
    });
    let done = done.or_else(|why| {
        core.retry(found)?;
        new.check_search_of_last(core, caller)?;
        Err(why)
    });
    answer(done)
}

/// linkat(2) of what a descriptor refers to, or of the working directory.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_link_base(process: &Process, base: i32, new: &PathArgument) -> i64 {
    if let Err(why) = node_of_base(process.core(), base) {
        return answer::<()>(Err(why));
    }
    answer(process.with_last(new, |core, caller, to| {
        let node = node_of_base(core, base)?;
        match u32::try_from(base) {
            Ok(descriptor) => core.link_open_last(caller, descriptor, to),
            Err(_) => core.link_last(caller, node, to),
        }
    }))
}

/// symlinkat(2).
///
/// # Safety
/// `target` must have that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_symlink(
    process: &Process,
    target: *const u8,
    length: usize,
    path: &PathArgument,
) -> i64 {
    // SAFETY: guaranteed by the caller.
    let target = unsafe { core::slice::from_raw_parts(target, length) };
    answer(process.with_last(path, |core, caller, last| core.symlink_last(caller, last, target)))
}

/// readlinkat(2).
///
/// # Safety
/// `into` must have room for that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_readlink(
    process: &Process,
    path: &PathArgument,
    into: *mut u8,
    length: usize,
) -> i64 {
    // SAFETY: guaranteed by the caller.
    let into = unsafe { core::slice::from_raw_parts_mut(into, length) };
    if let Some(base) = path.base_itself() {
        let core = process.core();
        let read = node_of_base(core, base).and_then(|node| core.read_link(node, into));
        return answer(read.map_err(|why| if why == Errno::INVAL { Errno::NOENT } else { why }));
    }
    answer(process.with_node(path, Follow::No, |core, _, node| core.read_link(node, into)))
}

/// chdir(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_chdir(process: &Process, path: &PathArgument) -> i64 {
    answer(process.with_node(path, Follow::Yes, |core, caller, node| {
        let mode = core.stat(node)?.mode;
        if !mode.is_directory() {
            return Err(Errno::NOTDIR);
        }
        mode.allow(caller, EXECUTE)?;
        core.set_working_directory(caller, node)
    }))
}

/// fchdir(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_fchdir(process: &Process, descriptor: u32) -> i64 {
    let (core, caller) = (process.core(), process.caller());
    answer(core.retry(|| {
        let node = core.node(descriptor)?;
        core.check_search(caller, node)?;
        core.set_working_directory(caller, node)
    }))
}

/// getcwd(2): the path is written at the end of `into`; its length is returned.
///
/// # Safety
/// `into` must have room for that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_getcwd(process: &Process, into: *mut u8, length: usize) -> i64 {
    let core = process.core();
    // SAFETY: guaranteed by the caller.
    let into = unsafe { core::slice::from_raw_parts_mut(into, length) };
    answer(core.retry(|| Ok(core.path_of(core.working_directory()?, into)?.len())))
}
