//! Options of applications.

use clap::Args;
use record::{ApplicationsOptions, SuiteOptions};
use suites::{NoSuite, OwnOptions, Suite, applications};

/// The programs, and the tree that they work on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of applications")]
pub(crate) struct ApplicationsArguments {
    /// The programs, separated by commas: grep, find, tar, git-status. By default, all that are
    /// installed
    #[arg(long = "program", value_name = "NAME", value_delimiter = ',', conflicts_with = "resume")]
    programs: Vec<String>,
    /// How many files the tree has [default: 4000]. They have 3.1 KB on average
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    files: Option<u32>,
}

impl OwnOptions for ApplicationsArguments {
    fn shape(self, suite: Suite, _targets: &[String]) -> Result<Suite, NoSuite> {
        let declared = applications::declared();
        let is_default = self.programs.is_empty();
        let options = ApplicationsOptions {
            programs: if is_default { declared.programs } else { self.programs },
            files: self.files.unwrap_or(declared.files),
        };
        let suite = suite.with_classic(Some(&SuiteOptions::Applications(options.clone())))?;
        if !is_default {
            applications::check_installed(&options)?;
        }
        Ok(suite)
    }
}
