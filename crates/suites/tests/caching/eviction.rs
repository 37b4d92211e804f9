//! With a memory limit, pages are evicted; without one, the message says what to give.

use crate::place::Place;

const SCENES: [&str; 4] =
    ["eviction-scan", "eviction-loop", "eviction-hot-set", "eviction-dirty-and-clean"];

pub(crate) fn scenes_show_the_limit(place: &Place) {
    let limit_bytes = f64::from(16 << 20);
    let scenes = ["eviction-scan", "eviction-hot-set"];
    let Some(outcome) = place.measure("ext4:size=256m,memory=16m", &scenes) else { return };
    for scene in scenes {
        let resident = outcome.value(scene, "resident_bytes");
        assert!(resident > limit_bytes / 4.0 && resident <= limit_bytes, "{scene}: {resident}");
    }
    // In a scan, the only difference between pages is the order in which they came in.
    assert!(outcome.value("eviction-scan", "newest_share") > 50.0);
    let hot = outcome.value("eviction-hot-set", "hot_resident_share");
    let scanned = outcome.value("eviction-hot-set", "scan_resident_share");
    assert!(hot > scanned, "pages used again and again stay longer: {hot} and {scanned}");
}

/// Every value can be recorded: none is below 0, though a policy may do worse than chance.
pub(crate) fn the_policy_is_found(place: &Place) {
    let Some(outcome) = place.measure("ext4:size=128m,memory=8m", &["eviction-policy"]) else {
        return;
    };
    let explained = outcome.value("eviction-policy", "explained");
    assert!(explained > 10.0 && explained <= 100.0, "{explained}");
    let mru = outcome.value("eviction-policy", "agreement_mru");
    assert!((0.0..=100.0).contains(&mru), "{mru}");
}

pub(crate) fn without_a_limit_it_is_refused(place: &Place) {
    let all = [&SCENES[..], &["eviction-policy"]].concat();
    let Some(outcome) = place.measure("ext4:size=256m", &all) else { return };
    assert!(outcome.measured.is_empty());
    assert_eq!(outcome.skipped.len(), all.len());
    for skipped in &outcome.skipped {
        assert!(skipped.why.contains("give it a limit, such as ext4:memory=64m"), "{skipped:?}");
    }
    let Some(outcome) = place.measure("tmpfs:size=64m", &all) else { return };
    assert!(outcome.skipped.iter().all(|one| one.why.contains("the only copy")));
}
