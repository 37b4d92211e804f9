//! Histograms on disk: one `HdrHistogram` V2 log per cell, one line per replicate.
//!
//! The bucket layout of [`measure::Histogram`] is that of `HdrHistogram` with two significant
//! digits, so nothing is lost on the way, and every tool that reads such logs reads these.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry,
};
use measure::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RecordError;

/// Digits that make `HdrHistogram`'s buckets equal to ours.
const SIGNIFICANT_DIGITS: u8 = 2;
const HEADER: &str = "#[Histogram log format version 1.3]\n\
    #[Values are nanoseconds; one line per replicate; times are seconds of the run's budget]\n\
    \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// Where a replicate's line lies in its cell's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramLocation {
    /// Offset of the line's first byte.
    pub offset_bytes: u64,
    /// Length of the line, its end included.
    pub length_bytes: u64,
}

/// Appends one replicate's histogram to the log at `path`, making the log if need be. When this
/// returns it is on the disk, so that no journal line can point to what a power cut took.
///
/// `end_of_known` is where the journal says that the log ends: anything after it was written by a
/// process that died before it could say so, and is cut off.
pub(crate) fn append(
    path: &Path,
    end_of_known: u64,
    histogram: &Histogram,
    at_s: f64,
    elapsed_ns: u64,
) -> Result<HistogramLocation, RecordError> {
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(RecordError::io("open", path))?;
    let mut offset_bytes = end_of_known;
    let write_error = || RecordError::io("write", path);
    file.set_len(end_of_known).map_err(write_error())?;
    file.seek(SeekFrom::Start(end_of_known)).map_err(write_error())?;
    if end_of_known == 0 {
        file.write_all(HEADER.as_bytes()).map_err(write_error())?;
        offset_bytes = HEADER.len() as u64;
    }
    let line = line_of(histogram, at_s, elapsed_ns);
    file.write_all(&line).and_then(|()| file.sync_data()).map_err(write_error())?;
    if end_of_known == 0
        && let Some(directory) = path.parent()
    {
        // The name of a new log must outlive a power cut as well as its content.
        fs::File::open(directory).and_then(|dir| dir.sync_all()).map_err(write_error())?;
    }
    Ok(HistogramLocation { offset_bytes, length_bytes: line.len() as u64 })
}

/// Reads the histograms at `locations`, in their order.
pub(crate) fn read_each(
    path: &Path,
    locations: &[HistogramLocation],
) -> Result<Vec<Histogram>, RecordError> {
    let mut histograms = Vec::with_capacity(locations.len());
    if locations.is_empty() {
        return Ok(histograms);
    }
    let damaged = |line: usize, why: &str| RecordError::Damaged {
        path: path.to_owned(),
        line,
        why: why.to_owned(),
    };
    let mut file = fs::File::open(path).map_err(RecordError::io("open", path))?;
    let length = file.metadata().map_err(RecordError::io("read", path))?.len();
    for (index, location) in locations.iter().enumerate() {
        let end = location.offset_bytes.checked_add(location.length_bytes);
        if end.is_none_or(|end| end > length) {
            return Err(damaged(index + 1, "the log is shorter than the journal says"));
        }
        let mut line = vec![0; usize::try_from(location.length_bytes).unwrap_or(usize::MAX)];
        file.seek(SeekFrom::Start(location.offset_bytes))
            .and_then(|_| file.read_exact(&mut line))
            .map_err(RecordError::io("read", path))?;
        let decoded = decode(&line).ok_or_else(|| damaged(index + 1, "no histogram is there"))?;
        let mut histogram = Histogram::new();
        for step in decoded.iter_recorded() {
            let lowest = decoded.lowest_equivalent(step.value_iterated_to());
            histogram.record_n(lowest, step.count_at_value());
        }
        histograms.push(histogram);
    }
    Ok(histograms)
}

