//! What to search on a target: as requested, otherwise as its limits and the machine suggest.

use record::machine::{CacheKind, Machine};
use record::{Axis, Compared, SearchPlan, StandardMetric};
use targets::{Location, Target, TargetSpec};

use super::error::CliffError;
use super::request::{CliffParameters, CliffRequest, RangeEnd, check_threads};
use super::subject::in_words;
use crate::live_target::LiveTarget;

/// The unit of the page cache.
const PAGE_BYTES: u64 = 4096;
/// Default size of the file, if the axis is not the working set.
const FILE_BYTES: u64 = 64 << 20;
/// Size of the file when searching along shares, in multiples of the memory limit.
const SHARES_BEYOND: u64 = 2;
/// The least distance, in points, between the ends of a range of shares.
const SHARE_RANGE_MIN: u64 = 10;
/// How many times beyond a limit or cache a search goes, and how far below. Beyond, three of four
/// reads miss; below, the processor's caches come into play.
const BEYOND: u64 = 4;
const BELOW: u64 = 64;
/// The smallest volume tried by default; every mkfs can make one of this size.
const VOLUME_BYTES_MIN: u64 = 1 << 30;
/// The sizes of volumes are multiples of this.
const VOLUME_GRAIN: u64 = 16 << 20;
/// A volume holds a file of this fraction of its size, as a divisor.
const VOLUME_TO_FILE: u64 = 4;
/// A range that ends below this percentage of a limit shows no plateau beyond it.
const BEYOND_PERCENT_MIN: u64 = 150;
/// A change by a smaller factor is not a cliff.
const RATIO_MIN: f64 = 1.2;
/// Further cliffs are located with this fraction of the probes for the first, as a divisor.
const FURTHER_SHARE: u32 = 2;

/// What to search on a target, and on which file.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedSearch {
    /// The search.
    pub search: SearchPlan,
    /// The size of the data file.
    pub file_bytes: u64,
    /// What is done, apart from the axis.
    pub parameters: CliffParameters,
}

/// The ends of a range, and the step that its positions are multiples of.
#[derive(Clone, Copy)]
struct SearchRange {
    low: u64,
    high: u64,
    grain: u64,
    file_bytes: u64,
}

/// Plans the search on `live`.
///
/// # Errors
/// If the range is empty, does not fit, or makes no sense on the target.
pub fn plan(
    live: &LiveTarget,
    machine: &Machine,
    request: &CliffRequest,
) -> Result<PlannedSearch, CliffError> {
    request.check()?;
    let target = live.target();
    if target.library().is_some() {
        return Err(CliffError::ByLibrary { target: target.spec().label.clone() });
    }
    let range = match request.axis {
        Axis::RequestSize => request_sizes(target, request)?,
        Axis::Threads => threads(target, machine, request)?,
        Axis::ReadShare | Axis::SequentialShare => shares(target, request),
        Axis::WorkingSet => working_sets(target, machine, request)?,
        Axis::VolumeSize => volume_sizes(target, request)?,
    };
    check_range(&range, request)?;
    check_room(live, range.file_bytes, request.axis)?;
    let metric = match request.axis {
        Axis::RequestSize => StandardMetric::BANDWIDTH,
        Axis::Threads => StandardMetric::THROUGHPUT_PER_THREAD,
        Axis::WorkingSet | Axis::ReadShare | Axis::SequentialShare | Axis::VolumeSize => {
            StandardMetric::THROUGHPUT
        }
    };
    let parameters = request.parameters(range.file_bytes);
    let search = SearchPlan {
        target: target.spec().label.clone(),
        axis: request.axis,
        metric: metric.name.to_owned(),
        workload: in_words(request.axis, &parameters),
        compared: compared(target, machine, request, &range),
        low: range.low as f64,
        high: range.high as f64,
        grain: range.grain as f64,
        width_percent: request.width_percent,
        ratio_least: RATIO_MIN,
        level: request.level,
        probes_max: request.probes_max,
        probes_max_further: request.probes_max / FURTHER_SHARE,
        seed: request.seed,
    };
    Ok(PlannedSearch { search, file_bytes: range.file_bytes, parameters })
}

/// Working sets below and above a limit are two classes if anything is read. If all of them are
/// above it, or there is only one working set, all values are alike.
fn compared(
    target: &Target,
    machine: &Machine,
    request: &CliffRequest,
    range: &SearchRange,
) -> Compared {
    let limits = [memory_limit(target, machine), machine.memory.total_bytes];
    let is_beyond = limits.into_iter().flatten().any(|limit| range.low >= limit);
    let is_read = request.has_reads();
    match request.axis {
        Axis::WorkingSet if is_read && !is_beyond => Compared::DeviceApart,
        Axis::WorkingSet
        | Axis::RequestSize
        | Axis::Threads
        | Axis::ReadShare
        | Axis::SequentialShare
        | Axis::VolumeSize => Compared::Alike,
    }
}

