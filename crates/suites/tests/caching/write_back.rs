//! Writers wait at the limit, and dirty data is counted on its way there.

use record::Observation;

use crate::place::Place;

#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
pub(crate) fn writers_wait_at_the_limit(place: &Place) {
    let name = "write-back-steady";
    let limit_bytes = f64::from(32 << 20);
    let Some(outcome) = place.measure("ext4:size=1g,memory=32m", &[name]) else { return };
    assert_eq!(outcome.value(name, "limit_bytes"), limit_bytes);
    let held = outcome.value(name, "held_bytes_max");
    assert!(held > limit_bytes / 8.0 && held <= limit_bytes, "{held}");
    let from = outcome.value(name, "write_back_from_bytes");
    assert!(from > 0.0 && from <= held, "{from}");
    assert!(outcome.value(name, "bandwidth_before_limit") > 0.0);
    let (_, measured) = &outcome.measured[name];
    assert_eq!((measured.bytes, measured.operations), (128 << 20, 2048));
    let ends: Vec<f64> = measured
        .observations
        .iter()
        .filter_map(|one| match one {
            Observation::Series(series) => series.points.last().map(|(_, value)| *value),
            _ => None,
        })
        .collect();
    assert_eq!((ends.len(), ends[2]), (3, f64::from(128 << 20)), "all that was written");
}
