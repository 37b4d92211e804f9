//! A run of timed benchmarks, from making its targets to its end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::targets::Workshop;
use measure::{ClockReport, SystemClock};
use record::{Cell, EndReason, Manifest, Run, RunDirectory, RunRecord, SuiteOptions};
use runner::{Ledger, OnBusy, Plan, RunContext, conduct};
use suites::{Benchmark, DataFileError, Laboratory, LiveTarget, Scope, Settings, Suite, Testbed};
use textual::shell_path;
use workload::Verification;

use crate::arguments::measuring::Measuring;
use crate::exit::OrInputError;
use crate::output;
use crate::output::progress::Progress;
use crate::session::start::{self, SinceStart};
use crate::session::targets::{self, Choice};

/// A run of timed benchmarks, with everything needed to measure it.
pub(crate) struct Session {
    laboratory: Laboratory,
    workshop: Workshop,
    directory: RunDirectory,
    plan: Plan,
    ledger: Ledger,
    on_busy: OnBusy,
}

impl Session {
    /// Starts a new run: makes the targets, plans the cells, makes the run directory.
    pub(crate) fn begin(
        command: &str,
        suite: &Suite,
        choice: Choice<'_>,
        measuring: &Measuring,
        out: Option<&Path>,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        if let Some(path) = out {
            RunDirectory::check_new(path).or_input_error()?;
        }
        let (testbed, skipped) = start::make(choice, &measuring.making, stop)?;
        if let Some(options) = &suite.classic {
            let are_placed = suite.are_sizes_placed;
            suites::classic::check_room(options, are_placed, &testbed.live).or_input_error()?;
        }
        let data_file_bytes = match testbed.data_file_bytes(suite.file_bytes, &suite.benchmarks) {
            Err(DataFileError::Target(error)) => return Err(error.into()),
            // A classic benchmark does not use these files.
            Err(DataFileError::NoRoom { .. } | DataFileError::LittleMemory { .. })
                if suite.classic.is_some() =>
            {
                0
            }
            size => size.or_input_error()?,
        };
        let (clock, report, clock_record) = start::clock();
        let budget = measuring.blocks.is_none().then_some(measuring.budget());
        let scope = Scope { targets: testbed.live.len(), data_file_bytes, budget };
        let (cells, inapplicable) = suites::cells(suite, &testbed.live, &scope);
        let run = run_record(command, suite, measuring, data_file_bytes);
        let scratch = measuring.making.scratch();
        let targets = testbed.records();
        let only = testbed.live.first().zip(targets.first()).filter(|_| targets.len() == 1);
        let only = only.map(|(live, record)| (live.target().root(), record));
        let manifest = Manifest {
            references: Some(suites::reference_times(&clock, only)),
            targets,
            skipped: skipped.into_iter().chain(inapplicable).collect(),
            cells,
            scratch: runner::recorded_scratch(scratch),
            ..runner::manifest(run, scratch, clock_record)
        };
        say_what_is_cached(&manifest);
        let reserved = runner::run_directory(out, &manifest.run).or_input_error()?;
        let directory = reserved.begin(&manifest).or_input_error()?;
        let benchmarks = suite.benchmarks.clone();
        let laboratory = laboratory(testbed.live, benchmarks, &manifest, clock, &report, stop);
        Ok(Self {
            laboratory,
            workshop: testbed.workshop,
            directory,
            plan: Plan { is_dry: measuring.dry_run, ..Plan::from_manifest(&manifest) },
            ledger: Ledger::default(),
            on_busy: measuring.making.on_busy.into(),
        })
    }

