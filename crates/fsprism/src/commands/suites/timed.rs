//! Suites that are timed on targets: from the command line to a measured run and its report.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use record::{EndReason, ReplicateLength, Run, RunDirectory, RunKind, SuiteOptions};
use runner::{Ledger, RunError};
use suites::{OwnOptions, Suite};

use crate::arguments::help;
use crate::arguments::measuring::{FileSize, Lasting, Measuring, Offered};
use crate::commands::several_runs;
use crate::commands::suites::traffic::Traffic;
use crate::commands::suites::{BenchmarkRow, Runnable, SuiteRow, dry_run};
use crate::exit::{OrInputError, Outcome};
use crate::output;
use crate::session::targets::Choice;
use crate::session::timed::Session;
use crate::session::{loads, named};

/// A suite that is timed on targets, and the options of its command.
pub(crate) struct Timed {
    suite: Suite,
    own: Option<OwnArguments>,
}

/// Adds options to a command.
type AddOptions = fn(Command) -> Command;

/// Shortens a suite for a budget on so many targets, and says what to say about that.
type Within = fn(Suite, Duration, usize) -> anyhow::Result<(Suite, Option<String>)>;

/// The options that only this suite has.
struct OwnArguments {
    add: AddOptions,
    shape: fn(Suite, &mut ArgMatches, &[String]) -> anyhow::Result<Suite>,
    targets: fn(&Suite) -> anyhow::Result<Vec<String>>,
    within: Within,
    examples: &'static str,
}

impl Timed {
    /// A suite with only the common options.
    pub(crate) fn plain(suite: Suite) -> Self {
        Self { suite, own: None }
    }

    /// A suite that also has its own options.
    pub(crate) fn with_options<O: OwnOptions>(suite: Suite, examples: &'static str) -> Self {
        let shape = |suite, given: &mut ArgMatches, targets: &[String]| {
            let shaped = O::from_arg_matches_mut(given)?.shape(suite, targets);
            shaped.map_err(anyhow::Error::from_boxed).or_input_error()
        };
        let targets = |suite: &Suite| {
            O::own_targets(suite).map_err(anyhow::Error::from_boxed).or_input_error()
        };
        let within = |suite, budget, targets| {
            let bounded = O::within(suite, budget, targets);
            bounded.map_err(anyhow::Error::from_boxed).or_input_error()
        };
        let own = OwnArguments { add: O::augment_args, shape, targets, within, examples };
        Self { suite, own: Some(own) }
    }

    /// Whether the size of files can be chosen. Classic benchmarks have their own sizes.
    fn takes_file_size(&self) -> bool {
        self.suite.classic.is_none()
    }

    /// What the command line asks for.
    fn parse(self, given: &mut ArgMatches) -> anyhow::Result<TimedRequest> {
        let measuring = Measuring::from_arg_matches_mut(given)?;
        let targets = TargetNames::from_arg_matches_mut(given)?.targets;
        let file_bytes = match self.takes_file_size() {
            true => FileSize::from_arg_matches_mut(given)?.size,
            false => None,
        };
        let offered = match self.suite.has_open_loop() {
            true => Offered::from_arg_matches_mut(given)?.load(),
            false => None,
        };
        let seconds = match self.suite.can_last() {
            true => Lasting::from_arg_matches_mut(given)?.seconds(&measuring)?,
            false => None,
        };
        let suite = Suite { file_bytes, ..self.suite };
        if measuring.resume.is_some() {
            // A resumed run continues as it was begun, whatever other options say.
            return Ok(TimedRequest { suite, targets, measuring });
        }
        let (suite, targets) = match self.own {
            Some(own) => {
                let suite = (own.shape)(suite, given, &targets)?;
                let targets = if targets.is_empty() { (own.targets)(&suite)? } else { targets };
                let bounded = (measuring.blocks.is_none()).then(|| measuring.budget());
                match bounded {
                    Some(budget) => {
                        let (suite, told) = (own.within)(suite, budget, targets.len().max(1))?;
                        told.iter().for_each(|text| output::say(text));
                        (suite, targets)
                    }
                    None => (suite, targets),
                }
            }
            None => (suite, targets),
        };
        let suite = match &offered {
            Some(load) => suite.offering(load),
            None => suite,
        };
        let until_steady = suite.length.is_some_and(|length| length.until_steady);
        let length = seconds.map(|_| ReplicateLength { seconds, until_steady });
        let suite = suite.lasting(length.as_ref()).or_input_error()?;
        Ok(TimedRequest { suite, targets, measuring })
    }

