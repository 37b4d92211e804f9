//! When the events of a log with times are due.

use std::time::Duration;

/// When the events of a log with times are due, since its replay began.
///
/// fio waits between two lines for as long as their times are apart, so the sum of those intervals
/// is when a line is due. There is no interval if the line above has time 0 or a later time, or
/// isn't there; the interval above a line that is left out is lost.
pub(super) struct ReplayClock {
    latest_us: u64,
    elapsed_us: u64,
    percent: u32,
}

impl ReplayClock {
    /// A clock that goes so many percent as fast as the log's.
    pub(super) fn new(percent: u32) -> Self {
        Self { latest_us: 0, elapsed_us: 0, percent: if percent == 0 { 100 } else { percent } }
    }

    /// Goes on to a line's time. The interval is lost unless [`Self::wait`] is called with it.
    pub(super) fn interval_us(&mut self, time_us: u64) -> u64 {
        let latest_us = std::mem::replace(&mut self.latest_us, time_us);
        if latest_us == 0 { 0 } else { time_us.saturating_sub(latest_us) }
    }

    /// Counts an interval.
    pub(super) fn wait(&mut self, interval_us: u64) {
        self.elapsed_us = self.elapsed_us.saturating_add(interval_us);
    }

    /// When what follows the intervals counted is due.
    pub(super) fn due(&self) -> Duration {
        if self.percent == 100 {
            return Duration::from_micros(self.elapsed_us);
        }
        let nanos = u128::from(self.elapsed_us) * 100_000 / u128::from(self.percent);
        let seconds = u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX);
        let fraction = u32::try_from(nanos % 1_000_000_000).expect("less than the divisor");
        Duration::new(seconds, fraction)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ReplayClock;

    fn due_ms(percent: u32, times_ms: &[u64]) -> Vec<u128> {
        let mut clock = ReplayClock::new(percent);
        let due = |&time_ms: &u64| {
            let interval_us = clock.interval_us(time_ms * 1_000);
            clock.wait(interval_us);
            clock.due().as_millis()
        };
        times_ms.iter().map(due).collect()
    }

    /// fio 3.33 was seen to sleep 100 ms before the second and the third of these events, 300 ms
    /// before the seventh, and not at all before the others.
    #[test]
    fn intervals_are_those_of_fio() {
        let times_ms = [100, 200, 300, 100, 0, 200, 500, 500];
        assert_eq!(due_ms(100, &times_ms), [0, 100, 200, 200, 200, 200, 500, 500]);
    }

    #[test]
    fn time_scales_without_drift() {
        assert_eq!(due_ms(50, &[1, 2, 5]), [0, 2, 8]);
        assert_eq!(due_ms(200, &[1, 2, 5]), [0, 0, 2]);
        let mut clock = ReplayClock::new(300);
        for time_us in 1..=3_000_001 {
            let interval_us = clock.interval_us(time_us);
            clock.wait(interval_us);
        }
        assert_eq!(clock.due(), Duration::from_secs(1));
    }

    #[test]
    fn the_largest_times_do_not_overflow() {
        for percent in [0, 1, 100, u32::MAX] {
            let mut clock = ReplayClock::new(percent);
            for time_us in [1, u64::MAX, 1, u64::MAX] {
                let interval_us = clock.interval_us(time_us);
                clock.wait(interval_us);
                clock.due();
            }
        }
    }
}