fn line_of(histogram: &Histogram, at_s: f64, elapsed_ns: u64) -> Vec<u8> {
    let mut encoded = hdrhistogram::Histogram::<u64>::new(SIGNIFICANT_DIGITS)
        .expect("two significant digits are within HdrHistogram's range");
    for bucket in histogram.buckets() {
        encoded
            .record_n(bucket.low, bucket.count)
            .expect("a histogram that resizes itself takes every value");
    }
    let mut buffer = Vec::with_capacity(1024);
    let mut serializer = V2DeflateSerializer::new();
    let mut writer = IntervalLogWriterBuilder::new()
        .begin_log_with(&mut buffer, &mut serializer)
        .expect("writing to memory cannot fail");
    writer
        .write_histogram(
            &encoded,
            Duration::from_secs_f64(at_s.max(0.0)),
            Duration::from_nanos(elapsed_ns),
            None,
        )
        .expect("serialising to memory cannot fail");
    let is_entry = |line: &&[u8]| !line.starts_with(b"#") && !line.starts_with(b"\"");
    buffer.split_inclusive(|&byte| byte == b'\n').filter(is_entry).flatten().copied().collect()
}

fn decode(line: &[u8]) -> Option<hdrhistogram::Histogram<u64>> {
    let entry = IntervalLogIterator::new(line).next()?.ok()?;
    let LogEntry::Interval(interval) = entry else { return None };
    decode_interval(&interval)
}

fn decode_interval(interval: &IntervalLogHistogram<'_>) -> Option<hdrhistogram::Histogram<u64>> {
    use base64::Engine as _;
    let bytes =
        base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).ok()?;
    hdrhistogram::serialization::Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    fn buckets(histogram: &Histogram) -> Vec<(u64, u64)> {
        histogram.buckets().map(|bucket| (bucket.low, bucket.count)).collect()
    }

    fn merged(path: &Path, locations: &[HistogramLocation]) -> Histogram {
        let mut all = Histogram::new();
        read_each(path, locations).expect("all lines").iter().for_each(|one| all.merge(one));
        all
    }

    #[test]
    fn no_bucket_is_lost_or_moved_on_the_way_through_the_log() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("0000.hlog");
        let first = sample(&[1, 255, 256, 1000, 1000, 5_000_000_000, 3_600_000_000_000]);
        let second = sample(&[7, 1000, 123_456_789]);
        let one = append(&path, 0, &first, 0.5, 1000).expect("the first line");
        let end = one.offset_bytes + one.length_bytes;
        let two = append(&path, end, &second, 1.5, 1000).expect("the second line");
        let read = read_each(&path, &[one, two]).expect("both lines");
        let read: Vec<_> = read.iter().map(buckets).collect();
        assert_eq!(read, [buckets(&first), buckets(&second)]);
    }

    #[test]
    fn a_line_that_the_journal_does_not_know_is_written_over() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("0000.hlog");
        let one = append(&path, 0, &sample(&[1]), 0.0, 1).expect("the first line");
        let end = one.offset_bytes + one.length_bytes;
        append(&path, end, &sample(&[2; 1000]), 0.0, 1).expect("a line nobody knows");
        let two = append(&path, end, &sample(&[3]), 0.0, 1).expect("its replacement");
        assert_eq!(two.offset_bytes, end);
        assert_eq!(buckets(&merged(&path, &[one, two])), [(1, 1), (3, 1)]);
        assert_eq!(fs::metadata(&path).expect("the log").len(), end + two.length_bytes);
    }

    #[test]
    fn a_log_shorter_than_the_journal_says_is_damaged() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("0000.hlog");
        let one = append(&path, 0, &sample(&[1]), 0.0, 1).expect("the first line");
        let beyond = HistogramLocation { length_bytes: one.length_bytes + 1, ..one };
        assert!(matches!(read_each(&path, &[beyond]), Err(RecordError::Damaged { .. })));
    }
}
