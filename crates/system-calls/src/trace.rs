//! Processes that this one traces: ptrace(2), and which of their system calls stop them.

use std::io;
use std::mem::{MaybeUninit, offset_of, size_of};
use std::ops::ControlFlow;
use std::ptr;

use rustix::process::Pid;

use crate::{checked, fork};

/// What has happened to a traced process or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced {
    /// It has ended, with the status of wait(2).
    Ended(i32),
    /// It is about to make a system call that stops it.
    Calls,
    /// It has executed a program. If another thread than the first did, that was its number.
    Executed(Pid),
    /// It has made a process or a thread.
    Made(Pid),
    /// It has been stopped, as by a terminal, and stays so until it is continued.
    Stopped,
    /// A signal arrives.
    Signalled(i32),
    /// It has just begun to be traced, or goes on after having been stopped.
    Ready,
}

/// A system call that is about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingCall {
    /// Its number.
    pub number: u64,
    /// Its arguments.
    pub arguments: [u64; 6],
    /// Where the process goes on after it.
    pub address: u64,
}

/// Begins to trace a child, its descendants, and all of their threads. They are killed if this
/// process ends.
///
/// # Errors
/// If it may not be traced.
pub fn trace(child: Pid) -> io::Result<()> {
    let options = libc::PTRACE_O_EXITKILL
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACESECCOMP
        | libc::PTRACE_O_TRACEVFORK;
    let options = ptr::without_provenance_mut(options.unsigned_abs() as usize);
    // SAFETY: this command takes no pointers.
    checked(unsafe { ptrace(libc::PTRACE_SEIZE, child, ptr::null_mut(), options) }).map(drop)
}

/// Waits for something to happen; `None` if nobody is left.
///
/// # Errors
/// The kernel's.
pub fn wait_for_traced() -> io::Result<Option<(Pid, Traced)>> {
    let mut status = 0;
    // SAFETY: there is room for the status.
    let waited = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
    match checked(waited) {
        Err(why) if why.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
        waited => waited?,
    };
    let pid = Pid::from_raw(waited).ok_or(io::ErrorKind::InvalidData)?;
    if !libc::WIFSTOPPED(status) {
        return Ok(Some((pid, Traced::Ended(status))));
    }
    let signal = libc::WSTOPSIG(status);
    let happened = match status >> 16 {
        0 => Traced::Signalled(signal),
        libc::PTRACE_EVENT_SECCOMP => Traced::Calls,
        libc::PTRACE_EVENT_EXEC => message(pid)?.map_or(Traced::Ready, Traced::Executed),
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
            message(pid)?.map_or(Traced::Ready, Traced::Made)
        }
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Traced::Stopped,
        _ => Traced::Ready,
    };
    Ok(Some((pid, happened)))
}

/// Lets a traced process go on, with a signal if that is not 0. It may have been killed meanwhile.
///
/// # Errors
/// The kernel's.
pub fn go_on(pid: Pid, signal: i32) -> io::Result<()> {
    let signal = ptr::without_provenance_mut(signal.unsigned_abs() as usize);
    // SAFETY: this command takes no pointers.
    unless_dead(unsafe { ptrace(libc::PTRACE_CONT, pid, ptr::null_mut(), signal) })
}

/// Leaves a process stopped that has been stopped, but not by its tracer.
///
/// # Errors
/// The kernel's.
pub fn stay_stopped(pid: Pid) -> io::Result<()> {
    // SAFETY: this command takes no pointers.
    unless_dead(unsafe { ptrace(libc::PTRACE_LISTEN, pid, ptr::null_mut(), ptr::null_mut()) })
}

/// The system call that has stopped a process; `None` if it has been killed meanwhile.
///
/// # Errors
/// The kernel's.
pub fn pending_call(pid: Pid) -> io::Result<Option<PendingCall>> {
    let Some(registers) = registers(pid)? else { return Ok(None) };
    Ok(Some(PendingCall {
        number: registers.orig_rax,
        arguments: [
            registers.rdi,
            registers.rsi,
            registers.rdx,
            registers.r10,
            registers.r8,
            registers.r9,
        ],
        address: registers.rip,
    }))
}

