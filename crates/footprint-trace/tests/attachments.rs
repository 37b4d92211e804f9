//! Attachments round-trip, replace each other, and leave a whole trace wherever writing stops.

use std::fs::{self, File};
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use footprint_trace::event::{Event, EventEncoder};
use footprint_trace::header::{Coverage, Header, Scope};
use footprint_trace::reader::{CutReason, Ending, TraceReader};
use footprint_trace::trace_file::TraceFile;
use footprint_trace::writer::{LIMIT_BYTES_MIN, TraceWriter};
use footprint_trace::{TraceError, TracedBlock, attachments};
use tempfile::TempDir;

const HEADER: Header = Header {
    architecture: 62,
    scope: Scope::Program,
    coverage: Coverage::Whole,
    limit_bytes: LIMIT_BYTES_MIN,
};

/// A trace of one event that already has an attachment `maps`, in a temporary directory.
fn trace() -> (TempDir, PathBuf) {
    trace_with_forks(2)
}

fn trace_with_forks(forks: u64) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let mut writer = TraceWriter::new(Vec::new(), &HEADER).unwrap();
    let id = writer.describe(&TracedBlock { address: 1, lengths: &[1], code: &[0x90] }).unwrap();
    writer.attach("maps", b"first ").unwrap();
    let mut encoder = EventEncoder::new();
    encoder.execute(id);
    writer.write_events(0, &mut encoder).unwrap();
    writer.attach("maps", b"second").unwrap();
    fs::write(&path, writer.finish(None, forks).unwrap()).unwrap();
    (directory, path)
}

fn read(path: &Path) -> Result<(Vec<Event>, Ending), TraceError> {
    let mut reader = TraceReader::new(BufReader::new(File::open(path).unwrap()))?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    assert_eq!(reader.next_event().unwrap(), None);
    Ok((events, *reader.ending().unwrap()))
}

fn attached(path: &Path, name: &str) -> Option<Vec<u8>> {
    attachments::read(path, name).unwrap()
}

#[test]
fn attachments_come_back_and_replace_each_other() {
    let (_directory, path) = trace();
    assert_eq!(attached(&path, "maps").unwrap(), b"first second");
    assert_eq!(attached(&path, "description"), None);
    let large: Vec<u8> = (0..3_u32 << 19).map(|byte| (byte % 251) as u8).collect();
    attachments::append(&path, &[("description", &large), ("empty", &[])]).unwrap();
    assert_eq!(attached(&path, "description").as_ref(), Some(&large));
    assert_eq!(attached(&path, "empty").unwrap(), b"");
    assert_eq!(attached(&path, "maps").unwrap(), b"first second");
    attachments::append(&path, &[("maps", b"third")]).unwrap();
    assert_eq!(attached(&path, "maps").unwrap(), b"third");
    assert_eq!(attached(&path, "description").as_ref(), Some(&large));
    let (events, ending) = read(&path).unwrap();
    assert_eq!((events.len(), ending.cut, ending.forks), (1, None, 2));
    let name = "n".repeat(256);
    let error = attachments::append(&path, &[(&name, b"")]).unwrap_err();
    assert!(error.to_string().contains("255"), "{error}");
    assert_eq!(attached(&path, "maps").unwrap(), b"third");
}

#[test]
fn an_addition_that_stops_anywhere_counts_as_not_there() {
    let (_directory, path) = trace();
    let before = fs::read(&path).unwrap();
    attachments::append(&path, &[("maps", b"later"), ("description", b"of it")]).unwrap();
    let after = fs::read(&path).unwrap();
    assert_eq!(after[..before.len()], before);
    for length in 0..after.len() {
        fs::write(&path, &after[..length]).unwrap();
        if length < before.len() {
            let error = read(&path).unwrap_err();
            assert!(matches!(error, TraceError::Truncated { .. }), "{length}: {error}");
            let error = attachments::append(&path, &[("maps", b"later")]).unwrap_err();
            assert!(matches!(error, TraceError::Truncated { .. }), "{length}: {error}");
            assert_eq!(fs::read(&path).unwrap(), after[..length]);
        } else {
            read(&path).unwrap();
            assert_eq!(attached(&path, "maps").unwrap(), b"first second");
            assert_eq!(attached(&path, "description"), None);
            attachments::append(&path, &[("maps", b"later"), ("description", b"of it")]).unwrap();
            assert_eq!(fs::read(&path).unwrap(), after, "{length}");
        }
    }
}

#[test]
fn a_changed_byte_is_noticed() {
    let (_directory, path) = trace();
    let before = fs::read(&path).unwrap().len();
    attachments::append(&path, &[("description", b"of it")]).unwrap();
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        fs::write(&path, &changed).unwrap();
        // A changed length after the first end can make the addition look unfinished.
        let result = read(&path);
        assert!(result.is_err() || at >= before, "{at}: {result:?}");
        assert!(result.is_err() || attached(&path, "description").is_none(), "{at}");
    }
}

