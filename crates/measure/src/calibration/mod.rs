//! Chooses this machine's clock, finds its frequency and says how good it is.
//!
//! The time-stamp counter is used only if it passes three tests:
//!
//! 1. The processor says that its counter is invariant (`cpuid` leaf 0x80000007, EDX bit 8).
//! 2. The kernel trusts it: its clock source is `tsc`, or a hypervisor's clock that is itself
//!    computed from the counter, with `tsc` still listed as available. The kernel checks the
//!    counter against other timers and across processors, which no program can do as well, and
//!    takes it off the list for good once it has drifted.
//! 3. It does well here: reading it costs no more than reading the kernel's clock (a hypervisor
//!    may intercept it), and its rate is steady during calibration.
//!
//! The frequency is the median slope between pairs of *references*, each a reading of the counter
//! tightly enclosed by `CLOCK_MONOTONIC_RAW`, which time synchronisation does not steer.

use crate::clock::{Clock, MonotonicClock, SystemClock, TscClock, kernel_nanos};
use crate::clock_report::{ClockReport, ClockSource, WhyNotTsc};
use crate::tsc;
use rustix::time::ClockId;
use std::{fs, hint};

/// How many references calibration takes; with [`SPACING_NS`] it lasts 16 ms.
const REFERENCES: u64 = 9;
/// The time from one reference to the next.
const SPACING_NS: u64 = 2_000_000;
/// How many times each reference is taken; the tightest is kept.
const ATTEMPTS: u32 = 16;
/// The counter is not used if its calibration error is larger than this.
const ERROR_PPM_MAX: f64 = 100.0;

/// The same moment on the calibrated clock and on `CLOCK_MONOTONIC_RAW`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The clock's reading.
    pub ticks: u64,
    /// The kernel's reading, in nanoseconds since boot.
    pub raw_ns: u64,
    /// How far `raw_ns` may be from the moment of `ticks`, in either direction.
    pub uncertainty_ns: u64,
}

impl SystemClock {
    /// Chooses the clock and measures its properties. Takes about 17 ms, so call it right before
    /// measuring, not at program start.
    pub fn calibrate() -> (Self, ClockReport) {
        match calibrated_tsc() {
            Ok(chosen) => chosen,
            Err(why_not_tsc) => monotonic(why_not_tsc),
        }
    }

    /// The current time, on this clock and on `CLOCK_MONOTONIC_RAW`: the tightest of several tries.
    pub fn reference(&self) -> Reference {
        match self {
            Self::Tsc(clock) => reference_of(clock),
            Self::Monotonic(clock) => reference_of(clock),
        }
    }

    /// How much faster this clock has run than `CLOCK_MONOTONIC_RAW` since the reference `since`,
    /// in parts per million; negative if slower. 0 if no time has passed on the kernel's clock.
    /// Over less than a second, the uncertainty of the two references is a visible part of the
    /// result.
    pub fn drift_ppm(&self, since: &Reference) -> f64 {
        drift_between_ppm(self, since, &self.reference())
    }
}

fn drift_between_ppm(clock: &impl Clock, since: &Reference, now: &Reference) -> f64 {
    let raw_ns = now.raw_ns.saturating_sub(since.raw_ns);
    if raw_ns == 0 {
        return 0.0;
    }
    let own_ns = clock.nanos(now.ticks.saturating_sub(since.ticks));
    // Subtract as integers, which is exact; subtracting floating-point numbers would not be.
    (i128::from(own_ns) - i128::from(raw_ns)) as f64 / raw_ns as f64 * 1e6
}

/// The calibrated counter, or the first reason against it.
fn calibrated_tsc() -> Result<(SystemClock, ClockReport), WhyNotTsc> {
    if let Some(why_not_tsc) = tsc::unusable() {
        return Err(why_not_tsc);
    }
    let clock_source = |name: &str| {
        fs::read_to_string(format!(
            "/sys/devices/system/clocksource/clocksource0/{name}_clocksource"
        ))
        .map_err(|_| WhyNotTsc::KernelSilent)
    };
    kernel_trust(&clock_source("current")?, &clock_source("available")?)?;

    // Any frequency will do for taking references, since they are in ticks.
    let uncalibrated = TscClock::converting_at(1e9).expect("1 GHz is a frequency");
    let references = spaced_references(&uncalibrated);
    let (frequency_hz, error_ppm) = fit(&references);
    let steady = TscClock::converting_at(frequency_hz).filter(|_| error_ppm <= ERROR_PPM_MAX);
    let Some(clock) = steady else {
        return Err(WhyNotTsc::Unsteady { error_ppm });
    };
    let tsc_ns = cost_ns(&clock);
    let monotonic_ns = cost_ns(&MonotonicClock);
    // On most machines the two cost about the same. Only interception makes such a difference.
    if tsc_ns > 2.0 * monotonic_ns {
        return Err(WhyNotTsc::Slow { tsc_ns, monotonic_ns });
    }
    let report = ClockReport {
        source: ClockSource::Tsc,
        frequency_hz,
        precision_ns: precision_ns(&clock),
        cost_ns: tsc_ns,
        calibration_error_ppm: error_ppm,
    };
    Ok((SystemClock::Tsc(clock), report))
}

