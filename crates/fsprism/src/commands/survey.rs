//! `fsprism survey` and `fsprism run`: from the command line to a measured run and its report.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use record::{ClassicOptions, CustomWorkload, EndReason, Run, RunDirectory};
use runner::{Ledger, RunError};
use suites::Suite;

use crate::arguments::{Measuring, Order, RunOptions, SurveyOptions};
use crate::commands::traffic::Traffic;
use crate::commands::{dry_run, footprint, list, network};
use crate::exit::{Blame, Done};
use crate::output;
use crate::registry;
use crate::session::targets::{self, Choice};
use crate::session::timed::Session;
use crate::session::{loads, runs};

/// `fsprism survey`.
pub(crate) fn survey(options: &SurveyOptions) -> anyhow::Result<Done> {
    if options.measuring.resume.is_none() {
        options.measuring.output.format.check("survey")?;
    }
    options.measuring.file_size()?;
    if let Some(runs) = options.measuring.group() {
        return runs::measure("survey", runs, &options.measuring);
    }
    let what = Asked {
        suite: "survey",
        classic: None,
        custom: None,
        until_steady: false,
        are_sizes_placed: false,
    };
    measure("survey", what, &options.targets, &options.measuring, None)
}

/// `fsprism run`.
pub(crate) fn run(options: &RunOptions) -> anyhow::Result<Done> {
    if options.list {
        return list::list(options.measuring.output.format, options.suite.as_deref());
    }
    let suite = options.suite.as_deref().unwrap_or("survey");
    if options.measuring.resume.is_none() {
        options.measuring.output.format.check(suite)?;
    }
    if let Some(path) = &options.measuring.resume {
        network::refuse_to_resume(path)?;
    }
    if suite == network_suite::SUITE {
        options.classic.of(suite, None, Vec::new)?;
        return network::run(options);
    }
    if let Some(option) = options.network.given() {
        let why = format!("{option} is for fscache, not for '{suite}'");
        return Err(anyhow::anyhow!("{why}: leave it out, or run fscache")).blame_input();
    }
    let custom = match options.measuring.resume {
        Some(_) => None,
        None => options.custom.of(suite)?,
    };
    let memories = || targets::memories(&options.targets);
    let classic = options.classic.of(suite, options.measuring.size.as_ref(), memories)?;
    if suite == footprint_suite::SUITE {
        if options.measuring.offered.rate.is_some() {
            let why = "--rate is for scheduled operations, but footprint traces single ones";
            return Err(anyhow::anyhow!("{why}: leave it out, or run nano/io")).blame_input();
        }
        let of_several = (options.measuring.runs.map(|_| "--runs"))
            .or(options.measuring.plan_for.map(|_| "--plan-for"));
        if let Some(option) = of_several {
            let why = format!("{option} is for timed benchmarks, but footprint counts are exact");
            return Err(anyhow::anyhow!("{why}: leave it out")).blame_input();
        }
        if !options.measuring.benchmarks.is_empty() {
            let why = "--benchmark chooses benchmarks, but footprint has operations";
            return Err(anyhow::anyhow!("{why}: choose them with --op")).blame_input();
        }
        if options.measuring.order != Order::Random {
            let why = "--order is for timed benchmarks, but footprint counts";
            return Err(anyhow::anyhow!("{why}: leave it out")).blame_input();
        }
        return footprint::run::run(options);
    }
    let is_simulated = options.tracing.kernel.is_some() || !options.simulated.caches.is_empty();
    let is_traced = !options.tracing.has_default_operations() || options.tracing.beside;
    if is_traced || is_simulated && !options.classic.cache_traffic {
        let why = "--op, --warm-up, --cold and --beside apply only to the footprint suite; --cache \
                   and --kernel also apply to sprite-lfs with --cache-traffic";
        return Err(anyhow::anyhow!("{why}: leave them out, or run footprint")).blame_input();
    }
    if classic.is_none() {
        options.measuring.file_size()?;
    }
    if let Some(runs) = options.measuring.group() {
        return runs::measure("run", runs, &options.measuring);
    }
    let are_sizes_placed = options.classic.are_sizes_placed();
    let what = Asked {
        suite,
        classic: classic.as_ref(),
        custom: custom.as_ref(),
        until_steady: options.custom.steady,
        are_sizes_placed,
    };
    let traffic = Traffic::asked_for(options, classic.as_ref())?;
    measure("run", what, &options.targets, &options.measuring, traffic.as_ref())
}

/// What is to be measured.
#[derive(Clone, Copy, Debug)]
struct Asked<'a> {
    suite: &'a str,
    classic: Option<&'a ClassicOptions>,
    custom: Option<&'a CustomWorkload>,
    /// Whether operations go on until they are steady.
    until_steady: bool,
    /// Whether its sizes are fsprism's choice.
    are_sizes_placed: bool,
}

