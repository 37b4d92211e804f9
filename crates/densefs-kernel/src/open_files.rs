//! Opening and closing files, and what descriptors refer to.
#![expect(unsafe_code, reason = "names that C knows")]

use densefs::{Errno, Whence, flags};

use crate::answer::answer;
use crate::path::PathArgument;
use crate::process::Process;

/// openat(2). The mode comes without the permissions that new files do not get.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_open(process: &Process, path: &PathArgument, how: u32, mode: u32) -> i64 {
    let (core, caller) = (process.core(), process.caller());
    if path.is_of_working()
        && let Some(descriptor) = core.create_at_once(caller, path.bytes(), how, mode & 0o7777)
    {
        return descriptor.into();
    }
    answer(open(process, path, how, mode))
}

#[inline(never)]
fn open(process: &Process, path: &PathArgument, how: u32, mode: u32) -> Result<u32, Errno> {
    let how = flags::usual(how)?;
    let (core, caller) = (process.core(), process.caller());
    core.retry(|| core.open(caller, path.from(core)?, path.bytes(), how, mode & 0o7777))
}

/// close(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_close(process: &Process, descriptor: u32) -> i64 {
    answer(process.core().close(descriptor))
}

/// dup(2), and fcntl(2) with `F_DUPFD` and `F_DUPFD_CLOEXEC`.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_dup(process: &Process, descriptor: u32, lowest: u32, how: u32) -> i64 {
    answer(process.core().duplicate(descriptor, lowest, how))
}

/// dup3(2), except that both may be the same.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_dup_to(process: &Process, descriptor: u32, to: u32, how: u32) -> i64 {
    answer(process.core().duplicate_to(descriptor, to, how).map(|()| to))
}

/// fcntl(2) with `F_GETFD`.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_closes_on_exec(process: &Process, descriptor: u32) -> i64 {
    answer(process.core().closes_on_exec(descriptor).map(u32::from))
}

/// fcntl(2) with `F_SETFD`.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_set_closes_on_exec(
    process: &Process,
    descriptor: u32,
    closes: bool,
) -> i64 {
    answer(process.core().set_closes_on_exec(descriptor, closes))
}

/// fcntl(2) with `F_GETFL`.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_flags(process: &Process, descriptor: u32) -> i64 {
    const NOT_TOLD: u32 = flags::CREATE | flags::EXCLUSIVE | flags::TRUNCATE | flags::CLOSE_ON_EXEC;
    answer(process.core().flags(descriptor).map(|how| how & !NOT_TOLD))
}

/// fcntl(2) with `F_SETFL`.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_set_flags(process: &Process, descriptor: u32, how: u32) -> i64 {
    answer(process.core().set_flags(descriptor, how))
}

/// lseek(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_lseek(process: &Process, descriptor: u32, by: i64, whence: u32) -> i64 {
    const WRONG: Result<(), Errno> = Err(Errno::INVAL);
    let whence = match whence {
        0 => Whence::Start,
        1 => Whence::Current,
        2 => Whence::End,
        3 => Whence::Data,
        4 => Whence::Hole,
        _ => {
            return answer(process.core().seek(descriptor, 0, Whence::Current).and(WRONG));
        }
    };
    answer(process.core().seek(descriptor, by, whence))
}
