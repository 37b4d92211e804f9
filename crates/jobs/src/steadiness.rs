//! Whether jobs have become steady, second by second: those that are reported together, together.

use std::time::Instant;

use job_offsets::Direction;
use job_results::{SteadyState, SteadyStateDetector};

use crate::control::Stage;
use crate::instance::JobInstance;

/// The detectors of all jobs that have such a goal.
pub(crate) struct Steadiness {
    watched: Vec<Watched>,
    last: Instant,
}

/// Jobs that are judged together.
struct Watched {
    /// Their thread numbers.
    jobs: Vec<u32>,
    detector: SteadyStateDetector,
    ramp_us: u64,
    began: Option<Instant>,
    before: Option<(u64, u64)>,
}

/// How often rates are looked at, in milliseconds.
const INTERVAL_MS: u64 = 1000;

impl Steadiness {
    pub(crate) fn new(jobs: &[JobInstance<'_>]) -> Self {
        let mut watched: Vec<(u32, bool, Watched)> = Vec::new();
        for job in jobs {
            let Some(steady) = job.plan.steady else { continue };
            let is_grouped = job.plan.report.by_group;
            let own = watched
                .iter_mut()
                .find(|(group, grouped, _)| *grouped && is_grouped && *group == job.group);
            match own {
                Some((_, _, watched)) => watched.jobs.push(job.thread_number),
                None => watched.push((
                    job.group,
                    is_grouped,
                    Watched {
                        jobs: vec![job.thread_number],
                        detector: SteadyStateDetector::new(steady.goal),
                        ramp_us: steady.ramp_us,
                        began: None,
                        before: None,
                    },
                )),
            }
        }
        let watched = watched.into_iter().map(|(_, _, watched)| watched).collect();
        Self { watched, last: Instant::now() }
    }

    /// Looks, if it is time to, and ends jobs that are steady.
    pub(crate) fn look(&mut self, jobs: &[JobInstance<'_>]) {
        let passed_ms = u64::try_from(self.last.elapsed().as_millis()).unwrap_or(u64::MAX);
        if self.watched.is_empty() || passed_ms < INTERVAL_MS {
            return;
        }
        self.last = Instant::now();
        for watched in &mut self.watched {
            let own = |job: &&JobInstance<'_>| watched.jobs.contains(&job.thread_number);
            let own: Vec<&JobInstance<'_>> = jobs.iter().filter(own).collect();
            if watched.observe(&own, passed_ms) {
                own.iter().for_each(|job| job.control.stop());
            }
        }
    }

    /// What came of it, for the job that others are reported with.
    pub(crate) fn state(&self, job: &JobInstance<'_>) -> Option<SteadyState> {
        let own = |watched: &&Watched| watched.jobs.first() == Some(&job.thread_number);
        self.watched.iter().find(own).map(|watched| watched.detector.state())
    }
}

impl Watched {
    fn observe(&mut self, jobs: &[&JobInstance<'_>], passed_ms: u64) -> bool {
        let is_counting = |job: &&&JobInstance<'_>| {
            matches!(job.control.stage(), Stage::Running | Stage::Verifying)
        };
        if !jobs.iter().any(|job| is_counting(&job)) {
            return false;
        }
        let began = *self.began.get_or_insert_with(Instant::now);
        let sum = |of: &dyn Fn(&JobInstance<'_>, Direction) -> u64| {
            let of = |job: &&JobInstance<'_>| {
                Direction::ALL.into_iter().map(|way| of(job, way)).sum::<u64>()
            };
            jobs.iter().map(of).sum::<u64>()
        };
        let bytes = sum(&|job, way| job.control.bytes(way));
        let operations = sum(&|job, way| job.control.operations(way));
        let before = self.before.replace((bytes, operations));
        // Judging begins a second after the ramp.
        let ramp_us = if self.ramp_us > 0 { self.ramp_us + INTERVAL_MS * 1000 } else { 0 };
        if began.elapsed().as_micros() < u128::from(ramp_us) {
            return false;
        }
        let (bytes_before, operations_before) = before.unwrap_or((0, 0));
        let rate = |now: u64, before: u64| now.saturating_sub(before) * 1000 / passed_ms;
        self.detector.observe(rate(bytes, bytes_before), rate(operations, operations_before))
    }
}
