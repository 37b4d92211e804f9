//! `fsprism run footprint`: the operations of kernel file systems, traced in guests, as a run.

use std::time::Instant;

use ::caches::{CachePolicy, Hierarchy, Inclusion};
use footprint_study::recorded;
use footprint_suite::{GuestTarget, SUITE, TargetFootprints, TracingPlan};
use record::{CachesOrigin, EndReason, RunDirectory, RunRecord, SimulatedCaches};

use crate::arguments::footprint::TracingOptions;
use crate::arguments::footprint_values::CacheGiven;
use crate::arguments::{Measuring, RunOptions};
use crate::commands::footprint::caches::Chosen;
use crate::exit::{Blame, Done, InterruptedEarly};
use crate::output::{self, Form};
use crate::session::start;
use crate::session::tracing::Guests;

/// Repetitions that are traced where none are asked for: enough for an interval of the median.
const REPETITIONS: u32 = 8;

pub(crate) fn run(options: &RunOptions) -> anyhow::Result<Done> {
    let measuring = &options.measuring;
    let what = (&options.tracing, &options.simulated.caches[..]);
    let Made { directory, failed } = made("run", &options.targets, what, measuring)?;
    let form = Form::full(measuring.output.format);
    let document = output::print_measured(&directory, &form)?;
    output::print_path(directory.path(), &form)?;
    Ok(if failed { Done::WithFailures } else { Done::of(EndReason::Blocks, &document) })
}

/// A run that was made.
pub(crate) struct Made {
    pub(crate) directory: RunDirectory,
    /// Whether a target could not be traced at all.
    pub(crate) failed: bool,
}

/// Traces targets for a command, which prints what it makes of the run.
pub(crate) fn made(
    command: &str,
    targets: &[String],
    (options, given): (&TracingOptions, &[CacheGiven]),
    measuring: &Measuring,
) -> anyhow::Result<Made> {
    refuse_what_has_no_effect(measuring)?;
    let defaults = footprint_suite::DEFAULTS.map(str::to_owned);
    let targets = if targets.is_empty() { &defaults[..] } else { targets };
    let targets = GuestTarget::parse_all(targets).blame_input()?;
    let plan = options.plan(measuring.blocks.unwrap_or(REPETITIONS));
    let caches = caches(given)?;
    let mut run = run_record(command, measuring, &plan, recorded_caches(given, caches.as_ref()));
    if let Some(path) = &measuring.out {
        RunDirectory::check_new(path).blame_input()?;
    }
    let guests = Guests::find(options.kernel.as_deref())?;
    guests.take_turn(options.beside, measuring.making.no_wait)?;
    let tracing = guests.ready()?;
    let mut directory = runner::run_directory(measuring.out.as_deref(), &run).blame_input()?;
    run.guest_kernel = Some(guests.kernel().release.clone());
    let traces = directory.empty_traces()?;
    let begun = Instant::now();
    let traced = tracing.trace(targets, &plan, &traces);
    if guests.is_stopped() {
        directory.give_up()?;
        return Err(InterruptedEarly.into());
    }
    let measured = |one| TargetFootprints::of(one, caches.as_ref(), &directory);
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
    let base = runner::manifest(run, measuring.making.scratch(), clock);
    let manifest = footprint_suite::manifest(base, &traced, caches.as_ref());
    let directory = footprint_suite::write(directory, &manifest, &traced, begun.elapsed())?;
    Ok(Made { directory, failed: !failures.is_empty() })
}

/// Options that say nothing of a trace must not look as if they did.
fn refuse_what_has_no_effect(measuring: &Measuring) -> anyhow::Result<()> {
    let given = [
        (measuring.resume.is_some(), "--resume"),
        (measuring.size.is_some(), "--size"),
        (measuring.verify, "--verify"),
        (measuring.making.aged.is_some(), "--aged"),
        (!measuring.making.destroy_data.is_empty(), "--destroy-data"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => {
            let why = anyhow::anyhow!("run footprint traces in guests and does not take {option}");
            Err(why).blame_input()
        }
        None => Ok(()),
    }
}

/// The caches whose misses are simulated; none where none are given and this machine tells none.
pub(crate) fn caches(caches: &[CacheGiven]) -> anyhow::Result<Option<Hierarchy>> {
    let (policy, inclusion) = (CachePolicy::Lru, Inclusion::NonInclusive);
    match (Chosen { caches, policy, inclusion, seed: 1 }).hierarchy() {
        Err(error) if caches.is_empty() => {
            output::say(&format!("misses are not simulated: {error}"));
            Ok(None)
        }
        hierarchy => hierarchy.map(Some),
    }
}

/// The caches as the run records them, so that its page simulates the same.
pub(crate) fn recorded_caches(
    given: &[CacheGiven],
    caches: Option<&Hierarchy>,
) -> Option<SimulatedCaches> {
    let origin = match given.is_empty() {
        true => CachesOrigin::Machine,
        false => CachesOrigin::Given,
    };
    caches.map(|caches| recorded(caches, origin))
}

fn run_record(
    command: &str,
    measuring: &Measuring,
    plan: &TracingPlan,
    simulated_caches: Option<SimulatedCaches>,
) -> RunRecord {
    RunRecord {
        budget_s: measuring.budget().as_secs_f64(),
        precision_percent: measuring.precision,
        confidence_level: measuring.confidence,
        blocks: Some(plan.repetitions),
        simulated_caches,
        ..runner::run_record(command, SUITE, measuring.seed)
    }
}
