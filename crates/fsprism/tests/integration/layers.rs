//! The file system compared with the device below it, and files' layout on the device, in whole
//! runs.

use serde_json::Value;

use crate::cells::{median, metric};
use crate::place::Place;
use crate::refusals::PrivateMounts;

fn cells<'a>(document: &'a Value, target: &str, benchmark: &str) -> Vec<&'a Value> {
    let all = document["cells"].as_array().expect("a list").iter();
    let is_it = |cell: &&Value| {
        let name = cell["benchmark"].as_str().expect("it has a name");
        cell["target"] == target && name.starts_with(benchmark)
    };
    all.filter(is_it).collect()
}

fn says_skipped(document: &Value, target: &str, why: &str) -> bool {
    document["skipped"].as_array().expect("a list").iter().any(|skipped| {
        let text = |field: &str| skipped[field].as_str().expect("text").to_owned();
        text("target").starts_with(target) && text("why").contains(why)
    })
}

#[test]
fn the_same_is_read_and_written_on_the_device_and_the_difference_is_the_file_system() {
    let name = "the_same_is_read_and_written_on_the_device";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place.run(
        "run nano/io ext4=ext4:size=128m --blocks 1 --size 2m --verify --format json --out run",
    );
    let document = outcome.assert_code(0).document();
    let all = cells(&document, "ext4", "");
    assert!(all.iter().all(|cell| cell["failed"].is_null()), "{all:?}");
    for transfers in ["random-read", "sequential-read", "random-write", "sequential-write"] {
        // From 512 bytes to 2 MiB; larger requests would exceed the file.
        let direct = cells(&document, "ext4", &format!("{transfers}-direct-by-request"));
        assert_eq!(direct.len(), 13, "{transfers}");
        let in_flight = cells(&document, "ext4", &format!("{transfers}-direct-by-depth"));
        assert_eq!(in_flight.len(), 7, "{transfers}");
        for cell in direct.iter().chain(&in_flight) {
            assert!(metric(cell, "own_cost").is_some(), "{cell}");
        }
        for cell in in_flight {
            let (latency, time) = (median(cell, "latency"), median(cell, "time_per_operation"));
            let depth = cell["parameters"]["queue_depth"].as_f64().expect("a number");
            // By Little's law, as there are never more operations in flight than the queue depth.
            assert!(latency <= 1.01 * depth * time, "{cell}");
        }
    }
    assert!(says_skipped(&document, "ext4: requests of more than", "--size"));
}

#[test]
fn what_cannot_be_read_directly_or_on_the_device_is_left_out_with_why() {
    let name = "what_cannot_be_read_directly_or_on_the_device_is_left_out";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place.run(
        "run nano/io btrfs=btrfs:size=256m tmpfs=tmpfs:size=64m --blocks 1 --size 1m \
         --benchmark random-*-by-depth-4,*-by-request-512,*-by-request-4096,open-loop-*-1000 \
         --format json --out run",
    );
    let document = outcome.assert_code(0).document();
    assert!(!cells(&document, "btrfs", "random-read-direct-by-depth").is_empty());
    assert!(!cells(&document, "btrfs", "random-read-device-by-depth").is_empty());
    // Scheduled reads from memory need no device.
    let all = cells(&document, "tmpfs", "").len();
    assert_eq!(all, cells(&document, "tmpfs", "open-loop-warm-read").len());
    assert!(says_skipped(&document, "btrfs: direct requests of less than", "multiples"));
    assert!(says_skipped(&document, "tmpfs: direct reads and writes", "page cache"));
    assert!(says_skipped(&document, "tmpfs: reads on the device", "not on a block device"));
    assert!(says_skipped(&document, "tmpfs: writes on the device", "not on a block device"));
    // Its direct writes are measured, but have nothing below to be compared with.
    let writes = cells(&document, "btrfs", "random-write-direct");
    assert!(!writes.is_empty());
    assert!(writes.iter().all(|cell| metric(cell, "own_cost").is_none()), "{writes:?}");
    assert!(says_skipped(&document, "btrfs: writes on the device", "copy on write"));
}

#[test]
fn how_a_file_was_written_shows_in_how_it_lies_and_all_of_it_is_read_from_the_device() {
    let name = "how_a_file_was_written_shows_in_how_it_lies";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = place.run(
        "run survey/layout ext4=ext4:size=256m xfs=xfs:size=320m tmpfs=tmpfs:size=64m --blocks 1 \
         --size 2m --format json --out run",
    );
    let document = outcome.assert_code(0).document();
    for target in ["ext4", "xfs"] {
        let [at_once] = cells(&document, target, "read-written-at-once")[..] else {
            panic!("one cell: {document}")
        };
        let [in_turn] = cells(&document, target, "read-written-in-turn")[..] else {
            panic!("one cell: {document}")
        };
        assert!(median(at_once, "extents_per_file") < 2.0, "{at_once}");
        assert!(median(in_turn, "extents_per_file") >= 2.0, "{in_turn}");
        let run = |cell| median(cell, "contiguous_run_bytes");
        assert!(run(at_once) > run(in_turn), "{at_once} {in_turn}");
        for cell in [at_once, in_turn] {
            assert!(cell["failed"].is_null(), "{cell}");
            assert!(median(cell, "time_per_mib") > 0.0, "{cell}");
        }
    }
    assert!(says_skipped(&document, "tmpfs: read of a file", "only copy"));
}

/// An overlay on a file system in memory, as in live systems and containers: like the one below it,
/// it keeps the pages that it is asked to drop, and fsprism must not wait for them to go.
#[test]
fn what_lies_on_memory_is_never_cold() {
    let Some(place) = Place::as_root("what_lies_on_memory_is_never_cold") else { return };
    for name in ["below", "upper", "merged"] {
        place.make(name);
    }
    let at = |name: &str| place.text(name);
    let mounts = PrivateMounts::new(&format!(
        "mount -t tmpfs -o size=200m none {upper} && mkdir {upper}/files {upper}/work && mount -t \
         overlay -o lowerdir={below},upperdir={upper}/files,workdir={upper}/work none {merged}",
        below = at("below"),
        upper = at("upper"),
        merged = at("merged"),
    ));
    let arguments = "run survey merged --benchmark random-read-4k-cold,random-read-4k-warm \
                     --size 1m --blocks 1 --format json";
    let document = mounts.run(&place, arguments).assert_code(0).document();
    assert!(says_skipped(&document, "merged", "the only copy"), "{document}");
    assert_eq!(cells(&document, "merged", "random-read-4k-warm").len(), 1, "{document}");
}
