//! The registry of all suites that `fsprism run` takes, whichever crate measures them. The command
//! line, lists, completions and suggestions are derived from it.

mod dry_run;
pub(crate) mod footprint;
pub(crate) mod fscache;
#[cfg(test)]
mod invented_suite;
mod list;
mod mounted;
mod sprite_lfs;
pub(crate) mod timed;
pub(crate) mod traffic;

use anyhow::anyhow;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use record::{CurvePoint, Dimension, SuiteOptions};
use serde::Serialize;
use suites::Suite;
use suites::classic::bonnie_anova;
use textual::did_you_mean;

use crate::arguments::applications::ApplicationsArguments;
use crate::arguments::array_walk::ArrayWalkArguments;
use crate::arguments::bonnie::{BonnieArguments, BonnieMetadataArguments, BonnieSizes};
use crate::arguments::custom::CustomArguments;
use crate::arguments::format::OutputOptions;
use crate::arguments::help;
use crate::arguments::job_file::JobFileArguments;
use crate::arguments::measuring::{Measuring, ResumeOptions};
use crate::arguments::pollution::PollutionArguments;
use crate::commands::suites::footprint::FootprintSuite;
use crate::commands::suites::fscache::FscacheSuite;
use crate::commands::suites::sprite_lfs::SpriteLfs;
use crate::commands::suites::timed::Timed;
use crate::exit::{OrInputError, Outcome};
use crate::session::named;

/// The suite that also has its own command.
const SURVEY: &str = "survey";
/// The option, which every suite has, that lists its benchmarks.
const LIST: &str = "list";

/// What is known about a suite without measuring it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SuiteRow {
    /// Its name on the command line of `fsprism run`.
    pub(crate) name: &'static str,
    /// What it measures, in one line.
    pub(crate) summary: &'static str,
    pub(crate) benchmarks: Vec<BenchmarkRow>,
}

/// One benchmark of a suite.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BenchmarkRow {
    /// Its name, unique within the suite.
    pub(crate) name: String,
    /// What it measures, in words.
    pub(crate) title: String,
    /// The dimension that it isolates.
    pub(crate) dimension: Dimension,
    /// Dimensions that it exercises without isolating them.
    pub(crate) exercises: Vec<Dimension>,
    /// The curve that it is a point of, if it is one.
    pub(crate) curve: Option<CurvePoint>,
}

/// A suite as `fsprism run` takes it: its row, its options, its run.
pub(crate) trait Runnable {
    /// Its name and what it measures.
    fn row(&self) -> SuiteRow;

    /// Adds its options to its command.
    fn options(&self, command: Command) -> Command;

    /// Example command lines, each with what it does.
    fn examples(&self) -> String;

    /// The suite that is timed on targets; `None` if it is measured in guests.
    fn timed(&self) -> Option<&Suite> {
        None
    }

    /// Measures as its options say, and prints the result.
    fn run(self: Box<Self>, given: &mut ArgMatches) -> anyhow::Result<Outcome>;
}

/// All suites: first those that are timed on targets, then those that are measured in guests.
pub(crate) fn all() -> Vec<Box<dyn Runnable>> {
    let mut all: Vec<Box<dyn Runnable>> = Vec::new();
    all.extend(suites::suites().into_iter().map(with_own_options));
    all.push(Box::new(FootprintSuite));
    all.push(Box::new(FscacheSuite));
    #[cfg(test)]
    all.extend(invented_suite::added());
    all
}

/// A timed suite, together with the options that only it has.
fn with_own_options(suite: Suite) -> Box<dyn Runnable> {
    if suite.name == suites::CUSTOM_SUITE {
        return Box::new(Timed::with_options::<CustomArguments>(suite, help::CUSTOM_EXAMPLES));
    }
    match &suite.classic {
        Some(SuiteOptions::SpriteLfs(_)) => Box::new(SpriteLfs(suite)),
        Some(SuiteOptions::ArrayWalk(_)) => {
            Box::new(Timed::with_options::<ArrayWalkArguments>(suite, help::ARRAY_WALK_EXAMPLES))
        }
        Some(SuiteOptions::Bonnie(_)) if suite.name == bonnie_anova::SUITE => {
            Box::new(Timed::with_options::<BonnieSizes>(suite, help::BONNIE_ANOVA_EXAMPLES))
        }
        Some(SuiteOptions::Bonnie(_)) => {
            Box::new(Timed::with_options::<BonnieArguments>(suite, help::BONNIE_EXAMPLES))
        }
        Some(SuiteOptions::BonnieMetadata(_)) => Box::new(Timed::with_options::<
            BonnieMetadataArguments,
        >(
            suite, help::BONNIE_METADATA_EXAMPLES
        )),
        Some(SuiteOptions::Pollution(_)) => {
            Box::new(Timed::with_options::<PollutionArguments>(suite, help::POLLUTION_EXAMPLES))
        }
        Some(SuiteOptions::Applications(_)) => Box::new(
            Timed::with_options::<ApplicationsArguments>(suite, help::APPLICATIONS_EXAMPLES),
        ),
        Some(SuiteOptions::JobFile(_)) => {
            Box::new(Timed::with_options::<JobFileArguments>(suite, help::JOB_FILE_EXAMPLES))
        }
        None => Box::new(Timed::plain(suite)),
    }
}

/// What is known about every suite without measuring it.
pub(crate) fn rows() -> Vec<SuiteRow> {
    all().iter().map(|suite| suite.row()).collect()
}

