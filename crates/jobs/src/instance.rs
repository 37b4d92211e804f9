//! The jobs that plans are for: as many as `numjobs` says, in groups.

use std::path::PathBuf;
use std::sync::Arc;

use job_offsets::clone_index;

use crate::control::JobControl;
use crate::error::JobError;
use crate::files::paths;
use crate::plan::JobPlan;
use crate::replay::LoggedJob;

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
            all.push(JobInstance {
                plan,
                number,
                logged: LoggedJob::read(plan, number)?,
                thread_number: u32::try_from(all.len() + 1).unwrap_or(u32::MAX),
                group,
                control: Arc::new(JobControl::default()),
            });
        }
    }
    Ok(all)
}
