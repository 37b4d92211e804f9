//! The cliffs of a run: each search is replayed from its plan and the journal alone.

mod cause;
mod seen;
mod zone;

use std::ops::RangeInclusive;

use record::{
    Axis, CellReport, CliffReport, Line, Reached, Replicate, Run, SearchPlan, SearchReport, Warning,
};
use runner::{SearchCourse, Served};
use stats::cliff;

use super::{Gathered, estimates};

/// A search and everything measured for it.
struct Trail<'a> {
    plan: &'a SearchPlan,
    metric_unit: String,
    course: SearchCourse,
    /// The probes, in order.
    visits: Vec<Visit<'a>>,
}

/// One probe.
#[derive(Clone, Copy)]
struct Visit<'a> {
    position: f64,
    value: f64,
    replicate: &'a Replicate,
}

/// The result of each search, and the cliffs by target and position.
pub(super) fn all(run: &Run, gathered: &[Gathered<'_>]) -> (Vec<SearchReport>, Vec<CliffReport>) {
    let plans = run
        .lines
        .iter()
        .filter_map(|line| if let Line::Search(plan) = line { Some(plan.as_ref()) } else { None });
    let trails: Vec<Trail<'_>> = plans.filter_map(|plan| trail(run, gathered, plan)).collect();
    let cliffs = trails.iter().flat_map(|trail| cliffs_of(run, trail)).collect();
    (trails.iter().map(search_report).collect(), cliffs)
}

/// Replays a search. It ends at the first value whose position is not the one that the search would
/// have asked for, since nothing after that can be interpreted.
fn trail<'a>(run: &'a Run, gathered: &[Gathered<'a>], plan: &'a SearchPlan) -> Option<Trail<'a>> {
    let course = SearchCourse::new(plan).ok()?;
    let mut trail = Trail { plan, metric_unit: String::new(), course, visits: Vec::new() };
    for line in &run.lines {
        let Line::Replicate(replicate) = line else { continue };
        let cell = gathered.get(replicate.cell as usize)?.cell;
        if cell.target != plan.target {
            continue;
        }
        let position = cell.parameters.get(plan.axis.parameter())?.as_f64()?;
        let index = cell.metrics.iter().position(|metric| metric.name == plan.metric)?;
        trail.metric_unit.clone_from(&cell.metrics[index].unit);
        let value = *replicate.metrics.get(index)?;
        let served = Served::from_evidence(&replicate.evidence);
        let is_next =
            trail.course.next_position().is_some_and(|it| it.total_cmp(&position).is_eq());
        if !is_next || trail.course.tell(value, served).is_err() {
            break;
        }
        trail.visits.push(Visit { position, value, replicate });
    }
    // The course notices that it is finished only when asked for the next position.
    trail.course.next_position();
    Some(trail)
}

fn search_report(trail: &Trail<'_>) -> SearchReport {
    let searched = trail.course.searched();
    let mut positions: Vec<f64> = searched.iter().map(|told| told.0).collect();
    positions.sort_by(f64::total_cmp);
    positions.dedup();
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    SearchReport {
        plan: trail.plan.clone(),
        unit: trail.plan.axis.unit().to_owned(),
        metric_unit: trail.metric_unit.clone(),
        probes: count(searched.len()),
        positions: count(positions.len()),
        finished: trail.course.is_finished(),
        noise_percent: trail.course.outcome().map(|outcome| outcome.noise * 100.0),
    }
}

fn cliffs_of(run: &Run, trail: &Trail<'_>) -> Vec<CliffReport> {
    let found = trail.course.outcome().map(|outcome| outcome.cliffs).unwrap_or_default();
    let neighbourhood = |index: usize| {
        // A cliff's neighbourhood extends to the cliffs on either side.
        let from = index.checked_sub(1).map_or(0.0, |before| found[before].size.high);
        let to = found.get(index + 1).map_or(f64::INFINITY, |after| after.size.low);
        from..=to
    };
    let report = |index: usize| cliff_report(run, trail, &found[index], &neighbourhood(index));
    (0..found.len()).map(report).filter(|cliff| is_high(cliff, trail.plan)).collect()
}

fn cliff_report(
    run: &Run,
    trail: &Trail<'_>,
    found: &cliff::Cliff,
    neighbourhood: &RangeInclusive<f64>,
) -> CliffReport {
    let near = |visit: &&Visit<'_>| neighbourhood.contains(&visit.position);
    let nearby: Vec<Visit<'_>> = trail.visits.iter().filter(near).copied().collect();
    CliffReport {
        target: trail.plan.target.clone(),
        axis: trail.plan.axis,
        unit: trail.plan.axis.unit().to_owned(),
        low: found.size.low,
        high: found.size.high,
        level: found.size.level,
        reached: match found.reached {
            cliff::EndedBy::Width => Reached::Width,
            cliff::EndedBy::Noise => Reached::Noise,
            cliff::EndedBy::Probes => Reached::Probes,
        },
        metric: trail.plan.metric.clone(),
        metric_unit: trail.metric_unit.clone(),
        plateau_before: level(trail, &found.before_sizes),
        plateau_after: level(trail, &found.after_sizes),
        before_from: *found.before_sizes.start(),
        before_to: *found.before_sizes.end(),
        after_from: *found.after_sizes.start(),
        after_to: *found.after_sizes.end(),
        cause: cause::find(run, trail.plan, found, &nearby),
        zone: zone::fragile_zone(trail, found),
    }
}

/// Whether performance changes by at least the ratio that the plan asks for.
fn is_high(cliff: &CliffReport, plan: &SearchPlan) -> bool {
    let ratio = cliff.plateau_before / cliff.plateau_after;
    ratio.max(1.0 / ratio) >= plan.ratio_least
}

/// The median of what was measured at these positions.
fn level(trail: &Trail<'_>, positions: &RangeInclusive<f64>) -> f64 {
    let there = trail.visits.iter().filter(|visit| positions.contains(&visit.position));
    let values: Vec<f64> = there.map(|visit| visit.value).collect();
    estimates::median(&values).unwrap_or(f64::NAN)
}

/// Adds a warning to cells that are inside a cliff, with the spread that was measured there.
pub(super) fn warn(cells: &mut [CellReport], cliffs: &[CliffReport]) {
    for cell in cells {
        let position = |cliff: &CliffReport| cell.parameters.get(cliff.axis.parameter())?.as_f64();
        let within = cliffs.iter().find(|cliff| {
            let is_inside = |at: f64| cliff.low < at && at < cliff.high;
            cliff.target == cell.target && position(cliff).is_some_and(is_inside)
        });
        let bytes =
            within.and_then(position).filter(|_| within.is_some_and(|it| it.unit == "bytes"));
        let (Some(cliff), Some(bytes)) = (within, bytes) else { continue };
        let warning = Warning::FragileZone {
            working_set_bytes: whole(bytes),
            axis: Some(cliff.axis).filter(|&axis| axis != Axis::WorkingSet),
            cache: "the cliff that was found".to_owned(),
            cache_bytes: whole((cliff.low * cliff.high).sqrt()),
            spread_inside_percent: cliff.zone.map(|zone| zone.spread_inside_percent),
            spread_outside_percent: cliff.zone.and_then(|zone| zone.spread_before_percent),
        };
        cell.warnings.push(warning.into());
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn whole(bytes: f64) -> u64 {
    bytes.round() as u64
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_seen;
