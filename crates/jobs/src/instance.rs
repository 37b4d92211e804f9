//! The jobs that plans are for: as many as `numjobs` says, in groups.

use std::path::PathBuf;
use std::sync::Arc;

use job_offsets::{Purpose, clone_index};

use crate::control::JobControl;
use crate::error::JobError;
use crate::files::paths;
use crate::plan::JobPlan;
use crate::replay::LoggedJob;
use crate::seeds::seeds;

/// One of the jobs that a plan is for.
#[derive(Debug)]
pub struct JobInstance<'a> {
    /// Its plan.
    pub plan: &'a JobPlan,
    /// Which of the jobs of its plan it is: 0 for the first; fio counts the others downwards.
    pub number: u32,
    /// How many jobs there are up to it, from 1.
    pub thread_number: u32,
    /// Its group.
    pub group: u32,
    /// What it replays, if it does.
    pub logged: Option<LoggedJob>,
    /// What it waits before it starts, in microseconds.
    pub delay_us: u64,
    /// What it shows and is told.
    pub control: Arc<JobControl>,
}

impl JobInstance<'_> {
    /// Its plan, with what the log says that it replays.
    #[must_use]
    pub fn own_plan(&self) -> &JobPlan {
        self.logged.as_ref().map_or(self.plan, |logged| &logged.plan)
    }

    /// Its name. As in fio, clones are called by their section.
    #[must_use]
    pub fn name(&self) -> &str {
        if self.number == 0 { &self.plan.name } else { &self.plan.section }
    }

    /// The paths of its files.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        match &self.logged {
            Some(logged) => logged.paths(self.number),
            None => paths(self.plan, self.number),
        }
    }
}

/// The jobs that plans are for. Logs that they replay are read.
///
/// # Errors
/// If a log cannot be replayed.
pub fn instances(plans: &[JobPlan]) -> Result<Vec<JobInstance<'_>>, JobError> {
    let mut all: Vec<JobInstance<'_>> = Vec::new();
    let mut group = 0;
    for plan in plans {
        let begins = plan.schedule.stonewall || plan.schedule.new_group;
        if begins && all.last().is_some_and(|job| job.group == group) {
            group += 1;
        }
        for nth in 0..plan.process.jobs {
            let number = clone_index(u64::from(nth), u64::from(plan.process.jobs));
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let thread_number = u32::try_from(all.len() + 1).unwrap_or(u32::MAX);
            all.push(JobInstance {
                plan,
                number,
                thread_number,
                logged: LoggedJob::read(plan, number)?,
                group,
                delay_us: delay_us(plan, number, thread_number),
                control: Arc::new(JobControl::default()),
            });
        }
    }
    Ok(all)
}

/// What a job waits before it starts, drawn from the range that is given.
fn delay_us(plan: &JobPlan, number: u32, thread_number: u32) -> u64 {
    let (from, to) = plan.schedule.delay_us;
    if from == to {
        return from;
    }
    seeds(plan, number, thread_number).generator(Purpose::StartDelay).between(from, to)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use job_files::{Surroundings, read_text};
    use job_offsets::ZipfSampler;

    use super::*;

    #[test]
    fn delays_are_drawn_by_each_job() {
        let text = b"[one]\nsize=1m\nnumjobs=3\nstartdelay=1-3\n";
        let surroundings = Surroundings::of_this_process();
        let texts = read_text(Path::new("jobs.fio"), text, &[], &surroundings).expect("a job file");
        let plans = [JobPlan::new(&texts[0], ZipfSampler::Exact).expect("a plan")];
        let jobs = instances(&plans).expect("no log is read");
        let delays: Vec<u64> = jobs.iter().map(|job| job.delay_us).collect();
        // fio 3.33 starts its jobs then, as far as can be seen: to a tenth of a second.
        assert_eq!(delays, [2_339_105, 1_175_553, 2_119_000]);
    }
}