fn measure(
    command: &str,
    asked: Asked<'_>,
    texts: &[String],
    measuring: &Measuring,
    traffic: Option<&Traffic>,
) -> anyhow::Result<Done> {
    let form = measuring.form()?;
    let had_runs = Path::new(runner::RUNS).exists();
    let stop = Arc::new(AtomicBool::new(false));
    let session = match &measuring.resume {
        Some(path) if measuring.budget.is_none() && has_ended(path)? => {
            output::say(&format!("{}: nothing is left to measure", path.display()));
            let document = match RunDirectory::resume(path) {
                Ok((directory, _)) => output::print_measured(&directory, &form)?,
                // One that cannot be written has the page that it had.
                Err(_) => output::print_run(path, &form)?,
            };
            return Ok(Done::of(EndReason::NothingLeft, &document));
        }
        Some(path) => {
            form.format.check(&Run::read(path).blame_input()?.manifest.run.suite)?;
            Session::resume(path, measuring, &stop)?
        }
        None => {
            let suite = registry::timed_suite(asked.suite).blame_input()?;
            let suite = suite.offering(measuring.offered.load().as_ref()).blame_input()?;
            let suite = suite.with_classic(asked.classic).blame_input()?.with_custom(asked.custom);
            let length = measuring.replicate_length(asked.until_steady)?;
            let suite = suite.lasting(length.as_ref()).blame_input()?;
            let suite = if asked.are_sizes_placed { suite.placing_sizes() } else { suite };
            let suite = match measuring.benchmarks.as_slice() {
                [] => loads::only_what_they_take(&form.loads, suite)?,
                names => suite.matching(names).blame_input()?,
            };
            loads::check(&form.loads, &suite)?;
            let what = (&suite, Choice::for_suite(&suite, texts)?);
            if measuring.dry_run {
                dry_run::check(measuring.output.format)?;
                let done = try_out(command, what, measuring, &stop)?;
                if traffic.is_some() && done == Done::Well {
                    output::say("guests would then count what each phase moves through caches");
                }
                return Ok(done);
            }
            Session::begin(command, what, (measuring, measuring.out.as_deref()), &stop)?
        }
    };
    let (directory, ended) = session.measure(&stop);
    if measuring.resume.is_none() && ended.as_ref().is_err_and(is_too_short) {
        directory.discard()?;
        if !had_runs {
            // Others may have begun a run there meanwhile.
            let _holds_runs = std::fs::remove_dir(runner::RUNS);
        }
        return ended.map(|_| Done::Well).blame_input();
    }
    let counted = match traffic {
        Some(traffic) if ended.as_ref().is_ok_and(|why| *why != EndReason::Interrupted) => {
            // What cannot be counted is no reason to lose what was timed.
            traffic.add_to(&directory).unwrap_or_else(|error| {
                output::say(&format!("cache traffic was not counted: {error:#}"));
                Done::WithFailures
            })
        }
        _ => Done::Well,
    };
    let printed = output::print_measured(&directory, &form);
    let (document, reason) = match (printed, ended) {
        // Where nothing can be read any more, what ended the run says why.
        (Err(_), Err(why)) => return Err(why),
        (printed, ended) => (printed?, ended?),
    };
    output::print_path(directory.path(), &form)?;
    let done = Done::of(reason, &document);
    Ok(if done == Done::Well { counted } else { done })
}

/// Measures a suite and prints nothing: that is left to the command that makes something of it.
pub(crate) fn measure_silently(
    command: &str,
    (suite, classic): (&str, Option<&ClassicOptions>),
    choice: Choice<'_>,
    measuring: &Measuring,
) -> anyhow::Result<(RunDirectory, EndReason)> {
    let stop = Arc::new(AtomicBool::new(false));
    let suite = registry::timed_suite(suite).blame_input()?.with_classic(classic).blame_input()?;
    let out = measuring.out.as_deref();
    let session = Session::begin(command, (&suite, choice), (measuring, out), &stop)?;
    let (directory, ended) = session.measure(&stop);
    Ok((directory, ended?))
}

/// Makes the targets, tries everything out, and prints what would be measured.
fn try_out(
    command: &str,
    what: (&Suite, Choice<'_>),
    measuring: &Measuring,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Done> {
    let place = ::targets::PassingDirectory::make()?;
    let session = Session::begin(command, what, (measuring, Some(place.path())), stop)?;
    let (directory, ended) = session.measure(stop);
    let ended = if ended.as_ref().is_err_and(is_too_short) { ended.blame_input() } else { ended };
    let is_interrupted = ended? == EndReason::Interrupted;
    if is_interrupted {
        Ok(Done::Interrupted)
    } else {
        dry_run::print(&directory.read()?, measuring)
    }
}

/// Whether the budget had no room for the least that gives an interval.
fn is_too_short(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(RunError::Budget { .. }))
}

fn has_ended(path: &Path) -> anyhow::Result<bool> {
    let run = Run::read(path).blame_input()?;
    // What is damaged is refused by who would go on with it.
    Ok(run.damage.is_empty() && Ledger::replay(&run.lines).ended())
}
