//! The options of every command. Help, completions and the manual pages are generated from them.

pub(crate) mod analysis;
pub(crate) mod applications;
pub(crate) mod array_walk;
pub(crate) mod bonnie;
pub(crate) mod cliff;
pub(crate) mod counters;
pub(crate) mod custom;
pub(crate) mod densefs;
pub(crate) mod footprint;
pub(crate) mod footprint_values;
pub(crate) mod format;
pub(crate) mod guests;
pub(crate) mod help;
pub(crate) mod job_file;
pub(crate) mod lab;
pub(crate) mod making;
pub(crate) mod measuring;
pub(crate) mod network;
pub(crate) mod pollution;
pub(crate) mod reports;
pub(crate) mod reproduce;
pub(crate) mod sizes;
pub(crate) mod sprite_lfs;
pub(crate) mod values;

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use crate::arguments::analysis::AnswerOptions;

#[derive(Debug, Args)]
pub(crate) struct RunsOptions {
    /// The directory that holds run directories
    #[arg(value_name = "DIR", default_value = "fsprism-runs")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct MachineOptions {
    /// Directories whose storage to describe as well; by default /var/tmp and the current one
    #[arg(value_name = "DIR")]
    pub(crate) directories: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionOptions {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// The command, such as survey or footprint trace; by default fsprism itself
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Write the pages of fsprism and of all commands into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct FioOptions {
    /// Options as fio has them, options of jobs, and job files; --help lists them
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
}
