//! Read-ahead follows the device's setting, and happens when the kernel is known to read ahead.

use crate::place::Place;

/// The sequential window is exactly the setting, on every file system.
pub(crate) fn window_is_setting(place: &Place, file_system: &str) {
    for setting in [0, 64 << 10, 128 << 10, 512 << 10] {
        let target = format!("{file_system}:size=512m,read_ahead={setting}");
        let Some(outcome) = place.measure(&target, &["read-ahead-sequential"]) else { return };
        let value = |metric| outcome.value("read-ahead-sequential", metric);
        assert_eq!(value("window_bytes"), f64::from(setting), "{target}");
        assert!(value("first_window_bytes") <= f64::from(setting), "{target}");
        assert_eq!(value("coverage") > 90.0, setting > 0, "{target}");
    }
}

/// Linux reads ahead from the first page of a file, but not when a read could be anywhere.
pub(crate) fn single_reads_bring_in_little(place: &Place) {
    let page_bytes = rustix::param::page_size() as f64;
    let names = [
        "first-read-start",
        "first-read-middle",
        "read-ahead-random",
        "read-ahead-by-stride-1048576",
        "first-read-by-file-size-8192",
    ];
    let Some(outcome) = place.measure("ext4:size=256m,read_ahead=128k", &names) else { return };
    let brought_in = |benchmark| outcome.value(benchmark, "brought_in_bytes");
    assert!(brought_in("first-read-start") > page_bytes);
    assert!(outcome.value("first-read-start", "behind_bytes") == 0.0);
    assert_eq!(brought_in("first-read-middle"), page_bytes);
    assert!(brought_in("read-ahead-random") < 2.0 * page_bytes);
    assert!(outcome.value("read-ahead-random", "coverage") < 5.0);
    assert_eq!(outcome.value("read-ahead-by-stride-1048576", "coverage"), 0.0);
    assert_eq!(outcome.value("first-read-by-file-size-8192", "file_share"), 100.0);
    let (_, measured) = &outcome.measured["read-ahead-random"];
    assert_eq!(measured.evidence.resident_before, Some(0));
    assert_eq!(measured.observations.len(), 2);
}

/// A block of ext4's inode table has 16 inodes, and 32 blocks are requested at once
/// (`inode_readahead_blks`).
pub(crate) fn attributes_come_with_neighbours(place: &Place) {
    let names = ["attributes-in-order", "attributes-random"];
    let Some(outcome) = place.measure("ext4:size=256m", &names) else { return };
    let per_fetch = outcome.value("attributes-in-order", "names_per_fetch");
    assert!((16.0..=2048.0).contains(&per_fetch), "{per_fetch}");
    assert!(outcome.value("attributes-in-order", "first_fetch_bytes") >= 4096.0);
    assert!(outcome.value("attributes-random", "coverage") > 50.0);
}

pub(crate) fn what_cannot_be_cold_is_refused(place: &Place) {
    let names = ["read-ahead-sequential", "attributes-in-order", "warm-up-by-working-set-4194304"];
    let outcome = place.measure("tmpfs:size=64m", &names).expect("tmpfs is everywhere");
    assert!(outcome.measured.is_empty());
    assert_eq!(outcome.skipped.len(), 3, "{:?}", outcome.skipped);
    for skipped in &outcome.skipped {
        assert!(skipped.why.contains("give a file system on a device"), "{skipped:?}");
    }
}
