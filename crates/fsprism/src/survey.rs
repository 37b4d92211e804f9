//! `fsprism survey` and `fsprism run`: from the command line to a measured run and its report.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::SystemClock;
use record::{Cell, Document, EndReason, Manifest, Run, RunDirectory, RunRecord, SCHEMA_VERSION};
use runner::{Ledger, Plan, RunContext, conduct};
use suites::{Benchmark, Laboratory, Scope, Settings, Suite};
use workload::Verification;

use crate::arguments::{Measuring, Order, RunOptions, SurveyOptions};
use crate::exit::{Blame, Done};
use crate::footprint_run;
use crate::list;
use crate::output;
use crate::progress::Progress;
use crate::resume;
use crate::runs;
use crate::start::{self, SinceStart};
use crate::targets::{self, Made};

/// `fsprism survey`.
pub(crate) fn survey(options: &SurveyOptions) -> anyhow::Result<Done> {
    if let Some(runs) = options.measuring.runs {
        return runs::measure("survey", runs, &options.measuring);
    }
    measure("survey", "survey", &options.targets, &options.measuring)
}

/// `fsprism run`.
pub(crate) fn run(options: &RunOptions) -> anyhow::Result<Done> {
    if options.list {
        return list::list(options.measuring.output.format);
    }
    let suite = options.suite.as_deref().unwrap_or("survey");
    if suite == footprint_suite::SUITE {
        if options.measuring.offered.rate.is_some() {
            let why = "--rate is for scheduled operations, but footprint traces single ones";
            return Err(anyhow::anyhow!("{why}: leave it out, or run nano/io")).blame_input();
        }
        if options.measuring.runs.is_some() {
            let why = "--runs is for timed benchmarks, but footprint counts are exact";
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
        return footprint_run::run(options);
    }
    if !options.tracing.are_defaults() || !options.simulated.caches.is_empty() {
        let why = "--op, --warm-up, --cold, --cache and --kernel apply only to the footprint suite";
        return Err(anyhow::anyhow!("{why}: leave them out, or run footprint")).blame_input();
    }
    if let Some(runs) = options.measuring.runs {
        return runs::measure("run", runs, &options.measuring);
    }
    measure("run", suite, &options.targets, &options.measuring)
}

fn measure(
    command: &str,
    suite: &str,
    texts: &[String],
    measuring: &Measuring,
) -> anyhow::Result<Done> {
    let stop = Arc::new(AtomicBool::new(false));
    let session = match &measuring.resume {
        Some(path) if has_ended(path)? => {
            output::say(&format!("{}: nothing is left to measure", path.display()));
            let document = output::print_run(path, measuring.output.format)?;
            return Ok(done(EndReason::NothingLeft, &document));
        }
        Some(path) => Prepared::resume(path, measuring, &stop)?,
        None => {
            let suite = suites::suite(suite).blame_input()?;
            let suite = suite.offering(measuring.offered.load().as_ref()).blame_input()?;
            let suite = suite.matching(&measuring.benchmarks).blame_input()?;
            Prepared::begin(command, &suite, texts, measuring, &stop)?
        }
    };
    let (directory, conducted) = session.conducted(&stop);
    let printed = output::print_measured(&directory, measuring.output.format);
    let (document, reason) = match (printed, conducted) {
        // Where nothing can be read any more, what ended the run says why.
        (Err(_), Err(why)) => return Err(why),
        (printed, conducted) => (printed?, conducted?),
    };
    output::print_path(directory.path(), measuring.output.format)?;
    Ok(done(reason, &document))
}

/// Measures a suite for another command, which prints what it makes of the run.
pub(crate) fn measured(
    command: &str,
    suite: &str,
    texts: &[String],
    measuring: &Measuring,
) -> anyhow::Result<(PathBuf, EndReason)> {
    let stop = Arc::new(AtomicBool::new(false));
    let suite = suites::suite(suite).blame_input()?;
    let (directory, conducted) =
        Prepared::begin(command, &suite, texts, measuring, &stop)?.conducted(&stop);
    Ok((directory.path().to_owned(), conducted?))
}

fn has_ended(path: &Path) -> anyhow::Result<bool> {
    let run = Run::read(path).blame_input()?;
    // What is damaged is refused by who would go on with it.
    Ok(run.damage.is_empty() && Ledger::replay(&run.lines).ended())
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

/// Everything that is needed to measure.
struct Prepared {
    laboratory: Laboratory,
    workshop: ::targets::Workshop,
    directory: RunDirectory,
    plan: Plan,
    ledger: Ledger,
}

impl Prepared {
    /// A new run: makes the targets, plans the cells, makes the run directory.
    fn begin(
        command: &str,
        suite: &Suite,
        texts: &[String],
        measuring: &Measuring,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        if let Some(path) = &measuring.out {
            RunDirectory::check_new(path).blame_input()?;
        }
        let wanted = match command {
            "reproduce" => targets::wanted_of_paper(texts, &measuring.making)?,
            _ => targets::wanted(texts, &measuring.making)?,
        };
        let skipped = wanted.skipped.clone();
        let made = start::make(wanted, &measuring.making, stop)?;
        let data_file_bytes = made.data_file_bytes(measuring.size)?;
        let (clock, report) = SystemClock::calibrate();
        let budget = measuring.blocks.is_none().then_some(measuring.budget);
        let scope = Scope { targets: made.live.len(), data_file_bytes, budget };
        let (cells, inapplicable) = suites::cells(suite, &made.live, &scope);
        let run = run_record(command, suite, measuring, data_file_bytes);
        let path = start::run_directory(measuring.out.as_deref(), &run)?;
        let manifest = Manifest {
            schema_version: SCHEMA_VERSION,
            tool: start::tool(),
            run,
            machine: start::described(measuring.making.scratch()),
            clock: start::clock_record(&clock, &report),
            targets: made.live.iter().map(targets::record_of).collect(),
            skipped: skipped.into_iter().chain(inapplicable).collect(),
            cells,
            scratch: start::recorded_scratch(&measuring.making),
        };
        let directory = RunDirectory::create(&path, &manifest).blame_input()?;
        let calibrated = (clock, &report);
        let opened = (directory, Ledger::default());
        Ok(Self::assemble(made, opened, &manifest, suite.benchmarks.clone(), calibrated, stop))
    }

    /// A run that was cut off: makes its targets again and goes on where its journal ends.
    fn resume(path: &Path, measuring: &Measuring, stop: &Arc<AtomicBool>) -> anyhow::Result<Self> {
        let (directory, Run { manifest, lines, .. }) = RunDirectory::resume(path).blame_input()?;
        if lines.iter().any(|line| matches!(line, record::Line::Search(_))) {
            let refusal = anyhow::anyhow!(
                "{} is a search for cliffs, which cannot be resumed: `fsprism report` shows what \
                 it found; begin a new one with `fsprism cliff`",
                path.display()
            );
            return Err(refusal).blame_input();
        }
        let ledger = Ledger::replay(&lines);
        let suite = suites::suite(&manifest.run.suite).blame_input()?;
        let suite = suite.offering(manifest.run.offered_load.as_ref()).blame_input()?;
        let is_there = |cell: &Cell| {
            suite.benchmarks.iter().any(|one| one.name == cell.benchmark)
                && manifest.targets.iter().any(|one| one.label == cell.target)
        };
        if let Some(cell) = manifest.cells.iter().find(|&cell| !is_there(cell)) {
            let refusal = anyhow::anyhow!(
                "in this fsprism, {} has no '{}' on '{}', which {} measures: continue with the \
                 version that began the run, or begin a new run with --out",
                suite.name,
                cell.benchmark,
                cell.target,
                path.display()
            );
            return Err(refusal).blame_input();
        }
        let making = targets::making_again(&manifest, &measuring.making)?;
        let made = start::make(targets::wanted_again(&manifest, &making)?, &making, stop)?;
        let again: Vec<_> = made.live.iter().map(targets::record_of).collect();
        resume::check(&manifest, &start::described(making.scratch()), &again).blame_input()?;
        let scope = Scope {
            targets: made.live.len(),
            data_file_bytes: manifest.run.data_file_bytes,
            budget: None,
        };
        let (declared, _) = suites::cells(&suite, &made.live, &scope);
        resume::check_cells(&manifest.cells, &declared).blame_input()?;
        let (clock, report) = SystemClock::calibrate();
        let calibrated = (clock, &report);
        let opened = (directory, ledger);
        Ok(Self::assemble(made, opened, &manifest, suite.benchmarks, calibrated, stop))
    }

    fn assemble(
        made: Made,
        (directory, ledger): (RunDirectory, Ledger),
        manifest: &Manifest,
        benchmarks: Vec<Benchmark>,
        clock: (SystemClock, &measure::ClockReport),
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let settings = Settings {
            data_file_bytes: manifest.run.data_file_bytes,
            seed: manifest.run.seed,
            verification: if manifest.run.verify { Verification::On } else { Verification::Off },
            stop: Arc::clone(stop),
        };
        let laboratory = Laboratory::new(made.live, benchmarks, &manifest.cells, settings, clock);
        let plan = Plan::from_manifest(manifest);
        Self { laboratory, workshop: made.workshop, directory, plan, ledger }
    }

    /// Measures until an end is reached, then takes everything away again; gives besides what was
    /// measured, whatever came of it.
    fn conducted(mut self, stop: &AtomicBool) -> (RunDirectory, anyhow::Result<EndReason>) {
        let mut progress = Progress::new(&self.plan.cells, self.plan.budget);
        let stopwatch = SinceStart::now();
        let mut surroundings = RunContext { stopwatch: &stopwatch, observer: &mut progress, stop };
        let conducted = conduct(
            &self.plan,
            self.ledger,
            &mut self.laboratory,
            &mut self.directory,
            &mut surroundings,
        );
        progress.finish();
        let is_guarded = self.workshop.is_guarded();
        let full = self.laboratory.full_scratch().map(|scratch| scratch.display().to_string());
        let closed = Made::close(self.laboratory.into_targets(), self.workshop);
        let reason = || {
            let reason = conducted?;
            let path = self.directory.path().display();
            start::check_guarded(is_guarded, &format!("continue with --resume {path}"))?;
            if let Some(full) = full {
                anyhow::bail!(
                    "measuring stopped because {full}, which holds the images, is full: free some \
                     space there, then continue with --resume {path}"
                );
            }
            closed?;
            Ok(reason)
        };
        let reason = reason();
        (self.directory, reason)
    }
}

fn run_record(
    command: &str,
    suite: &Suite,
    measuring: &Measuring,
    data_file_bytes: u64,
) -> RunRecord {
    let (started, seed) = start::moment_and_seed();
    RunRecord {
        command: command.to_owned(),
        arguments: std::env::args().collect(),
        started,
        suite: suite.name.to_owned(),
        seed: measuring.seed.unwrap_or(seed),
        budget_s: measuring.budget.as_secs_f64(),
        precision_percent: measuring.precision,
        confidence_level: measuring.confidence,
        blocks: measuring.blocks,
        verify: measuring.verify,
        data_file_bytes,
        guest_kernel: None,
        simulated_caches: None,
        offered_load: measuring.offered.load(),
        order: measuring.order.into(),
    }
}
