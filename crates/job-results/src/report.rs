//! All that is printed about a run: jobs, groups of them, devices.

use crate::direction::{DataDirection, PerDirection};
use crate::disks::DiskUtilization;
use crate::job::JobResult;
use crate::merge::reported_jobs;
use crate::presentation::{NumberStyle, Unified};
use crate::status_line::Eta;

/// When a report was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportTime {
    /// Milliseconds since 1970.
    pub epoch_ms: u64,
    /// The same in local time, as C's `ctime` writes it, without a line break: `Tue Dec  1 03:57:03
    /// 2026`.
    pub text: String,
}

/// What is known about a whole run besides its jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// The program's version: `fio-3.33` is what readers of these outputs look for.
    pub version: String,
    /// When the report was made.
    pub time: ReportTime,
    /// Options of the `[global]` sections, in order.
    pub global_options: Vec<(String, String)>,
    /// When the run ends. fio does not estimate that during the first two seconds.
    pub eta: Eta,
    /// Seconds since the run began, rounded up.
    pub elapsed_s: u64,
    /// Devices below the files.
    pub disks: Vec<DiskUtilization>,
}

/// What the jobs of a group did in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupDirection {
    /// Bytes of all.
    pub bytes: u64,
    /// The shortest run time.
    pub runtime_ms_min: u64,
    /// The longest run time; 0 if this direction was not used.
    pub runtime_ms_max: u64,
    /// The least bytes per second of a job.
    pub bandwidth_min: u64,
    /// The most bytes per second of a job.
    pub bandwidth_max: u64,
    /// Bytes per second of all, over the longest run time.
    pub bandwidth: u64,
}

/// What the jobs of a group did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupStatus {
    /// By direction.
    pub directions: PerDirection<GroupDirection>,
    /// How numbers are written.
    pub numbers: NumberStyle,
    /// Whether directions are reported apart; `None` as well if jobs disagree on how not.
    pub unified: Unified,
}

/// All that is printed about a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What is known about the run besides its jobs.
    pub facts: RunFacts,
    /// Jobs, or groups of them that are reported as one.
    pub jobs: Vec<JobResult>,
    /// Groups, by number.
    pub groups: Vec<GroupStatus>,
}

impl Report {
    /// Reports on these threads and processes, in the order of their jobs. Those that their options
    /// want to be reported as one are merged.
    pub fn new(facts: RunFacts, threads: &[JobResult]) -> Self {
        let jobs = reported_jobs(threads);
        let groups = threads.iter().map(|thread| thread.group + 1).max().unwrap_or(0);
        let groups = (0..groups).map(|group| GroupStatus::of(&jobs, group)).collect();
        Self { facts, jobs, groups }
    }

    /// The group that a job belongs to.
    ///
    /// # Panics
    ///
    /// If the report has no such group.
    pub(crate) fn group_of(&self, job: &JobResult) -> &GroupStatus {
        &self.groups[job.group as usize]
    }
}

impl GroupStatus {
    fn of(jobs: &[JobResult], group: u32) -> Self {
        let mut status = Self::default();
        let (mut is_mixed, mut is_both) = (false, false);
        for job in jobs.iter().filter(|job| job.group == group) {
            status.numbers = job.presentation.numbers;
            is_mixed |= job.presentation.unified == Unified::Mixed;
            is_both |= job.presentation.unified == Unified::Both;
            for direction in DataDirection::ALL {
                let done = &job.directions[direction];
                if done.runtime_ms > 0 {
                    status.directions[direction].take_in(done.bytes, done.runtime_ms);
                }
            }
        }
        status.unified = match (is_mixed, is_both) {
            (true, false) => Unified::Mixed,
            (false, true) => Unified::Both,
            (true, true) | (false, false) => Unified::None,
        };
        status
    }
}

impl GroupDirection {
    /// What share of the group's bandwidth this many KiB/s are, in percent; fio drops the fraction
    /// of the KiB/s first.
    pub(crate) fn share_of(&self, kib_per_second: f64) -> f64 {
        if self.bandwidth <= 1024 {
            return 100.0;
        }
        (kib_per_second.trunc() * 100.0 / (self.bandwidth as f64 / 1024.0)).min(100.0)
    }

    fn take_in(&mut self, bytes: u64, runtime_ms: u64) {
        let bandwidth = per_second(bytes, runtime_ms);
        let is_first = self.runtime_ms_max == 0;
        if is_first || runtime_ms < self.runtime_ms_min {
            self.runtime_ms_min = runtime_ms;
        }
        if is_first || bandwidth < self.bandwidth_min {
            self.bandwidth_min = bandwidth;
        }
        self.runtime_ms_max = self.runtime_ms_max.max(runtime_ms);
        self.bandwidth_max = self.bandwidth_max.max(bandwidth);
        self.bytes += bytes;
        self.bandwidth = per_second(self.bytes, self.runtime_ms_max);
    }
}

/// A count per second, rounded down; 0 without a run time.
pub(crate) fn per_second(count: u64, runtime_ms: u64) -> u64 {
    let rate = (u128::from(count) * 1000).checked_div(u128::from(runtime_ms)).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(bytes: u64, runtime_ms: u64, group: u32) -> JobResult {
        let mut job = JobResult { group, ..JobResult::default() };
        job.directions[DataDirection::Write].bytes = bytes;
        job.directions[DataDirection::Write].runtime_ms = runtime_ms;
        job
    }

    #[test]
    fn a_group_has_the_extremes_of_its_jobs() {
        let threads = [job(1_000, 10, 0), job(4_000, 20, 0), job(7, 1, 2)];
        let report = Report::new(RunFacts::default(), &threads);
        assert_eq!(report.groups.len(), 3);
        let expected = GroupDirection {
            bytes: 5_000,
            runtime_ms_min: 10,
            runtime_ms_max: 20,
            bandwidth_min: 100_000,
            bandwidth_max: 200_000,
            bandwidth: 250_000,
        };
        assert_eq!(report.groups[0].directions[DataDirection::Write], expected);
        assert_eq!(report.groups[1], GroupStatus::default());
        assert_eq!(report.groups[2].directions[DataDirection::Write].bandwidth, 7_000);
    }
}
