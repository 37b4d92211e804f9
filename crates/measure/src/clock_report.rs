//! Which clock was chosen, why it is not the counter if it is not, and how good it is.

use std::fmt;

/// What is known about the chosen clock. Keep it with everything measured by that clock.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockReport {
    /// Which clock was chosen.
    pub source: ClockSource,
    /// Ticks per second.
    pub frequency_hz: f64,
    /// The smallest nonzero difference between two successive readings.
    pub precision_ns: f64,
    /// The cost of one reading, averaged over many.
    pub cost_ns: f64,
    /// How far the clock's rate may be from that of `CLOCK_MONOTONIC_RAW`, in parts per million.
    /// For the kernel's clock this includes how hard time synchronisation was steering it.
    pub calibration_error_ppm: f64,
}

/// Which clock is in use.
#[derive(Debug, Clone, PartialEq)]
pub enum ClockSource {
    /// The invariant time-stamp counter.
    Tsc,
    /// `CLOCK_MONOTONIC`, because the counter cannot be used.
    Monotonic {
        /// Why not the counter.
        why_not_tsc: WhyNotTsc,
    },
}

/// Why the time-stamp counter is not used as the clock.
#[derive(Debug, Clone, PartialEq)]
pub enum WhyNotTsc {
    /// Only x86-64 has this counter.
    Architecture,
    /// Its rate changes with the processor's speed, or it stops in sleep.
    NotInvariant,
    /// The processor cannot read it in order.
    NoRdtscp,
    /// The kernel does not say which clock sources it trusts.
    KernelSilent,
    /// The kernel trusts another clock source.
    KernelDistrusts {
        /// The clock source that the kernel uses.
        current: String,
    },
    /// Reading it costs more than reading the kernel's clock.
    Slow {
        /// The cost of reading the counter.
        tsc_ns: f64,
        /// The cost of reading `CLOCK_MONOTONIC`.
        monotonic_ns: f64,
    },
    /// Its rate could not be determined well enough.
    Unsteady {
        /// The calibration error.
        error_ppm: f64,
    },
}

impl fmt::Display for ClockSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tsc => write!(f, "invariant TSC"),
            Self::Monotonic { why_not_tsc } => write!(f, "CLOCK_MONOTONIC ({why_not_tsc})"),
        }
    }
}

impl fmt::Display for WhyNotTsc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Architecture => write!(f, "this architecture has no TSC"),
            Self::NotInvariant => write!(f, "the processor's TSC is not invariant"),
            Self::NoRdtscp => write!(f, "the processor has no rdtscp instruction"),
            Self::KernelSilent => {
                write!(f, "the kernel's clock source cannot be read from /sys/devices/system")
            }
            Self::KernelDistrusts { current } => {
                write!(f, "the kernel's clock source is {current}, not tsc")
            }
            Self::Slow { tsc_ns, monotonic_ns } => write!(
                f,
                "reading the TSC costs {tsc_ns:.0} ns, the kernel's clock {monotonic_ns:.0} ns"
            ),
            Self::Unsteady { error_ppm } => {
                write!(f, "the TSC's frequency is known only to {error_ppm:.0} ppm")
            }
        }
    }
}
