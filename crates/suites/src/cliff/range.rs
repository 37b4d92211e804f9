//! What is searched on a target: as asked for, else what its limits and the machine suggest.

use machine::target::Target;
use record::machine::{CacheKind, Machine};
use record::{Axis, SearchPlan};

use super::error::CliffError;
use crate::live_target::LiveTarget;

/// Pages are what a cache holds.
const PAGE_BYTES: u64 = 4096;
/// The file of axes other than its size, where nothing speaks against it.
const FILE_BYTES: u64 = 64 << 20;
/// Threads of one probe: each has a stack and a histogram.
const THREADS_MAX: u64 = 1024;
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
    /// Bytes of one operation, unless that is the axis.
    pub request_bytes: usize,
    /// The seed of all random choices.
    pub seed: u64,
}

/// What is searched on a target, and on which file.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The search.
    pub search: SearchPlan,
    /// The size of the data file.
    pub file_bytes: u64,
    /// Bytes of it that operations range over, unless that is the axis.
    pub span_bytes: u64,
    /// Bytes of one operation, unless that is the axis.
    pub request_bytes: usize,
}

/// The ends of a range, and what its positions are multiples of.
#[derive(Clone, Copy)]
struct Range {
    low: u64,
    high: u64,
    grain: u64,
    file_bytes: u64,
}

/// What is searched on `live`.
///
/// # Errors
/// When the range is none, does not fit, or means nothing on the target.
pub fn plan(live: &LiveTarget, machine: &Machine, wanted: &Wanted) -> Result<Planned, CliffError> {
    let target = live.target();
    let range = match wanted.axis {
        Axis::RequestSize => request_sizes(target, wanted)?,
        Axis::Threads => threads(target, machine, wanted)?,
        _ => working_sets(target, machine, wanted)?,
    };
    check_range(&range, wanted.axis.unit())?;
    check_room(live, range.file_bytes)?;
    let metric = match wanted.axis {
        Axis::RequestSize => "bandwidth",
        Axis::Threads => "throughput_per_thread",
        _ => "throughput",
    };
    let search = SearchPlan {
        target: target.spec().label.clone(),
        axis: wanted.axis,
        metric: metric.to_owned(),
        low: range.low as f64,
        high: range.high as f64,
        grain: range.grain as f64,
        width_percent: wanted.width_percent,
        ratio_least: RATIO_LEAST,
        level: wanted.level,
        probes_max: wanted.probes_max,
        probes_max_further: wanted.probes_max / FURTHER_SHARE,
        seed: wanted.seed,
    };
    let (file_bytes, request_bytes) = (range.file_bytes, wanted.request_bytes);
    Ok(Planned { search, file_bytes, span_bytes: file_bytes, request_bytes })
}

/// A file that stays in memory: a quarter of the limit, at most twice the last-level cache of most
/// machines.
fn file_in_memory(target: &Target) -> u64 {
    let limit = target.facts().conditions.limits.memory_bytes.unwrap_or(u64::MAX);
    let free = target.space().map_or(u64::MAX, |space| space.free_bytes);
    whole_pages(FILE_BYTES.min(limit / 4).min(free / 2))
}

fn request_sizes(target: &Target, wanted: &Wanted) -> Result<Range, CliffError> {
    let file_bytes = file_in_memory(target);
    let low = whole_pages(wanted.low.unwrap_or(PAGE_BYTES));
    let high = whole_pages(wanted.high.unwrap_or(file_bytes / 4));
    if high > file_bytes {
        return Err(CliffError::RequestTooLarge { high, file_bytes });
    }
    Ok(Range { low, high, grain: PAGE_BYTES, file_bytes })
}

fn threads(target: &Target, machine: &Machine, wanted: &Wanted) -> Result<Range, CliffError> {
    let processors = machine.processor.allowed.len().max(1) as u64;
    let high = wanted.high.unwrap_or((processors * BEYOND).max(BEYOND));
    if high > THREADS_MAX {
        return Err(CliffError::TooManyThreads { high, most: THREADS_MAX });
    }
    let file_bytes = file_in_memory(target);
    Ok(Range { low: wanted.low.unwrap_or(1), high, grain: 1, file_bytes })
}

fn working_sets(target: &Target, machine: &Machine, wanted: &Wanted) -> Result<Range, CliffError> {
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
    let grain = PAGE_BYTES.max(wanted.request_bytes as u64);
    let whole = |bytes: u64| bytes / grain * grain;
    let low = if wanted.low.is_some() { low } else { low.max(grain) };
    if low < grain {
        return Err(CliffError::LowTooSmall { low, least: grain, unit: wanted.axis.unit() });
    }
    Ok(Range { low: whole(low), high: whole(high), grain, file_bytes: whole(high) })
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
    let holds_data =
        |cache: &&record::machine::Cache| cache.level >= 2 && cache.kind != CacheKind::Instruction;
    let sizes = || machine.caches.iter().filter(holds_data).filter_map(|cache| cache.size_bytes);
    sizes().min().zip(sizes().max())
}

fn whole_pages(bytes: u64) -> u64 {
    bytes / PAGE_BYTES * PAGE_BYTES
}

fn check_range(range: &Range, unit: &'static str) -> Result<(), CliffError> {
    let Range { low, high, grain, .. } = *range;
    if low < grain {
        return Err(CliffError::LowTooSmall { low, least: grain, unit });
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
