//! What the core needs from a kernel, and what a panic does there.
#![cfg_attr(target_os = "none", expect(unsafe_code, reason = "functions of the kernel"))]

#[cfg(target_os = "none")]
use core::mem::MaybeUninit;

#[cfg(target_os = "none")]
unsafe extern "C" {
    /// Seconds since 1970 and nanoseconds, as of the last tick of the clock.
    safe fn ktime_get_coarse_real_ts64(now: &mut MaybeUninit<[u64; 2]>);
    /// Stops the thread: something is wrong that cannot be.
    safe fn densefs_bug() -> !;
}

/// Nanoseconds since 1970, as of the last tick of the clock.
#[cfg(target_os = "none")]
#[inline(always)]
pub(crate) fn now_ns() -> u64 {
    let mut now = MaybeUninit::uninit();
    ktime_get_coarse_real_ts64(&mut now);
    // SAFETY: the kernel has filled it in.
    let [seconds, nanoseconds] = unsafe { now.assume_init() };
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds)
}

/// There is no clock where this is only compiled to be checked.
#[cfg(not(target_os = "none"))]
pub(crate) fn now_ns() -> u64 {
    0
}

#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    densefs_bug()
}
