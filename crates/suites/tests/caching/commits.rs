//! What the device does for commits: counts that do not depend on the load of the machine.

use crate::place::{Outcome, Place};

const MIB: f64 = 1_048_576.0;
const FLUSHES: &str = "device_flushes_per_operation";
const WRITTEN: &str = "device_bytes_written_per_operation";

/// When many commit together, they share flushes.
pub(crate) fn threads_share_flushes(place: &Place) {
    for file_system in ["ext4", "xfs"] {
        let names = [
            "commit-own-files-by-threads-1",
            "commit-own-files-by-threads-8",
            "commit-one-log-by-threads-1",
            "commit-one-log-by-threads-8",
        ];
        let Some(outcome) = place.measure_of("nano/io", file_system, &names) else { return };
        let [own_1, own_8, log_1, log_8] = names.map(|name| outcome.value(name, FLUSHES));
        assert!(own_1 >= 1.0 && log_1 >= 1.0, "{file_system}: {own_1} {log_1}");
        assert!(own_8 < own_1 && log_8 < log_1, "{file_system}: {own_8} {log_8}");
        // Over existing blocks, fdatasync writes only the data.
        let written = outcome.value("commit-one-log-by-threads-8", WRITTEN);
        assert!((4096.0..8192.0).contains(&written), "{file_system}: {written}");
        let (_, measured) = &outcome.measured["commit-own-files-by-threads-8"];
        assert_eq!((measured.operations, measured.bytes), (8 * 96, 8 * 96 * 4096));
    }
}

/// Each durable write makes the device flush, whichever way durability was requested.
pub(crate) fn durable_writes_flush(place: &Place) {
    let names = ["dsync-overwrite-4k", "dsync-append-4k"];
    for file_system in ["ext4", "xfs"] {
        let Some(outcome) = place.measure_of("nano/io", file_system, &names) else { return };
        for name in names {
            let of_dsync = outcome.value(name, FLUSHES);
            let of_fdatasync = outcome.value(name, "fdatasync_device_flushes_per_operation");
            let both = (of_dsync, of_fdatasync);
            assert!(of_dsync >= 1.0 && of_fdatasync >= 1.0, "{file_system} {name}: {both:?}");
            // To the kernel, they are the same.
            assert!((of_dsync - of_fdatasync).abs() < 0.1, "{file_system} {name}: {both:?}");
        }
    }
}

fn written_beside(outcome: &Outcome) -> f64 {
    outcome.value("fsync-beside-dirty-data-1048576", WRITTEN)
}

/// A sync writes the file's own data, and another's if the journal says where its new blocks are.
pub(crate) fn syncs_write_what_they_must(place: &Place) {
    let names = ["fsync-by-dirty-data-1048576", "fsync-beside-dirty-data-1048576"];
    let Some(outcome) = place.measure_of("nano/io", "ext4", &names) else { return };
    assert!(outcome.value(names[0], WRITTEN) >= MIB);
    let beside = written_beside(&outcome);
    assert!(beside < MIB / 2.0, "with delayed allocation, {beside} bytes");
    let early = "ext4:mount=nodelalloc";
    let Some(outcome) = place.measure_of("nano/io", early, &names[1..]) else { return };
    let beside = written_beside(&outcome);
    assert!(beside >= MIB, "without, {beside} bytes");
}

/// A victim is measured alone and beside a flusher, and a load is offered in full.
pub(crate) fn schedules_are_kept(place: &Place) {
    let names = ["victim-warm-read-1", "open-loop-warm-read-1000", "open-loop-direct-read-100"];
    let Some(outcome) = place.measure_of("nano/io", "ext4", &names) else { return };
    assert!(outcome.value(names[0], "flushed") > 0.0);
    assert!(outcome.value(names[0], "slow_down") > 0.0);
    let operations = names.map(|name| outcome.measured[name].1.operations);
    assert_eq!(operations, [500, 750, 100]);
    for name in names {
        let (latency, service) =
            (outcome.value(name, "latency"), outcome.value(name, "service_time"));
        assert!(latency >= service, "{name}: {latency} {service}");
    }
}

/// What needs a device is left out by name.
pub(crate) fn without_a_device_it_is_refused(place: &Place) {
    let names = ["commit-one-log-by-threads-8", "victim-warm-read-1", "open-loop-direct-read-100"];
    let Some(outcome) = place.measure_of("nano/io", "tmpfs", &names) else { return };
    assert!(outcome.measured.is_empty());
    let skipped: Vec<String> = outcome.skipped.iter().map(|one| one.why.clone()).collect();
    assert_eq!(skipped.len(), names.len(), "{skipped:?}");
    assert!(skipped[0].contains("no device that fsync could write to"), "{skipped:?}");
}
