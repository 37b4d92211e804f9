//! The processor's time-stamp counter, read so that the readings stay where they were written.
//!
//! A bare `rdtsc` may be executed before the instructions in front of it, or after those behind it.
//! The two readings here are the cheapest that enclose an operation and nothing else:
//!
//! - [`start`] is `rdtsc; lfence`. The fence keeps the operation from beginning before the reading.
//!   (A system call would be ordered anyway; a memory copy or a library call would not.) The
//!   reading may be taken before the last of the bookkeeping in front of it has been executed,
//!   which makes an operation seem longer, never shorter, by the few nanoseconds that takes; a
//!   second fence to prevent it would cost every operation 14 ns.
//! - [`end`] is a bare `rdtscp`, which waits until every instruction before it has been executed
//!   and every load is globally visible. Code after it may begin early, but that is bookkeeping.
//!   Stores may still be on their way to the cache; waiting for them would time the memory system's
//!   write buffer, not the operation.
//!
//! Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, RDTSC, RDTSCP
//! and LFENCE; G. Paoloni, "How to Benchmark Code Execution Times on Intel IA-32 and IA-64", whose
//! `cpuid` is replaced by `lfence`: it also waits for the instructions before it (though not for
//! their stores), and does not trap under a hypervisor as `cpuid` does. On AMD processors `lfence`
//! waits because Linux sets the bit that makes it do so.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "the time-stamp counter has no safe interface")
)]

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use crate::clock_report::WhyNotTsc;
    use std::arch::x86_64::{__cpuid, __rdtscp, _mm_lfence, _rdtsc};

    /// Reads the counter before anything that follows.
    #[inline(always)]
    pub(crate) fn start() -> u64 {
        // SAFETY: `lfence` and `rdtsc` touch no memory; `lfence` is part of SSE2, which every
        // x86-64 processor has, and Linux lets user programs execute `rdtsc`.
        unsafe {
            let ticks = _rdtsc();
            _mm_lfence();
            ticks
        }
    }

    /// Reads the counter after everything before it.
    #[inline(always)]
    pub(crate) fn end() -> u64 {
        let mut processor = 0;
        // SAFETY: the only memory that `rdtscp` writes is the local passed to it; `unusable` has
        // checked for the instruction before any `TscClock` could be made.
        unsafe { __rdtscp(&raw mut processor) }
    }

    /// Why the counter cannot serve as a clock, according to the processor.
    pub(crate) fn unusable() -> Option<WhyNotTsc> {
        const EXTENDED_FEATURES: u32 = 0x8000_0001;
        const POWER_MANAGEMENT: u32 = 0x8000_0007;
        const RDTSCP_IN_EDX: u32 = 1 << 27;
        const INVARIANT_TSC_IN_EDX: u32 = 1 << 8;
        if cpuid_edx(POWER_MANAGEMENT) & INVARIANT_TSC_IN_EDX == 0 {
            return Some(WhyNotTsc::NotInvariant);
        }
        (cpuid_edx(EXTENDED_FEATURES) & RDTSCP_IN_EDX == 0).then_some(WhyNotTsc::NoRdtscp)
    }

    /// Register EDX of an extended `cpuid` leaf, 0 where the processor does not have the leaf.
    #[allow(unused_unsafe, reason = "`__cpuid` is unsafe in the oldest supported compiler only")]
    fn cpuid_edx(leaf: u32) -> u32 {
        const LAST_EXTENDED_LEAF: u32 = 0x8000_0000;
        // SAFETY: every x86-64 processor has `cpuid`, and it touches no memory.
        unsafe { if __cpuid(LAST_EXTENDED_LEAF).eax < leaf { 0 } else { __cpuid(leaf).edx } }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use crate::clock_report::WhyNotTsc;

    /// Never called: `unusable` keeps a `TscClock` from being made.
    pub(crate) fn start() -> u64 {
        0
    }

    /// Never called: `unusable` keeps a `TscClock` from being made.
    pub(crate) fn end() -> u64 {
        0
    }

    /// Only x86-64 has this counter.
    pub(crate) fn unusable() -> Option<WhyNotTsc> {
        Some(WhyNotTsc::Architecture)
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use elsewhere::{end, start, unusable};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{end, start, unusable};
