//! What the core needs from a kernel, and what a panic does there.
#![cfg_attr(target_os = "none", expect(unsafe_code, reason = "functions of the kernel"))]

#[cfg(target_os = "none")]
unsafe extern "C" {
    /// Nanoseconds since 1970, as of the last tick of the clock.
    safe fn densefs_now_ns() -> u64;
    /// Stops the thread: something is wrong that cannot be.
    safe fn densefs_bug() -> !;
}

/// Nanoseconds since 1970, as of the last tick of the clock.
#[cfg(target_os = "none")]
#[inline(always)]
pub(crate) fn now_ns() -> u64 {
    densefs_now_ns()
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
