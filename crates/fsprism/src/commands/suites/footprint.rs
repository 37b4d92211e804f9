//! `fsprism run footprint`: operations of kernel file systems, traced in guests, as a run.

use std::time::Instant;

use ::caches::{CachePolicy, Hierarchy, Inclusion};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use footprint_guest::TracedCall;
use footprint_study::recorded;
use footprint_suite::{GuestTarget, SUITE, TargetFootprints};
use record::{
    CachesOrigin, Dimension, EndReason, RunDirectory, RunKind, RunRecord, SimulatedCaches,
};

use crate::arguments::footprint::FootprintOptions;
use crate::arguments::footprint_values::CacheArgument;
use crate::arguments::help;
use crate::commands::footprint::caches::CacheOptions;
use crate::commands::suites::{BenchmarkRow, Runnable, SuiteRow};
use crate::exit::{InterruptedEarly, OrInputError, Outcome};
use crate::output::{self, ReportForm};
use crate::session::start;
use crate::session::tracing::Guests;

/// Default number of traced repetitions: enough for an interval of the median.
const REPETITIONS: u32 = 8;

/// The suite footprint.
pub(super) struct FootprintSuite;

impl Runnable for FootprintSuite {
    fn row(&self) -> SuiteRow {
        let benchmark = |operation: TracedCall| BenchmarkRow {
            name: operation.name().to_owned(),
            title: operation.title().to_owned(),
            dimension: Dimension::CpuFootprint,
            exercises: Vec::new(),
            curve: None,
        };
        SuiteRow {
            name: SUITE,
            summary: "cache lines that operations touch, traced in guests",
            benchmarks: TracedCall::by_default().map(benchmark).collect(),
        }
    }

    fn options(&self, command: Command) -> Command {
        FootprintOptions::augment_args(command)
    }

    fn examples(&self) -> String {
        help::FOOTPRINT_EXAMPLES.to_owned()
    }

    fn run(self: Box<Self>, given: &mut ArgMatches) -> anyhow::Result<Outcome> {
        let options = FootprintOptions::from_arg_matches_mut(given)?;
        options.guests.output.format.check(SUITE)?;
        let FootprintRun { directory, failed } = trace("run", &options)?;
        let form = ReportForm::full(options.guests.output.format);
        let document = output::print_measured(&directory, &form)?;
        output::print_path(directory.path(), &form)?;
        Ok(if failed {
            Outcome::WithFailures
        } else {
            Outcome::of_run(EndReason::Blocks, &document)
        })
    }
}

/// A run that was made.
pub(crate) struct FootprintRun {
    pub(crate) directory: RunDirectory,
    /// Whether some target could not be traced at all.
    pub(crate) failed: bool,
}

/// Traces targets on behalf of a command, which prints the run itself.
pub(crate) fn trace(command: &str, options: &FootprintOptions) -> anyhow::Result<FootprintRun> {
    let FootprintOptions { targets, blocks, guests: how, tracing, simulated, kernel } = options;
    let given = &simulated.caches[..];
    let defaults = footprint_suite::DEFAULTS.map(str::to_owned);
    let targets = if targets.is_empty() { &defaults[..] } else { targets };
    let mut targets = GuestTarget::parse_all(targets).or_input_error()?;
    let plan = tracing.plan(blocks.unwrap_or(REPETITIONS));
    let caches = caches(given)?;
    let mut run = RunRecord {
        blocks: Some(plan.repetitions),
        simulated_caches: recorded_caches(given, caches.as_ref()),
        ..how.record(command, SUITE, RunKind::Traced, how.seed)
    };
    if let Some(path) = &how.out {
        RunDirectory::check_new(path).or_input_error()?;
    }
    let guests = Guests::find(kernel.release.as_deref())?;
    guests.check(&mut targets)?;
    guests.take_turn(tracing.beside, how.no_wait)?;
    let tracing = guests.ready()?;
    let mut directory = runner::run_directory(how.out.as_deref(), &run).or_input_error()?;
    run.guest_kernel = Some(guests.kernel().release.clone());
    let traces = directory.empty_traces()?;
    let begun = Instant::now();
    let traced = tracing.trace(targets, &plan, &traces);
    if guests.is_stopped() {
        directory.give_up()?;
        return Err(InterruptedEarly.into());
    }
    let measured = |one| TargetFootprints::new(one, caches.as_ref(), &directory);
    let traced: Vec<TargetFootprints> = traced.into_iter().map(measured).collect();
    let failures: Vec<_> = traced.iter().filter_map(TargetFootprints::failure).collect();
    if let [(label, why), ..] = failures[..]
        && failures.len() == traced.len()
    {
        let refusal = anyhow::anyhow!("no target could be traced: {label}: {why}");
        directory.give_up()?;
        return Err(refusal);
    }
    let (_, _, clock) = start::clock();
    let base = runner::manifest(run, &how.scratch, clock);
    let manifest = footprint_suite::manifest(base, &traced, caches.as_ref());
    let directory = footprint_suite::write(directory, &manifest, &traced, begun)?;
    Ok(FootprintRun { directory, failed: !failures.is_empty() })
}

/// The caches to simulate; `None` if none are given and this machine does not report its own.
pub(crate) fn caches(caches: &[CacheArgument]) -> anyhow::Result<Option<Hierarchy>> {
    let (policy, inclusion) = (CachePolicy::Lru, Inclusion::NonInclusive);
    match (CacheOptions { caches, policy, inclusion, seed: 1 }).hierarchy() {
        Err(error) if caches.is_empty() => {
            output::say(&format!("misses are not simulated: {error}"));
            Ok(None)
        }
        hierarchy => hierarchy.map(Some),
    }
}

/// The caches as the run records them, so that its page can simulate the same ones.
pub(crate) fn recorded_caches(
    given: &[CacheArgument],
    caches: Option<&Hierarchy>,
) -> Option<SimulatedCaches> {
    let origin = match given.is_empty() {
        true => CachesOrigin::Machine,
        false => CachesOrigin::Given,
    };
    caches.map(|caches| recorded(caches, origin))
}