/// What a processor's registers hold before an instruction, as far as anybody has asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Where the instruction is.
    pub rip: u64,
    /// The first argument of a call.
    pub rdi: u64,
}

/// Executes `work` in a child, instruction by instruction; `each` learns what the registers hold
/// before every one, and says whether to go on. The child is killed when it is not to, or when
/// `work` is done.
///
/// `work` must not depend on locks or threads, which may be held or missing in the child.
///
/// # Errors
/// If there can be no such child here.
pub fn step_through(
    work: impl FnOnce(),
    mut each: impl FnMut(Registers) -> ControlFlow<()>,
) -> io::Result<()> {
    let child = fork(|| {
        // SAFETY: this command takes no pointers, and to stop harms nobody.
        let traced = unsafe {
            libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == 0 && libc::raise(libc::SIGSTOP) == 0
        };
        if traced {
            work();
        }
        i32::from(!traced)
    })?;
    let stepped = step(child, &mut each);
    // SAFETY: a child of our own, which nobody else waits for, whatever has become of it.
    unsafe {
        libc::kill(child.as_raw_nonzero().get(), libc::SIGKILL);
        libc::waitpid(child.as_raw_nonzero().get(), ptr::null_mut(), libc::__WALL);
    }
    stepped
}

/// Steps through a child that has asked to be traced. Signals from outside do not reach it.
fn step(child: Pid, each: &mut impl FnMut(Registers) -> ControlFlow<()>) -> io::Result<()> {
    let pid = child.as_raw_nonzero().get();
    let mut has_begun = false;
    loop {
        let mut status = 0;
        // SAFETY: there is room for the status.
        checked(unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) })?;
        if !libc::WIFSTOPPED(status) {
            let is_done = has_begun && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
            return if is_done { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) };
        }
        match libc::WSTOPSIG(status) {
            libc::SIGTRAP => {
                let Some(registers) = registers(child)? else { continue };
                if each(Registers { rip: registers.rip, rdi: registers.rdi }).is_break() {
                    return Ok(());
                }
            }
            libc::SIGSTOP if !has_begun => {
                has_begun = true;
                let options = ptr::without_provenance_mut(libc::PTRACE_O_EXITKILL as usize);
                // SAFETY: this command takes no pointers.
                let set =
                    unsafe { ptrace(libc::PTRACE_SETOPTIONS, child, ptr::null_mut(), options) };
                checked(set)?;
            }
            // The instruction would fail in the same way again.
            libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE => {
                return Err(io::ErrorKind::InvalidData.into());
            }
            _ => {}
        }
        let none = ptr::null_mut();
        // SAFETY: this command takes no pointers.
        unless_dead(unsafe { ptrace(libc::PTRACE_SINGLESTEP, child, none, none) })?;
    }
}