#[test]
fn additions_of_other_traces_are_noticed() {
    let (_directory, path) = trace();
    let before = fs::read(&path).unwrap();
    let addition = |path: &Path, attachments: &[(&str, &[u8])]| {
        let start = fs::metadata(path).unwrap().len();
        attachments::append(path, attachments).unwrap();
        fs::read(path).unwrap().split_off(usize::try_from(start).unwrap())
    };
    let one = addition(&path, &[("a", b"1")]);
    let later = addition(&path, &[("a", b"1")]);
    let (_other_directory, other) = trace_with_forks(3);
    let with_other_forks = addition(&other, &[("a", b"1")]);
    for (bytes, is_sound) in [(one, true), (later, false), (with_other_forks, false)] {
        fs::write(&path, [&before[..], &bytes[..]].concat()).unwrap();
        assert_eq!(read(&path).is_ok(), is_sound);
        assert_eq!(attachments::read(&path, "a").is_ok(), is_sound);
    }
}

#[test]
fn a_trace_of_version_1_is_read_and_takes_no_attachment() {
    // One block of `nop`, executed once, and two forks; written by hand in version 1 of the format.
    let bytes = include_bytes!("fixtures/version_1.trace");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    fs::write(&path, bytes).unwrap();
    let (events, ending) = read(&path).unwrap();
    assert_eq!((events.len(), ending.cut, ending.forks), (1, None, 2));
    assert_eq!(attached(&path, "maps"), None);
    let error = attachments::append(&path, &[("maps", b"")]).unwrap_err();
    assert!(matches!(error, TraceError::Older { found: 1, needed: 2 }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let longer = [&bytes[..], &[0]].concat();
    fs::write(&path, longer).unwrap();
    assert!(matches!(read(&path), Err(TraceError::Damaged { what: "its end", .. })));
}

/// What the tests need of both kinds of writers.
trait Written {
    fn write(&mut self, encoder: &mut EventEncoder);
}

impl<W: Write> Written for TraceWriter<W> {
    fn write(&mut self, encoder: &mut EventEncoder) {
        self.write_events(0, encoder).unwrap();
        self.attach("maps", b"x").unwrap();
    }
}

#[test]
fn a_file_holds_a_whole_trace_after_each_commit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let mut writer = TraceWriter::new(TraceFile::create(&path).unwrap(), &HEADER).unwrap();
    let mut plain = TraceWriter::new(Vec::new(), &HEADER).unwrap();
    let block = TracedBlock { address: 1, lengths: &[1], code: &[0x90] };
    plain.describe(&block).unwrap();
    let id = writer.describe(&TracedBlock { address: 1, lengths: &[1], code: &[0x90] }).unwrap();
    let mut encoder = EventEncoder::new();
    for round in 1..=3 {
        for writer in [&mut writer as &mut dyn Written, &mut plain] {
            encoder.execute(id);
            writer.write(&mut encoder);
        }
        writer.commit(1 << (7 * round)).unwrap();
        let (events, ending) = read(&path).unwrap();
        assert_eq!((events.len(), ending.cut), (round, Some(CutReason::Killed)));
        assert_eq!(attached(&path, "maps").unwrap().len(), round);
    }
    // The last end is shorter than the previous one.
    writer.finish(None, 1).unwrap();
    assert_eq!(fs::read(&path).unwrap(), plain.finish(None, 1).unwrap());
    let (events, ending) = read(&path).unwrap();
    assert_eq!((events.len(), ending.cut, ending.forks), (3, None, 1));
}

#[test]
fn a_trace_without_an_end_gets_one_behind_its_last_whole_chunk() {
    let (_directory, path) = trace();
    assert!(!attachments::end_early(&path).unwrap(), "it has an end");
    let whole = fs::read(&path).unwrap();
    let mut lengths = Vec::new();
    for length in 32..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(attachments::end_early(&path).unwrap(), "{length} bytes");
        let (events, ending) = read(&path).unwrap();
        assert_eq!((ending.cut, ending.forks), (Some(CutReason::Killed), 0));
        attachments::append(&path, &[("description", b"late")]).unwrap();
        assert_eq!(attached(&path, "description").unwrap(), b"late");
        assert_eq!(read(&path).unwrap().0, events);
        lengths.push(events.len());
    }
    assert!(lengths.is_sorted() && lengths.first() == Some(&0) && lengths.last() == Some(&1));
    fs::write(&path, "no trace").unwrap();
    assert!(attachments::end_early(&path).is_err());
}