fn monotonic(why_not_tsc: WhyNotTsc) -> (SystemClock, ClockReport) {
    let clock = MonotonicClock;
    let (frequency_hz, error_ppm) = fit(&spaced_references(&clock));
    let steered_ppm = (frequency_hz / 1e9 - 1.0).abs() * 1e6;
    let report = ClockReport {
        source: ClockSource::Monotonic { why_not_tsc },
        frequency_hz: 1e9,
        precision_ns: precision_ns(&clock),
        cost_ns: cost_ns(&clock),
        calibration_error_ppm: error_ppm + steered_ppm,
    };
    (SystemClock::Monotonic(clock), report)
}

/// Whether the kernel trusts the counter, judging by its current and available clock sources.
fn kernel_trust(current: &str, available: &str) -> Result<(), WhyNotTsc> {
    /// Clocks of hypervisors (KVM, Hyper-V, Xen) that read the counter and scale it.
    const COMPUTED_FROM_TSC: [&str; 3] = ["kvm-clock", "hyperv_clocksource_tsc_page", "xen"];
    let current = current.trim();
    let on_offer = available.split_whitespace().any(|name| name == "tsc");
    if current == "tsc" || on_offer && COMPUTED_FROM_TSC.contains(&current) {
        return Ok(());
    }
    Err(WhyNotTsc::KernelDistrusts { current: current.to_owned() })
}

/// A reading between two of the kernel's clock: the most tightly enclosed of several tries.
fn reference_of(clock: &impl Clock) -> Reference {
    let attempt = || {
        let before_ns = kernel_nanos(ClockId::MonotonicRaw);
        let ticks = clock.ticks();
        let after_ns = kernel_nanos(ClockId::MonotonicRaw);
        let width_ns = after_ns.saturating_sub(before_ns);
        let raw_ns = before_ns + width_ns / 2;
        Reference { ticks, raw_ns, uncertainty_ns: width_ns.div_ceil(2) }
    };
    let first = attempt();
    (1..ATTEMPTS).map(|_| attempt()).fold(first, |best, next| {
        if next.uncertainty_ns < best.uncertainty_ns { next } else { best }
    })
}

/// Evenly spaced references. The wait spins, because the scheduler decides how long a sleep takes.
fn spaced_references(clock: &impl Clock) -> Vec<Reference> {
    let begin_ns = kernel_nanos(ClockId::MonotonicRaw);
    let spaced = (0..REFERENCES).map(|number| {
        while kernel_nanos(ClockId::MonotonicRaw) < begin_ns + number * SPACING_NS {
            hint::spin_loop();
        }
        reference_of(clock)
    });
    spaced.collect()
}

/// Frequency in hertz and its error in parts per million.
///
/// The frequency is the median of the slopes between all pairs of references that are at least half
/// the total time apart: the Theil-Sen estimator, without the pairs too close together to say much.
/// The error is the median distance of those slopes from it, or how far the typical uncertainty of
/// two references could tilt the line, whichever is larger. One wild reference out of nine affects
/// neither.
fn fit(references: &[Reference]) -> (f64, f64) {
    let times = references.iter().map(|reference| reference.raw_ns);
    let span_ns = times.clone().max().unwrap_or(0) - times.min().unwrap_or(0);
    let apart_ns = |a: &Reference, b: &Reference| b.raw_ns.saturating_sub(a.raw_ns);
    let pairs = references.iter().flat_map(|a| references.iter().map(move |b| (a, b)));
    let far = pairs.filter(|(a, b)| apart_ns(a, b) > 0 && apart_ns(a, b) >= span_ns / 2);
    let slopes = far.map(|(a, b)| b.ticks.saturating_sub(a.ticks) as f64 / apart_ns(a, b) as f64);
    let slopes: Vec<f64> = slopes.collect();
    if slopes.is_empty() {
        return (0.0, f64::INFINITY);
    }
    let uncertainty_ns = median(references.iter().map(|r| r.uncertainty_ns as f64));
    let slope = median(slopes.iter().copied());
    let scatter = median(slopes.iter().map(|other| (other - slope).abs())) / slope;
    (slope * 1e9, scatter.max(2.0 * uncertainty_ns / span_ns as f64) * 1e6)
}

/// The upper median. Needs at least one value.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The cost of one reading: the mean within the fastest, least disturbed, of several batches.
fn cost_ns(clock: &impl Clock) -> f64 {
    const BATCHES: u32 = 20;
    const PAIRS: u32 = 100;
    let batch = |_| {
        let begin_ns = kernel_nanos(ClockId::MonotonicRaw);
        for _ in 0..PAIRS {
            hint::black_box((clock.start(), clock.end()));
        }
        kernel_nanos(ClockId::MonotonicRaw).saturating_sub(begin_ns)
    };
    (0..BATCHES).map(batch).min().unwrap_or(0) as f64 / f64::from(2 * PAIRS)
}

/// The smallest nonzero difference between two successive readings; 0 if there was none.
fn precision_ns(clock: &impl Clock) -> f64 {
    /// One tick is too little to convert to whole nanoseconds, so a million are converted at once.
    const SCALE: u64 = 1_000_000;
    const PAIRS: u32 = 2000;
    let differences = (0..PAIRS).map(|_| {
        let start_ticks = clock.start();
        clock.end().saturating_sub(start_ticks)
    });
    let least_ticks = differences.filter(|&ticks| ticks > 0).min().unwrap_or(0);
    clock.nanos(least_ticks.saturating_mul(SCALE)) as f64 / SCALE as f64
}

#[cfg(test)]
mod tests;
