//! How Bonnie times things.

use std::io;

use measure::{Clock, SystemClock, thread_processor_ns};

/// The time that something took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TimeTaken {
    pub(super) elapsed_ns: u64,
    /// Processor time of the threads that did it.
    pub(super) processor_ns: u64,
}

/// Times what the calling thread does.
pub(super) fn timed<T>(
    clock: &SystemClock,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, TimeTaken)> {
    let processor_before_ns = thread_processor_ns();
    let start_ticks = clock.start();
    let done = act()?;
    let end_ticks = clock.end();
    let processor_ns = thread_processor_ns().saturating_sub(processor_before_ns);
    let elapsed_ns = clock.nanos(end_ticks.saturating_sub(start_ticks));
    Ok((done, TimeTaken { elapsed_ns, processor_ns }))
}

impl TimeTaken {
    /// Units per second, and processor time in percent of elapsed time, which exceeds 100 if
    /// several threads are busy.
    pub(super) fn metrics(self, units: u64) -> Vec<f64> {
        let elapsed_ns = self.elapsed_ns.max(1) as f64;
        vec![units as f64 / (elapsed_ns / 1e9), self.processor_ns as f64 / elapsed_ns * 100.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_by_the_second_and_the_processors_share_is_in_percent() {
        let took = TimeTaken { elapsed_ns: 500_000_000, processor_ns: 400_000_000 };
        assert_eq!(took.metrics(1000), [2000.0, 80.0]);
        let two = TimeTaken { elapsed_ns: 100, processor_ns: 150 };
        assert!((two.metrics(1)[1] - 150.0).abs() < 1e-9);
    }
}
