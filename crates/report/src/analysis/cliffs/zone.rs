//! How much values spread within a cliff and on either side of it.
//!
//! "Just a few megabytes more (or less) available in the cache affect the throughput dramatically
//! in this boundary region" (It *IS* Rocket Science, section 3.1): the relative standard deviation
//! of the ten runs there reached 35 %.

use std::ops::RangeInclusive;

use record::FragileZone;
use stats::cliff::Cliff;

use super::Trail;
use crate::analysis::estimates::pooled_percent;

/// With fewer replicates, a standard deviation is meaningless.
const REPLICATES_MIN: usize = 3;

/// The spread within `cliff`; `None` if too little was measured there.
pub(super) fn fragile_zone(trail: &Trail<'_>, cliff: &Cliff) -> Option<FragileZone> {
    let position = trail.course.zone_of(cliff)?;
    let inside = values_at(trail, position);
    let spread_inside_percent = pooled_percent(std::slice::from_ref(&inside))?;
    if inside.len() < REPLICATES_MIN {
        return None;
    }
    Some(FragileZone {
        position,
        replicates: u32::try_from(inside.len()).unwrap_or(u32::MAX),
        spread_inside_percent,
        spread_before_percent: on_plateau(trail, &cliff.before_sizes),
        spread_after_percent: on_plateau(trail, &cliff.after_sizes),
    })
}

fn values_at(trail: &Trail<'_>, position: f64) -> Vec<f64> {
    let there = trail.visits.iter().filter(|visit| visit.position.total_cmp(&position).is_eq());
    there.map(|visit| visit.value).collect()
}

fn on_plateau(trail: &Trail<'_>, positions: &RangeInclusive<f64>) -> Option<f64> {
    let mut measured: Vec<f64> = trail.visits.iter().map(|visit| visit.position).collect();
    measured.retain(|position| positions.contains(position));
    measured.sort_by(f64::total_cmp);
    measured.dedup();
    let groups: Vec<Vec<f64>> = measured.iter().map(|&it| values_at(trail, it)).collect();
    pooled_percent(&groups)
}
