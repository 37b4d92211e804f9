//! `fsprism footprint`: its subcommands, the naive model of a cache, and the simulation of caches.

pub(crate) mod applications;
pub(crate) mod caches;
mod diff;
mod pollution;
mod study;
mod trace;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use ::caches::lackey;
use ::caches::naive::{Naive, Question};
use ::caches::synthetic::Extent;
use ::caches::{Hierarchy, Report, Simulation};
use footprint_study::Questions;
use serde::Serialize;

use crate::arguments::footprint::{FootprintCommand, ModelOptions, SimulateOptions};
use crate::commands::footprint::caches::CacheOptions;
use crate::exit::{OrInputError, Outcome};
use crate::output;

/// Runs a subcommand of `fsprism footprint`.
pub(crate) fn footprint(command: &FootprintCommand) -> anyhow::Result<Outcome> {
    match command {
        FootprintCommand::Trace(options) => trace::trace(options),
        FootprintCommand::Model(options) => model(options),
        FootprintCommand::Simulate(options) => simulate(options),
        FootprintCommand::Map(options) => study::map(options),
        FootprintCommand::Stacks(options) => study::stacks(options),
        FootprintCommand::Diff(options) => diff::diff(options),
        FootprintCommand::Pollution(options) => pollution::pollution(options),
        FootprintCommand::Applications(options) => applications::applications(options),
    }
}

fn model(options: &ModelOptions) -> anyhow::Result<Outcome> {
    let ModelOptions { lines, footprint, file, ref phases, ref output } = *options;
    let phases = phases.clone();
    let naive = Naive::new(Question { lines, footprint, file, phases }).or_input_error()?;
    output::print_answer(output.format, &naive.answer(), |width| naive.text(width))
}

/// The result of a simulation.
#[derive(Debug, Serialize)]
struct Answer {
    /// Whether the caches are those of this machine.
    machine: bool,
    regions: Vec<RegionReport>,
}

/// The result for one region of the stream.
#[derive(Debug, Serialize)]
struct RegionReport {
    /// The stream, or the file's name.
    stream: String,
    #[serde(flatten)]
    report: Report,
}

fn simulate(options: &SimulateOptions) -> anyhow::Result<Outcome> {
    let is_machine = options.caches.is_empty();
    let SimulateOptions { ref caches, policy, inclusion, seed, .. } = *options;
    let hierarchy = CacheOptions { caches, policy, inclusion, seed }.hierarchy()?;
    if let Some(path) = options.file.as_deref().filter(|path| study::is_traced(path)) {
        let regions = traced(path, hierarchy)?;
        let answer = Answer { machine: is_machine, regions };
        return output::print_answer(options.output.format, &answer, |_| text(&answer));
    }
    let mut simulation = Simulation::new(&hierarchy);
    let regions = match &options.file {
        Some(path) => vec![file(&mut simulation, path)?],
        None => streams(&mut simulation, options)?,
    };
    let answer = Answer { machine: is_machine, regions };
    output::print_answer(options.output.format, &answer, |_| text(&answer))
}

fn text(answer: &Answer) -> String {
    let mut text = String::new();
    if answer.machine {
        text.push_str(
            "The caches are this machine's. Replacement and inclusion are assumed; the\n",
        );
        text.push_str("machine does not report them.\n\n");
    }
    let regions = answer.regions.iter();
    let regions = regions.map(|region| format!("{}\n{}", region.stream, region.report.text()));
    text + &regions.collect::<Vec<_>>().join("\n")
}

fn file(simulation: &mut Simulation, path: &Path) -> anyhow::Result<RegionReport> {
    let (name, text): (String, Box<dyn BufRead>) = if path.as_os_str() == "-" {
        ("standard input".to_owned(), Box::new(io::stdin().lock()))
    } else {
        let name = path.display().to_string();
        let file = File::open(path);
        let file = file.map_err(|error| anyhow::anyhow!("cannot read {name}: {error}"));
        (name, Box::new(BufReader::with_capacity(1 << 16, file.or_input_error()?)))
    };
    let read = lackey::read(text, |access| simulation.access(access));
    read.map_err(|error| anyhow::anyhow!("{name}: {error}")).or_input_error()?;
    Ok(RegionReport { stream: name, report: simulation.report() })
}

/// Simulates each operation of the traces, starting with empty caches.
fn traced(path: &Path, caches: Hierarchy) -> anyhow::Result<Vec<RegionReport>> {
    let studied = study::studied(path, &Questions { caches: Some(caches) })?;
    let mut regions = Vec::new();
    for one in studied.traces.iter().flat_map(|studied| &studied.executed) {
        let stream = format!("{}, {}", one.target, one.operation);
        let report = one.outcome.as_ref().map(|outcome| outcome.report.clone());
        regions.extend(report.map(|report| RegionReport { stream, report }));
    }
    Ok(regions)
}

fn streams(
    simulation: &mut Simulation,
    options: &SimulateOptions,
) -> anyhow::Result<Vec<RegionReport>> {
    let bytes = u32::try_from(options.bytes);
    let bytes =
        bytes.map_err(|_| anyhow::anyhow!("--bytes can be at most 4294967295")).or_input_error()?;
    let extent = Extent { accesses: options.accesses, bytes, seed: options.seed };
    let mut regions = Vec::new();
    for stream in &options.streams {
        simulation.begin_region();
        let accesses = stream.accesses(extent).or_input_error()?;
        accesses.for_each(|access| simulation.access(access));
        regions.push(RegionReport { stream: stream.to_string(), report: simulation.report() });
    }
    Ok(regions)
}