    /// Measures as the command line says; `command` is the command's name.
    pub(crate) fn run_as(
        self,
        command: &str,
        given: &mut ArgMatches,
        traffic: impl FnOnce(&TimedRequest) -> anyhow::Result<Option<Traffic>>,
    ) -> anyhow::Result<Outcome> {
        let asked = self.parse(given)?;
        if let Some(path) = &asked.measuring.resume {
            return resume(&named::run_to_resume(path)?, &asked.measuring);
        }
        asked.measuring.output.format.check(asked.suite.name)?;
        if let Some(count) = asked.measuring.group() {
            return several_runs::measure(command, count, &asked.measuring);
        }
        let traffic = traffic(&asked)?;
        measure(command, &asked, traffic.as_ref())
    }
}

impl Runnable for Timed {
    fn row(&self) -> SuiteRow {
        let benchmarks = self.suite.benchmarks.iter().map(|one| BenchmarkRow {
            name: one.name.clone(),
            title: one.title.clone(),
            dimension: one.dimension,
            exercises: one.exercises.clone(),
            curve: one.curve.clone(),
        });
        let Suite { name, summary, .. } = self.suite;
        SuiteRow { name, summary, benchmarks: benchmarks.collect() }
    }

    fn options(&self, command: Command) -> Command {
        let groups: [(bool, AddOptions); 3] = [
            (self.takes_file_size(), FileSize::augment_args),
            (self.suite.can_last(), Lasting::augment_args),
            (self.suite.has_open_loop(), Offered::augment_args),
        ];
        let of_all = Measuring::augment_args(TargetNames::augment_args(command));
        let taken = groups.into_iter().filter(|(is_taken, _)| *is_taken);
        let command = taken.fold(of_all, |command, (_, add)| add(command));
        match &self.own {
            Some(own) => (own.add)(command),
            None => command,
        }
    }

    fn examples(&self) -> String {
        match &self.own {
            Some(own) => own.examples.to_owned(),
            None => help::timed_examples(self.suite.name, self.suite.has_open_loop()),
        }
    }

    fn timed(&self) -> Option<&Suite> {
        Some(&self.suite)
    }

    fn run(self: Box<Self>, given: &mut ArgMatches) -> anyhow::Result<Outcome> {
        self.run_as("run", given, |_| Ok(None))
    }
}

/// The targets of a command line.
#[derive(Debug, Args)]
struct TargetNames {
    #[arg(value_name = "TARGET", help = help::targets_help())]
    targets: Vec<String>,
}

/// What to measure.
pub(crate) struct TimedRequest {
    pub(crate) suite: Suite,
    pub(crate) targets: Vec<String>,
    pub(crate) measuring: Measuring,
}

/// Continues a run that was interrupted or is given more time.
pub(crate) fn resume(path: &Path, measuring: &Measuring) -> anyhow::Result<Outcome> {
    refuse_other_kinds(path)?;
    let form = loads::report_form(measuring)?;
    if measuring.budget.is_none() && has_ended(path)? {
        output::say(&format!("{}: nothing is left to measure", path.display()));
        let document = match RunDirectory::resume(path) {
            Ok((directory, _)) => output::print_measured(&directory, &form)?,
            // A directory that cannot be written keeps the page it has.
            Err(_) => output::print_run(path, &form)?,
        };
        return Ok(Outcome::of_run(EndReason::NothingLeft, &document));
    }
    let suite = Run::read(path).or_input_error()?.manifest.run.suite;
    form.format.check(&suite)?;
    let suite = super::timed(&suite).or_input_error()?;
    let stop = Arc::new(AtomicBool::new(false));
    let (directory, ended) = Session::resume(path, suite, measuring, &stop)?.measure(&stop);
    print(&directory, ended, &form, None)
}

/// Only what is timed can be resumed: the state of a search and of guests is gone.
fn refuse_other_kinds(path: &Path) -> anyhow::Result<()> {
    // What cannot be read is refused by whoever would resume it.
    let Ok(Run { manifest, .. }) = Run::read(path) else { return Ok(()) };
    let (path, suite) = (path.display(), &manifest.run.suite);
    let refusal = match manifest.run.kind {
        RunKind::Timed => return Ok(()),
        RunKind::Searched => anyhow::anyhow!(
            "{path} is a search for cliffs, which cannot be resumed: `fsprism report` shows what \
             it found; begin a new one with `fsprism cliff`"
        ),
        RunKind::Traced | RunKind::Networked | RunKind::Traffic => {
            anyhow::anyhow!("{path} is a run of {suite}, which cannot be resumed: start a new one")
        }
    };
    Err(refusal).or_input_error()
}

