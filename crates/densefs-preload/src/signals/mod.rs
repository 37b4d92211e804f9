//! Signals that arrive while a thread is in a call of the library.
//!
//! The library holds locks then, which the program's handler might need, if it makes calls itself,
//! and would never release, if it leaves the call by `siglongjmp`. As in the kernel, the handler
//! therefore runs when the call has ended. For this, the program's handlers are called by one of
//! ours, which notes a signal that comes too early, and has all others wait.
#![expect(unsafe_code, reason = "handlers of signals")]

mod actions;
mod faults;
mod within;

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use crate::call::SystemCall;
use crate::decision::Decision::{self, Executed, Pass};
use crate::raw::{self, int};
use actions::{Action, KernelSet};

/// Does something in a call of the library, at whose end signals are handled that have arrived
/// meanwhile.
#[inline(always)]
pub(crate) fn held<T>(act: impl FnOnce() -> T) -> T {
    within::set_inside(true);
    let done = act();
    within::set_inside(false);
    // One that arrives from now on is handled at once.
    if within::is_awaited() {
        deliver();
    }
    done
}

/// Whether the signal that was handled last is to restart the call that it has interrupted; until
/// the next one, no more.
pub(crate) fn take_restart() -> bool {
    RESTARTS.take()
}

/// A signal that has arrived too early.
struct Waiting {
    signal: c_int,
    info: libc::siginfo_t,
    context: libc::ucontext_t,
}

thread_local! {
    static WAITING: UnsafeCell<MaybeUninit<Waiting>> =
        const { UnsafeCell::new(MaybeUninit::uninit()) };
    /// Whether the signal that was handled last is to restart the call that it has interrupted.
    static RESTARTS: Cell<bool> = const { Cell::new(false) };
}

/// Signals about an instruction that the processor cannot execute. Waiting would not
/// help.
fn is_of_instruction(signal: c_int, info: &libc::siginfo_t) -> bool {
    const OF_KERNEL: c_int = 0;
    let is_such = matches!(
        signal,
        libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGTRAP
    );
    is_such && info.si_code > OF_KERNEL
}

/// The handler of all signals that the program handles.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let is_inside = within::is_inside();
    // SAFETY: the kernel has put both on the stack.
    let (info_now, context_now) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
    let is_fault = is_of_instruction(signal, info_now);
    if is_fault && faults::is_ours(signal) && faults::recover(context_now) {
        end_of_fault(context_now);
        return;
    }
    if !is_inside || is_fault {
        within::set_inside(false);
        // SAFETY: these are what the kernel gives to handlers.
        unsafe { actions::run(signal, info, context) };
        within::set_inside(is_inside);
        return;
    }
    // All signals wait until the call has ended, so that there is never more than one here.
    WAITING.with(|place| {
        let waiting = Waiting { signal, info: *info_now, context: *context_now };
        // SAFETY: only this thread has it, and only while the word says so.
        unsafe { (*place.get()).write(waiting) };
    });
    block_all(&mut context_now.uc_sigmask);
    within::set_awaited(true);
}

/// After a call has failed, because memory that the program has passed is not there: handles a
/// signal that has waited for its end.
fn end_of_fault(context: &mut libc::ucontext_t) {
    within::set_inside(false);
    if within::is_awaited() {
        // SAFETY: the word said that there is one.
        let mask = WAITING.with(|place| unsafe { (*place.get()).assume_init_ref().mask() });
        deliver();
        // SAFETY: the kernel's set is the first word of the C library's.
        unsafe { (&raw mut context.uc_sigmask).cast::<u64>().write(mask) };
    }
}

impl Waiting {
    /// What was blocked when it came.
    fn mask(&self) -> u64 {
        // SAFETY: the kernel's set is the first word of the C library's.
        unsafe { (&raw const self.context.uc_sigmask).cast::<u64>().read() }
    }
}

fn block_all(mask: &mut libc::sigset_t) {
    let faults = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
    let faults = faults.iter().fold(0, |set, &signal| set | KernelSet::of(signal));
    // SAFETY: the kernel's set is the first word of the C library's.
    unsafe { (&raw mut *mask).cast::<u64>().write(!faults) };
}

/// Has the program handle the signal that was waiting.
#[cold]
#[inline(never)]
fn deliver() {
    within::set_awaited(false);
    // SAFETY: the word said that there is one.
    let mut waiting = WAITING.with(|place| unsafe { (*place.get()).assume_init_read() });
    let before = waiting.mask();
    let restarts = actions::restarts(waiting.signal);
    actions::set_mask(before | actions::mask_of(waiting.signal));
    let context = (&raw mut waiting.context).cast();
    // SAFETY: these are what the kernel gave to our handler.
    unsafe { actions::run(waiting.signal, &raw mut waiting.info, context) };
    RESTARTS.set(restarts);
    actions::set_mask(before);
}

/// Handles faults at addresses that the program has passed, and lets signals end what waits; to be
/// called at the start.
pub(crate) fn start() {
    faults::start(handle);
    densefs_process::give_up_waiting_if(within::is_awaited);
}

/// Serves `rt_sigaction`: the program's handlers are called by ours.
pub(crate) fn sigaction(call: &mut SystemCall) -> Decision {
    let [signal, new, old, size, ..] = call.arguments;
    let signal = int(signal);
    if size != size_of::<u64>() || !(1..=64).contains(&signal) {
        return Pass;
    }
    let pointer = std::ptr::with_exposed_provenance_mut::<Action>;
    let (new, old) = (pointer(new), pointer(old));
    // SAFETY: the program vouches for its pointers.
    let wanted = unsafe { new.as_ref().copied() };
    let ours = wanted.map(|wanted| {
        let ours = wanted.handled_by(handle);
        if faults::is_ours(signal) && ours == wanted { faults::action() } else { ours }
    });
    let mut was = Action::default();
    // The program's is there before ours can be called.
    let replaced = actions::get(signal);
    if let Some(wanted) = wanted {
        actions::set(signal, wanted);
    }
    let at = |action: Option<&Action>| {
        action.map_or(0, |action| std::ptr::from_ref(action).expose_provenance())
    };
    let arguments =
        [raw::number(signal), at(ours.as_ref()), (&raw mut was).expose_provenance(), size, 0, 0];
    // SAFETY: both are actions.
    let done = unsafe { raw::system_call(libc::SYS_rt_sigaction, arguments) };
    if done != 0 {
        actions::set(signal, replaced);
        return Executed(done);
    }
    if !old.is_null() {
        let was = if was.is_handled_by(handle) { replaced } else { was };
        // SAFETY: the program vouches for its pointers.
        unsafe { old.write(was) };
    }
    Executed(0)
}
