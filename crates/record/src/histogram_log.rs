//! Histograms on disk: one `HdrHistogram` V2 log per cell, one line per replicate.
//!
//! The bucket layout of [`measure::Histogram`] is that of `HdrHistogram` with two significant
//! digits, so nothing is lost in the conversion, and every tool that reads such logs can read
//! these.

use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Duration;

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry,
};
use measure::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RecordError;
use crate::open_directory::OpenDirectory;

/// Digits that make `HdrHistogram`'s buckets equal to ours.
const SIGNIFICANT_DIGITS: u8 = 2;
const HEADER: &str = "#[Histogram log format version 1.3]\n\
    #[Values are nanoseconds; one line per replicate; times are seconds of the run's budget]\n\
    \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// Bytes that one replicate's line has at most; the widest that can be recorded has 100 KiB.
const LINE_BYTES_MAX: u64 = 4 << 20;
/// Bytes of the histogram in it, unfolded.
const UNFOLDED_BYTES_MAX: u64 = 4 << 20;
/// Operations of one replicate; as many of these as a run has can be added up.
const OPERATIONS_MAX: u64 = 1_000_000_000_000;
/// What a folded histogram of the format's second version begins with.
const FOLDED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
/// What an unfolded one begins with.
const UNFOLDED: u32 = 0x1c84_9313;
/// Bytes of an unfolded histogram before its counts.
const HEADER_BYTES: usize = 40;

/// Where a replicate's line is in its cell's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramLocation {
    /// Offset of the line's first byte.
    pub offset_bytes: u64,
    /// Length of the line, including its end.
    pub length_bytes: u64,
    /// Checksum of the line (CRC-32 as in IEEE 802.3); none if the run predates this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crc32: Option<u32>,
}

impl HistogramLocation {
    /// Offset of the byte behind the line.
    pub(crate) fn end_bytes(self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes)
    }
}

/// Appends one replicate's histogram to the log of that name, making the log if need be. When this
/// returns it is on the disk, so that no journal line can point to what a power cut took.
///
/// `end_of_known` is where the journal says that the log ends: anything after it was written by a
/// process that died before it could say so, and is cut off.
pub(crate) fn append(
    directory: &OpenDirectory,
    name: &str,
    end_of_known: u64,
    histogram: &Histogram,
    at_s: f64,
    elapsed_ns: u64,
) -> Result<HistogramLocation, RecordError> {
    let path = directory.path_of(name);
    let mut file = directory.to_write(name).map_err(RecordError::io("open", &path))?;
    let mut offset_bytes = end_of_known;
    let write_error = || RecordError::io("write", &path);
    if file.metadata().map_err(write_error())?.len() < end_of_known {
        return Err(RecordError::Removed { path });
    }
    file.set_len(end_of_known).map_err(write_error())?;
    file.seek(SeekFrom::Start(end_of_known)).map_err(write_error())?;
    if end_of_known == 0 {
        file.write_all(HEADER.as_bytes()).map_err(write_error())?;
        offset_bytes = HEADER.len() as u64;
    }
    let line = line_of(histogram, at_s, elapsed_ns);
    file.write_all(&line).and_then(|()| file.sync_data()).map_err(write_error())?;
    if end_of_known == 0 {
        // The name of a new log must survive a power failure, as must its content.
        directory.sync().map_err(write_error())?;
    }
    let crc32 = Some(crc32fast::hash(&line));
    Ok(HistogramLocation { offset_bytes, length_bytes: line.len() as u64, crc32 })
}

