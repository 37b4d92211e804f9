//! How far jobs have come, in a line.

use std::time::Duration;

use job_offsets::Direction;
use job_results::{
    Eta, JobState, PerDirection, Progress as JobProgress, RunningKind, StatusLine, StatusSnapshot,
    condensed,
};
use jobs::{JobInstance, Stage};

use crate::arguments::JobsRequest;

/// Writes lines about progress.
pub(crate) struct Progress {
    line: StatusLine,
    interval: Duration,
    last: Duration,
    bytes: [u64; 3],
    operations: [u64; 3],
    pub(crate) has_printed: bool,
}

impl Progress {
    pub(crate) fn new(request: &JobsRequest) -> Self {
        Self {
            line: StatusLine::new(request.eta_newline_ms),
            interval: Duration::from_millis(request.eta_interval_ms),
            last: Duration::ZERO,
            bytes: [0; 3],
            operations: [0; 3],
            has_printed: false,
        }
    }

    /// The text of the line, if it is time for one.
    pub(crate) fn text(&mut self, jobs: &[JobInstance<'_>], elapsed: Duration) -> Option<String> {
        if elapsed < self.last + self.interval {
            return None;
        }
        let passed_ms = milliseconds(elapsed.saturating_sub(self.last)).max(1);
        self.last = elapsed;
        let sum = |of: &dyn Fn(&JobInstance<'_>, Direction) -> u64| {
            Direction::ALL.map(|way| jobs.iter().map(|job| of(job, way)).sum::<u64>())
        };
        let bytes = sum(&|job, way| job.control.bytes(way));
        let operations = sum(&|job, way| job.control.operations(way));
        let rate = |now: [u64; 3], before: [u64; 3], unit: u64| {
            let [read, write, trim] = std::array::from_fn(|way| {
                now[way].saturating_sub(before[way]).saturating_mul(1000) / passed_ms / unit
            });
            PerDirection::new(read, write, trim)
        };
        let snapshot = StatusSnapshot {
            running: count(jobs, |stage| stage >= Stage::Ramp && stage < Stage::Ended),
            ramping: count(jobs, |stage| stage == Stage::Ramp),
            setting_up: count(jobs, |stage| stage == Stage::SettingUp),
            open_files: jobs.iter().map(|job| job.control.open_files()).sum(),
            bandwidth_kib: rate(bytes, self.bytes, 1024),
            iops: rate(operations, self.operations, 1),
            elapsed_s: milliseconds(elapsed).div_ceil(1000),
            eta: eta(jobs, elapsed),
            states: condensed(&jobs.iter().map(state).collect::<Vec<_>>()),
            significant_figures: 4,
            ..StatusSnapshot::default()
        };
        (self.bytes, self.operations) = (bytes, operations);
        self.has_printed = true;
        Some(self.line.text(&snapshot, milliseconds(elapsed)))
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn count(jobs: &[JobInstance<'_>], is_so: impl Fn(Stage) -> bool) -> u32 {
    let count = jobs.iter().filter(|job| is_so(job.control.stage())).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn state(job: &JobInstance<'_>) -> JobState {
    match job.control.stage() {
        Stage::Pending => JobState::Pending,
        Stage::SettingUp => JobState::SettingUp,
        Stage::Started | Stage::Ready => JobState::Created,
        Stage::PreReading => JobState::PreReading,
        Stage::Ramp => JobState::Ramping,
        Stage::Running => JobState::Running {
            kind: match (job.plan.reads(), job.plan.writes()) {
                (true, true) => RunningKind::Mixed,
                (true, false) => RunningKind::Read,
                (false, true) => RunningKind::Write,
                (false, false) => RunningKind::Trim,
            },
            is_random: job.plan.is_random(),
        },
        Stage::Verifying => JobState::Verifying,
        Stage::Syncing => JobState::Syncing,
        Stage::Finishing => JobState::Finishing,
        Stage::Ended => JobState::Done,
    }
}

/// When the last job will end.
fn eta(jobs: &[JobInstance<'_>], elapsed: Duration) -> Eta {
    let of = |job: &JobInstance<'_>| {
        let schedule = &job.plan.schedule;
        let limit = (schedule.runtime_us > 0).then_some(schedule.runtime_us / 1_000_000);
        let progress = match job.control.stage() {
            Stage::Ended | Stage::Finishing => JobProgress::Over,
            Stage::Pending | Stage::Started | Stage::Ready | Stage::SettingUp => {
                JobProgress::Waiting {
                    time_limit_s: limit,
                    bytes: job.control.planned_bytes(),
                    bandwidth_limit: job.plan.rate.bytes_per_s.iter().sum(),
                    start_delay_s: job.delay_us / 1_000_000,
                }
            }
            Stage::PreReading
            | Stage::Ramp
            | Stage::Running
            | Stage::Verifying
            | Stage::Syncing => JobProgress::Running {
                elapsed_s: elapsed.as_secs(),
                bytes: job.control.planned_bytes(),
                bytes_done: Direction::ALL.into_iter().map(|way| job.control.bytes(way)).sum(),
                time_limit_s: limit,
                is_time_based: schedule.is_time_based,
                done_s: 0,
            },
        };
        (progress.eta(), schedule.stonewall)
    };
    Eta::of_last(&jobs.iter().map(of).collect::<Vec<_>>())
}