/// Size of a file that stays in memory: a quarter of the limit, and at most twice the last-level
/// cache of most machines.
fn file_in_memory(target: &Target) -> u64 {
    let limit = target.facts().conditions.limits.memory_bytes.unwrap_or(u64::MAX);
    let free = target.space().map_or(u64::MAX, |space| space.free_bytes);
    whole_pages(FILE_BYTES.min(limit / 4).min(free / 2))
}

/// The requested working set, otherwise one that stays in memory.
fn file_of(target: &Target, request: &CliffRequest) -> u64 {
    request.working_set_bytes.map_or_else(|| file_in_memory(target), whole_pages)
}

fn request_sizes(target: &Target, request: &CliffRequest) -> Result<SearchRange, CliffError> {
    let file_bytes = file_of(target, request);
    let low = whole_pages(request.low.map_or(PAGE_BYTES, |end| end.value));
    let high = whole_pages(request.high.map_or(file_bytes / 4, |end| end.value));
    if high > file_bytes {
        let option = "--high";
        return Err(CliffError::RequestTooLarge { largest: high, file_bytes, option });
    }
    Ok(SearchRange { low, high, grain: PAGE_BYTES, file_bytes })
}

fn threads(
    target: &Target,
    machine: &Machine,
    request: &CliffRequest,
) -> Result<SearchRange, CliffError> {
    let processors = machine.processor.allowed.len().max(1) as u64;
    let high = request.high.map_or((processors * BEYOND).max(BEYOND), |end| end.value);
    check_threads("--high", high)?;
    let low = request.low.map_or(1, |end| end.value);
    Ok(SearchRange { low, high, grain: 1, file_bytes: file_of(target, request) })
}

/// If memory is limited, the file is one that does not stay there: read-ahead and write-back only
/// show where a device is involved.
fn shares(target: &Target, request: &CliffRequest) -> SearchRange {
    let limit = target.facts().conditions.limits.memory_bytes;
    let beyond = || {
        let wanted_bytes = limit.filter(|_| target.supports_cold())? * SHARES_BEYOND;
        let free_bytes = target.space().ok()?.free_bytes;
        (wanted_bytes <= free_bytes / 10 * 9).then_some(wanted_bytes)
    };
    let suits = || beyond().unwrap_or_else(|| file_in_memory(target));
    let file_bytes = whole_pages(request.working_set_bytes.unwrap_or_else(suits));
    let end = |end: Option<RangeEnd>, else_percent| end.map_or(else_percent, |end| end.value);
    SearchRange { low: end(request.low, 0), high: end(request.high, 100), grain: 1, file_bytes }
}

/// Volume sizes, up to that of the target's image, the largest for which there is space.
fn volume_sizes(target: &Target, request: &CliffRequest) -> Result<SearchRange, CliffError> {
    let label = || target.spec().label.clone();
    let most = target.image_bytes().ok_or_else(|| CliffError::NoVolume { target: label() })?;
    let whole = |bytes: u64| bytes / VOLUME_GRAIN * VOLUME_GRAIN;
    let high = request.high.map_or(most, |end| end.value);
    if high > most {
        return Err(CliffError::VolumeTooLarge { target: label(), high, most });
    }
    let low = request.low.map_or(VOLUME_BYTES_MIN, |end| end.value);
    check_volume(target.spec(), low, "--low")?;
    let file_bytes = file_on_volumes(target, request);
    let free_percent = 100 - u64::from(target.spec().filled_percent().unwrap_or(0));
    let least = file_bytes.saturating_mul(VOLUME_TO_FILE).saturating_mul(100) / free_percent;
    let least = least.next_multiple_of(VOLUME_GRAIN);
    if low < least {
        return Err(CliffError::VolumeTooSmall { low, file_bytes, least });
    }
    Ok(SearchRange { low: whole(low), high: whole(high), grain: VOLUME_GRAIN, file_bytes })
}

/// Refuses a volume that is too small for mkfs. If users give mkfs options of their own, they may
/// know how to make smaller ones.
///
/// # Errors
/// If it is too small; `option` is the one that set its size.
pub fn check_volume(spec: &TargetSpec, bytes: u64, option: &'static str) -> Result<(), CliffError> {
    let Location::Scratch(scratch) = &spec.location else { return Ok(()) };
    let least = scratch.file_system.mkfs.as_ref().map_or(0, |mkfs| mkfs.least_bytes);
    if scratch.mkfs.is_some() || bytes >= least {
        return Ok(());
    }
    Err(CliffError::VolumeBelowLeast { target: spec.label.clone(), bytes, least, option })
}

