//! `fsprism cliff`: from the command line to a search and its report.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::SystemClock;
use record::{Axis, Document, EndReason, Manifest, RunDirectory, RunRecord, SCHEMA_VERSION};
use runner::{RunContext, conduct_searches};
use suites::{CLIFF_SUITE, CliffError, CliffLaboratory, Planned, Wanted};

use crate::cliff_arguments::CliffOptions;
use crate::exit::{Blame, Done, InterruptedEarly};
use crate::output;
use crate::progress::Progress;
use crate::start::{self, SinceStart};
use crate::targets::{self, Made};

/// `fsprism cliff`.
pub(crate) fn cliff(options: &CliffOptions) -> anyhow::Result<Done> {
    let stop = Arc::new(AtomicBool::new(false));
    if let Some(path) = &options.out {
        RunDirectory::check_new(path).blame_input()?;
    }
    let (started, seed) = start::moment_and_seed();
    let asked = asked(options, options.seed.unwrap_or(seed));
    asked.check().blame_input()?;
    let wanted = targets::wanted_for_cliffs(&options.targets, &options.making)?;
    let machine = start::described(options.making.scratch());
    let made = start::make(wanted, &options.making, &stop)?;
    let plans: Result<Vec<Planned>, CliffError> =
        made.live.iter().map(|live| suites::plan(live, &machine, &asked)).collect();
    let plans = plans.blame_input()?;
    let (clock, report) = SystemClock::calibrate();
    let run = run_record(options, started, &plans);
    let manifest = Manifest {
        schema_version: SCHEMA_VERSION,
        tool: start::tool(),
        machine,
        clock: start::clock_record(&clock, &report),
        targets: made.live.iter().map(targets::record_of).collect(),
        skipped: Vec::new(),
        cells: Vec::new(),
        scratch: start::recorded_scratch(&options.making),
        run,
    };
    let path = start::run_directory(options.out.as_deref(), &manifest.run)?;
    let mut directory = RunDirectory::create(&path, &manifest).blame_input()?;
    let searched = search(made, &plans, options, &mut directory, (&stop, clock));
    let reason = match searched {
        Err(error) if error.is::<InterruptedEarly>() => return Err(error),
        other => other,
    };
    let document = output::print_measured(&directory, options.output.format)?;
    let reason = reason?;
    output::print_path(&path, options.output.format)?;
    Ok(done(reason, &document))
}

/// What the command line asks for.
fn asked(options: &CliffOptions, seed: u64) -> Wanted {
    Wanted {
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

/// Makes the files, searches, then takes everything away again.
#[expect(clippy::wildcard_enum_match_arm, reason = "other errors pass through")]
fn search(
    made: Made,
    plans: &[Planned],
    options: &CliffOptions,
    directory: &mut RunDirectory,
    (stop, clock): (&Arc<AtomicBool>, SystemClock),
) -> anyhow::Result<EndReason> {
    let Made { live, workshop } = made;
    let made = CliffLaboratory::new(live, plans, stop, clock);
    let mut laboratory = match made {
        Ok(laboratory) => laboratory,
        Err((error, live)) => {
            Made::close(live, workshop)?;
            return Err(match error {
                CliffError::Stopped => InterruptedEarly.into(),
                other => other.into(),
            });
        }
    };
    let mut progress = Progress::new(&[], options.budget);
    let stopwatch = SinceStart::now();
    let mut surroundings = RunContext { stopwatch: &stopwatch, observer: &mut progress, stop };
    let searches: Vec<_> = plans.iter().map(|plan| plan.search.clone()).collect();
    let conducted =
        conduct_searches(&searches, options.budget, &mut laboratory, directory, &mut surroundings);
    progress.finish();
    let is_guarded = workshop.is_guarded();
    let closed = Made::close(laboratory.into_targets(), workshop);
    let reason = conducted?;
    start::check_guarded(is_guarded, "begin the search again")?;
    closed?;
    Ok(reason)
}

fn run_record(options: &CliffOptions, started: String, plans: &[Planned]) -> RunRecord {
    let axis: Axis = options.axis.into();
    RunRecord {
        command: "cliff".to_owned(),
        arguments: std::env::args().collect(),
        started,
        suite: format!("{CLIFF_SUITE}/{}", axis.name()),
        seed: plans.first().map_or(0, |plan| plan.search.seed),
        budget_s: options.budget.as_secs_f64(),
        precision_percent: options.width,
        confidence_level: options.confidence,
        blocks: None,
        verify: false,
        data_file_bytes: plans.iter().map(|plan| plan.file_bytes).max().unwrap_or(0),
        guest_kernel: None,
        simulated_caches: None,
        offered_load: None,
        order: record::Order::default(),
    }
}

fn done(reason: EndReason, document: &Document) -> Done {
    let failed = document.cells.iter().any(|cell| cell.failed.is_some());
    match reason {
        EndReason::Interrupted => Done::Interrupted,
        _ if failed => Done::WithFailures,
        EndReason::Precision
        | EndReason::Blocks
        | EndReason::Budget
        | EndReason::NothingLeft
        | EndReason::Searched => Done::Well,
    }
}