fn measure(
    command: &str,
    asked: &TimedRequest,
    traffic: Option<&Traffic>,
) -> anyhow::Result<Outcome> {
    let TimedRequest { suite, targets, measuring } = asked;
    let form = loads::report_form(measuring)?;
    let had_runs = Path::new(runner::RUNS).exists();
    let stop = Arc::new(AtomicBool::new(false));
    let suite = match measuring.benchmarks.as_slice() {
        [] => loads::needed_benchmarks(&form.loads, suite.clone())?,
        names => suite.clone().matching(names).or_input_error()?,
    };
    loads::check(&form.loads, &suite)?;
    let choice = Choice::for_suite(&suite, targets)?;
    if measuring.dry_run {
        dry_run::check(measuring.output.format)?;
        let done = dry_run(command, &suite, choice, measuring, &stop)?;
        if traffic.is_some() && done == Outcome::Success {
            output::say("guests would then count what each phase moves through caches");
        }
        return Ok(done);
    }
    let out = measuring.out.as_deref();
    let session = Session::begin(command, &suite, choice, measuring, out, &stop)?;
    let (directory, ended) = session.measure(&stop);
    if ended.as_ref().is_err_and(is_too_short) {
        directory.discard()?;
        if !had_runs {
            // Another process may have started a run there in the meantime.
            let _holds_runs = std::fs::remove_dir(runner::RUNS);
        }
        return ended.map(|_| Outcome::Success).or_input_error();
    }
    print(&directory, ended, &form, traffic)
}

/// Does the counting that was asked for in addition to timing, and prints the run.
fn print(
    directory: &RunDirectory,
    ended: anyhow::Result<EndReason>,
    form: &output::ReportForm,
    traffic: Option<&Traffic>,
) -> anyhow::Result<Outcome> {
    let counted = match traffic {
        Some(traffic) if ended.as_ref().is_ok_and(|why| *why != EndReason::Interrupted) => {
            // Failing to count must not lose what was timed.
            traffic.add_to(directory).unwrap_or_else(|error| {
                output::say(&format!("cache traffic was not counted: {error:#}"));
                Outcome::WithFailures
            })
        }
        _ => Outcome::Success,
    };
    let printed = output::print_measured(directory, form);
    let (document, reason) = match (printed, ended) {
        // If the run can no longer be read, the error that ended it is the better explanation.
        (Err(_), Err(why)) => return Err(why),
        (printed, ended) => (printed?, ended?),
    };
    output::print_path(directory.path(), form)?;
    let done = Outcome::of_run(reason, &document);
    Ok(if done == Outcome::Success { counted } else { done })
}

/// Measures a suite without printing anything, for a command that prints the run itself.
pub(crate) fn measure_silently(
    command: &str,
    suite: &str,
    classic: Option<&SuiteOptions>,
    choice: Choice<'_>,
    measuring: &Measuring,
) -> anyhow::Result<(RunDirectory, EndReason)> {
    let stop = Arc::new(AtomicBool::new(false));
    let suite = super::timed(suite).or_input_error()?.with_classic(classic).or_input_error()?;
    let out = measuring.out.as_deref();
    let session = Session::begin(command, &suite, choice, measuring, out, &stop)?;
    let (directory, ended) = session.measure(&stop);
    Ok((directory, ended?))
}

/// Makes the targets, runs the pilot, and prints what would be measured.
fn dry_run(
    command: &str,
    suite: &Suite,
    choice: Choice<'_>,
    measuring: &Measuring,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Outcome> {
    let place = ::targets::TemporaryDirectory::make()?;
    let session = Session::begin(command, suite, choice, measuring, Some(place.path()), stop)?;
    let (directory, ended) = session.measure(stop);
    let ended =
        if ended.as_ref().is_err_and(is_too_short) { ended.or_input_error() } else { ended };
    let is_interrupted = ended? == EndReason::Interrupted;
    if is_interrupted {
        Ok(Outcome::Interrupted)
    } else {
        dry_run::print(&directory.read()?, measuring)
    }
}

/// Whether the budget was too short even for the fewest blocks that give an interval.
fn is_too_short(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(RunError::Budget { .. }))
}

fn has_ended(path: &Path) -> anyhow::Result<bool> {
    let run = Run::read(path).or_input_error()?;
    // A damaged run is refused where it would be continued.
    Ok(run.damage.is_empty() && Ledger::replay(&run.lines).ended())
}