/// Reads the histograms at `locations` of the log of that name, in their order.
pub(crate) fn read_each(
    directory: &OpenDirectory,
    name: &str,
    locations: &[HistogramLocation],
) -> Result<Vec<Histogram>, RecordError> {
    let mut histograms = Vec::with_capacity(locations.len());
    if locations.is_empty() {
        return Ok(histograms);
    }
    let path = directory.path_of(name);
    let damaged = |index: usize, why: &str| RecordError::Damaged {
        path: path.clone(),
        line: index + 1,
        why: why.to_owned(),
    };
    let mut file = directory.to_read(name).map_err(RecordError::io("open", &path))?;
    let length = file.metadata().map_err(RecordError::io("read", &path))?.len();
    for (index, location) in locations.iter().enumerate() {
        if location.end_bytes() > length {
            return Err(damaged(index, "the log is shorter than the journal says"));
        }
        if location.length_bytes > LINE_BYTES_MAX {
            return Err(damaged(index, "it is longer than any histogram"));
        }
        file.seek(SeekFrom::Start(location.offset_bytes))
            .map_err(RecordError::io("read", &path))?;
        let mut line = Vec::new();
        (&file)
            .take(location.length_bytes)
            .read_to_end(&mut line)
            .map_err(RecordError::io("read", &path))?;
        if location.crc32.is_some_and(|crc32| crc32 != crc32fast::hash(&line)) {
            return Err(damaged(index, "its checksum does not match"));
        }
        let decoded = decode(&line).ok_or_else(|| damaged(index, "it has no histogram"))?;
        if decoded.len() > OPERATIONS_MAX {
            return Err(damaged(index, "it counts more operations than any replicate has"));
        }
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
    let unfolded = unfold(&bytes)?;
    hdrhistogram::serialization::Deserializer::new().deserialize(&mut unfolded.as_slice()).ok()
}

/// What a folded histogram unfolds to, if that is of a size and precision that a histogram of ours
/// has: a decoder takes the memory that the bytes ask for.
fn unfold(bytes: &[u8]) -> Option<Vec<u8>> {
    let folded = bytes.strip_prefix(&FOLDED)?;
    let (length, folded) = folded.split_first_chunk::<4>()?;
    let folded = folded.get(..u32::from_be_bytes(*length) as usize)?;
    let mut unfolded = Vec::new();
    let reader = flate2::read::ZlibDecoder::new(folded);
    reader.take(UNFOLDED_BYTES_MAX).read_to_end(&mut unfolded).ok()?;
    let word = |at: usize| {
        let bytes = unfolded.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    let is_plain = word(0)? == UNFOLDED;
    let is_whole = word(4)? as usize == unfolded.len().checked_sub(HEADER_BYTES)?;
    let is_ours = is_plain && is_whole && word(12)? == u32::from(SIGNIFICANT_DIGITS);
    is_ours.then_some(unfolded)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const NAME: &str = "0000.hlog";

    fn held() -> (tempfile::TempDir, OpenDirectory) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let held = OpenDirectory::open(directory.path()).expect("it was just made");
        (directory, held)
    }

    fn sample(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    fn buckets(histogram: &Histogram) -> Vec<(u64, u64)> {
        histogram.buckets().map(|bucket| (bucket.low, bucket.count)).collect()
    }

    fn merged(held: &OpenDirectory, locations: &[HistogramLocation]) -> Histogram {
        let mut all = Histogram::new();
        read_each(held, NAME, locations).expect("all lines").iter().for_each(|one| all.merge(one));
        all
    }

    #[test]
    fn no_bucket_is_lost_or_moved_on_the_way_through_the_log() {
        let (_directory, held) = held();
        let first = sample(&[1, 255, 256, 1000, 1000, 5_000_000_000, 3_600_000_000_000]);
        let second = sample(&[7, 1000, 123_456_789]);
        let one = append(&held, NAME, 0, &first, 0.5, 1000).expect("the first line");
        let end = one.offset_bytes + one.length_bytes;
        let two = append(&held, NAME, end, &second, 1.5, 1000).expect("the second line");
        let read = read_each(&held, NAME, &[one, two]).expect("both lines");
        let read: Vec<_> = read.iter().map(buckets).collect();
        assert_eq!(read, [buckets(&first), buckets(&second)]);
    }

    #[test]
    fn a_line_that_the_journal_does_not_know_is_written_over() {
        let (directory, held) = held();
        let one = append(&held, NAME, 0, &sample(&[1]), 0.0, 1).expect("the first line");
        let end = one.offset_bytes + one.length_bytes;
        append(&held, NAME, end, &sample(&[2; 1000]), 0.0, 1).expect("a line nobody knows");
        let two = append(&held, NAME, end, &sample(&[3]), 0.0, 1).expect("its replacement");
        assert_eq!(two.offset_bytes, end);
        assert_eq!(buckets(&merged(&held, &[one, two])), [(1, 1), (3, 1)]);
        assert_eq!(
            fs::metadata(directory.path().join(NAME)).expect("the log").len(),
            end + two.length_bytes
        );
    }

    #[test]
    fn a_log_shorter_than_the_journal_says_is_damaged() {
        let (_directory, held) = held();
        let one = append(&held, NAME, 0, &sample(&[1]), 0.0, 1).expect("the first line");
        let beyond = HistogramLocation { length_bytes: one.length_bytes + 1, ..one };
        assert!(matches!(read_each(&held, NAME, &[beyond]), Err(RecordError::Damaged { .. })));
    }

    #[test]
    fn a_line_that_was_changed_is_no_histogram_even_where_it_decodes() {
        let (directory, held) = held();
        let one = append(&held, NAME, 0, &sample(&[1]), 0.0, 1).expect("the first line");
        let path = directory.path().join(NAME);
        let mut log = fs::read(&path).expect("the log");
        let at = usize::try_from(one.offset_bytes).expect("small");
        log[at] = if log[at] == b'0' { b'1' } else { b'0' };
        fs::write(&path, log).expect("it is ours");
        assert!(matches!(read_each(&held, NAME, &[one]), Err(RecordError::Damaged { .. })));
        let unchecked = HistogramLocation { crc32: None, ..one };
        assert_eq!(buckets(&merged(&held, &[unchecked])), [(1, 1)], "as logs of before");
    }

    /// A length of -1 once took 4 GiB of memory.
    #[test]
    fn lengths_that_are_claimed_take_no_memory() {
        use base64::Engine as _;
        use base64::engine::general_purpose::STANDARD;
        let line = line_of(&sample(&[1, 1000]), 0.0, 1);
        let text = String::from_utf8(line).expect("plain text");
        let (before, encoded) = text.trim_end().rsplit_once(',').expect("its last field");
        let bytes = STANDARD.decode(encoded).expect("it was encoded");
        let inner = unfold(&bytes).expect("it is one of ours");
        let folded_within = u32::from_be_bytes(FOLDED);
        for (at, word) in [(4, u32::MAX), (4, 1 << 31), (12, 5), (12, u32::MAX), (0, folded_within)]
        {
            let mut claimed = inner.clone();
            claimed[at..at + 4].copy_from_slice(&word.to_be_bytes());
            let mut folder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            folder.write_all(&claimed).expect("memory");
            let folded = folder.finish().expect("memory");
            let length = u32::try_from(folded.len()).expect("small").to_be_bytes();
            let bytes = [&FOLDED[..], &length, &folded].concat();
            assert!(unfold(&bytes).is_none(), "{word} at {at} is refused before it is decoded");
            let line = format!("{before},{}\n", STANDARD.encode(bytes));
            assert!(decode(line.as_bytes()).is_none(), "{word} at {at}");
        }
        let cut = [&FOLDED[..], &u32::MAX.to_be_bytes(), &bytes[8..]].concat();
        assert!(unfold(&cut).is_none());
    }
}
