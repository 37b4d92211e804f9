//! `fsprism cliff`: from the command line to a search and its report.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::SystemClock;
use record::{Axis, EndReason, Manifest, RunDirectory, RunKind, RunRecord};
use runner::{RunContext, RunError, conduct_searches};
use suites::{CLIFF_SUITE, CliffError, CliffLaboratory, CliffRequest, PlannedSearch, Testbed};

use crate::arguments::cliff::CliffOptions;
use crate::exit::{InterruptedEarly, OrInputError, Outcome};
use crate::output::progress::Progress;
use crate::output::{self, ReportForm};
use crate::session::start::{self, SinceStart};
use crate::session::targets::Choice;

/// `fsprism cliff`.
pub(crate) fn cliff(options: &CliffOptions) -> anyhow::Result<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    if let Some(path) = &options.out {
        RunDirectory::check_new(path).or_input_error()?;
    }
    let suite = format!("{CLIFF_SUITE}/{}", Axis::from(options.axis).name());
    options.output.format.check(&suite)?;
    let run = runner::run_record("cliff", &suite, options.seed);
    let request = request(options, run.seed);
    request.check().or_input_error()?;
    let choice = if request.axis == Axis::VolumeSize {
        Choice::ForVolumes(&options.targets, request.high.map(|largest| largest.value))
    } else {
        Choice::ForCliffs(&options.targets)
    };
    let (testbed, _) = start::make(choice, &options.making, &stop)?;
    let (clock, _, clock_record) = start::clock();
    let scratch = options.making.scratch();
    let manifest = runner::manifest(run, scratch, clock_record);
    let plans: Result<Vec<PlannedSearch>, CliffError> =
        testbed.live.iter().map(|live| suites::plan(live, &manifest.machine, &request)).collect();
    let plans = plans.or_input_error()?;
    let manifest = Manifest {
        targets: testbed.records(),
        scratch: runner::recorded_scratch(scratch),
        run: run_record(options, &plans, manifest.run),
        ..manifest
    };
    let reserved = runner::run_directory(options.out.as_deref(), &manifest.run).or_input_error()?;
    let mut directory = reserved.begin(&manifest).or_input_error()?;
    let searched = search(testbed, &plans, options, &mut directory, &stop, clock);
    let reason = match searched {
        Err(error) if error.is::<InterruptedEarly>() => return Err(error),
        other => other,
    };
    let form = ReportForm::full(options.output.format);
    let document = output::print_measured(&directory, &form)?;
    let reason = reason?;
    output::print_path(directory.path(), &form)?;
    Ok(Outcome::of_run(reason, &document))
}

/// What the command line asks for.
fn request(options: &CliffOptions, seed: u64) -> CliffRequest {
    CliffRequest {
        axis: options.axis.into(),
        low: options.low,
        high: options.high,
        width_percent: options.width,
        level: options.confidence,
        probes_max: options.probes,
        working_set_bytes: options.working_set,
        request_bytes: options.request,
        threads: options.threads,
        read_percent: options.read_share,
        sequential_percent: options.sequential_share,
        seed,
    }
}

/// Makes the files, searches, then removes everything again.
#[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
fn search(
    testbed: Testbed,
    plans: &[PlannedSearch],
    options: &CliffOptions,
    directory: &mut RunDirectory,
    stop: &Arc<AtomicBool>,
    clock: SystemClock,
) -> anyhow::Result<EndReason> {
    let Testbed { live, workshop } = testbed;
    let made = CliffLaboratory::new(live, plans, stop, clock);
    let mut laboratory = match made {
        Ok(laboratory) => laboratory,
        Err((error, live)) => {
            Testbed::close(live, workshop)?;
            return Err(match error {
                CliffError::Stopped => InterruptedEarly.into(),
                other => other.into(),
            });
        }
    };
    let mut progress = Progress::new(&[], options.budget);
    let stopwatch = SinceStart::now();
    let on_busy = options.making.on_busy.into();
    let mut context = RunContext { stopwatch: &stopwatch, observer: &mut progress, stop, on_busy };
    let searches: Vec<_> = plans.iter().map(|plan| plan.search.clone()).collect();
    let ended =
        conduct_searches(&searches, options.budget, &mut laboratory, directory, &mut context);
    progress.finish();
    let is_guarded = workshop.is_guarded();
    let failure = laboratory.device_failure();
    let closed = Testbed::close(laboratory.into_targets(), workshop);
    let reason = ended.map_err(RunError::for_search)?;
    start::check_guarded(is_guarded, "begin the search again")?;
    if let Some(failure) = failure {
        let advice = failure.advice("begin the search again");
        anyhow::bail!("what was measured last cannot be trusted, because {failure}: {advice}");
    }
    closed?;
    Ok(reason)
}

/// Completes the record of the run with what is known once its searches are planned.
fn run_record(options: &CliffOptions, plans: &[PlannedSearch], run: RunRecord) -> RunRecord {
    RunRecord {
        kind: RunKind::Searched,
        seed: plans.first().map_or(run.seed, |plan| plan.search.seed),
        budget_s: options.budget.as_secs_f64(),
        precision_percent: options.width,
        confidence_level: options.confidence,
        data_file_bytes: plans.iter().map(|plan| plan.file_bytes).max().unwrap_or(0),
        ..run
    }
}
