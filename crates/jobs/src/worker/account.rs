//! What is counted of a job while it runs.

use job_offsets::Direction;
use job_results::logs::SampleLog;
use job_results::{DataDirection, JobResult, PerDirection, RateSampler};
use measure::{Clock, SystemClock};

use super::logs::{Logs, Sampled};
use super::priorities::Priorities;
use super::unit::Unit;
use crate::plan::{JobPlan, ReportPlan};

const NS_PER_MS: u64 = 1_000_000;

/// The direction as results have it.
pub(super) fn shown(direction: Direction) -> DataDirection {
    match direction {
        Direction::Read => DataDirection::Read,
        Direction::Write => DataDirection::Write,
        Direction::Trim => DataDirection::Trim,
    }
}

/// The measurements of a job.
pub(super) struct Account {
    pub(super) result: JobResult,
    /// What it begins with: nothing counted.
    blank: JobResult,
    clock: SystemClock,
    measures: ReportPlan,
    /// When counting began.
    pub(super) epoch: u64,
    /// Bytes and operations for the samples of rates.
    bytes: PerDirection<u64>,
    operations: PerDirection<u64>,
    bandwidth: RateSampler,
    iops: RateSampler,
    next_sample: u64,
    pub(super) logs: Option<Box<Logs>>,
    /// Whether anything counts: the ramp is over.
    pub(super) is_on: bool,
}

impl Account {
    pub(super) fn new(
        plan: &JobPlan,
        clock: SystemClock,
        logs: Option<Box<Logs>>,
        priorities: Option<&Priorities>,
    ) -> Self {
        let mut measures = plan.report.clone();
        // What these engines do is timed where it is done; the request that follows does nothing.
        measures.counts &= !plan.engine.is_by_name();
        // Rates are logged as often as they are sampled.
        let (average, kept) = (measures.logs.average_ms, &measures.logs);
        let shorter = |own: u64, is_logged: bool| match is_logged && average > 0 {
            true => own.min(average),
            false => own,
        };
        let windows = (
            shorter(measures.bandwidth_window_ms, kept.bandwidth.is_some()),
            shorter(measures.operations_window_ms, kept.operations.is_some()),
        );
        (measures.bandwidth_window_ms, measures.operations_window_ms) = windows;
        let mut blank = JobResult::default();
        if let Some(priorities) = priorities {
            for direction in Direction::ALL {
                priorities.begin(direction, &mut blank.directions[shown(direction)]);
            }
        }
        let mut account = Self {
            result: JobResult::default(),
            blank,
            epoch: clock.ticks(),
            bandwidth: RateSampler::of_bandwidth(measures.bandwidth_window_ms, 0),
            iops: RateSampler::of_iops(measures.operations_window_ms, 0),
            bytes: PerDirection::default(),
            operations: PerDirection::default(),
            next_sample: 0,
            logs,
            clock,
            measures,
            is_on: plan.schedule.ramp_us == 0,
        };
        account.restart();
        account
    }

    /// Begins to count, and forgets what was counted.
    pub(super) fn restart(&mut self) {
        self.result = self.blank.clone();
        self.epoch = self.clock.ticks();
        self.bytes = PerDirection::default();
        self.operations = PerDirection::default();
        self.bandwidth = RateSampler::of_bandwidth(self.measures.bandwidth_window_ms, 0);
        self.iops = RateSampler::of_iops(self.measures.operations_window_ms, 0);
        self.plan_sample(0);
    }

    /// Milliseconds since counting began.
    pub(super) fn elapsed_ms(&self, now: u64) -> u64 {
        self.elapsed_ns(now) / NS_PER_MS
    }

    pub(super) fn elapsed_ns(&self, now: u64) -> u64 {
        self.clock.nanos(now.saturating_sub(self.epoch))
    }

    /// Operations that are complete.
    pub(super) fn operations(&self) -> u64 {
        self.operations.iter().sum()
    }

    /// Whether latencies are measured at all.
    pub(super) fn reads_clock(&self) -> bool {
        !self.measures.reduces_clock
    }

    #[inline]
    fn between(&self, from: u64, to: u64) -> u64 {
        self.clock.nanos(to.saturating_sub(from))
    }

    /// An operation has been submitted.
    #[inline]
    pub(super) fn submitted(&mut self, unit: &Unit) {
        if !self.is_on || !self.measures.submission_latency {
            return;
        }
        if let Some(direction) = unit.direction() {
            let took = self.between(unit.started, unit.issued);
            let submission = &mut self.result.directions[shown(direction)].submission;
            submission.statistics.add(took);
            if self.measures.submission_percentiles {
                submission.histogram.add(took);
            }
            let of = self.sampled(unit, direction, unit.issued);
            if let Some(logs) = &mut self.logs {
                logs.submitted(of, took);
            }
        }
    }

