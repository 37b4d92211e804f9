//! Sentences about a cliff: where it is, what causes it, and how much values spread there.

use record::{Cause, CliffReport, LimitOwner, Reached, SearchReport};

use super::super::table::percent;
use super::{metric, position, seen};
use crate::units::{self, Wording};
use textual::{plural, unbroken};

/// Where it is, how high, and how certain.
pub(super) fn of_cliff(cliff: &CliffReport) -> String {
    let at = |value: f64| position(&cliff.unit, value);
    let value = |value: f64| {
        unbroken(&units::figure(&cliff.metric_unit, value, None, Wording::Short).value)
    };
    let span = |from: f64, to: f64| {
        if from < to { format!("{} to {}", at(from), at(to)) } else { at(from) }
    };
    let verb = if cliff.plateau_before > cliff.plateau_after { "falls" } else { "rises" };
    let width = if cliff.axis.is_share() {
        format!("{} points", cliff.high - cliff.low)
    } else {
        format!("{:.1} %", (cliff.high / cliff.low - 1.0) * 100.0)
    };
    let why_wide = match cliff.reached {
        Reached::Noise => "; no narrower because what lies between is a slope or too noisy",
        Reached::Probes => "; no narrower because the probes were used up (--probes)",
        Reached::Width => "",
    };
    format!(
        "Between {} and {} ({} %; {width} wide{why_wide}), {} {verb} from {} (at {}) to {} \
         (at {}).",
        at(cliff.low),
        at(cliff.high),
        percent(cliff.level),
        metric(&cliff.metric),
        value(cliff.plateau_before),
        span(cliff.before_from, cliff.before_to),
        value(cliff.plateau_after),
        span(cliff.after_from, cliff.after_to),
    )
}

/// Its cause, with the evidence.
pub(super) fn of_cause(cliff: &CliffReport) -> Option<String> {
    let at = |bytes: u64| position("bytes", bytes as f64);
    Some(match &cliff.cause {
        Cause::MemoryLimit {
            of,
            limit_bytes,
            resident_to_bytes,
            read_from_bytes,
            resident_bytes,
        } => {
            let whose = match of {
                LimitOwner::Target => "the target's memory limit",
                LimitOwner::ControlGroup => "the control group's memory limit",
                LimitOwner::Machine => "the machine's memory",
            };
            format!(
                "Cause: {whose}, {}. Up to {} every page stayed resident; from {} on, the device \
                 was read and {} stayed resident.",
                at(*limit_bytes),
                at(*resident_to_bytes),
                at(*read_from_bytes),
                at(*resident_bytes)
            )
        }
        Cause::ProcessorCache { level, cache_bytes, replicates } => format!(
            "Cause: the processor's L{level} cache, {}. In {} on both sides, every page stayed \
             resident.",
            at(*cache_bytes),
            plural(*replicates as usize, "probe")
        ),
        Cause::Processors { processors, together_before, together_after } => {
            let value = |value: f64| {
                unbroken(&units::figure(&cliff.metric_unit, value, None, Wording::Short).value)
            };
            let there_are = match processors {
                1 => "there is 1 processor".to_owned(),
                several => format!("there are {several} processors"),
            };
            format!(
                "Cause: {there_are}. All threads together do {} up to that point, and {} with the \
                 most threads.",
                value(*together_before),
                value(*together_after)
            )
        }
        Cause::DirtyLimit { .. } | Cause::Journal { .. } | Cause::ReadAhead { .. } => {
            return seen::sentence(&cliff.cause);
        }
        Cause::Unknown => "Cause unknown: no measurement proves one.".to_owned(),
    })
}

/// How much values spread within it.
pub(super) fn of_zone(cliff: &CliffReport) -> Option<String> {
    let zone = cliff.zone?;
    let beside = [(zone.spread_before_percent, "before"), (zone.spread_after_percent, "after")];
    let beside: Vec<String> = beside
        .into_iter()
        .filter_map(|(spread, side)| Some(format!("{:.1} % {side} it", spread?)))
        .collect();
    let against = if beside.is_empty() {
        String::new()
    } else {
        format!(", against {}", beside.join(" and "))
    };
    Some(format!(
        "Fragile: {} at {}, within it, spread by {:.1} % (relative standard deviation){against}.",
        plural(zone.replicates as usize, "replicate"),
        position(&cliff.unit, zone.position),
        zone.spread_inside_percent
    ))
}

/// Says that there is no cliff, if a search found none.
pub(super) fn of_absence(search: &SearchReport, cliffs: &[&CliffReport]) -> Option<String> {
    let plan = &search.plan;
    if !cliffs.is_empty() || search.noise_percent.is_none() {
        return None;
    }
    let within = if plan.axis.is_share() { "a tenth of the range" } else { "a factor of 2" };
    Some(format!(
        "No break by a factor of {} or more within {within} was found between {} and {}{}.",
        plan.ratio_least,
        position(&search.unit, plan.low),
        position(&search.unit, plan.high),
        unseen(search)
    ))
}

/// How high breaks can be that are hidden by noise: between neighbours on the grid that were probed
/// four times each, a step is certain if its height, as a logarithm, is about four times the noise.
fn unseen(search: &SearchReport) -> String {
    const TIMES_NOISE: f64 = 4.0;
    let noise_percent = search.noise_percent.unwrap_or(0.0);
    let hidden = (TIMES_NOISE * noise_percent / 100.0).exp();
    if hidden <= search.plan.ratio_least {
        return String::new();
    }
    let factor = if hidden < 10.0 { format!("{hidden:.1}") } else { format!("{hidden:.0}") };
    format!(
        "; values spread by {noise_percent:.1} % (relative standard deviation), so breaks by less \
         than a factor of {factor} can go unseen"
    )
}

/// Says that a search was cut off, if it was.
pub(super) fn of_end(search: &SearchReport) -> Option<String> {
    match (search.finished, search.noise_percent) {
        (true, _) => None,
        (false, Some(_)) => Some(format!(
            "The search was cut off after {}: what it found is preliminary (a larger --budget lets \
             it finish).",
            plural(search.probes as usize, "probe")
        )),
        (false, None) => Some(format!(
            "The search was cut off after {}, before its grid was measured: it shows nothing yet \
             (a larger --budget lets it finish).",
            plural(search.probes as usize, "probe")
        )),
    }
}
