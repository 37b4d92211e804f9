//! A warm-up goes from nothing to everything in memory, and its slices contain every read.

use record::Observation;

use crate::place::Place;

#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
pub(crate) fn ends_with_all_in_memory(place: &Place) {
    let name = "warm-up-by-working-set-4194304";
    let Some(outcome) = place.measure("ext4:size=256m", &[name]) else { return };
    let (_, measured) = &outcome.measured[name];
    let timeline = measured.timeline.as_ref().expect("every read was timed");
    let in_slices: u64 = timeline.slices.iter().flatten().map(|(_, count)| count).sum();
    assert_eq!((in_slices, measured.histogram.count()), (measured.operations, measured.operations));
    let pages = (4 << 20) / rustix::param::page_size() as u64;
    assert_eq!(
        (measured.evidence.resident_before, measured.evidence.pages),
        (Some(0), Some(pages))
    );
    // Kernels that watch for idle pages (DAMON) evict some before the last look.
    assert!(measured.evidence.resident_after.is_some_and(|after| after >= pages - pages / 50));
    assert!(measured.evidence.device_read_bytes.is_some_and(|bytes| bytes >= 4 << 20));
    let resident = measured.observations.iter().find_map(|one| match one {
        Observation::Series(series) if series.value.name == "resident" => Some(&series.points),
        _ => None,
    });
    let shares: Vec<f64> = resident.expect("it is observed").iter().map(|(_, it)| *it).collect();
    let whole = shares.iter().position(|&share| share >= 100.0).expect("all comes into memory");
    assert!(shares[..=whole].is_sorted(), "{shares:?}");
    assert!(shares[whole..].iter().all(|&share| share >= 98.0), "{shares:?}");
    assert!(outcome.value(name, "time_until_resident") > 0.0);
    assert!(outcome.value(name, "time_until_steady") <= measured.elapsed_ns as f64);
}

pub(crate) fn too_large_is_refused(place: &Place) {
    let names = ["warm-up-by-working-set-4194304", "warm-up-by-working-set-33554432"];
    let Some(outcome) = place.measure("ext4:size=256m,memory=16m", &names) else { return };
    assert_eq!(outcome.measured.len(), 1);
    assert!(outcome.skipped[0].why.contains("memory=67108864"), "{:?}", outcome.skipped);
}
