//! `fsprism run footprint`: the operations of kernel file systems, traced in guests, as a run.

use std::path::{Path, PathBuf};

use ::footprint::simulate::Hierarchy;
use footprint_suite::{GuestTarget, Plan, SUITE, Traced};
use machine::target::TargetFacts;
use measure::SystemClock;
use record::{
    Cell, End, EndReason, Line, Manifest, MetricDefinition, RunDirectory, RunRecord,
    SCHEMA_VERSION, Skipped, Start, TargetRecord,
};

use crate::arguments::{Measuring, RunOptions};
use crate::exit::{Blame, Done};
use crate::{output, start};

/// Repetitions that are traced where none are asked for: enough for an interval of the median.
const REPETITIONS: u32 = 8;

pub(crate) fn run(options: &RunOptions) -> anyhow::Result<Done> {
    let measuring = &options.measuring;
    let targets = targets(&options.targets)?;
    let plan = Plan {
        operations: footprint_suite::OPERATIONS.to_vec(),
        warm_up: 3,
        repetitions: measuring.blocks.unwrap_or(REPETITIONS),
        state: footprint_guest::State::Warm,
    };
    let run = run_record(measuring, &plan);
    let path = measuring.out.clone().unwrap_or_else(|| start::default_directory(&run));
    RunDirectory::check_new(&path).blame_input()?;
    let caches: Option<Hierarchy> = None;
    let metrics = footprint_suite::definitions(caches.as_ref());
    let traced: Vec<Traced> = targets
        .iter()
        .map(|target| footprint_suite::trace(target, &plan, caches.as_ref()))
        .collect();
    let manifest = manifest(run, &plan, &traced, &metrics, measuring);
    let mut directory = RunDirectory::create(&path, &manifest)?;
    directory.append(&Line::Start(Start { used_s: 0.0 }))?;
    let mut first_cell = 0;
    for one in &traced {
        if one.facts.is_none() {
            continue;
        }
        for line in footprint_suite::lines(first_cell, &plan, &one.measured, one.why.as_deref()) {
            directory.append(&line)?;
        }
        first_cell += u32::try_from(plan.operations.len())?;
    }
    let reason = EndReason::Blocks;
    directory.append(&Line::End(End { reason, used_s: 0.0, clock_drift_ppm: 0.0 }))?;
    drop(directory);
    let document = output::print_run(&path, measuring.output.format)?;
    output::print_path(&path, measuring.output.format)?;
    let _ = document;
    Ok(Done::Well)
}

fn targets(texts: &[String]) -> anyhow::Result<Vec<GuestTarget>> {
    let defaults = footprint_suite::DEFAULTS.map(str::to_owned);
    let texts = if texts.is_empty() { &defaults[..] } else { texts };
    texts.iter().map(|text| GuestTarget::parse(text).blame_input()).collect()
}

fn run_record(measuring: &Measuring, plan: &Plan) -> RunRecord {
    let (started, seed) = start::moment_and_seed();
    RunRecord {
        command: "run".to_owned(),
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
    }
}

fn manifest(
    run: RunRecord,
    plan: &Plan,
    traced: &[Traced],
    metrics: &[MetricDefinition],
    measuring: &Measuring,
) -> Manifest {
    let (clock, report) = SystemClock::calibrate();
    let records: Vec<TargetRecord> =
        traced.iter().filter_map(|one| Some(target_record(one, one.facts.as_ref()?))).collect();
    let labels: Vec<String> = records.iter().map(|record| record.label.clone()).collect();
    let cells: Vec<Cell> = footprint_suite::cells(&labels, plan, metrics);
    Manifest {
        schema_version: SCHEMA_VERSION,
        tool: start::tool(),
        run,
        machine: start::described(&measuring.making.scratch),
        clock: start::clock_record(&clock, &report),
        targets: records,
        skipped: traced.iter().filter_map(skipped).collect(),
        cells,
    }
}

fn skipped(traced: &Traced) -> Option<Skipped> {
    let why = traced.why.clone().filter(|_| traced.facts.is_none())?;
    Some(Skipped { target: traced.label.clone(), why })
}

fn target_record(traced: &Traced, facts: &TargetFacts) -> TargetRecord {
    TargetRecord {
        label: traced.label.clone(),
        specification: traced.specification.clone(),
        file_system: facts.file_system.clone(),
        scratch: true,
        mkfs: facts.mkfs.clone(),
        mkfs_version: facts.mkfs_version.clone(),
        mount_options: facts.mount_options.clone(),
        size_bytes: facts.size_bytes,
        device: None,
        loop_direct_io: None,
        read_ahead_bytes: facts.read_ahead_bytes,
        aged: None,
        conditions: Default::default(),
        condition_caveats: Vec::new(),
    }
}