/// The suite with this name.
///
/// # Errors
/// If there is none; the error suggests the nearest name, or the suite that has a benchmark with
/// this name.
pub(crate) fn row(name: &str) -> anyhow::Result<SuiteRow> {
    let rows = rows();
    let has_it = |row: &&SuiteRow| row.benchmarks.iter().any(|one| one.name == name);
    let suggestion = match rows.iter().find(has_it) {
        Some(row) => format!(": it is a benchmark, `run {} --benchmark {name}`", row.name),
        None => did_you_mean(name, rows.iter().map(|row| row.name)),
    };
    let found = rows.into_iter().find(|row| row.name == name);
    found.ok_or_else(|| anyhow!("no suite '{name}'{suggestion}; `fsprism run --list` lists them"))
}

/// The suite with this name, which must be timed on targets.
///
/// # Errors
/// If there is none, as in [`row`], or if it is not timed on targets.
pub(crate) fn timed(name: &str) -> anyhow::Result<Suite> {
    let found = all().iter().find(|one| one.row().name == name).map(|one| one.timed().cloned());
    match found {
        Some(Some(suite)) => Ok(suite),
        Some(None) => Err(anyhow!("{name} is not timed on targets")),
        None => Err(row(name).err().unwrap_or_else(|| anyhow!("no suite '{name}'"))),
    }
}

/// Adds a subcommand for each suite to `fsprism run`. A suite's options are only built if it is the
/// one that is run or shown.
pub(crate) fn add_to(run: Command) -> Command {
    let command = |row: SuiteRow| Command::new(row.name).about(row.summary).defer(with_options);
    run.subcommand_value_name("SUITE")
        .subcommand_help_heading("Suites")
        .disable_help_subcommand(true)
        .subcommands(rows().into_iter().map(command))
}

fn with_options(command: Command) -> Command {
    let Some(suite) = find(command.get_name()) else { return command };
    let list = Arg::new(LIST).long(LIST).action(ArgAction::SetTrue).help("List its benchmarks");
    let examples = help::with_exit_status(&suite.examples());
    let options = suite.options(command.arg(list));
    options.about(suite.row().summary).after_long_help(examples)
}

/// Gives `fsprism survey` the options of the suite with that name.
pub(crate) fn add_survey_to(command: Command) -> Command {
    let Some(suite) = find(command.get_name()) else { return command };
    let about = command.get_about().cloned().unwrap_or_default();
    suite.options(command).about(about)
}

/// `fsprism survey`.
pub(crate) fn survey(given: &mut ArgMatches) -> anyhow::Result<Outcome> {
    let suite = timed(SURVEY).or_input_error()?;
    Timed::plain(suite).run_as(SURVEY, given, |_| Ok(None))
}

/// `fsprism run` with a suite.
pub(crate) fn run(name: &str, given: &mut ArgMatches) -> anyhow::Result<Outcome> {
    if given.get_flag(LIST) {
        return list::list(OutputOptions::from_arg_matches(given)?.format, Some(name));
    }
    let suite = find(name).ok_or_else(|| anyhow!("no suite '{name}'")).or_input_error()?;
    suite.run(given)
}

/// `fsprism run` without a suite.
pub(crate) fn run_without(options: ResumeOptions) -> anyhow::Result<Outcome> {
    if options.list {
        return list::list(options.output.format, None);
    }
    let Some(path) = &options.resume else {
        let why = "run needs a SUITE, such as nano/io: `fsprism run --list` lists them";
        return Err(anyhow!("{why}; `fsprism survey` covers every dimension")).or_input_error();
    };
    let path = named::run_to_resume(path)?;
    let ResumeOptions { budget, making, loads, full, output, .. } = options;
    let measuring = Measuring { budget, making, loads, full, output, ..Measuring::default() };
    timed::resume(&path, &measuring)
}

/// The suites that take an option, given without its dashes.
pub(crate) fn takers(option: &str) -> Vec<&'static str> {
    let takes = |suite: &dyn Runnable| {
        let command = suite.options(Command::new(""));
        command.get_arguments().any(|one| !one.is_hide_set() && one.get_long() == Some(option))
    };
    all().iter().filter(|suite| takes(suite.as_ref())).map(|suite| suite.row().name).collect()
}

/// A command with the options of all suites and those of `fsprism run` itself.
pub(crate) fn every_option() -> Command {
    let mut every = ResumeOptions::augment_args(Command::new("run"));
    for suite in all() {
        let is_new = |one: &&Arg| every.get_arguments().all(|other| other.get_id() != one.get_id());
        let command = suite.options(Command::new(""));
        let new: Vec<Arg> = command.get_arguments().filter(is_new).cloned().collect();
        every = every.args(new);
    }
    every
}

fn find(name: &str) -> Option<Box<dyn Runnable>> {
    all().into_iter().find(|suite| suite.row().name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_suite_has_a_name_of_its_own_and_so_has_each_of_its_benchmarks() {
        let rows = rows();
        let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len());
        for row in &rows {
            let names: BTreeSet<&str> = row.benchmarks.iter().map(|one| &*one.name).collect();
            assert!(names.len() == row.benchmarks.len() && !names.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn whatever_measures_a_suite_its_name_is_suggested() {
        for (given, meant) in [
            ("fscach", "did you mean `fscache`?"),
            ("footprnt", "did you mean `footprint`?"),
            ("survey/metdata", "did you mean `survey/metadata`?"),
            ("append-fsync-4k", "`run survey --benchmark append-fsync-4k`"),
        ] {
            let said = row(given).expect_err("there is none").to_string();
            assert!(said.contains(meant) && said.contains("run --list"), "{said}");
        }
        let said = row("xyz").expect_err("there is none").to_string();
        assert!(!said.contains("did you mean"), "{said}");
        assert!(["fscache", "footprint", "nano/io"].iter().all(|name| row(name).is_ok()));
    }
}
