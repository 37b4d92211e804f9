//! `fsprism footprint`: the naive model of a cache, and the simulation of caches.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use ::footprint::lackey;
use ::footprint::naive::{Naive, Question};
use ::footprint::simulate::{First, Geometry, Hierarchy, Lower, Policy, Report, Shape, Simulation};
use ::footprint::synthetic::Extent;
use record::machine::{Cache, CacheKind};
use serde::Serialize;

use crate::exit::{Blame, Done};
use crate::footprint_arguments::{Footprint, ModelOptions, SimulateOptions};
use crate::footprint_values::CacheGiven;
use crate::{output, stats};

/// Computes and prints.
pub(crate) fn footprint(command: &Footprint) -> anyhow::Result<Done> {
    match command {
        Footprint::Model(options) => model(options),
        Footprint::Simulate(options) => simulate(options),
    }
}

fn model(options: &ModelOptions) -> anyhow::Result<Done> {
    let ModelOptions { lines, footprint, file, ref phases, ref output } = *options;
    let phases = phases.clone();
    let naive = Naive::new(Question { lines, footprint, file, phases }).blame_input()?;
    let width = output::terminal_options().width;
    stats::print(output.format, &naive.answer(), || naive.text(width))
}

/// What a simulation says.
#[derive(Debug, Serialize)]
struct Answer {
    /// Whether the caches are those of this machine.
    machine: bool,
    regions: Vec<Region>,
}

/// What one region of the stream did.
#[derive(Debug, Serialize)]
struct Region {
    /// The stream, or the file's name.
    stream: String,
    #[serde(flatten)]
    report: Report,
}

fn simulate(options: &SimulateOptions) -> anyhow::Result<Done> {
    let is_machine = options.caches.is_empty();
    let caches = if is_machine { caches_of_machine()? } else { options.caches.clone() };
    let hierarchy = hierarchy(&caches, options)?;
    let mut simulation = Simulation::new(&hierarchy);
    let regions = match &options.file {
        Some(path) => vec![file(&mut simulation, path)?],
        None => streams(&mut simulation, options)?,
    };
    let answer = Answer { machine: is_machine, regions };
    stats::print(options.output.format, &answer, || text(&answer))
}

fn text(answer: &Answer) -> String {
    let mut text = String::new();
    if answer.machine {
        text.push_str("The caches are this machine's. How they replace and include is not told\n");
        text.push_str("by it, and is supposed.\n\n");
    }
    let regions = answer.regions.iter();
    let regions = regions.map(|region| format!("{}\n{}", region.stream, region.report.text()));
    text + &regions.collect::<Vec<_>>().join("\n")
}

fn file(simulation: &mut Simulation, path: &Path) -> anyhow::Result<Region> {
    let (name, text): (String, Box<dyn BufRead>) = if path.as_os_str() == "-" {
        ("standard input".to_owned(), Box::new(io::stdin().lock()))
    } else {
        let name = path.display().to_string();
        let file = File::open(path);
        let file = file.map_err(|error| anyhow::anyhow!("cannot read {name}: {error}"));
        (name, Box::new(BufReader::with_capacity(1 << 16, file.blame_input()?)))
    };
    let read = lackey::read(text, |access| simulation.access(access));
    read.map_err(|error| anyhow::anyhow!("{name}: {error}")).blame_input()?;
    Ok(Region { stream: name, report: simulation.report() })
}

fn streams(simulation: &mut Simulation, options: &SimulateOptions) -> anyhow::Result<Vec<Region>> {
    let bytes = u32::try_from(options.bytes);
    let bytes =
        bytes.map_err(|_| anyhow::anyhow!("--bytes is at most 4294967295")).blame_input()?;
    let extent = Extent { accesses: options.accesses, bytes, seed: options.seed };
    let mut regions = Vec::new();
    for stream in &options.streams {
        simulation.begin_region();
        let accesses = stream.accesses(extent).blame_input()?;
        accesses.for_each(|access| simulation.access(access));
        regions.push(Region { stream: stream.to_string(), report: simulation.report() });
    }
    Ok(regions)
}