/// From now on, these system calls stop this process and its descendants, and fail where nobody
/// traces them.
///
/// Where it takes that, no program that is executed gains privileges any more.
///
/// # Errors
/// If the kernel does not have this.
pub fn stop_at(numbers: impl IntoIterator<Item = u32>) -> io::Result<()> {
    const LOAD_WORD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const JUMP_IF: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    /// `AUDIT_ARCH_X86_64` of linux/audit.h.
    const ARCHITECTURE: u32 = 0xc000_003e;
    #[expect(clippy::cast_possible_truncation, reason = "codes have 16 bits")]
    let of = |code: u32, if_true, if_false, k| libc::sock_filter {
        code: code as u16,
        jt: if_true,
        jf: if_false,
        k,
    };
    let field = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    let stops = of(RETURN, 0, 0, libc::SECCOMP_RET_TRACE);
    // Calls of another architecture have other numbers: all of them stop the process.
    let mut program = vec![
        of(LOAD_WORD, 0, 0, field(offset_of!(libc::seccomp_data, arch))),
        of(JUMP_IF, 1, 0, ARCHITECTURE),
        stops,
        of(LOAD_WORD, 0, 0, field(offset_of!(libc::seccomp_data, nr))),
    ];
    for number in numbers {
        program.extend([of(JUMP_IF, 0, 1, number), stops]);
    }
    program.push(of(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    let set = || {
        // SAFETY: the filter outlives the call.
        checked(unsafe {
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter)
        })
    };
    let refused = match set() {
        Err(why) if why.raw_os_error() == Some(libc::EACCES) => true,
        set => return set.map(drop),
    };
    if refused {
        rustix::thread::set_no_new_privs(true)?;
    }
    set().map(drop)
}

/// Reads from the memory of a traced process, at most up to the end of what is mapped; returns how
/// many bytes.
pub fn read_memory(pid: Pid, address: u64, into: &mut [u8]) -> usize {
    let Ok(address) = usize::try_from(address) else { return 0 };
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote =
        libc::iovec { iov_base: ptr::without_provenance_mut(address), iov_len: into.len() };
    let pid = pid.as_raw_nonzero().get();
    // SAFETY: there is room for what is read.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// The registers of a process that is stopped; `None` if it has been killed meanwhile.
fn registers(pid: Pid) -> io::Result<Option<libc::user_regs_struct>> {
    let mut registers = MaybeUninit::<libc::user_regs_struct>::uninit();
    let into = registers.as_mut_ptr().cast();
    // SAFETY: there is room for the registers.
    let read = unsafe { ptrace(libc::PTRACE_GETREGS, pid, ptr::null_mut(), into) };
    if is_dead(read) {
        return Ok(None);
    }
    checked(read)?;
    // SAFETY: the call has succeeded.
    Ok(Some(unsafe { registers.assume_init() }))
}

/// # Safety
/// As ptrace(2) demands for the request.
unsafe fn ptrace(
    request: libc::c_uint,
    pid: Pid,
    address: *mut libc::c_void,
    data: *mut libc::c_void,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let done = unsafe { libc::ptrace(request, pid.as_raw_nonzero().get(), address, data) };
    i32::try_from(done).unwrap_or(0)
}

/// The number of the process that an event is about.
fn message(pid: Pid) -> io::Result<Option<Pid>> {
    let mut message: libc::c_ulong = 0;
    let into = (&raw mut message).cast();
    // SAFETY: there is room for the number.
    let read = unsafe { ptrace(libc::PTRACE_GETEVENTMSG, pid, ptr::null_mut(), into) };
    if is_dead(read) {
        return Ok(None);
    }
    checked(read)?;
    Ok(i32::try_from(message).ok().and_then(Pid::from_raw))
}

fn is_dead(outcome: i32) -> bool {
    outcome < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

fn unless_dead(outcome: i32) -> io::Result<()> {
    if is_dead(outcome) { Ok(()) } else { checked(outcome).map(drop) }
}

const _: () = assert!(size_of::<libc::seccomp_data>() == 64);

#[cfg(test)]
mod tests {
    use super::*;

    /// What came of stepping through it, and how many instructions that were.
    fn stepped(work: impl FnOnce()) -> (io::Result<()>, u64) {
        let mut count = 0;
        let stepped = step_through(work, |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        (stepped, count)
    }

    #[test]
    fn a_child_is_followed_to_its_end_whatever_signals_come() {
        let (nothing, least) = stepped(|| {});
        if nothing.is_err() {
            eprintln!("skipped: no child can be traced here");
            return;
        }
        let (ended, all) = stepped(|| {
            // SAFETY: it harms nobody but this child, whom it does not reach.
            unsafe { libc::raise(libc::SIGTERM) };
        });
        assert!(ended.is_ok() && all > least, "{ended:?} {all} {least}");
        let (ended, _) = stepped(|| {
            // SAFETY: the child is to fail.
            unsafe { ptr::null::<u8>().wrapping_add(8).read_volatile() };
        });
        assert_eq!(ended.expect_err("it fails").kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_child_that_is_followed_no_further_is_gone() {
        let mut count = 0;
        let stepped = step_through(
            || loop {
                std::hint::spin_loop();
            },
            |_| {
                count += 1;
                if count < 1000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        assert!(stepped.is_err() || count == 1000);
    }
}
