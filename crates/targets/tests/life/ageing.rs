//! Aged file systems: their free space is fragmented, in the same way for the same seed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use machine::describe::extents;
use targets::{Target, TargetError, Workshop};

use super::support::{make_or_skip, spec, workshop};

const SEED: u64 = 11;
/// The default size of the benchmarks' files.
const FILE_BYTES: usize = 64 << 20;

fn aged(workshop: &Workshop, text: &str, seed: u64) -> Option<Target> {
    let mut target = make_or_skip(workshop, text)?;
    target.fill_and_age(seed, &AtomicBool::new(false)).expect("there is room");
    Some(target)
}

/// Writes a file in one go and returns how many pieces it is in.
fn pieces(target: &Target) -> usize {
    let path = target.root().join("new");
    fs::write(&path, vec![1; FILE_BYTES]).expect("there is room");
    extents(&File::open(&path).expect("it was written")).expect("it lies on a device").runs()
}

/// Names and sizes of all files below a directory.
fn listing(directory: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("it is there").flatten() {
        let metadata = entry.metadata().expect("it is there");
        if metadata.is_dir() {
            found.extend(listing(&entry.path()));
        } else {
            found.insert(entry.file_name().to_string_lossy().into_owned(), metadata.len());
        }
    }
    found
}

pub(crate) fn breaks_free_space_up(text: &str) {
    let workshop = workshop();
    let Some(fresh) = make_or_skip(&workshop, text) else { return };
    let whole = fresh.space().expect("it says").free_bytes;
    let before = pieces(&fresh);
    drop(fresh);
    let text = format!("{text},aged=5");
    let mut target = make_or_skip(&workshop, &text).expect("as before");
    let promised = target.space().expect("it says").free_bytes;
    let began = Instant::now();
    target.fill_and_age(SEED, &AtomicBool::new(false)).expect("there is room");
    let took = began.elapsed();
    let left = target.space().expect("it says").free_bytes;
    let after = pieces(&target);
    println!("{text}: {before} pieces, then {after}; {took:.1?}, {} % free", left * 100 / whole);
    assert!(after >= 8 * before && after >= 24, "{before} pieces, then {after}");
    assert!(left >= promised / 10 * 9 && left <= promised / 10 * 11, "{left} of {promised}");
    let files = listing(&target.root().join("aged"));
    assert!(files.len() > 1000, "{}", files.len());
    target.fill_and_age(SEED, &AtomicBool::new(false)).expect("a second time does nothing");
    assert!(listing(&target.root().join("aged")) == files);
    target.remake().expect("nothing is open");
    assert!(!target.root().join("aged").exists(), "it is fresh again");
    assert_eq!(target.space().expect("it says").free_bytes, promised);
}

pub(crate) fn is_repeatable() {
    let workshop = workshop();
    let text = "ext4:size=128m,aged=1,fill=40%";
    let files = |seed| {
        let target = aged(&workshop, text, seed).expect("ext4 is everywhere");
        listing(&target.root().join("aged"))
    };
    let first = files(SEED);
    assert!(files(SEED) == first, "the same seed");
    assert!(files(SEED + 1) != first, "another seed");
}

pub(crate) fn is_stopped() {
    let workshop = workshop();
    let mut target = workshop.make(&spec("ext4:size=128m,aged=1000")).expect("root");
    let error = target.fill_and_age(SEED, &AtomicBool::new(true)).expect_err("it is stopped");
    assert!(matches!(error, TargetError::AgeingStopped { .. }), "{error}");
    target.close().expect("nothing is open");
    drop(target);
    workshop.close().expect("nothing is left");
}

pub(crate) fn fresh_ones_stay_fresh() {
    let workshop = workshop();
    for text in ["ext4:size=128m", "ext4:size=128m,aged=0", "tmpfs:size=64m"] {
        let target = aged(&workshop, text, SEED).expect("they are everywhere");
        assert!(!target.root().join("aged").exists());
    }
}