/// The caches of this machine, as if they had been given.
fn caches_of_machine() -> anyhow::Result<Vec<CacheGiven>> {
    let caches = ::machine::describe::describe().caches;
    let given: Option<Vec<CacheGiven>> = caches.iter().map(as_given).collect();
    given.filter(|given| !given.is_empty()).ok_or_else(|| {
        anyhow::anyhow!("this machine does not tell its caches: give them by --cache")
    })
}

fn as_given(cache: &Cache) -> Option<CacheGiven> {
    let name = match (cache.level, cache.kind) {
        (1, CacheKind::Instruction) => "l1i".to_owned(),
        (1, CacheKind::Data) => "l1d".to_owned(),
        (level, CacheKind::Unified) => format!("l{level}"),
        _ => return None,
    };
    let (size_bytes, line_bytes, ways) = (cache.size_bytes?, cache.line_bytes?, cache.ways?);
    Some(CacheGiven { name, size_bytes, line_bytes, ways, policy: None, inclusion: None })
}

/// Puts the caches below each other.
fn hierarchy(caches: &[CacheGiven], options: &SimulateOptions) -> anyhow::Result<Hierarchy> {
    let mut left: Vec<&CacheGiven> = caches.iter().collect();
    let mut take = |name: &str| -> anyhow::Result<Option<&CacheGiven>> {
        let Some(at) = left.iter().position(|cache| cache.name == name) else { return Ok(None) };
        let cache = left.remove(at);
        if left.iter().any(|other| other.name == name) {
            return Err(anyhow::anyhow!("{name} is given twice: give each cache once"));
        }
        Ok(Some(cache))
    };
    let instruction = take("l1i").blame_input()?;
    let (data, both) = (take("l1d").blame_input()?, take("l1").blame_input()?);
    let shape = |cache| geometry(cache, options);
    let first = match (instruction, data, both) {
        (Some(instruction), Some(data), None) => {
            First::Split { instruction: shape(instruction)?, data: shape(data)? }
        }
        (None, Some(data), None) => First::Data(shape(data)?),
        (None, None, Some(both)) => First::Unified(shape(both)?),
        _ => {
            let why = "the first level is l1i and l1d, or l1d alone, or l1 for both";
            return Err(anyhow::anyhow!("{why}: give one of these by --cache")).blame_input();
        }
    };
    if let Some(inclusive) =
        [instruction, data, both].into_iter().flatten().find(|one| one.inclusion.is_some())
    {
        let name = &inclusive.name;
        let why = anyhow::anyhow!("nothing lies above {name}: give it no inclusion");
        return Err(why).blame_input();
    }
    let mut lower = Vec::new();
    for level in 2.. {
        let Some(cache) = take(&format!("l{level}")).blame_input()? else { break };
        let inclusion = cache.inclusion.unwrap_or(options.inclusion);
        lower.push(Lower { geometry: shape(cache)?, inclusion });
    }
    if let Some(cache) = left.first() {
        let (name, missing) = (&cache.name, lower.len() + 2);
        let why = anyhow::anyhow!("{name} lies below an l{missing} that is missing: give it too");
        return Err(why).blame_input();
    }
    Hierarchy::new(first, lower).blame_input()
}

fn geometry(cache: &CacheGiven, options: &SimulateOptions) -> anyhow::Result<Geometry> {
    let CacheGiven { ref name, size_bytes, line_bytes, ways, .. } = *cache;
    let policy = match cache.policy.unwrap_or(options.policy) {
        Policy::Random { .. } => Policy::Random { seed: options.seed },
        policy => policy,
    };
    let geometry = Geometry::new(Shape { size_bytes, line_bytes, ways, policy });
    geometry.map_err(|error| anyhow::anyhow!("{name}: {error}")).blame_input()
}
