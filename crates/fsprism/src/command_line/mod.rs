//! The command line as a whole. Parsing, help, completions and the manual pages come from it.

mod misplaced;
mod suite_first;

use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand};

use crate::arguments::analysis::{Analysis, STATS_EXAMPLES};
use crate::arguments::cliff::{CLIFF_EXAMPLES, CliffOptions};
use crate::arguments::densefs::{DENSEFS_EXAMPLES, DensefsCommand};
use crate::arguments::footprint::{FOOTPRINT_EXAMPLES, FootprintCommand};
use crate::arguments::help::{
    COMPLETIONS_EXAMPLES, FIO_EXAMPLES, MACHINE_EXAMPLES, MAN_EXAMPLES, RUNS_EXAMPLES, examples,
    run_examples, survey_examples,
};
use crate::arguments::lab::{LAB_EXAMPLES, LabCommand};
use crate::arguments::measuring::ResumeOptions;
use crate::arguments::reports::{
    CHECK_EXAMPLES, COMPARE_EXAMPLES, CheckOptions, CompareOptions, REPORT_EXAMPLES, ReportOptions,
};
use crate::arguments::reproduce::ReproduceOptions;
use crate::arguments::{CompletionOptions, FioOptions, MachineOptions, ManOptions, RunsOptions};
use crate::commands::{papers, suites};
pub(crate) use misplaced::parse;

/// The version, and the commit of a release build.
const VERSION: &str = env!("FSPRISM_VERSION");

/// A file-system performance laboratory: which differences are real, how large and how certain
#[derive(Debug, Parser)]
#[command(name = "fsprism", version = VERSION, max_term_width = 100, after_help = examples())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure every dimension of file systems side by side, within a budget
    #[command(after_long_help = survey_examples())]
    Survey(Box<Survey>),
    /// Measure one suite
    #[command(after_long_help = run_examples())]
    Run(Box<RunArgument>),
    /// Find where a performance curve breaks, and why
    #[command(after_long_help = CLIFF_EXAMPLES)]
    Cliff(CliffOptions),
    /// Write a run's page again, or one page for several runs side by side
    #[command(after_long_help = REPORT_EXAMPLES)]
    Report(ReportOptions),
    /// List the runs in a directory: what each measured, and whether it finished
    #[command(after_long_help = RUNS_EXAMPLES)]
    Runs(RunsOptions),
    /// Compare the targets of a run, or several runs: effects, intervals, verdicts
    #[command(after_long_help = COMPARE_EXAMPLES)]
    Compare(CompareOptions),
    /// Look for known benchmarking mistakes in a run, and say what avoids each
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(CheckOptions),
    /// Show which cache lines code touches: traces, maps, stacks and simulated caches
    #[command(subcommand, after_long_help = FOOTPRINT_EXAMPLES)]
    Footprint(FootprintCommand),
    /// Manage guest machines: get a kernel, make the image, boot
    #[command(subcommand, after_long_help = LAB_EXAMPLES)]
    Lab(LabCommand),
    /// Analyse a table or series of your own
    #[command(subcommand, after_long_help = STATS_EXAMPLES)]
    Stats(Analysis),
    /// Reproduce a paper's tables and figures, computed or measured here, beside the published ones
    #[command(after_long_help = papers::examples())]
    Reproduce(ReproduceOptions),
    /// Do fio's jobs as fio does: its job files, options and outputs
    #[command(after_long_help = FIO_EXAMPLES)]
    Fio(FioOptions),
    /// Make and keep a DenseFS: a compact file system in memory that processes share
    #[command(subcommand, after_long_help = DENSEFS_EXAMPLES)]
    Densefs(DensefsCommand),
    /// Describe this computer and what fsprism may do on it
    #[command(after_long_help = MACHINE_EXAMPLES)]
    Machine(MachineOptions),
    /// Print a completion script for a shell
    #[command(after_long_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionOptions),
    /// Print a manual page (roff): of fsprism, or of one of its commands
    #[command(after_long_help = MAN_EXAMPLES)]
    Man(ManOptions),
}

/// What `fsprism survey` was given: as the suite of that name takes it.
#[derive(Debug)]
pub(crate) struct Survey(pub(crate) ArgMatches);

impl Args for Survey {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.defer(suites::add_survey_to)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Survey {
    fn from_arg_matches(given: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(given.clone()))
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), clap::Error> {
        given.clone_into(&mut self.0);
        Ok(())
    }
}

/// What `fsprism run` was given: a suite, or what it takes without one.
#[derive(Debug)]
pub(crate) enum RunArgument {
    /// A suite, by its name, and what it was given.
    Suite(String, Box<ArgMatches>),
    /// None.
    NoSuite(Box<ResumeOptions>),
}

impl Args for RunArgument {
    fn augment_args(command: clap::Command) -> clap::Command {
        // `--aged` cannot change a run that exists, and without a run it is not an option of `run`.
        let command = ResumeOptions::augment_args(command)
            .mut_arg("aged", |aged| aged.hide(true).conflicts_with("resume"));
        command.defer(suites::add_to)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RunArgument {
    fn from_arg_matches(given: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(match given.subcommand() {
            Some((name, given)) => Self::Suite(name.to_owned(), Box::new(given.clone())),
            None => Self::NoSuite(Box::new(ResumeOptions::from_arg_matches(given)?)),
        })
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(given)?;
        Ok(())
    }
}
