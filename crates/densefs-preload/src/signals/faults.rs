//! Faults at addresses that the program has passed: the call fails with `EFAULT`, as in the kernel.
//!
//! A fault in our code is taken back to where the program has called it: to the C library's
//! function or to the program itself. The registers that the callee would have restored are found
//! as for an exception, so that this costs nothing where there is no fault.
#![expect(unsafe_code, reason = "registers are set")]

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;

use super::actions::Action;
use crate::call::{Served, SystemCall};
use crate::{raw, sites};

/// Signals of faults.
const FAULTS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Whether this is a signal that we always handle.
pub(super) fn is_ours(signal: c_int) -> bool {
    FAULTS.contains(&signal)
}

/// What the kernel does on faults if the program does not handle them itself.
static ACTION: OnceLock<Action> = OnceLock::new();

/// That action.
pub(super) fn action() -> Action {
    ACTION.get().copied().unwrap_or_default()
}

/// Handles faults by this function.
pub(super) fn start(handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)) {
    for signal in FAULTS {
        // SAFETY: all zeros is a valid value.
        let mut new: libc::sigaction = unsafe { std::mem::zeroed() };
        new.sa_sigaction = handler as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler is one.
        unsafe { libc::sigaction(signal, &raw const new, std::ptr::null_mut()) };
    }
    // The C library has added what returns from handlers.
    let mut now = Action::default();
    set_or_get(FAULTS[0], std::ptr::null(), &raw mut now);
    ACTION.set(now).ok();
}

fn set_or_get(signal: c_int, new: *const Action, old: *mut Action) {
    let (new, old) = (new.expose_provenance(), old.expose_provenance());
    let arguments = [raw::number(signal), new, old, size_of::<u64>(), 0, 0];
    // SAFETY: both are null or actions.
    unsafe { raw::system_call(libc::SYS_rt_sigaction, arguments) };
}

/// Lets the kernel do what it does if nobody handles a signal.
pub(super) fn give_up(signal: c_int) {
    let none = Action::default();
    set_or_get(signal, &raw const none, std::ptr::null_mut());
}

unsafe extern "C" {
    /// The first byte of this library in memory.
    static __ehdr_start: libc::Elf64_Ehdr;
    fn _Unwind_Backtrace(
        step: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        walk: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
    fn _Unwind_GetCFA(frame: *mut c_void) -> usize;
    fn _Unwind_GetGR(frame: *mut c_void, register: c_int) -> usize;
}

/// Where the code of this library is.
fn text() -> Range<usize> {
    // SAFETY: the linker defines it, and the headers of the segments are where it says.
    unsafe {
        let head = &raw const __ehdr_start;
        let segments = head.byte_add((*head).e_phoff as usize).cast::<libc::Elf64_Phdr>();
        for index in 0..usize::from((*head).e_phnum) {
            let segment = &*segments.add(index);
            if segment.p_type == libc::PT_LOAD && segment.p_flags & libc::PF_X != 0 {
                let start = head.addr() + segment.p_vaddr as usize;
                return start..start + segment.p_memsz as usize;
            }
        }
    }
    0..0
}

/// The registers that a function leaves as they are, by their numbers for unwinders and in a
/// signal's context.
const KEPT: [(c_int, c_int); 6] = [
    (3, libc::REG_RBX),
    (6, libc::REG_RBP),
    (12, libc::REG_R12),
    (13, libc::REG_R13),
    (14, libc::REG_R14),
    (15, libc::REG_R15),
];

/// A walk from a fault to where our code was called.
struct Walk {
    text: Range<usize>,
    /// Where the fault was.
    fault: usize,
    has_begun: bool,
    /// Whether the walk is in our code.
    is_inside: bool,
    found: Option<Found>,
}

/// Where our code was called.
struct Found {
    /// Where it returns to, and with which stack.
    address: usize,
    stack: usize,
    kept: [usize; KEPT.len()],
}

const CONTINUE: c_int = 0;
const STOP: c_int = 4;

extern "C" fn step(frame: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: the unwinder passes on what it was called with.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    // SAFETY: the unwinder vouches for its frames.
    let address = unsafe { _Unwind_GetIP(frame) };
    let is_ours = walk.text.contains(&address) && !sites::is_entry(address);
    if !walk.has_begun {
        if address == walk.fault {
            (walk.has_begun, walk.is_inside) = (true, is_ours);
        }
        return CONTINUE;
    }
    match (walk.is_inside, is_ours) {
        (true, true) => CONTINUE,
        // A function of the C library for memory or text, which we have called.
        (false, true) => {
            walk.is_inside = true;
            CONTINUE
        }
        (false, false) => STOP,
        (true, false) => {
            // SAFETY: as above.
            walk.found = Some(unsafe {
                Found {
                    address,
                    stack: _Unwind_GetCFA(frame),
                    kept: KEPT.map(|(register, _)| _Unwind_GetGR(frame, register)),
                }
            });
            STOP
        }
    }
}

/// Has our code return with an error to where the program has called it, if the fault was there.
pub(super) fn recover(context: &mut libc::ucontext_t) -> bool {
    let registers = &mut context.uc_mcontext.gregs;
    let at = |register: c_int| register.cast_unsigned() as usize;
    let fault = registers[at(libc::REG_RIP)].cast_unsigned() as usize;
    let mut walk = Walk { text: text(), fault, has_begun: false, is_inside: false, found: None };
    // SAFETY: the walk is what `step` expects.
    unsafe { _Unwind_Backtrace(step, (&raw mut walk).cast()) };
    let Some(found) = walk.found else { return false };
    if densefs_process::DenseFs::abandon_operation().is_err() {
        return false;
    }
    for ((_, register), value) in KEPT.into_iter().zip(found.kept) {
        registers[at(register)] = value as i64;
    }
    registers[at(libc::REG_RIP)] = found.address as i64;
    registers[at(libc::REG_RSP)] = found.stack as i64;
    registers[at(libc::REG_RAX)] = if sites::is_entry(found.address) {
        // SAFETY: at an entry, the stack begins with the call.
        let call =
            unsafe { &mut *std::ptr::with_exposed_provenance_mut::<SystemCall>(found.stack) };
        call.arguments[0] = -libc::EFAULT as usize;
        Served::Yes as i64
    } else {
        // SAFETY: the location is this thread's own.
        unsafe { *libc::__errno_location() = libc::EFAULT };
        -1
    };
    true
}