    /// Resumes a run that was cut off or is given more time: makes its targets again and continues
    /// where its journal ends.
    pub(crate) fn resume(
        path: &Path,
        suite: Suite,
        measuring: &Measuring,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let (directory, Run { manifest, lines, .. }) =
            RunDirectory::resume(path).or_input_error()?;
        let ledger = Ledger::replay(&lines);
        let suite = match &manifest.run.offered_load {
            Some(load) => suite.offering(load),
            None => suite,
        };
        let suite = suite.with_classic(manifest.run.classic.as_ref()).or_input_error()?;
        let suite = suite.with_custom(manifest.run.custom.as_ref());
        let suite = suite.lasting(manifest.run.replicate_length.as_ref()).or_input_error()?;
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
            return Err(refusal).or_input_error();
        }
        let making = targets::making_again(&manifest, &measuring.making)?;
        let (testbed, _) = start::make(Choice::Recorded(&manifest), &making, stop)?;
        let machine = runner::machine(making.scratch());
        runner::check_resumable(&manifest, &machine, &testbed.records()).or_input_error()?;
        let scope = Scope {
            targets: testbed.live.len(),
            data_file_bytes: manifest.run.data_file_bytes,
            budget: None,
        };
        let (declared, _) = suites::cells(&suite, &testbed.live, &scope);
        runner::check_cells(&manifest.cells, &declared).or_input_error()?;
        let (clock, report, _) = start::clock();
        let plan = Plan::from_manifest(&manifest);
        let plan = match (measuring.budget, ledger.granted()) {
            (Some(more), _) => plan.with_more(ledger.used().saturating_add(more)),
            (None, Some(granted)) => plan.with_budget(granted),
            (None, None) => plan,
        };
        let laboratory =
            laboratory(testbed.live, suite.benchmarks, &manifest, clock, &report, stop);
        let on_busy = measuring.making.on_busy.into();
        Ok(Self { laboratory, workshop: testbed.workshop, directory, plan, ledger, on_busy })
    }

    /// Measures until the run ends, then removes everything it made. Returns the run directory in
    /// any case, with what has been measured.
    pub(crate) fn measure(
        mut self,
        stop: &AtomicBool,
    ) -> (RunDirectory, anyhow::Result<EndReason>) {
        let mut progress = Progress::new(&self.plan.cells, self.plan.budget);
        let stopwatch = SinceStart::now();
        let on_busy = self.on_busy;
        let mut context =
            RunContext { stopwatch: &stopwatch, observer: &mut progress, stop, on_busy };
        let ended = conduct(
            &self.plan,
            self.ledger,
            &mut self.laboratory,
            &mut self.directory,
            &mut context,
        );
        progress.finish();
        let is_guarded = self.workshop.is_guarded();
        let failure = self.laboratory.device_failure().cloned();
        let closed = Testbed::close(self.laboratory.into_targets(), self.workshop);
        let reason = || {
            let reason = ended?;
            let path = shell_path(self.directory.path());
            start::check_guarded(is_guarded, &format!("continue with --resume {path}"))?;
            if let Some(failure) = failure {
                let advice = failure.advice(&format!("continue with --resume {path}"));
                anyhow::bail!("measuring stopped because {failure}: {advice}");
            }
            closed?;
            Ok(reason)
        };
        let reason = reason();
        (self.directory, reason)
    }
}

/// The laboratory that executes the cells of a run.
fn laboratory(
    live: Vec<LiveTarget>,
    benchmarks: Vec<Benchmark>,
    manifest: &Manifest,
    clock: SystemClock,
    clock_report: &ClockReport,
    stop: &Arc<AtomicBool>,
) -> Laboratory {
    let settings = Settings {
        data_file_bytes: manifest.run.data_file_bytes,
        seed: manifest.run.seed,
        verification: if manifest.run.verify { Verification::On } else { Verification::Off },
        stop: Arc::clone(stop),
    };
    Laboratory::new(live, benchmarks, &manifest.cells, settings, clock, clock_report)
}

/// Reports, before anything is measured, where a storage benchmark will measure a cache instead.
fn say_what_is_cached(manifest: &Manifest) {
    let Some(SuiteOptions::Bonnie(run)) = &manifest.run.classic else { return };
    // If any file shows the device, the largest does.
    let Some(largest) = run.by_size().last().map(|options| options.size_bytes) else { return };
    let mut labels: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for target in &manifest.targets {
        if let Some(warning) = record::cache_benchmark(&manifest.machine, target, largest) {
            labels.entry(warning.to_string()).or_default().push(target.label.clone());
        }
    }
    for (sentence, labels) in labels {
        output::say(&format!("{}: {sentence}", textual::list(&labels, "and")));
    }
}

fn run_record(
    command: &str,
    suite: &Suite,
    measuring: &Measuring,
    data_file_bytes: u64,
) -> RunRecord {
    RunRecord {
        budget_s: measuring.budget().as_secs_f64(),
        precision_percent: measuring.precision,
        confidence_level: measuring.confidence,
        blocks: measuring.blocks,
        verify: measuring.verify,
        data_file_bytes,
        offered_load: suite.offered,
        classic: suite.classic.clone(),
        custom: suite.custom,
        replicate_length: suite.length,
        order: measuring.order.into(),
        ..runner::run_record(command, suite.name, measuring.seed)
    }
}
