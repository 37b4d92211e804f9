//! Weiss et al., DenseFS: A Cache-Compact Filesystem.

use std::path::{Path, PathBuf};

use ::reproduce::densefs::{self, Part};
use anyhow::Context;
use footprint_suite::trace_name;
use record::{Run, TRACES};
use suites::pollution;
use textual::plain_path;

use super::Paper;
use super::paper_run::{BLOCKS, in_guests, measure_or_read, measuring, read};
use crate::arguments::footprint::{CachesOptions, FootprintOptions, TracingOptions};
use crate::arguments::guests::GuestKernel;
use crate::arguments::reproduce::ReproduceOptions;
use crate::commands::suites::footprint;
use crate::exit::{OrInputError, Outcome};
use crate::output;

/// The figure that is timed.
const FIGURE_4: &str = "figure-4";
/// Number of times that each of its points is run.
const POLLUTION_BLOCKS: u32 = 30;

pub(super) struct DenseFs;

impl Paper for DenseFs {
    fn name(&self) -> &'static str {
        "densefs"
    }

    fn summary(&self) -> &'static str {
        "Weiss et al., DenseFS: cache footprints, traced (figure-1, figure-2, section-2); what \
         calls cost the code around them, measured (figure-4)"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("fsprism reproduce densefs", "traced in guests in about a minute"),
            (
                "fsprism reproduce densefs/figure-2 --run fsprism-runs/RUN",
                "from any run of the footprint suite",
            ),
            ("sudo fsprism reproduce densefs/figure-4", "measured in five minutes"),
        ]
    }

    fn items(&self) -> Vec<&'static str> {
        [&Part::names()[..], &[FIGURE_4]].concat()
    }

    /// Traces the operations of an item, or takes an earlier run, and compares it with the paper.
    fn reproduce(&self, item: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<Outcome> {
        let part = match item {
            Some(FIGURE_4) => return figure_4(options),
            None => Part::Whole,
            Some(name) => Part::from_name(name)
                .with_context(|| {
                    format!("densefs has no {name}: choose figure-1, figure-2, figure-4, section-2")
                })
                .or_input_error()?,
        };
        let path = match &options.run {
            Some(path) => path.clone(),
            None => traced_run(part, options)?,
        };
        let run = read(&path, None)?;
        if !run.manifest.cells.iter().any(|cell| cell.suite == footprint_suite::SUITE) {
            let suite = &run.manifest.run.suite;
            let refusal = anyhow::anyhow!(
                "{} is a run of {suite}: --run needs one made by `fsprism run footprint`",
                path.display()
            );
            return Err(refusal).or_input_error();
        }
        let traced = traces_of(&path, &run);
        let name = plain_path(&path);
        let reproduction = densefs::Reproduction::from_run(part, &run, &name, &traced);
        output::print_answer(options.output.format, &reproduction, |width| {
            reproduction.text(width)
        })?;
        output::say(&name);
        Ok(if reproduction.missing.is_empty() { Outcome::Success } else { Outcome::WithFailures })
    }
}

/// Measures the suite `pollution`, or takes an earlier run of it.
fn figure_4(options: &ReproduceOptions) -> anyhow::Result<Outcome> {
    let how = measuring(options, POLLUTION_BLOCKS);
    let earlier = options.run.as_ref();
    let targets = &densefs::FIGURE_4_TARGETS;
    let measured =
        measure_or_read(pollution::SUITE, pollution::SUITE, None, targets, &how, earlier)?;
    let reproduction = densefs::PollutionReproduction::from_run(&measured.run, &measured.name());
    output::print_answer(options.output.format, &reproduction, |width| reproduction.text(width))?;
    Ok(measured.end())
}

/// Makes a run with what an item needs.
fn traced_run(part: Part, options: &ReproduceOptions) -> anyhow::Result<PathBuf> {
    let targets: Vec<String> = part.file_systems().iter().map(|name| (*name).to_owned()).collect();
    let operations = part.operations().iter().map(|name| name.parse());
    let asked = FootprintOptions {
        targets,
        blocks: options.blocks.or(Some(BLOCKS)),
        guests: in_guests(options),
        tracing: TracingOptions {
            operations: operations.collect::<Result<_, _>>()?,
            ..TracingOptions::default()
        },
        simulated: CachesOptions { caches: Vec::new() },
        kernel: GuestKernel::default(),
    };
    let made = footprint::trace("reproduce", &asked)?;
    Ok(made.directory.path().to_owned())
}

/// The stacks in the traces of a run. A trace that is missing or cannot be read is reported and
/// left out.
fn traces_of(path: &Path, run: &Run) -> Vec<densefs::TargetStacks> {
    let of_target = |target: &record::TargetRecord| {
        let trace = path.join(TRACES).join(trace_name(&target.label));
        let found = footprint_study::operation_stacks(&trace);
        let found = found.map_err(|error| output::say(&format!("no stacks: {error}"))).ok()?;
        let footprint_study::TraceStacks { kernel, operations } = found;
        Some(densefs::TargetStacks { target: target.label.clone(), kernel, operations })
    };
    run.manifest.targets.iter().filter_map(of_target).collect()
}
