//! The cause of a cliff, as far as the measurements prove it.
//!
//! A cause is named only if the state of the page cache and of the device changes (or stays the
//! same) at the cliff in the way that this cause implies. It is never enough that the cliff is near
//! some number of the machine, such as the size of a cache.

use record::machine::CacheKind;
use record::{Axis, Cause, LimitOwner, Run, SearchPlan};
use stats::cliff::Cliff;

use super::super::estimates;
use super::seen::{self, Sides};
use super::{Visit, whole};

/// A state counts as changing at the cliff if it changes within this factor of its interval.
const NEAR: f64 = 1.05;
/// The kernel's own structures and the program use part of a memory limit. The remainder, and at
/// least this share, is resident.
const RESIDENT_SHARE_MIN: f64 = 0.5;
/// While every page stays resident, the device may read up to this share of the bytes that
/// operations moved for something else: for the file system's own structures, which a limit evicts
/// as well, and for programs that look at every device there is.
const ELSE_SHARE_MAX: f64 = 0.01;
/// An interval coincides with a processor cache if it is within this factor of the cache's size:
/// the program's buffers and the kernel's structures share the cache.
const CACHE_FACTOR: f64 = 2.0;

/// The total throughput of all threads has stopped growing if it grows by less than this factor.
const TOGETHER: f64 = 1.25;

