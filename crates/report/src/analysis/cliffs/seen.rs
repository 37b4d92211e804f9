//! Causes that were observed while operations ran: threads waiting in the kernel, and the sizes of
//! the device's reads.
//!
//! Waiting is a cause only if it occurs on the slower side and not on the faster one. Larger device
//! reads are a cause only if they account for most of the change.

use std::ops::RangeInclusive;

use record::machine::CgroupVersion;
use record::{Cause, Observation, ProbeEvidence, Run, SearchPlan, Waits};
use stats::cliff::Cliff;

use super::super::estimates;
use super::{Visit, whole};

/// On the faster side, at most this share of samples may find a thread waiting.
const WAITING_MAX: f64 = 0.02;
/// On the slower side, at least this share of all samples must find a thread waiting,
const WAITING_MIN: f64 = 0.10;
/// and at each position at least this share.
const WAITING_EACH_MIN: f64 = 0.05;
/// A device read counts as larger than an operation's request only from this factor on, because the
/// file system's own structures and split requests make its size vary.
const AHEAD_MIN: f64 = 1.5;
/// The share of a change, in logarithms, that fewer device reads must account for.
const ACCOUNTED_MIN: f64 = 0.5;
/// Device reads needed on each side to know their mean size.
const READS_MIN: u64 = 20;

/// The visits on both sides of a cliff.
#[derive(Clone)]
pub(super) struct Sides<'a> {
    before: Vec<Visit<'a>>,
    after: Vec<Visit<'a>>,
    falls: bool,
}

