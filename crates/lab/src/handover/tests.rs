//! Both sides together: wherever the stream is cut off, files that arrived complete are kept.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Ending, HandedFiles, HandoverError, Writer, read};

type Files = Vec<(String, Vec<u8>)>;

/// The stream of some files, with its length after each file and at the end.
fn stream(files: &Files, outcome: Result<(), &str>) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    for (name, content) in files {
        let mut writer = Writer::new(&mut bytes);
        if content.len() % 2 == 0 {
            writer.file(name, content).unwrap();
        } else {
            writer.file_from(name, content.len() as u64, content.as_slice()).unwrap();
        }
        ends.push(bytes.len());
    }
    Writer::new(&mut bytes).end(outcome).unwrap();
    ends.push(bytes.len());
    (bytes, ends)
}

fn read_back(bytes: &[u8]) -> (HandedFiles, Files) {
    let directory = tempfile::tempdir().unwrap();
    let handed = read(&mut &bytes[..], directory.path()).unwrap();
    let content = |path: &PathBuf| fs::read(directory.path().join(path)).unwrap();
    let named = |path: &PathBuf| (path.to_str().unwrap().to_owned(), content(path));
    let files = handed.files.iter().map(named).collect();
    assert_eq!(on_disk(directory.path()), handed.files.len());
    (handed, files)
}

/// The number of files below a directory.
fn on_disk(directory: &Path) -> usize {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| if path.is_dir() { on_disk(&path) } else { 1 }).sum()
}

fn three_files() -> Files {
    let file = |name: &str, content: &[u8]| (name.to_owned(), content.to_vec());
    vec![file("a", b"one"), file("below/b", b""), file("c", &[7; 40])]
}

#[test]
fn a_stream_that_stops_anywhere_keeps_what_came_whole() {
    let files = three_files();
    let (bytes, ends) = stream(&files, Ok(()));
    for length in 0..bytes.len() {
        let whole = ends.iter().filter(|&&end| end <= length).count();
        let (handed, read) = read_back(&bytes[..length]);
        assert_eq!((handed.ending, &read[..]), (Ending::Cut, &files[..whole]), "{length}");
    }
    assert_eq!(read_back(&bytes).0.ending, Ending::Well);
    let (bytes, _) = stream(&files, Err("it is too full"));
    assert_eq!(read_back(&bytes).0.ending, Ending::Failed("it is too full".to_owned()));
}

#[test]
fn names_stay_below_the_directory() {
    for name in ["/etc/passwd", "../x", "a/../../x", "", "."] {
        let (bytes, _) = stream(&vec![(name.to_owned(), vec![1])], Ok(()));
        let directory = tempfile::tempdir().unwrap();
        let error = read(&mut &bytes[..], directory.path()).unwrap_err();
        assert!(matches!(error, HandoverError::Name(_)), "{name}: {error}");
    }
}

#[test]
fn any_wrong_bit_ends_the_stream() {
    let files = three_files();
    let (bytes, ends) = stream(&files, Err("why"));
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1_u8 << bit;
            let whole = ends.iter().filter(|&&end| end <= at).count();
            let (handed, read) = read_back(&bytes);
            assert_eq!((handed.ending, &read[..]), (Ending::Cut, &files[..whole]), "{at} {bit}");
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(contents in prop::collection::vec(any::<Vec<u8>>(), 0..6)) {
        let name = |(index, content)| (format!("{index}/file"), content);
        let files: Files = contents.into_iter().enumerate().map(name).collect();
        let (bytes, _) = stream(&files, Ok(()));
        let (handed, read) = read_back(&bytes);
        prop_assert_eq!((handed.ending, read), (Ending::Well, files));
    }
}
