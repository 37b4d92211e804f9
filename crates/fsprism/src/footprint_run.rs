//! `fsprism run footprint`: the operations of kernel file systems, traced in guests, as a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ::footprint::simulate::{CachePolicy, Hierarchy, Inclusion};
use ::report::footprint::recorded;
use footprint_guest::TracedCall;
use footprint_suite::{GuestTarget, Measured, Plan, SUITE};
use measure::SystemClock;
use record::{
    CachesOrigin, End, EndReason, Line, Manifest, MetricDefinition, RunDirectory, RunRecord,
    SCHEMA_VERSION, SimulatedCaches, Skipped, Start, TRACES, TargetRecord,
};
use targets::TargetFacts;

use crate::arguments::{Measuring, RunOptions};
use crate::exit::{Blame, Done, InterruptedEarly};
use crate::footprint_arguments::TracingOptions;
use crate::footprint_caches::Chosen;
use crate::footprint_tracing::{OfTarget, Tracing};
use crate::footprint_values::CacheGiven;
use crate::{output, start};

/// Repetitions that are traced where none are asked for: enough for an interval of the median.
const REPETITIONS: u32 = 8;

/// A target with what was measured of it, or why nothing was.
struct Outcome {
    target: GuestTarget,
    /// What was to be done on it.
    plan: Plan,
    /// Operations that mean nothing on it, each with why.
    left_out: Vec<(TracedCall, String)>,
    facts: Option<TargetFacts>,
    measured: Vec<Measured>,
    /// Why something is missing: of an operation, or of all.
    why: Vec<(Option<TracedCall>, String)>,
}

pub(crate) fn run(options: &RunOptions) -> anyhow::Result<Done> {
    let measuring = &options.measuring;
    let what = (&options.tracing, &options.simulated.caches[..]);
    let path = made("run", &options.targets, what, measuring)?;
    let document = output::print_run(&path, measuring.output.format)?;
    output::print_path(&path, measuring.output.format)?;
    let has_failed = document.cells.iter().any(|cell| cell.failed.is_some())
        || document.skipped.iter().any(|one| !is_left_out(one, &document.targets));
    Ok(if has_failed { Done::WithFailures } else { Done::Well })
}

/// Whether what was skipped is an operation of a target which was traced: it lacks that.
fn is_left_out(skipped: &Skipped, targets: &[TargetRecord]) -> bool {
    targets.iter().any(|target| skipped.target.starts_with(&format!("{}: ", target.label)))
}

