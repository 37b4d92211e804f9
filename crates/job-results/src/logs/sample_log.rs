//! A log with a line for each sample, or for each stretch of time.

use std::io::{self, Write};

use super::LogKind;
use crate::direction::{DataDirection, PerDirection};
use crate::numbers::whole;
use crate::statistics::Moments;

/// How many milliseconds before its end a stretch may be closed by a sample of a rate: those come
/// when a timer fires.
const SLACK_MS: u64 = 1;

/// What a line says about the samples of a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowValue {
    /// Their mean, rounded.
    #[default]
    Mean,
    /// The largest: `log_max_value`.
    Maximum,
}

/// How a log is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleLogSettings {
    /// For how long samples share a line: `log_avg_msec`; 0 if each has its own.
    pub window_ms: u64,
    /// What a line says about those that share it.
    pub window_value: WindowValue,
    /// Whether lines have offsets: `log_offset`.
    pub has_offsets: bool,
    /// Whether lines have the priority, rather than whether it is of the real-time class:
    /// `log_prio`.
    pub has_priorities: bool,
    /// Added to all times: when the job began, for `log_unix_epoch`.
    pub epoch_ms: u64,
}

/// A sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSample {
    /// Of which direction it is.
    pub direction: DataDirection,
    /// A latency in nanoseconds, KiB/s, operations per second.
    pub value: u64,
    /// The operation's bytes; 0 if there is no such number.
    pub bytes: u64,
    /// The operation's offset.
    pub offset: u64,
    /// The operation's priority, as the kernel takes it.
    pub priority: u16,
}

/// A log with a line for each sample, or for each stretch of time and each direction.
#[derive(Clone, Debug)]
pub struct SampleLog {
    kind: LogKind,
    settings: SampleLogSettings,
    lines: Vec<(u64, LogSample)>,
    windows: PerDirection<Window>,
}

/// The samples of a stretch of time.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    began_ms: u64,
    samples: Moments,
}

impl SampleLog {
    /// An empty log.
    pub fn new(kind: LogKind, settings: SampleLogSettings) -> Self {
        Self { kind, settings, lines: Vec::new(), windows: PerDirection::default() }
    }

    /// Takes in a sample, so long after the job began.
    pub fn add(&mut self, elapsed_ms: u64, sample: LogSample) {
        if self.settings.window_ms == 0 {
            self.lines.push((elapsed_ms, sample));
            return;
        }
        let window = &mut self.windows[sample.direction];
        window.samples.add(sample.value);
        let Some(spent_ms) = elapsed_ms.checked_sub(window.began_ms) else { return };
        let left_ms = self.settings.window_ms.saturating_sub(spent_ms);
        let slack_ms = if self.kind.is_latency() { 0 } else { SLACK_MS };
        if left_ms > slack_ms {
            return;
        }
        self.close_window(elapsed_ms, sample.direction);
        self.windows[sample.direction].began_ms = elapsed_ms - elapsed_ms % self.settings.window_ms;
    }

    /// Takes in what has not filled a stretch of time when the job ends.
    pub fn finish(&mut self, elapsed_ms: u64) {
        for direction in DataDirection::ALL {
            self.close_window(elapsed_ms, direction);
        }
    }

    fn close_window(&mut self, elapsed_ms: u64, direction: DataDirection) {
        let samples = std::mem::take(&mut self.windows[direction].samples);
        let Some(samples) = samples.known() else { return };
        let value = match self.settings.window_value {
            WindowValue::Mean => whole(samples.mean + 0.5),
            WindowValue::Maximum => samples.max,
        };
        let line = LogSample { direction, value, bytes: 0, offset: 0, priority: 0 };
        self.lines.push((elapsed_ms, line));
    }

    /// Writes all lines.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (time_ms, sample) in &self.lines {
            let time_ms = time_ms + self.settings.epoch_ms;
            let (value, direction) = (sample.value.cast_signed(), sample.direction.number());
            write!(out, "{time_ms}, {value}, {direction}, {}, ", sample.bytes)?;
            if self.settings.has_offsets {
                write!(out, "{}, ", sample.offset)?;
            }
            if self.settings.has_priorities {
                writeln!(out, "0x{:04x}", sample.priority)?;
            } else {
                writeln!(out, "{}", u8::from(sample.priority >> 13 == 1))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(value: u64) -> LogSample {
        let (direction, bytes, offset) = (DataDirection::Write, 4_096, 8_192);
        LogSample { direction, value, bytes, offset, priority: 0x2003 }
    }

    fn text(log: &SampleLog) -> String {
        let mut text = Vec::new();
        log.write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn each_sample_has_a_line() {
        let mut settings = SampleLogSettings { epoch_ms: 1_000, ..SampleLogSettings::default() };
        let lines = |settings| {
            let mut log = SampleLog::new(LogKind::Completion, settings);
            log.add(5, sample(70));
            log.finish(9);
            text(&log)
        };
        assert_eq!(lines(settings), "1005, 70, 1, 4096, 1\n");
        settings.has_offsets = true;
        assert_eq!(lines(settings), "1005, 70, 1, 4096, 8192, 1\n");
        settings.has_priorities = true;
        assert_eq!(lines(settings), "1005, 70, 1, 4096, 8192, 0x2003\n");
    }

    #[test]
    fn stretches_of_time_share_a_line() {
        let mut settings = SampleLogSettings { window_ms: 10, ..SampleLogSettings::default() };
        let lines = |settings, kind| {
            let mut log = SampleLog::new(kind, settings);
            for (elapsed_ms, value) in [(1, 10), (9, 21), (12, 40), (15, 7), (23, 8), (24, 1)] {
                log.add(elapsed_ms, sample(value));
            }
            log.finish(25);
            text(&log)
        };
        let expected = "12, 24, 1, 0, 0\n23, 8, 1, 0, 0\n25, 1, 1, 0, 0\n";
        assert_eq!(lines(settings, LogKind::Total), expected);
        let early = "9, 16, 1, 0, 0\n12, 40, 1, 0, 0\n23, 8, 1, 0, 0\n25, 1, 1, 0, 0\n";
        assert_eq!(lines(settings, LogKind::Iops), early);
        settings.window_value = WindowValue::Maximum;
        let largest = "12, 40, 1, 0, 0\n23, 8, 1, 0, 0\n25, 1, 1, 0, 0\n";
        assert_eq!(lines(settings, LogKind::Total), largest);
    }
}
