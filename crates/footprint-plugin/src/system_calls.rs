//! System calls that concern a program's trace. QEMU 7.2 does not tell plugins that a signal kills
//! the program or that it replaces itself, so the system calls that lead to either are watched.

/// Bit of `mmap`'s protection for code.
const PROT_EXEC: u64 = 4;

/// What a system call means for the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemCall {
    /// It maps code from a file.
    MapsCode,
    /// It may end the program, which replaces itself or sends a signal.
    MayEnd,
    /// Nothing.
    Other,
}

/// Classifies a system call. Numbers are those of x86-64
/// (`arch/x86/entry/syscalls/syscall_64.tbl`).
pub(crate) fn kind(number: i64, protection: u64, descriptor: u64) -> SystemCall {
    match number {
        // mmap; the descriptor is -1 if there is no file.
        9 if protection & PROT_EXEC != 0 && descriptor >> 31 == 0 => SystemCall::MapsCode,
        // execve, execveat; kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo.
        59 | 322 | 62 | 200 | 234 | 129 | 297 => SystemCall::MayEnd,
        _ => SystemCall::Other,
    }
}
