//! New processes whose memory is their parent's until they execute a program: vfork(2), and what
//! `posix_spawn` does.
//!
//! Such a child would change what its parent knows of descriptors. It therefore gets a copy of the
//! memory, as by fork(2), while its parent waits until it has executed a program or ended, as it
//! would otherwise. All that gets lost on this way is the error that `posix_spawn` passes through
//! the common memory; it comes through a pipe.
#![expect(unsafe_code, reason = "system calls")]

use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicI32, Ordering};

use crate::call::SystemCall;
use crate::decision::Decision::{self, Executed, Pass, Refused};
use crate::outcome::error;
use crate::{own, raw};

/// What a call that makes processes asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// `CLONE_` flags.
    pub(crate) flags: u64,
    /// Where the child's stack begins; 0 if that is a copy of its parent's.
    stack: usize,
}

impl Request {
    pub(crate) fn new(call: &SystemCall) -> Self {
        let [first, second, ..] = call.arguments;
        match call.number as c_long {
            libc::SYS_vfork => {
                Self { flags: (libc::CLONE_VM | libc::CLONE_VFORK) as u64, stack: 0 }
            }
            libc::SYS_clone => Self { flags: first as u64, stack: second },
            libc::SYS_clone3 => {
                let given = std::ptr::with_exposed_provenance::<libc::clone_args>(first);
                // SAFETY: the program vouches for its pointers. The first version had all of this.
                let given = unsafe { given.read_unaligned_first() };
                Self { flags: given.flags, stack: (given.stack + given.stack_size) as usize }
            }
            _ => Self { flags: 0, stack: 0 },
        }
    }
}

/// The first fields of `clone_args`.
#[repr(C)]
struct FirstFields {
    flags: u64,
    others: [u64; 4],
    stack: u64,
    stack_size: u64,
    tls: u64,
}

trait ReadFirst {
    /// # Safety
    /// It must point to what clone3(2) takes.
    unsafe fn read_unaligned_first(self) -> FirstFields;
}

impl ReadFirst for *const libc::clone_args {
    unsafe fn read_unaligned_first(self) -> FirstFields {
        // SAFETY: guaranteed by the caller.
        unsafe { self.cast::<FirstFields>().read_unaligned() }
    }
}

/// In a child of `posix_spawn` that has not executed a program yet: where its parent waits for an
/// error; otherwise -1.
static FAILURES: AtomicI32 = AtomicI32::new(-1);

/// A pipe, both ends of which are ours.
fn pipe() -> Result<[c_int; 2], isize> {
    let mut ends = [0; 2];
    let at = ends.as_mut_ptr().expose_provenance();
    // SAFETY: there is room for two descriptors.
    let made =
        unsafe { raw::system_call(libc::SYS_pipe2, [at, libc::O_CLOEXEC as usize, 0, 0, 0, 0]) };
    if made < 0 {
        return Err(made);
    }
    let moved = ends.map(|end| {
        let moved = raw::duplicate(end, own::lowest());
        raw::close(end);
        moved
    });
    match moved.map(c_int::try_from) {
        [Ok(reads @ 0..), Ok(writes @ 0..)] => Ok([reads, writes]),
        _ => {
            for end in moved.into_iter().flat_map(c_int::try_from).filter(|&end| end >= 0) {
                raw::close(end);
            }
            Err(error(libc::EMFILE))
        }
    }
}

/// Makes a process that executes a program at once.
pub(crate) fn spawn(call: &mut SystemCall, request: &Request) -> Decision {
    let [reads, writes] = match pipe() {
        Ok(ends) => ends,
        Err(why) => return Executed(why),
    };
    // SAFETY: the child does what the program wants it to.
    match unsafe { libc::fork() } {
        -1 => {
            raw::close(reads);
            raw::close(writes);
            // SAFETY: the location is this thread's own.
            Executed(error(unsafe { *libc::__errno_location() }))
        }
        0 => {
            raw::close(reads);
            FAILURES.store(writes, Ordering::Relaxed);
            own::set_pipe(writes);
            call.new_stack = request.stack;
            Executed(0)
        }
        child => {
            raw::close(writes);
            let failure = wait_for(reads);
            raw::close(reads);
            match failure {
                // It has a stack of its own: `posix_spawn` is to tell what happened.
                Some(why) if request.stack != 0 => {
                    // SAFETY: nobody else knows of this child.
                    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
                    Executed(error(why))
                }
                _ => Executed(child as isize),
            }
        }
    }
}

/// Waits until a child has executed a program or ended; returns the error that it reports.
fn wait_for(reads: c_int) -> Option<c_int> {
    let mut why: c_int = 0;
    let at = (&raw mut why).expose_provenance();
    loop {
        let arguments = [raw::number(reads), at, size_of::<c_int>(), 0, 0, 0];
        // SAFETY: there is room for the number.
        let read = unsafe { raw::system_call(libc::SYS_read, arguments) };
        if read != error(libc::EINTR) {
            return (read == size_of::<c_int>() as isize).then_some(why);
        }
    }
}

/// Reports why this child of `posix_spawn` ends without having executed a program.
pub(crate) fn report_failure() {
    let writes = FAILURES.swap(-1, Ordering::Relaxed);
    if writes < 0 {
        return;
    }
    // SAFETY: the location is this thread's own.
    let why = unsafe { *libc::__errno_location() };
    let why = if why == 0 { libc::ECHILD } else { why };
    let at = (&raw const why).expose_provenance();
    // SAFETY: the number is there.
    unsafe {
        raw::system_call(libc::SYS_write, [raw::number(writes), at, size_of::<c_int>(), 0, 0, 0])
    };
}

/// Makes a process in another way than by the C library's `fork`, which prepares the arena itself.
pub(crate) fn fork(call: &mut SystemCall, request: &Request) -> Decision {
    let mut arguments = call.arguments;
    if request.stack != 0 {
        if call.number as c_long == libc::SYS_clone3 {
            // Programs fall back on clone.
            return Refused(libc::ENOSYS);
        }
        // The child goes on here, and is given its stack when it returns.
        arguments[1] = 0;
    }
    if !densefs_process::fork::before() {
        // It is the C library's `fork`.
        return Pass;
    }
    // SAFETY: the program has asked for this.
    let made = unsafe { raw::system_call(call.number as c_long, arguments) };
    if made == 0 {
        densefs_process::fork::in_child();
        call.new_stack = request.stack;
    } else {
        densefs_process::fork::in_parent();
    }
    Executed(made)
}
