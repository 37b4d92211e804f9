//! What the program does on each signal.
#![expect(unsafe_code, reason = "handlers of signals")]

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::raw;

/// Signals have numbers up to this.
const SIGNALS: usize = 64;

/// A set of signals, in the kernel's form.
pub(super) struct KernelSet;

impl KernelSet {
    /// The set of this signal alone.
    pub(super) fn of(signal: c_int) -> u64 {
        1 << (signal - 1)
    }
}

/// An action, in the kernel's form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

/// A handler of ours.
type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

impl Action {
    const DEFAULT: Self = Self { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 };

    fn is_handler(self) -> bool {
        !matches!(self.handler, libc::SIG_DFL | libc::SIG_IGN)
    }

    /// The same, with this handler in place of the program's, if it has one.
    pub(super) fn handled_by(self, handler: Handler) -> Self {
        if !self.is_handler() {
            return self;
        }
        let flags = self.flags | libc::SA_SIGINFO as u64;
        Self { handler: handler as *const () as usize, flags, ..self }
    }

    pub(super) fn is_handled_by(&self, handler: Handler) -> bool {
        self.handler == handler as *const () as usize
    }
}

/// An action that threads read while another may be changing it: the one of two places whose number
/// is the lowest bit of the version.
struct Kept {
    version: AtomicU32,
    places: UnsafeCell<[Action; 2]>,
}

// SAFETY: a place is only written while the version names the other one.
unsafe impl Sync for Kept {}

static KEPT: [Kept; SIGNALS] =
    [const { Kept { version: AtomicU32::new(0), places: UnsafeCell::new([Action::DEFAULT; 2]) } };
        SIGNALS];

fn kept(signal: c_int) -> &'static Kept {
    &KEPT[(signal - 1).cast_unsigned() as usize % SIGNALS]
}

/// The program's action on a signal.
pub(super) fn get(signal: c_int) -> Action {
    let kept = kept(signal);
    loop {
        let version = kept.version.load(Ordering::Acquire);
        // SAFETY: it is read again if it was changed meanwhile.
        let action =
            unsafe { kept.places.get().cast::<Action>().add(version as usize % 2).read_volatile() };
        // Two changes later, this place is written to again.
        if kept.version.load(Ordering::Acquire).wrapping_sub(version) < 2 {
            return action;
        }
    }
}

/// Changes the program's action on a signal.
pub(super) fn set(signal: c_int, action: Action) {
    let kept = kept(signal);
    let version = kept.version.load(Ordering::Acquire);
    // SAFETY: the version names the other place.
    unsafe {
        kept.places.get().cast::<Action>().add((version as usize + 1) % 2).write_volatile(action);
    }
    kept.version.store(version.wrapping_add(1), Ordering::Release);
}

/// What is blocked while the program handles a signal.
pub(super) fn mask_of(signal: c_int) -> u64 {
    let action = get(signal);
    let is_deferred = action.flags & libc::SA_NODEFER as u64 == 0;
    action.mask | if is_deferred { KernelSet::of(signal) } else { 0 }
}

/// Whether calls go on that a signal has interrupted.
pub(super) fn restarts(signal: c_int) -> bool {
    get(signal).flags & libc::SA_RESTART as u64 != 0
}

/// Sets which signals are blocked in this thread.
pub(super) fn set_mask(mask: u64) {
    let at = (&raw const mask).expose_provenance();
    let arguments = [libc::SIG_SETMASK as usize, at, 0, size_of::<u64>(), 0, 0];
    // SAFETY: the set outlives the call.
    unsafe { raw::system_call(libc::SYS_rt_sigprocmask, arguments) };
}

/// Calls the program's handler.
///
/// # Safety
/// The arguments must be those of a handler.
pub(super) unsafe fn run(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let action = get(signal);
    if !action.is_handler() {
        // The fault will come again, and end the process as it would have.
        super::faults::give_up(signal);
        return;
    }
    if action.flags & libc::SA_RESETHAND as u64 != 0 {
        // The kernel has forgotten it as well.
        set(signal, Action::DEFAULT);
    }
    // SAFETY: it is the address of the program's handler, which takes these, or the first.
    unsafe {
        let handler: Handler = std::mem::transmute(action.handler);
        handler(signal, info, context);
    }
}
