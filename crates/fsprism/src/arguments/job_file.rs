//! Options of the suite that executes job files of fio.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use record::{JobFileOptions, RecordedSetting, SuiteOptions};
use suites::{NoSuite, OwnOptions, Suite, job_file};

/// The job file, and what of it is executed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of fio")]
pub(crate) struct JobFileArguments {
    /// The job file; by default, two small jobs. `fsprism run FILE.fio` is the same
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    job_file: Option<PathBuf>,
    /// Execute only this job of the file; may be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "resume", requires = "job_file")]
    section: Vec<String>,
    /// How many seconds each job lasts, whatever the file says
    #[arg(long, value_name = "SECONDS", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=86_400))]
    runtime: Option<u32>,
}

impl OwnOptions for JobFileArguments {
    fn shape(self, suite: Suite, _targets: &[String]) -> Result<Suite, NoSuite> {
        let mut options = match &self.job_file {
            Some(path) => job_file::read(path, &self.section)?,
            None => job_file::declared(),
        };
        if let Some(seconds) = self.runtime {
            lasting(&mut options, seconds);
        }
        Ok(suite.with_classic(Some(&SuiteOptions::JobFile(options)))?)
    }

    fn within(
        suite: Suite,
        budget: Duration,
        targets: usize,
    ) -> Result<(Suite, Option<String>), NoSuite> {
        let Some(SuiteOptions::JobFile(options)) = &suite.classic else {
            return Ok((suite, None));
        };
        match job_file::bounded(options, budget, targets)? {
            Some((bounded, told)) => {
                let options = SuiteOptions::JobFile(bounded);
                Ok((suite.with_classic(Some(&options))?, Some(told)))
            }
            None => Ok((suite, None)),
        }
    }

    fn own_targets(suite: &Suite) -> Result<Vec<String>, NoSuite> {
        match &suite.classic {
            Some(SuiteOptions::JobFile(options)) => {
                Ok(job_file::directory(options)?.into_iter().collect())
            }
            Some(_) | None => Ok(Vec::new()),
        }
    }
}

/// Jobs that last so long.
fn lasting(options: &mut JobFileOptions, seconds: u32) {
    let setting = |name: &str, value: Option<String>| RecordedSetting {
        name: name.to_owned(),
        value,
        line: None,
    };
    for job in &mut options.jobs {
        job.settings.push(setting("runtime", Some(seconds.to_string())));
        job.settings.push(setting("time_based", None));
    }
}
