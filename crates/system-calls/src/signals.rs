//! Signals that request an orderly end, or an immediate one.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};
use signal_hook::low_level::{exit, register};

/// Signals that follow the first one within this time are the same request: `timeout` sends each
/// signal twice, to its child and to the group.
const ONE_WISH_MS: u64 = 300;

/// Makes the first of these signals set `stop`, and a later one end the process immediately with
/// this status.
///
/// # Errors
/// If a handler cannot be installed.
pub fn stop_then_end(signals: &[i32], stop: &Arc<AtomicBool>, status: i32) -> io::Result<()> {
    let first_ms: Arc<AtomicU64> = Arc::default();
    for &signal in signals {
        let (stop, first_ms) = (Arc::clone(stop), Arc::clone(&first_ms));
        let handle = move || {
            let now_ms = now_ms().max(1);
            match first_ms.compare_exchange(0, now_ms, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => stop.store(true, Ordering::SeqCst),
                Err(first_ms) if now_ms.saturating_sub(first_ms) > ONE_WISH_MS => exit(status),
                Err(_) => {}
            }
        };
        // SAFETY: the handler reads a clock, and loads and stores atomics, or else ends the process
        // by _exit(2). All of this is async-signal-safe.
        unsafe { register(signal, handle) }?;
    }
    Ok(())
}

/// Blocks every signal that can be blocked, in this thread and in those that it starts.
pub fn block_signals() {
    let mut all = MaybeUninit::uninit();
    // SAFETY: the set is on this stack, and sigfillset initialises it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), ptr::null_mut());
    }
}

/// Leaves signals to a child that does this process's work: those that a terminal sends to both are
/// ignored here, and those that ask for an end are passed on to it.
///
/// # Errors
/// If a handler cannot be installed.
pub fn leave_signals_to(child: Pid) -> io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: the handler does nothing.
        unsafe { register(signal, || ()) }?;
    }
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
        let pass_on = move || {
            // SAFETY: kill(2) takes no pointers.
            unsafe { libc::kill(child.as_raw_nonzero().get(), signal) };
        };
        // SAFETY: kill(2) is async-signal-safe.
        unsafe { register(signal, pass_on) }?;
    }
    Ok(())
}

/// Ends this process as a signal does. Those that it could not be ended by are told by the exit
/// status, as shells do.
pub fn end_by(signal: i32) -> ! {
    // A core has been written already.
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(rustix::process::Resource::Core, none).ok();
    // SAFETY: the default action takes the place of whatever handler there is.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    exit(128_i32.saturating_add(signal))
}

#[expect(clippy::cast_sign_loss, reason = "this clock has no negative times")]
fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}
