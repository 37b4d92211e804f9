//! System calls of a program that concern its trace. QEMU 7.2 tells no plugin that a signal kills
//! the program or that it replaces itself, so what precedes either is noticed here.

/// Bit of `mmap`'s protection: code.
const PROT_EXEC: u64 = 4;

/// What a system call means for the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemCall {
    /// A file's code is mapped.
    MapsCode,
    /// The program may end with it: it replaces itself, or sends a signal.
    MayEnd,
    /// Nothing.
    Other,
}

/// What the call of a number with these arguments is. Numbers are those of x86-64
/// (`arch/x86/entry/syscalls/syscall_64.tbl`).
pub(crate) fn kind(number: i64, protection: u64, descriptor: u64) -> SystemCall {
    match number {
        // mmap; without a file, the descriptor is -1.
        9 if protection & PROT_EXEC != 0 && descriptor >> 31 == 0 => SystemCall::MapsCode,
        // execve, execveat; kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo.
        59 | 322 | 62 | 200 | 234 | 129 | 297 => SystemCall::MayEnd,
        _ => SystemCall::Other,
    }
}
