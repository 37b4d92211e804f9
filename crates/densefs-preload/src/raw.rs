//! System calls as the kernel knows them: without `errno`, and without anything that a program may
//! have put in the way.
#![expect(unsafe_code, reason = "these are system calls")]

use std::arch::asm;
use std::ffi::c_int;

/// Executes a system call; errors are negative.
///
/// # Safety
/// As the system call demands.
#[inline(always)]
pub(crate) unsafe fn system_call(number: libc::c_long, arguments: [usize; 6]) -> isize {
    let result;
    // SAFETY: guaranteed by the caller.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// A descriptor as an argument.
#[inline(always)]
pub(crate) fn number(descriptor: c_int) -> usize {
    descriptor as isize as usize
}

/// An argument as a descriptor, or as another int.
#[inline(always)]
pub(crate) fn int(argument: usize) -> c_int {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the kernel ignores the upper half as well"
    )]
    let int = argument as c_int;
    int
}

/// Does something with the path of the kernel's working directory, which is empty if it has none.
pub(crate) fn with_working_directory<T>(act: impl FnOnce(&[u8]) -> T) -> T {
    let mut path = [0_u8; libc::PATH_MAX as usize];
    let arguments = [path.as_mut_ptr().expose_provenance(), path.len(), 0, 0, 0, 0];
    // SAFETY: there is room.
    let length = unsafe { system_call(libc::SYS_getcwd, arguments) };
    let end = usize::try_from(length).ok().and_then(|length| length.checked_sub(1));
    act(end.and_then(|end| path.get(..end)).unwrap_or_default())
}

/// Closes a descriptor.
pub(crate) fn close(descriptor: c_int) {
    // SAFETY: the caller owns it.
    unsafe { system_call(libc::SYS_close, [number(descriptor), 0, 0, 0, 0, 0]) };
}

/// Duplicates a descriptor to the lowest free one from `lowest` on, to be closed on exec.
pub(crate) fn duplicate(descriptor: c_int, lowest: c_int) -> isize {
    let command = number(libc::F_DUPFD_CLOEXEC);
    // SAFETY: it affects nothing else.
    unsafe { system_call(libc::SYS_fcntl, [number(descriptor), command, number(lowest), 0, 0, 0]) }
}
