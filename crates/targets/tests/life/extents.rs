//! Where files are on the device, checked against what is there.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use machine::describe::{Extents, ExtentsError, extents};
use targets::Target;

use super::support::{make_or_skip, workshop};

const FILE_BYTES: usize = 4 << 20;
const BLOCK: [u8; 4096] = [1; 4096];
const BLOCK_BYTES: u64 = BLOCK.len() as u64;
/// More than the kernel is asked for in one call.
const PIECES: u64 = 300;

fn extents_of(target: &Target, name: &str) -> Extents {
    let file = File::open(target.root().join(name)).expect("it was written");
    extents(&file).expect("it lies on a device")
}

pub(crate) fn are_told(text: &str) {
    let workshop = workshop();
    let Some(target) = make_or_skip(&workshop, text) else { return };
    // All pages differ, so that each is recognised at its place.
    let content: Vec<u8> = (0..FILE_BYTES / 8).flat_map(usize::to_le_bytes).collect();
    fs::write(target.root().join("whole"), &content).expect("there is room");
    let whole = extents_of(&target, "whole");
    assert_eq!(whole.placed_bytes(), FILE_BYTES as u64, "nothing is delayed any more: {whole:?}");
    assert!(whole.runs() >= 1 && whole.runs() <= 8, "the file system is empty: {whole:?}");
    // An address in btrfs is not an address on the device.
    if target.facts().file_system != "btrfs" {
        let device = File::open(&target.facts().source).expect("root");
        for extent in whole.list() {
            let mut found = vec![0; usize::try_from(extent.length_bytes).expect("below 4 MiB")];
            device.read_exact_at(&mut found, extent.physical_bytes).expect("it lies inside");
            let start = usize::try_from(extent.logical_bytes).expect("below 4 MiB");
            assert!(content[start..start + found.len()] == found, "{extent:?}");
        }
    }
    pieces(&target);
    assert_eq!(extents_of(&target, "empty").count(), 0);
}

/// Writes every other block of a file: each piece is alone, followed by a hole.
fn pieces(target: &Target) {
    let file = File::create(target.root().join("pieces")).expect("there is room");
    File::create(target.root().join("empty")).expect("there is room");
    for piece in 0..PIECES {
        let at = 2 * piece * BLOCK_BYTES;
        file.write_all_at(&BLOCK, at).expect("there is room");
    }
    let told = extents_of(target, "pieces");
    // XFS preallocates space past the end of a growing file, which ends up in the holes.
    let written: Vec<_> = told.list().iter().filter(|one| !one.flags.is_unwritten()).collect();
    assert_eq!(written.len() as u64, PIECES, "one for each, none twice");
    for (piece, extent) in (0..).zip(written) {
        let expected = (2 * piece * BLOCK_BYTES, BLOCK_BYTES);
        assert_eq!((extent.logical_bytes, extent.length_bytes), expected);
        assert!(extent.flags.has_place(), "{extent:?}");
    }
}

pub(crate) fn memory_has_none() {
    let workshop = workshop();
    let target = make_or_skip(&workshop, "tmpfs:size=64m").expect("root");
    fs::write(target.root().join("file"), "x").expect("there is room");
    let file = File::open(target.root().join("file")).expect("it was written");
    let error = extents(&file).expect_err("it lies in memory");
    assert!(matches!(error, ExtentsError::NotSupported), "{error}");
}
