//! The clocks: what is read before and after an operation, and what the difference means.
//!
//! A reading is a count of *ticks*; only the clock it came from knows how long a tick is. The hot
//! path subtracts two readings and converts the difference with one multiplication.
//! [`SystemClock::calibrate`] chooses between the two real clocks; tests use
//! [`ManualClock`](crate::ManualClock).

use crate::tsc;
use rustix::time::{ClockId, clock_gettime};

/// A monotonic clock that is read around an operation.
pub trait Clock: Clone + Send + Sync {
    /// Whether reading it takes so little that a call by a pointer shows beside it. If so, a loop
    /// around an operation should be compiled for that operation.
    const IS_QUICK: bool = false;

    /// A reading that begins an interval: code before it has finished, and code after it has not
    /// yet begun.
    fn start(&self) -> u64;

    /// A reading that ends an interval: code before it has finished. Code after it may begin early,
    /// so it must not be used to begin an interval.
    fn end(&self) -> u64;

    /// A reading for any other purpose, such as the origin of a timeline or a deadline.
    fn ticks(&self) -> u64 {
        self.start()
    }

    /// Converts a difference in ticks to nanoseconds, rounded to the nearest.
    fn nanos(&self, ticks: u64) -> u64;

    /// Converts nanoseconds to ticks; `u64::MAX` on overflow.
    fn ticks_of(&self, nanos: u64) -> u64;
}

/// The invariant time-stamp counter of an x86-64 processor, at a known frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TscClock {
    /// Nanoseconds per tick, times 2 to the power of [`SHIFT`].
    nanos_per_tick: u64,
    /// Ticks per nanosecond, times 2 to the power of [`SHIFT`].
    ticks_per_nano: u64,
}

/// Fraction bits of the two factors. With 58 of 64, a tick may last up to 64 ns and a nanosecond up
/// to 64 ticks, and a factor of 0.1 is still accurate to 1 in 10^16.
const SHIFT: u32 = 58;

impl TscClock {
    /// The slowest counter this clock can represent, in hertz.
    pub(crate) const FREQUENCY_HZ_MIN: f64 = 20e6;
    /// The fastest counter this clock can represent, in hertz.
    pub(crate) const FREQUENCY_HZ_MAX: f64 = 60e9;

    /// Only the conversion. Call it only for a counter that has been found usable.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range of the frequency keeps both factors positive and below 2^64"
    )]
    pub(crate) fn converting_at(frequency_hz: f64) -> Option<Self> {
        let scale = (1_u64 << SHIFT) as f64;
        let allowed = Self::FREQUENCY_HZ_MIN..=Self::FREQUENCY_HZ_MAX;
        allowed.contains(&frequency_hz).then(|| Self {
            nanos_per_tick: (1e9 / frequency_hz * scale) as u64,
            ticks_per_nano: (frequency_hz / 1e9 * scale) as u64,
        })
    }

    /// The frequency that readings are converted with, in hertz.
    pub fn frequency_hz(&self) -> f64 {
        self.ticks_per_nano as f64 / (1_u64 << SHIFT) as f64 * 1e9
    }
}

impl Clock for TscClock {
    const IS_QUICK: bool = true;

    #[inline(always)]
    fn start(&self) -> u64 {
        tsc::start()
    }

    #[inline(always)]
    fn end(&self) -> u64 {
        tsc::end()
    }

    #[inline(always)]
    fn nanos(&self, ticks: u64) -> u64 {
        const HALF: u128 = 1 << (SHIFT - 1);
        let scaled = u128::from(ticks) * u128::from(self.nanos_per_tick) + HALF;
        low_half(scaled >> SHIFT)
    }

    fn ticks_of(&self, nanos: u64) -> u64 {
        let scaled = u128::from(nanos) * u128::from(self.ticks_per_nano);
        u64::try_from(scaled >> SHIFT).unwrap_or(u64::MAX)
    }
}

/// The low 64 bits. In the conversion to nanoseconds nothing is cut off for any difference that a
/// counter faster than 1 GHz can show, nor for more than a century on a slower one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the point of the function")]
fn low_half(wide: u128) -> u64 {
    wide as u64
}

/// The kernel's `CLOCK_MONOTONIC`, whose tick is one nanosecond.
///
/// On every architecture, the kernel orders the reading after the code before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    #[inline]
    fn start(&self) -> u64 {
        kernel_nanos(ClockId::Monotonic)
    }

    #[inline]
    fn end(&self) -> u64 {
        kernel_nanos(ClockId::Monotonic)
    }

    #[inline(always)]
    fn nanos(&self, ticks: u64) -> u64 {
        ticks
    }

    #[inline(always)]
    fn ticks_of(&self, nanos: u64) -> u64 {
        nanos
    }
}

