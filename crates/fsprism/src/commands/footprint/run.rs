//! `fsprism run footprint`: the operations of kernel file systems, traced in guests, as a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ::caches::{CachePolicy, Hierarchy, Inclusion};
use footprint_study::recorded;
use footprint_suite::{GuestTarget, SUITE, TargetFootprints, TracingPlan};
use record::{CachesOrigin, EndReason, RunDirectory, RunRecord, SimulatedCaches, TRACES};

use crate::arguments::footprint::TracingOptions;
use crate::arguments::footprint_values::CacheGiven;
use crate::arguments::{Measuring, RunOptions};
use crate::commands::footprint::caches::Chosen;
use crate::exit::{Blame, Done, InterruptedEarly};
use crate::output;
use crate::session::start;
use crate::session::tracing::Tracing;

/// Repetitions that are traced where none are asked for: enough for an interval of the median.
const REPETITIONS: u32 = 8;

pub(crate) fn run(options: &RunOptions) -> anyhow::Result<Done> {
    let measuring = &options.measuring;
    let what = (&options.tracing, &options.simulated.caches[..]);
    let Made { path, failed } = made("run", &options.targets, what, measuring)?;
    let document = output::print_run(&path, measuring.output.format)?;
    output::print_path(&path, measuring.output.format)?;
    Ok(if failed { Done::WithFailures } else { Done::of(EndReason::Blocks, &document) })
}

/// A run that was made.
pub(crate) struct Made {
    pub(crate) path: PathBuf,
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
    let tracing = Tracing::open(options.kernel.as_deref())?;
    let path = runner::run_directory(measuring.out.as_deref(), &run).blame_input()?;
    run.guest_kernel = Some(tracing.kernel().release.clone());
    let traces = path.join(TRACES);
    empty(&traces)?;
    let begun = Instant::now();
    let traced = tracing.trace(targets, &plan, &traces);
    if tracing.is_stopped() {
        remove(&path, &traces)?;
        return Err(InterruptedEarly.into());
    }
    let traced: Vec<TargetFootprints> =
        traced.into_iter().map(|one| TargetFootprints::of(one, caches.as_ref())).collect();
    let failures: Vec<_> = traced.iter().filter_map(TargetFootprints::failure).collect();
    if let [(label, why), ..] = failures[..]
        && failures.len() == traced.len()
    {
        remove(&path, &traces)?;
        anyhow::bail!("no target could be traced: {label}: {why}");
    }
    let (_, _, clock) = start::clock();
    let base = runner::manifest(run, measuring.making.scratch(), clock);
    let manifest = footprint_suite::manifest(base, &traced, caches.as_ref());
    footprint_suite::write(&path, &manifest, &traced, begun.elapsed())?;
    Ok(Made { path, failed: !failures.is_empty() })
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
fn caches(caches: &[CacheGiven]) -> anyhow::Result<Option<Hierarchy>> {
    let (policy, inclusion) = (CachePolicy::Lru, Inclusion::NonInclusive);
    match (Chosen { caches, policy, inclusion, seed: 1 }).hierarchy() {
        Err(error) if caches.is_empty() => {
            output::say(&format!("misses are not simulated: {error}"));
            Ok(None)
        }
        hierarchy => hierarchy.map(Some),
    }
}

/// An empty directory, whatever a killed process left there.
fn empty(directory: &Path) -> anyhow::Result<()> {
    let cannot = |error| anyhow::anyhow!("cannot make {}: {error}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(cannot)?;
    }
    fs::create_dir_all(directory).map_err(cannot)
}

/// Removes what lies in the directory of a run that never was, and the directory if that is all.
fn remove(path: &Path, traces: &Path) -> anyhow::Result<()> {
    fs::remove_dir_all(traces)?;
    let _holds_something = fs::remove_dir(path);
    Ok(())
}

/// The caches as the run records them, so that its page simulates the same.
fn recorded_caches(given: &[CacheGiven], caches: Option<&Hierarchy>) -> Option<SimulatedCaches> {
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
        budget_s: measuring.budget.as_secs_f64(),
        precision_percent: measuring.precision,
        confidence_level: measuring.confidence,
        blocks: Some(plan.repetitions),
        simulated_caches,
        ..runner::run_record(command, SUITE, measuring.seed)
    }
}