/// The cause of `cliff`; `visits` are the probes around it.
pub(super) fn find(run: &Run, plan: &SearchPlan, cliff: &Cliff, visits: &[Visit<'_>]) -> Cause {
    let sides = Sides::new(cliff, visits);
    let waited = || seen::dirty_limit(run, plan, &sides).or_else(|| seen::journal(&sides));
    let of_axis = || match plan.axis {
        Axis::WorkingSet => {
            memory_limit(run, plan, cliff, visits).or_else(|| processor_cache(run, cliff, visits))
        }
        Axis::RequestSize => seen::read_ahead(run, plan, cliff, visits)
            .or_else(|| processor_cache(run, cliff, visits)),
        Axis::Threads => processors(run, cliff, visits),
        Axis::SequentialShare => seen::read_ahead(run, plan, cliff, visits),
        Axis::ReadShare | Axis::VolumeSize => None,
    };
    waited().or_else(of_axis).unwrap_or(Cause::Unknown)
}

/// Whether the data came from memory and stayed there: every page is resident afterwards, all but a
/// stray few were before, and the device was hardly read.
fn is_from_memory(visit: &Visit<'_>) -> bool {
    let evidence = &visit.replicate.evidence;
    let misses = |pages: Option<u64>| {
        pages.zip(evidence.pages).map(|(have, all)| all.saturating_sub(have) as f64 / all as f64)
    };
    is_hardly(evidence.device_read_bytes, visit)
        && misses(evidence.resident_before).is_some_and(|share| share <= ELSE_SHARE_MAX)
        && misses(evidence.resident_after).is_some_and(|share| share <= 0.0)
}

/// Whether `bytes` is negligible compared with what the operations moved.
fn is_hardly(bytes: Option<u64>, visit: &Visit<'_>) -> bool {
    bytes.unwrap_or(0) as f64 <= ELSE_SHARE_MAX * visit.replicate.bytes as f64
}

/// Whether only memory was involved: what was written stayed there as well.
fn is_in_memory(visit: &Visit<'_>) -> bool {
    is_from_memory(visit) && is_hardly(visit.replicate.evidence.device_written_bytes, visit)
}

/// Whether the device was read and not all pages stayed resident.
fn is_from_device(visit: &Visit<'_>) -> bool {
    let evidence = &visit.replicate.evidence;
    let is_missing =
        evidence.resident_after.zip(evidence.pages).is_some_and(|(have, all)| have < all);
    is_missing && evidence.device_read_bytes.is_some_and(|bytes| bytes > 0)
}

fn memory_limit(
    run: &Run,
    plan: &SearchPlan,
    cliff: &Cliff,
    visits: &[Visit<'_>],
) -> Option<Cause> {
    let before = |visit: &&Visit<'_>| visit.position <= *cliff.before_sizes.end();
    let after = || visits.iter().filter(|visit| visit.position >= cliff.size.high);
    if !visits.iter().filter(before).all(is_from_memory) || !after().all(is_from_device) {
        return None;
    }
    let memory = visits.iter().filter(|visit| is_from_memory(visit)).map(|visit| visit.position);
    let resident_to = memory.fold(0.0, f64::max);
    let device = visits.iter().filter(|visit| is_from_device(visit)).map(|visit| visit.position);
    let read_from = device.filter(|&position| position > resident_to).fold(f64::INFINITY, f64::min);
    if resident_to * NEAR < cliff.size.low || read_from > cliff.size.high * NEAR {
        return None;
    }
    let page_bytes = run.manifest.machine.memory.page_bytes.unwrap_or(4096);
    let mut resident: Vec<u64> =
        after().filter_map(|visit| visit.replicate.evidence.resident_after).collect();
    resident.sort_unstable();
    let resident_bytes = resident.get(resident.len() / 2)? * page_bytes;
    let (of, limit_bytes) = limits(run, plan).into_iter().find(|(_, limit_bytes)| {
        let share = resident_bytes as f64 / (*limit_bytes).max(1) as f64;
        (RESIDENT_SHARE_MIN..=1.0).contains(&share)
    })?;
    let (resident_to_bytes, read_from_bytes) = (whole(resident_to), whole(read_from));
    Some(Cause::MemoryLimit { of, limit_bytes, resident_to_bytes, read_from_bytes, resident_bytes })
}

/// The memory limits that apply to the target, the tightest first.
fn limits(run: &Run, plan: &SearchPlan) -> Vec<(LimitOwner, u64)> {
    let manifest = &run.manifest;
    let target = manifest.targets.iter().find(|target| target.label == plan.target);
    let group = manifest.machine.cgroup.as_ref();
    let known = [
        (LimitOwner::Target, target.and_then(|target| target.conditions.memory_bytes)),
        (LimitOwner::ControlGroup, group.and_then(|group| group.memory_limit_bytes)),
        (LimitOwner::Machine, manifest.machine.memory.total_bytes),
    ];
    let mut limits: Vec<(LimitOwner, u64)> =
        known.into_iter().filter_map(|(of, bytes)| Some((of, bytes?))).collect();
    limits.sort_by_key(|(_, bytes)| *bytes);
    limits
}

fn processor_cache(run: &Run, cliff: &Cliff, visits: &[Visit<'_>]) -> Option<Cause> {
    let beside = |visit: &&Visit<'_>| {
        *cliff.before_sizes.start() <= visit.position && visit.position <= *cliff.after_sizes.end()
    };
    let beside: Vec<&Visit<'_>> = visits.iter().filter(beside).collect();
    if beside.is_empty() || !beside.iter().all(|visit| is_in_memory(visit)) {
        return None;
    }
    let holds_data = |cache: &&record::machine::Cache| cache.kind != CacheKind::Instruction;
    let caches = run.manifest.machine.caches.iter().filter(holds_data);
    let sizes = caches.filter_map(|cache| Some((cache.level, cache.size_bytes?)));
    let off = |bytes: u64| (cliff.position / bytes as f64).ln().abs();
    let (level, cache_bytes) = sizes
        .filter(|(_, bytes)| off(*bytes) <= CACHE_FACTOR.ln())
        .min_by(|a, b| off(a.1).total_cmp(&off(b.1)))?;
    let replicates = u32::try_from(beside.len()).unwrap_or(u32::MAX);
    Some(Cause::ProcessorCache { level, cache_bytes, replicates })
}

/// The interval begins at the number of processors, and beyond it the total throughput of all
/// threads no longer grows.
fn processors(run: &Run, cliff: &Cliff, visits: &[Visit<'_>]) -> Option<Cause> {
    let count = u32::try_from(run.manifest.machine.processor.allowed.len()).ok()?;
    let processors = f64::from(count);
    let is_there = cliff.size.low <= processors * TOGETHER && processors < cliff.size.high;
    if !is_there || !visits.iter().all(is_in_memory) {
        return None;
    }
    let together = |position: f64| {
        let there = visits.iter().filter(|visit| visit.position.total_cmp(&position).is_eq());
        let values: Vec<f64> = there.map(|visit| visit.value * visit.position).collect();
        estimates::median(&values)
    };
    let last_before = visits.iter().map(|visit| visit.position);
    let last_before = last_before.filter(|&at| at <= cliff.size.low).fold(0.0, f64::max);
    let last = visits.iter().map(|visit| visit.position).fold(0.0, f64::max);
    let (together_before, together_after) = (together(last_before)?, together(last)?);
    let is_flat = together_after <= together_before * TOGETHER;
    is_flat.then_some(Cause::Processors { processors: count, together_before, together_after })
}
