//! How long one operation took: the clock read before and after it, and where the time is kept.
//!
//! A thread that times operations owns a [`Recorder`] and brackets each call with [`Clock::start`]
//! and [`Clock::end`]:
//!
//! ```
//! use measure::{Clock, ManualClock, Recorder};
//!
//! let clock = ManualClock::with_step(100);
//! let origin_ticks = clock.ticks();
//! let mut recorder = Recorder::new(origin_ticks, clock.ticks_of(10_000_000));
//! for _ in 0..1000 {
//!     let start_ticks = clock.start();
//!     // The operation goes here.
//!     let end_ticks = clock.end();
//!     if recorder.record(start_ticks, end_ticks, &clock) {
//!         // Rare: check a stop flag here.
//!     }
//! }
//! assert_eq!(recorder.operations(), 1000);
//! assert_eq!(recorder.histogram().quantile(0.5), 100.0);
//! ```
//!
//! Nothing is averaged away: every operation is counted in a [`Histogram`] (relative error below 1
//! %, never saturates) and in a [`Timeline`] (a coarser histogram per slice of time, bounded
//! memory). Threads share nothing; their recorders are merged after the last operation.
//!
//! Start reading at [`clock`]; [`calibration`] says which clock is used and why, and `tsc` why its
//! readings are ordered.

pub mod calibration;
pub mod clock;
pub mod clock_report;
pub mod counters;
pub mod histogram;
pub mod manual;
pub mod processor_time;
pub mod recorder;
pub mod timeline;

mod tsc;

pub use calibration::Reference;
pub use clock::{Clock, MonotonicClock, SystemClock, TscClock};
pub use clock_report::{ClockReport, ClockSource, WhyNotTsc};
pub use counters::{CountersError, ProcessorCounters, RawEvent, UserCounters, UserCounts};
pub use histogram::{Bucket, Exact, Histogram, HistogramError};
pub use manual::ManualClock;
pub use processor_time::{thread_processor_ns, thread_waited_ns};
pub use recorder::Recorder;
pub use timeline::{Slice, Timeline};