impl<'a> Sides<'a> {
    pub(super) fn new(cliff: &Cliff, visits: &[Visit<'a>]) -> Self {
        let side = |is_it: &dyn Fn(f64) -> bool| {
            visits.iter().filter(|visit| is_it(visit.position)).copied().collect()
        };
        Self {
            before: side(&|position| position <= cliff.size.low),
            after: side(&|position| position >= cliff.size.high),
            falls: cliff.before > cliff.after,
        }
    }

    /// The faster side and the slower one.
    fn fast_and_slow(&self) -> (&[Visit<'a>], &[Visit<'a>]) {
        if self.falls { (&self.before, &self.after) } else { (&self.after, &self.before) }
    }
}

/// What was observed during a probe.
fn probe_evidence(visit: &Visit<'_>) -> Option<ProbeEvidence> {
    visit.replicate.observations.iter().find_map(|observation| {
        if let Observation::Probe(evidence) = observation { Some(*evidence) } else { None }
    })
}

/// The share of samples that found a thread waiting; `None` if some probe could not sample threads.
fn waiting(visits: &[Visit<'_>], wait: fn(&Waits) -> u64) -> Option<f64> {
    let waits: Option<Vec<Waits>> =
        visits.iter().map(|visit| probe_evidence(visit)?.waits).collect();
    let waits = waits?;
    let looks: u64 = waits.iter().map(|waits| waits.looks).sum();
    (looks > 0).then(|| waits.iter().map(wait).sum::<u64>() as f64 / looks as f64)
}

/// The shares before and after, if they prove that this kind of waiting makes the difference.
fn proved(sides: &Sides<'_>, wait: fn(&Waits) -> u64) -> Option<(f64, f64)> {
    let (fast, slow) = sides.fast_and_slow();
    let (on_fast, on_slow) = (waiting(fast, wait)?, waiting(slow, wait)?);
    let mut positions: Vec<f64> = slow.iter().map(|visit| visit.position).collect();
    positions.sort_by(f64::total_cmp);
    positions.dedup();
    let is_everywhere = positions.iter().all(|position| {
        let there = slow.iter().filter(|visit| visit.position.total_cmp(position).is_eq());
        let there: Vec<Visit<'_>> = there.copied().collect();
        waiting(&there, wait).is_some_and(|share| share >= WAITING_EACH_MIN)
    });
    let is_proved = on_fast <= WAITING_MAX && on_slow >= WAITING_MIN && is_everywhere;
    let percent = |visits: &[Visit<'_>]| waiting(visits, wait).map(|share| share * 100.0);
    is_proved.then_some(())?;
    percent(&sides.before).zip(percent(&sides.after))
}

/// Writers wait until there is less dirty data.
pub(super) fn dirty_limit(run: &Run, plan: &SearchPlan, sides: &Sides<'_>) -> Option<Cause> {
    let (waiting_before_percent, waiting_after_percent) = proved(sides, |it| it.dirty_limit)?;
    let dirty = |visits: &[Visit<'_>]| {
        let most = visits.iter().filter_map(|visit| probe_evidence(visit)?.dirty_bytes_max);
        let most: Vec<f64> = most.map(|bytes| bytes as f64).collect();
        estimates::median(&most).map(whole)
    };
    Some(Cause::DirtyLimit {
        limit_bytes: dirty_limit_bytes(run, plan, sides),
        dirty_before_bytes: dirty(&sides.before),
        dirty_after_bytes: dirty(&sides.after),
        waiting_before_percent,
        waiting_after_percent,
    })
}

/// The tightest limit on dirty data that the settings imply. For a version 2 memory control group
/// it is the machine's percentage of the group's memory limit (mm/page-writeback.c,
/// `domain_dirty_limits`); version 1 has no such limit.
fn dirty_limit_bytes(run: &Run, plan: &SearchPlan, sides: &Sides<'_>) -> Option<u64> {
    let visits = sides.before.iter().chain(&sides.after);
    let of_probes = visits.filter_map(probe_evidence).flat_map(|seen| {
        [seen.machine_dirty_limit_bytes, seen.device_dirty_limit_bytes].into_iter().flatten()
    });
    let machine = &run.manifest.machine;
    let has_group_limit =
        machine.cgroup.as_ref().is_some_and(|group| group.version == CgroupVersion::V2);
    let target = run.manifest.targets.iter().find(|target| target.label == plan.target);
    let of_group = target
        .and_then(|target| target.conditions.memory_bytes)
        .zip(machine.dirty_limits.dirty_ratio_percent)
        .filter(|_| has_group_limit && machine.dirty_limits.dirty_bytes.unwrap_or(0) == 0)
        .map(|(memory_bytes, percent)| memory_bytes / 100 * u64::from(percent));
    of_probes.chain(of_group).min()
}

/// Writers wait for the file system's journal.
pub(super) fn journal(sides: &Sides<'_>) -> Option<Cause> {
    let (waiting_before_percent, waiting_after_percent) = proved(sides, |it| it.journal)?;
    let written = |visits: &[Visit<'_>]| {
        let device = visits.iter().map(|visit| visit.replicate.evidence.device_written_bytes);
        let device: Option<u64> = device.sum();
        let asked =
            visits.iter().filter_map(probe_evidence).map(|seen| seen.written_bytes).sum::<u64>();
        device.filter(|_| asked > 0).map(|bytes| bytes as f64 / asked as f64)
    };
    Some(Cause::Journal {
        written_before: written(&sides.before),
        written_after: written(&sides.after),
        waiting_before_percent,
        waiting_after_percent,
    })
}

/// What the device read on one side.
#[derive(Clone, Copy)]
struct DeviceReads {
    reads: u64,
    read_bytes: u64,
    operations: u64,
    moved_bytes: u64,
}

impl DeviceReads {
    fn from_visits(visits: &[Visit<'_>]) -> Option<Self> {
        let mut sum = Self { reads: 0, read_bytes: 0, operations: 0, moved_bytes: 0 };
        for visit in visits {
            sum.reads += probe_evidence(visit)?.device_reads?;
            sum.read_bytes += visit.replicate.evidence.device_read_bytes?;
            sum.operations += visit.replicate.operations;
            sum.moved_bytes += visit.replicate.bytes;
        }
        (sum.reads >= READS_MIN && sum.operations > 0).then_some(sum)
    }

    fn mean_bytes(self) -> f64 {
        self.read_bytes as f64 / self.reads as f64
    }

    /// Bytes that one operation requests.
    fn request_bytes(self) -> f64 {
        self.moved_bytes as f64 / self.operations as f64
    }

    /// Device reads per byte that operations moved.
    fn per_byte(self) -> f64 {
        self.reads as f64 / self.moved_bytes.max(1) as f64
    }
}

/// On the faster side a device read returns more than was asked for, so that fewer reads are
/// needed.
pub(super) fn read_ahead(
    run: &Run,
    plan: &SearchPlan,
    cliff: &Cliff,
    visits: &[Visit<'_>],
) -> Option<Cause> {
    let target = run.manifest.targets.iter().find(|target| target.label == plan.target)?;
    let window_bytes = target.read_ahead_bytes.filter(|&bytes| bytes > 0)?;
    let within = |sizes: &RangeInclusive<f64>| -> Vec<Visit<'_>> {
        visits.iter().filter(|it| sizes.contains(&it.position)).copied().collect()
    };
    let before = DeviceReads::from_visits(&within(&cliff.before_sizes))?;
    let after = DeviceReads::from_visits(&within(&cliff.after_sizes))?;
    let (fast, slow) = if cliff.before > cliff.after { (before, after) } else { (after, before) };
    let change = (cliff.before / cliff.after).ln().abs();
    let fewer = (slow.per_byte() / fast.per_byte()).ln();
    let is_ahead = fast.mean_bytes() >= AHEAD_MIN * fast.request_bytes()
        && fast.mean_bytes() >= AHEAD_MIN * slow.mean_bytes();
    (is_ahead && fewer >= ACCOUNTED_MIN * change).then(|| Cause::ReadAhead {
        window_bytes,
        device_read_before_bytes: whole(before.mean_bytes()),
        device_read_after_bytes: whole(after.mean_bytes()),
        request_bytes: whole(fast.request_bytes()),
    })
}
