//! A log of histograms: what was added to a job's histogram since the last line.

use std::io::{self, Write};

use crate::direction::{DataDirection, PerDirection};
use crate::histogram::{BUCKETS, LatencyHistogram};

/// A log with a line for each stretch of time and each direction.
#[derive(Clone, Debug)]
pub struct HistogramLog {
    interval_ms: u64,
    /// Buckets that share a column.
    stride: usize,
    epoch_ms: u64,
    lines: Vec<Row>,
    last: PerDirection<Last>,
}

/// The histogram at the last line, and when that was due.
#[derive(Clone, Debug, Default)]
struct Last {
    due_ms: u64,
    counts: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Row {
    time_ms: u64,
    direction: DataDirection,
    bytes: u64,
    counts: Vec<u64>,
}

impl HistogramLog {
    /// The largest coarseness.
    pub const COARSEST: u32 = 6;

    /// A log with a line every so often (`log_hist_msec`), in which two to the power of
    /// `coarseness` buckets share a column (`log_hist_coarseness`, at most
    /// [`Self::COARSEST`]). `epoch_ms` is added to all times.
    pub fn new(interval_ms: u64, coarseness: u32, epoch_ms: u64) -> Self {
        let stride = 1 << coarseness.min(Self::COARSEST);
        Self { interval_ms, stride, epoch_ms, lines: Vec::new(), last: PerDirection::default() }
    }

    /// Has a look at a direction's histogram after an operation, of so many bytes and so long after
    /// the job began, was added to it.
    pub fn observe(
        &mut self,
        elapsed_ms: u64,
        direction: DataDirection,
        bytes: u64,
        histogram: &LatencyHistogram,
    ) {
        let last = &mut self.last[direction];
        if self.interval_ms == 0 || last.due_ms == 0 {
            last.due_ms = elapsed_ms;
        }
        let spent_ms = elapsed_ms.saturating_sub(last.due_ms);
        if self.interval_ms == 0 || spent_ms < self.interval_ms {
            return;
        }
        last.due_ms += self.interval_ms;
        // A histogram that nothing was added to has no counts.
        let mut now = histogram.counts().to_vec();
        now.resize(BUCKETS, 0);
        last.counts.resize(BUCKETS, 0);
        let added = |(now, before): (&[u64], &[u64])| {
            let pairs = now.iter().zip(before);
            pairs.map(|(now, before)| now.wrapping_sub(*before)).sum()
        };
        let columns = now.chunks(self.stride).zip(last.counts.chunks(self.stride));
        let counts = columns.map(added).collect();
        last.counts = now;
        self.lines.push(Row { time_ms: elapsed_ms, direction, bytes, counts });
    }

    /// Writes all lines.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for Row { time_ms, direction, bytes, counts } in &self.lines {
            write!(out, "{}, {}, {bytes}", time_ms + self.epoch_ms, direction.number())?;
            for count in counts {
                write!(out, ", {count}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_percentiles_all_columns_are_zero() {
        let (mut log, mut text) = (HistogramLog::new(10, 0, 0), Vec::new());
        for elapsed_ms in [1, 11] {
            let histogram = LatencyHistogram::default();
            log.observe(elapsed_ms, DataDirection::Read, 1, &histogram);
        }
        log.write(&mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            format!("11, 0, 1{}\n", ", 0".repeat(BUCKETS))
        );
    }

    #[test]
    fn lines_hold_what_was_added() {
        let mut log = HistogramLog::new(10, 6, 100);
        let mut histogram = LatencyHistogram::default();
        for (elapsed_ms, latency_ns) in [(1, 5), (5, 70), (12, 5), (15, 5), (23, 100)] {
            histogram.add(latency_ns);
            log.observe(elapsed_ms, DataDirection::Trim, 4_096, &histogram);
        }
        let mut text = Vec::new();
        log.write(&mut text).unwrap();
        let zeros = ", 0".repeat(27);
        let expected = format!("112, 2, 4096, 2, 1{zeros}\n123, 2, 4096, 1, 1{zeros}\n");
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