    /// Bytes have been moved.
    #[inline]
    pub(super) fn completed(&mut self, unit: &Unit, direction: Direction, now: u64) {
        let bytes = unit.length as u64;
        let way = shown(direction);
        let total = self.between(unit.intended, now);
        let took = self.between(unit.issued, now);
        let counts = self.is_on && self.measures.counts;
        let result = &mut self.result.directions[way];
        result.bytes += bytes;
        if counts {
            if self.measures.total_latency {
                result.total.statistics.add(total);
                if self.measures.total_percentiles {
                    result.total.histogram.add(total);
                }
            }
            if self.measures.completion_latency {
                result.completion.statistics.add(took);
                if self.measures.completion_percentiles {
                    result.completion.histogram.add(took);
                }
                self.result.latency_bins.add(took);
            }
            self.add_by_priority(unit, way, (total, took));
            if self.logs.is_some() {
                self.log_completed(unit, direction, now, (total, took));
            }
        }
        self.bytes[way] += bytes;
        self.operations[way] += 1;
        if now >= self.next_sample {
            self.sample(now);
        }
    }

    /// Adds a latency to those of a unit's priority, if the job has several: as in fio, the total
    /// one if it has percentiles.
    fn add_by_priority(&mut self, unit: &Unit, way: DataDirection, (total, took): (u64, u64)) {
        let all = &mut self.result.directions[way].priorities;
        let position = all.iter().position(|one| Some(one.priority) == unit.priority);
        let Some(own) = all.get_mut(position.unwrap_or(0)) else { return };
        let measures = &self.measures;
        if measures.total_percentiles || measures.completion_latency {
            let ns = if measures.total_percentiles { total } else { took };
            own.latencies.statistics.add(ns);
            if measures.total_percentiles || measures.completion_percentiles {
                own.latencies.histogram.add(ns);
            }
        }
    }

    fn sampled(&self, unit: &Unit, direction: Direction, now: u64) -> Sampled {
        Sampled {
            direction: shown(direction),
            elapsed_ms: self.elapsed_ms(now),
            bytes: unit.length as u64,
            offset: unit.offset,
            priority: unit.priority,
        }
    }

    #[cold]
    fn log_completed(&mut self, unit: &Unit, direction: Direction, now: u64, ns: (u64, u64)) {
        let of = self.sampled(unit, direction, now);
        let Some(logs) = &mut self.logs else { return };
        let result = &mut self.result.directions[of.direction];
        if let Some(rate) = logs.completed(of, ns, &result.completion.histogram) {
            result.bandwidth.add(rate);
        }
    }

    /// A file has been created, looked at or removed by its name.
    pub(super) fn completed_by_name(&mut self, direction: Direction, took_ns: u64) {
        if self.is_on && self.measures.completion_latency {
            let completion = &mut self.result.directions[shown(direction)].completion;
            completion.statistics.add(took_ns);
            if self.measures.completion_percentiles {
                completion.histogram.add(took_ns);
            }
        }
    }

    /// Files have been made durable.
    pub(super) fn synced(&mut self, unit: &Unit, now: u64) {
        if self.is_on && self.measures.completion_latency {
            let took = self.between(unit.issued, now);
            self.result.sync.latencies.statistics.add(took);
            self.result.sync.latencies.histogram.add(took);
        }
    }

    /// Samples rates, if it is time to.
    #[cold]
    pub(super) fn sample(&mut self, now: u64) {
        let now_ms = self.elapsed_ms(now);
        if self.is_on {
            self.sample_rates(now_ms);
        }
        self.plan_sample(now_ms);
    }

    fn sample_rates(&mut self, now_ms: u64) {
        let logs = self.logs.as_deref_mut();
        let (each, sizes) = logs.as_ref().map_or((false, PerDirection::default()), |logs| {
            (logs.has_each_rate(), logs.block_bytes())
        });
        let (bandwidth_log, iops_log) =
            logs.map_or((None, None), |logs| (logs.bandwidth.as_mut(), logs.iops.as_mut()));
        let skips = |is_logged: bool| !self.measures.bandwidth || (is_logged && each);
        let (skips_bandwidth, skips_iops) =
            (skips(bandwidth_log.is_some()), skips(iops_log.is_some()));
        if !skips_bandwidth && let Some(rates) = self.bandwidth.sample(now_ms, &self.bytes) {
            add_rates(&rates, bandwidth_log, (now_ms, &sizes), |direction, rate| {
                self.result.directions[direction].bandwidth.add(rate);
            });
        }
        if !skips_iops && let Some(rates) = self.iops.sample(now_ms, &self.operations) {
            add_rates(&rates, iops_log, (now_ms, &sizes), |direction, rate| {
                self.result.directions[direction].iops.add(rate);
            });
        }
    }

    fn plan_sample(&mut self, now_ms: u64) {
        let due = self.bandwidth.due_in_ms(now_ms).min(self.iops.due_in_ms(now_ms)).max(1);
        self.next_sample =
            self.epoch.saturating_add(self.clock.ticks_of((now_ms + due) * NS_PER_MS));
    }
}

/// Adds samples of rates to what `add` adds them to, and to a log.
fn add_rates(
    rates: &PerDirection<Option<u64>>,
    mut log: Option<&mut SampleLog>,
    (now_ms, sizes): (u64, &PerDirection<u64>),
    mut add: impl FnMut(DataDirection, u64),
) {
    for (direction, rate) in rates.each() {
        let Some(rate) = rate else { continue };
        add(direction, *rate);
        if let Some(log) = &mut log {
            Logs::averaged(log, (direction, now_ms), *rate, sizes);
        }
    }
}
