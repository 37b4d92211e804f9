//! Options of applications, timed and traced.

use clap::Args;
use record::{ApplicationsOptions, SuiteOptions};
use suites::applications::TracedApplication;
use suites::{NoSuite, OwnOptions, Suite, applications};

use crate::arguments::analysis::{AnswerFormat, AnswerOptions};
use crate::arguments::footprint::CachesOptions;
use crate::arguments::guests::GuestKernel;

pub(crate) const TRACED_EXAMPLES: &str = "\
Each program is executed in a guest for each file system, on a tree like that of
run applications, and all instructions and accesses of it and of the kernel go
through the same simulated caches. What the program itself misses there, beyond
what it misses if nobody else uses the caches, is what the file system costs it.

Programs reach densefs by the library of fsprism densefs exec. That library's
code is the file system's, not the program's.

Examples:
  fsprism footprint applications tmpfs xfs densefs
  fsprism footprint applications tmpfs ext4 --program find,tar --files 4000
  fsprism footprint applications tmpfs densefs --cache l1i=32k,64,8 \\
      --cache l1d=32k,64,8 --cache l2=256k,64,8 --format json

docs/applications.md describes the method.
";

/// What `fsprism footprint applications` takes.
#[derive(Debug, Args)]
pub(crate) struct TracedApplicationsOptions {
    /// File systems to make in guests; by default tmpfs, ext4, xfs and densefs
    #[arg(value_name = "TARGET", default_values = ["tmpfs", "ext4", "xfs", "densefs"],
        hide_default_value = true)]
    pub(crate) targets: Vec<String>,
    /// The programs, separated by commas: grep (the default), find, tar
    #[arg(long = "program", value_name = "NAME", value_delimiter = ',',
        default_value = TracedApplication::NAMES[0], hide_default_value = true)]
    pub(crate) programs: Vec<String>,
    /// How many files the tree has. They have 3.1 KB on average
    #[arg(long, value_name = "N", default_value_t = TRACED_FILES)]
    pub(crate) files: u32,
    #[command(flatten)]
    pub(crate) simulated: CachesOptions,
    #[command(flatten)]
    pub(crate) kernel: GuestKernel,
    /// Trace even while another run is measuring on this computer, and may disturb it
    #[arg(long, conflicts_with = "no_wait")]
    pub(crate) beside: bool,
    /// Exit instead of waiting if another run is measuring on this computer
    #[arg(long)]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

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

/// Default number of files whose tree is traced.
const TRACED_FILES: u32 = 1000;

impl Default for TracedApplicationsOptions {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            programs: vec![TracedApplication::NAMES[0].to_owned()],
            files: TRACED_FILES,
            simulated: CachesOptions { caches: Vec::new() },
            kernel: GuestKernel::default(),
            beside: false,
            no_wait: false,
            output: AnswerOptions { format: AnswerFormat::Terminal },
        }
    }
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
