//! Filled file systems: as much of their space is used as was asked for, each time they are made.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use targets::{Surroundings, Target, TargetError, Workshop};

use super::support::{make_or_skip, scratch, spec, workshop};

const SEED: u64 = 11;
/// How far off the share may be, in percent.
const MARGIN: f64 = 1.0;

/// How much is used of what users can use, in percent.
fn share(target: &Target) -> f64 {
    let room = rustix::fs::statvfs(target.root()).expect("it is mounted");
    let used = room.f_blocks - room.f_bfree;
    100.0 * used as f64 / (used + room.f_bavail) as f64
}

/// Paths and sizes of all files that fill it.
fn listing(root: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for directory in fs::read_dir(root).expect("it is there").flatten() {
        let name = directory.file_name().to_string_lossy().into_owned();
        if name.starts_with("filled-") {
            let files = fs::read_dir(directory.path()).expect("it is there").flatten();
            found.extend(files.map(|file| {
                let bytes = file.metadata().expect("it is there").len();
                (format!("{name}/{}", file.file_name().to_string_lossy()), bytes)
            }));
        }
    }
    found.sort();
    found
}

/// How much is used where the images are, by anybody: printed, not checked.
fn host_bytes(directory: &Path) -> u64 {
    let room = rustix::fs::statvfs(directory).expect("it is there");
    (room.f_blocks - room.f_bfree) * room.f_frsize
}

/// Fills it twice, to `percent` percent.
pub(crate) fn takes_its_share(text: &str, percent: u32) {
    let workshop = workshop();
    let text = format!("{text},filled={percent}%");
    let Some(mut target) = make_or_skip(&workshop, &text) else { return };
    let promised = target.space().expect("it says").free_bytes;
    let mut files = Vec::new();
    for _ in 0..2 {
        assert!(listing(target.root()).is_empty(), "it is fresh");
        let (before, began) = (host_bytes(&scratch()), Instant::now());
        target.fill_and_age(SEED, &AtomicBool::new(false)).expect("there is room");
        let (took, share) = (began.elapsed(), share(&target));
        let written = host_bytes(&scratch()).saturating_sub(before) >> 20;
        println!("{text}: {share:.2} % used after {took:.2?}, {written} MiB of the host's");
        assert!((share - f64::from(percent)).abs() < MARGIN, "{share}");
        let free = target.space().expect("it says").free_bytes;
        assert!(free >= promised / 10 * 9 && free <= promised / 10 * 11, "{free}, {promised}");
        let listed = listing(target.root());
        assert!(listed.len() >= 16, "{listed:?}");
        target.fill_and_age(SEED, &AtomicBool::new(false)).expect("a second time does nothing");
        assert_eq!(listing(target.root()), listed);
        let sizes: Vec<_> = listed.iter().map(|(path, _)| path.clone()).collect();
        assert!(files.is_empty() || files == sizes, "the same files each time");
        files = sizes;
        target.remake().expect("nothing is open");
    }
}

/// A volume of the usual size, in a scratch directory too small for what is reserved.
pub(crate) fn of_64_gib_takes_no_room(file_system: &str) {
    let room_bytes = 6 << 30;
    let surroundings = Surroundings { scratch: scratch(), room_bytes, ..Default::default() };
    let workshop = Workshop::open(surroundings).expect("root, one thread");
    let text = format!("{file_system}:filled=50%");
    if make_or_skip_quietly(&text) {
        return;
    }
    let mut target = workshop.make(&spec(&text)).expect("it can be made");
    let began = Instant::now();
    target.fill_and_age(SEED, &AtomicBool::new(false)).expect("nothing is written");
    let share = share(&target);
    println!("{text}: {share:.2} % used after {:.2?}", began.elapsed());
    assert!((share - 50.0).abs() < MARGIN, "{share}");
    let space = target.space().expect("it says");
    assert!(space.total_bytes > 60 << 30, "{space:?}");
    // Reserved space does not count against the image's room in the scratch directory.
    assert!(space.free_bytes > 1 << 30, "{space:?}");
}

fn make_or_skip_quietly(text: &str) -> bool {
    let unavailable = targets::availability(&spec(text), &Surroundings::default()).err();
    if let Some(why) = &unavailable {
        eprintln!("skipped: {text}: {why}");
    }
    unavailable.is_some()
}

pub(crate) fn comes_before_ageing() {
    let workshop = workshop();
    let mut target = workshop.make(&spec("ext4:size=256m,filled=50%,aged=1")).expect("root");
    let promised = target.space().expect("it says").free_bytes;
    target.fill_and_age(SEED, &AtomicBool::new(false)).expect("there is room");
    assert!(target.root().join("aged").exists() && !listing(target.root()).is_empty());
    let free = target.space().expect("it says").free_bytes;
    assert!(free >= promised / 10 * 9 && free <= promised / 10 * 11, "{free} of {promised}");
}

pub(crate) fn is_stopped() {
    let workshop = workshop();
    for text in ["ext4:size=128m,filled=50%", "ext2:size=128m,filled=50%"] {
        let mut target = workshop.make(&spec(text)).expect("root");
        let error = target.fill_and_age(SEED, &AtomicBool::new(true)).expect_err("it is stopped");
        assert!(matches!(error, TargetError::FillingStopped { .. }), "{error}");
    }
}

/// ext4 without extents cannot reserve space, which only its driver knows.
pub(crate) fn needs_room_where_it_is_written() {
    let surroundings =
        Surroundings { scratch: scratch(), room_bytes: 6 << 30, ..Default::default() };
    let workshop = Workshop::open(surroundings).expect("root, one thread");
    let mut target =
        workshop.make(&spec("ext4:size=64g,mkfs=-O ^extent,^64bit,filled=50%")).expect("root");
    let error = target.fill_and_age(SEED, &AtomicBool::new(false)).expect_err("no room");
    assert!(error.is_of_input(), "{error}");
    let error = error.to_string();
    assert!(error.contains("cannot reserve") && error.contains("filled="), "{error}");
    drop(target);
    let error = workshop.make(&spec("ext2:size=4t,filled=50%")).expect_err("no room").to_string();
    assert!(error.starts_with("ext2 cannot reserve space without writing it, so"), "{error}");
    assert!(error.contains("give a smaller filled= or size="), "{error}");
}
