//! Signals that request an orderly end, or an immediate one.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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

#[expect(clippy::cast_sign_loss, reason = "this clock has no negative times")]
fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}