/// Reads a kernel clock in nanoseconds. Only for clocks that count from boot, which are never
/// negative.
#[inline]
pub(crate) fn kernel_nanos(id: ClockId) -> u64 {
    let time = clock_gettime(id);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The clock that suits this machine, chosen by [`SystemClock::calibrate`].
///
/// It implements [`Clock`] for convenience. A hot loop should match on it once, outside, so that
/// the loop is compiled for each of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemClock {
    /// The time-stamp counter.
    Tsc(TscClock),
    /// The kernel's clock, used if the counter cannot be trusted.
    Monotonic(MonotonicClock),
}

impl Clock for SystemClock {
    #[inline]
    fn start(&self) -> u64 {
        match self {
            Self::Tsc(clock) => clock.start(),
            Self::Monotonic(clock) => clock.start(),
        }
    }

    #[inline]
    fn end(&self) -> u64 {
        match self {
            Self::Tsc(clock) => clock.end(),
            Self::Monotonic(clock) => clock.end(),
        }
    }

    #[inline]
    fn nanos(&self, ticks: u64) -> u64 {
        match self {
            Self::Tsc(clock) => clock.nanos(ticks),
            Self::Monotonic(clock) => clock.nanos(ticks),
        }
    }

    fn ticks_of(&self, nanos: u64) -> u64 {
        match self {
            Self::Tsc(clock) => clock.ticks_of(nanos),
            Self::Monotonic(clock) => clock.ticks_of(nanos),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HUNDRED_DAYS_NS: u64 = 100 * 86_400 * 1_000_000_000;

    proptest! {
        /// Checks the multiplication against exact arithmetic, up to 100 days at any real
        /// frequency.
        #[test]
        fn nanos_agree_with_exact_division(
            frequency_khz in 100_000_u64..10_000_000,
            nanos in 0..=HUNDRED_DAYS_NS,
        ) {
            let frequency_hz = u128::from(frequency_khz) * 1000;
            let ticks = u64::try_from(u128::from(nanos) * frequency_hz / 1_000_000_000).unwrap();
            let exact = (u128::from(ticks) * 1_000_000_000 + frequency_hz / 2) / frequency_hz;
            let clock = TscClock::converting_at(frequency_khz as f64 * 1e3).unwrap();
            let error = u128::from(clock.nanos(ticks)).abs_diff(exact);
            // 1 in 10^12 is a millionth of the accuracy required; rounding may differ by 1 ns.
            prop_assert!(error <= exact / 1_000_000_000_000 + 1, "{ticks} ticks: {error} ns off");
        }

        /// Converting there and back is off by at most two ticks, or 1 in 10^12.
        #[test]
        fn ticks_of_is_the_inverse_of_nanos(
            frequency_khz in 1_000_000_u64..10_000_000,
            nanos in 0..=HUNDRED_DAYS_NS,
        ) {
            let clock = TscClock::converting_at(frequency_khz as f64 * 1e3).unwrap();
            let back = clock.nanos(clock.ticks_of(nanos));
            prop_assert!(back.abs_diff(nanos) <= nanos / 1_000_000_000_000 + 2);
        }
    }

    #[test]
    fn conversions_hold_at_the_ends_of_the_range() {
        let slow = TscClock::converting_at(TscClock::FREQUENCY_HZ_MIN).unwrap();
        assert_eq!((slow.nanos(0), slow.nanos(1), slow.nanos(20_000_000)), (0, 50, 1_000_000_000));
        let fast = TscClock::converting_at(TscClock::FREQUENCY_HZ_MAX).unwrap();
        assert_eq!((fast.nanos(60), fast.ticks_of(1)), (1, 60));
        assert_eq!(fast.ticks_of(u64::MAX), u64::MAX);
        assert!(fast.nanos(u64::MAX).abs_diff(u64::MAX / 60) < 1000);
    }

    #[test]
    fn an_impossible_frequency_makes_no_clock() {
        for frequency_hz in [0.0, -1.0, 1e6, 1e12, f64::NAN, f64::INFINITY] {
            assert_eq!(TscClock::converting_at(frequency_hz), None, "{frequency_hz}");
        }
    }

    #[test]
    fn the_frequency_is_kept() {
        let clock = TscClock::converting_at(2_596_130_000.0).unwrap();
        assert!((clock.frequency_hz() - 2_596_130_000.0).abs() < 0.001);
    }

    #[test]
    fn real_clocks_never_run_backwards() {
        fn check(clock: &impl Clock) {
            let mut last = clock.start();
            for _ in 0..10_000 {
                for reading in [clock.end(), clock.ticks(), clock.start()] {
                    assert!(reading >= last);
                    last = reading;
                }
            }
        }
        check(&MonotonicClock);
        check(&SystemClock::calibrate().0);
    }
}