/// The requested working set, otherwise one that stays in memory.
fn file_on_volumes(target: &Target, request: &CliffRequest) -> u64 {
    let limit = target.facts().conditions.limits.memory_bytes.unwrap_or(u64::MAX);
    whole_pages(request.working_set_bytes.unwrap_or(FILE_BYTES.min(limit / 4)))
}

/// The memory limit that applies to the target's files, other than the machine's memory itself.
fn memory_limit(target: &Target, machine: &Machine) -> Option<u64> {
    let cgroup = machine.cgroup.as_ref().and_then(|cgroup| cgroup.memory_limit_bytes);
    let limit = target.facts().conditions.limits.memory_bytes;
    limit.or_else(|| cgroup.filter(|_| target.supports_cold()))
}

fn working_sets(
    target: &Target,
    machine: &Machine,
    request: &CliffRequest,
) -> Result<SearchRange, CliffError> {
    let label = || target.spec().label.clone();
    let limit = target.facts().conditions.limits.memory_bytes;
    if !target.supports_cold() && limit.is_some() {
        return Err(CliffError::LimitOnMemory { target: label() });
    }
    let suggested = match memory_limit(target, machine) {
        Some(limit) => Some((limit / BELOW, beyond(target, limit))),
        None => caches(machine).map(|(least, most)| (least / BEYOND, most * BEYOND)),
    };
    let (asked_low, asked_high) =
        (request.low.map(|end| end.value), request.high.map(|end| end.value));
    let (low, high) = match (asked_low, asked_high, suggested) {
        (Some(low), Some(high), _) => (low, high),
        (low, high, Some((suggested_low, suggested_high))) => {
            let low = low.unwrap_or(suggested_low.min(high.unwrap_or(u64::MAX) / 2));
            (low, high.unwrap_or(suggested_high.max(low.saturating_mul(BEYOND))))
        }
        _ => return Err(CliffError::NoRange { target: label() }),
    };
    let grain = PAGE_BYTES.max(request.request_bytes());
    let whole = |bytes: u64| bytes / grain * grain;
    let low = if request.low.is_some() { low } else { low.max(grain) };
    if low < grain {
        return Err(CliffError::LowTooSmall { low, least: grain, unit: request.axis.unit() });
    }
    Ok(SearchRange { low: whole(low), high: whole(high), grain, file_bytes: whole(high) })
}

/// As far beyond a limit as there is space for, if that is enough to show anything.
fn beyond(target: &Target, limit_bytes: u64) -> u64 {
    let wanted = limit_bytes.saturating_mul(BEYOND);
    let room = target.space().map_or(wanted, |space| space.free_bytes / 10 * 9);
    let least = limit_bytes / 100 * BEYOND_PERCENT_MIN;
    if room >= least { wanted.min(room) } else { wanted }
}

/// The smallest and the largest data cache of the processor, from the second level up.
fn caches(machine: &Machine) -> Option<(u64, u64)> {
    let holds_data =
        |cache: &&record::machine::Cache| cache.level >= 2 && cache.kind != CacheKind::Instruction;
    let sizes = || machine.caches.iter().filter(holds_data).filter_map(|cache| cache.size_bytes);
    sizes().min().zip(sizes().max())
}

fn whole_pages(bytes: u64) -> u64 {
    bytes / PAGE_BYTES * PAGE_BYTES
}

fn check_range(range: &SearchRange, request: &CliffRequest) -> Result<(), CliffError> {
    let SearchRange { low, high, grain, file_bytes } = *range;
    let unit = request.axis.unit();
    if request.axis.is_share() {
        if high < low + SHARE_RANGE_MIN {
            return Err(CliffError::ShareRange { low, high, least: SHARE_RANGE_MIN });
        }
    } else if low < grain {
        return Err(CliffError::LowTooSmall { low, least: grain, unit });
    } else if high / 2 < low {
        return Err(CliffError::Range { low, high, unit });
    }
    let largest = request.request_bytes();
    if request.axis != Axis::RequestSize && largest > file_bytes {
        let option = "--request";
        return Err(CliffError::RequestTooLarge { largest, file_bytes, option });
    }
    Ok(())
}

fn check_room(live: &LiveTarget, needed_bytes: u64, axis: Axis) -> Result<(), CliffError> {
    let target = live.target().spec().label.clone();
    let space = live.target().space();
    let space = space
        .map_err(|error| CliffError::Target { target: target.clone(), why: error.to_string() })?;
    let free_bytes = space.free_bytes;
    if needed_bytes <= free_bytes {
        return Ok(());
    }
    let larger = live.or_more_room();
    let option = if axis == Axis::WorkingSet { "--high" } else { "--working-set" };
    Err(CliffError::NoRoom { target, needed_bytes, free_bytes, option, larger })
}