/// Traces targets for a command, which prints what it makes of the run.
pub(crate) fn made(
    command: &str,
    targets: &[String],
    (options, given): (&TracingOptions, &[CacheGiven]),
    measuring: &Measuring,
) -> anyhow::Result<PathBuf> {
    refuse_what_has_no_effect(measuring)?;
    let targets = self::targets(targets)?;
    let plan = options.plan(measuring.blocks.unwrap_or(REPETITIONS));
    let caches = caches(given)?;
    let mut run = run_record(command, measuring, &plan, recorded_caches(given, caches.as_ref()));
    if let Some(path) = &measuring.out {
        RunDirectory::check_new(path).blame_input()?;
    }
    let tracing = Tracing::open(options.kernel.as_deref())?;
    let path = start::run_directory(measuring.out.as_deref(), &run)?;
    run.guest_kernel = Some(tracing.kernel().release.clone());
    let traces = path.join(TRACES);
    empty(&traces)?;
    let begun = Instant::now();
    let traced = tracing.trace(targets, &plan, &traces);
    if tracing.is_stopped() {
        remove(&path, &traces)?;
        return Err(InterruptedEarly.into());
    }
    let outcomes: Vec<Outcome> =
        traced.into_iter().map(|one| measured(one, caches.as_ref())).collect();
    if let [first, ..] = &outcomes[..]
        && outcomes.iter().all(|outcome| outcome.facts.is_none())
    {
        remove(&path, &traces)?;
        let why = first.why.first().map(|(_, why)| why.clone()).unwrap_or_default();
        anyhow::bail!("no target could be traced: {}: {why}", first.target.spec.label);
    }
    let metrics = footprint_suite::definitions(caches.as_ref());
    let manifest = manifest(run, &outcomes, &metrics, measuring.making.scratch());
    write(&path, &manifest, &outcomes, begun)?;
    Ok(path)
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

fn targets(texts: &[String]) -> anyhow::Result<Vec<GuestTarget>> {
    let defaults = footprint_suite::DEFAULTS.map(str::to_owned);
    let texts = if texts.is_empty() { &defaults[..] } else { texts };
    let targets: Vec<GuestTarget> = texts
        .iter()
        .map(|text| GuestTarget::parse(text).blame_input())
        .collect::<Result<_, _>>()?;
    let specs: Vec<_> = targets.iter().map(|target| target.spec.clone()).collect();
    targets::refuse_duplicate_labels(&specs).blame_input()?;
    Ok(targets)
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

fn measured(one: OfTarget, caches: Option<&Hierarchy>) -> Outcome {
    let OfTarget { target, plan, left_out, trace, traced } = one;
    let measured = traced.map_err(|error| error.to_string()).and_then(|traced| {
        let measured = footprint_suite::measure(&trace, traced.description, caches);
        Ok((traced.outcome, measured.map_err(|error| error.to_string())?))
    });
    let (facts, measured, why) = match measured {
        Ok((outcome, measured)) => {
            let failed = outcome.failed.into_iter();
            let why = failed.map(|failed| (failed.operation, failed.why)).collect();
            (outcome.target, measured, why)
        }
        Err(why) => (None, Vec::new(), vec![(None, why)]),
    };
    Outcome { target, plan, left_out, facts, measured, why }
}

fn write(
    path: &Path,
    manifest: &Manifest,
    outcomes: &[Outcome],
    begun: Instant,
) -> anyhow::Result<()> {
    let mut directory = RunDirectory::create(path, manifest)?;
    directory.append(&Line::Start(Start { used_s: 0.0 }))?;
    let mut first_cell = 0;
    for outcome in outcomes.iter().filter(|outcome| outcome.facts.is_some()) {
        let Outcome { plan, measured, why, .. } = outcome;
        for line in footprint_suite::lines(first_cell, plan, measured, why) {
            directory.append(&line)?;
        }
        first_cell += u32::try_from(plan.operations.len())?;
    }
    let (reason, used_s) = (EndReason::Blocks, begun.elapsed().as_secs_f64());
    directory.append(&Line::End(End { reason, used_s, clock_drift_ppm: 0.0 }))?;
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
    plan: &Plan,
    simulated_caches: Option<SimulatedCaches>,
) -> RunRecord {
    let (started, seed) = start::moment_and_seed();
    RunRecord {
        command: command.to_owned(),
        arguments: std::env::args().collect(),
        started,
        suite: SUITE.to_owned(),
        seed: measuring.seed.unwrap_or(seed),
        budget_s: measuring.budget.as_secs_f64(),
        precision_percent: measuring.precision,
        confidence_level: measuring.confidence,
        blocks: Some(plan.repetitions),
        verify: false,
        data_file_bytes: 0,
        guest_kernel: None,
        simulated_caches,
        offered_load: None,
        order: record::Order::default(),
    }
}

fn manifest(
    run: RunRecord,
    outcomes: &[Outcome],
    metrics: &[MetricDefinition],
    scratch: &Path,
) -> Manifest {
    let (clock, report) = SystemClock::calibrate();
    let made = outcomes.iter().filter(|outcome| outcome.facts.is_some());
    let cells_of = |outcome: &Outcome| {
        footprint_suite::cells(&outcome.target.spec.label, &outcome.plan, metrics)
    };
    Manifest {
        schema_version: SCHEMA_VERSION,
        tool: start::tool(),
        run,
        machine: start::described(scratch),
        clock: start::clock_record(&clock, &report),
        skipped: outcomes.iter().flat_map(skipped).collect(),
        targets: outcomes.iter().filter_map(target_record).collect(),
        cells: made.flat_map(cells_of).collect(),
        scratch: None,
    }
}

/// What was not traced of a target: all of it, or operations that it lacks.
fn skipped(outcome: &Outcome) -> Vec<Skipped> {
    let label = &outcome.target.spec.label;
    if outcome.facts.is_none() {
        let why = outcome.why.first().map(|(_, why)| why.clone()).unwrap_or_default();
        return vec![Skipped { target: label.clone(), why }];
    }
    let of = |(operation, why): &(TracedCall, String)| Skipped {
        target: format!("{label}: {operation}"),
        why: why.clone(),
    };
    outcome.left_out.iter().map(of).collect()
}

/// What is recorded of a target that a guest made.
fn target_record(outcome: &Outcome) -> Option<TargetRecord> {
    let facts = outcome.facts.as_ref()?;
    let label = outcome.target.spec.label.clone();
    let text = outcome.target.spec.to_string();
    let specification = text.strip_prefix(&format!("{label}=")).unwrap_or(&text).to_owned();
    Some(TargetRecord {
        label,
        specification,
        file_system: facts.file_system.clone(),
        scratch: true,
        mkfs: facts.mkfs.clone(),
        mkfs_version: facts.mkfs_version.clone(),
        mount_options: facts.mount_options.clone(),
        size_bytes: facts.size_bytes,
        device: None,
        loop_direct_io: None,
        image_allocated: false,
        read_ahead_bytes: facts.read_ahead_bytes,
        aged: None,
        conditions: record::Conditions::default(),
        condition_caveats: Vec::new(),
    })
}
