//! What is searched on a target: as asked for, else what its limits and the machine suggest.

use machine::target::Target;
use record::machine::{CacheKind, Machine};
use record::{Axis, SearchPlan};

use super::error::CliffError;
use crate::live_target::LiveTarget;

/// Pages are what a cache holds.
const PAGE_BYTES: u64 = 4096;
/// How far a search reaches beyond a limit or cache, and how far below. Beyond, three reads of four
/// miss; below, the processor's caches have their say.
const BEYOND: u64 = 4;
const BELOW: u64 = 64;
/// Beyond a limit, less than this share of it shows no plateau.
const BEYOND_LEAST_PERCENT: u64 = 150;
/// Changes by a smaller factor are no cliff.
const RATIO_LEAST: f64 = 1.2;
/// Further cliffs are pinned down with this share of the probes of the first.
const FURTHER_SHARE: u32 = 2;

/// What a user asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// The axis.
    pub axis: Axis,
    /// The lower end of the range, in the axis' unit; none takes what the target suggests.
    pub low: Option<u64>,
    /// The upper end.
    pub high: Option<u64>,
    /// The wanted width of an interval, in percent.
    pub width_percent: f64,
    /// Confidence level of an interval, between 0 and 1.
    pub level: f64,
    /// The most probes for the grid and the highest cliff.
    pub probes_max: u32,
    /// The seed of all random choices.
    pub seed: u64,
}

/// What is searched on `live`.
///
/// # Errors
/// When the range is none, does not fit, or means nothing on the target.
pub fn plan(
    live: &LiveTarget,
    machine: &Machine,
    wanted: &Wanted,
) -> Result<SearchPlan, CliffError> {
    let target = live.target();
    let (low, high) = working_sets(target, machine, wanted)?;
    check_range(low, high, PAGE_BYTES, wanted.axis.unit())?;
    check_room(live, high)?;
    Ok(SearchPlan {
        target: target.spec().label.clone(),
        axis: wanted.axis,
        metric: "throughput".to_owned(),
        low: low as f64,
        high: high as f64,
        grain: PAGE_BYTES as f64,
        width_percent: wanted.width_percent,
        ratio_least: RATIO_LEAST,
        level: wanted.level,
        probes_max: wanted.probes_max,
        probes_max_further: wanted.probes_max / FURTHER_SHARE,
        seed: wanted.seed,
    })
}

fn working_sets(
    target: &Target,
    machine: &Machine,
    wanted: &Wanted,
) -> Result<(u64, u64), CliffError> {
    let label = || target.spec().label.clone();
    let limit = target.facts().conditions.limits.memory_bytes;
    if !target.supports_cold() && limit.is_some() {
        return Err(CliffError::LimitOnMemory { target: label() });
    }
    let cgroup = machine.cgroup.as_ref().and_then(|cgroup| cgroup.memory_limit_bytes);
    let limit = limit.or_else(|| cgroup.filter(|_| target.supports_cold()));
    let suggested = match limit {
        Some(limit) => Some((limit / BELOW, beyond(target, limit))),
        None => caches(machine).map(|(least, most)| (least / BEYOND, most * BEYOND)),
    };
    let (low, high) = match (wanted.low, wanted.high, suggested) {
        (Some(low), Some(high), _) => (low, high),
        (low, high, Some((suggested_low, suggested_high))) => {
            let low = low.unwrap_or(suggested_low.min(high.unwrap_or(u64::MAX) / 2));
            (low, high.unwrap_or(suggested_high.max(low.saturating_mul(BEYOND))))
        }
        _ => return Err(CliffError::NoRange { target: label() }),
    };
    if wanted.low.is_some_and(|low| low < PAGE_BYTES) {
        let unit = wanted.axis.unit();
        return Err(CliffError::LowTooSmall { low, least: PAGE_BYTES, unit });
    }
    Ok((whole_pages(low).max(PAGE_BYTES), whole_pages(high)))
}

/// As far beyond a limit as there is room for, if that shows anything.
fn beyond(target: &Target, limit_bytes: u64) -> u64 {
    let wanted = limit_bytes.saturating_mul(BEYOND);
    let room = target.space().map_or(wanted, |space| space.free_bytes / 10 * 9);
    let least = limit_bytes / 100 * BEYOND_LEAST_PERCENT;
    if room >= least { wanted.min(room) } else { wanted }
}

/// The least and the largest cache of the processor that holds data, from the second level on.
fn caches(machine: &Machine) -> Option<(u64, u64)> {
    let holds_data = |cache: &&record::machine::Cache| {
        cache.level >= 2 && cache.kind != CacheKind::Instruction
    };
    let sizes = || machine.caches.iter().filter(holds_data).filter_map(|cache| cache.size_bytes);
    sizes().min().zip(sizes().max())
}

fn whole_pages(bytes: u64) -> u64 {
    bytes / PAGE_BYTES * PAGE_BYTES
}

fn check_range(low: u64, high: u64, least: u64, unit: &'static str) -> Result<(), CliffError> {
    if low < least {
        return Err(CliffError::LowTooSmall { low, least, unit });
    }
    if high / 2 < low {
        return Err(CliffError::Range { low, high, unit });
    }
    Ok(())
}

fn check_room(live: &LiveTarget, needed_bytes: u64) -> Result<(), CliffError> {
    let target = live.target().spec().label.clone();
    let space = live.target().space();
    let space = space
        .map_err(|error| CliffError::Target { target: target.clone(), why: error.to_string() })?;
    let free_bytes = space.free_bytes;
    if needed_bytes <= free_bytes {
        return Ok(());
    }
    let larger = if live.is_scratch() { ", or the target a larger size=" } else { "" };
    Err(CliffError::NoRoom { target, needed_bytes, free_bytes, larger })
}
