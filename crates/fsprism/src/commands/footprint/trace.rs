//! `fsprism footprint trace`: traces file systems in guests, or a program, and keeps the traces in
//! a directory.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use ::footprint::touched::Figures;
use ::footprint::trace::Region;
use footprint_guest::TracedCall;
use footprint_study::{EXTENSION, RegionFigures, regions};
use footprint_suite::{GuestTarget, Program, TargetTraced, TraceOutcome};
use machine::measuring_lock::Purpose;
use record::OutputDirectory;
use serde::Serialize;
use textual::{plain_path, plain_text};

use crate::arguments::footprint::TraceOptions;
use crate::exit::{InterruptedEarly, OrInputError, Outcome};
use crate::output;
use crate::session::start;
use crate::session::tracing::Guests;

/// What was traced.
#[derive(Debug, Serialize)]
struct TraceAnswer {
    traces: Vec<TraceMade>,
    /// What does not apply to a target, with the reason.
    left_out: Vec<String>,
    /// What failed, with the reason.
    failed: Vec<String>,
}

/// One trace.
#[derive(Debug, Serialize)]
struct TraceMade {
    /// What was traced: a target's label, or the program's command line.
    subject: String,
    file: PathBuf,
    bytes: u64,
    regions: Vec<RegionAnswer>,
}

/// The figures of one part of a trace.
#[derive(Debug, Serialize)]
struct RegionAnswer {
    /// The operation; `None` outside of marks, as in a program's trace.
    operation: Option<String>,
    /// Which execution of it, from 0.
    repetition: u32,
    #[serde(flatten)]
    figures: Figures,
}

pub(crate) fn trace(options: &TraceOptions) -> anyhow::Result<Outcome> {
    let answer = match options.command.is_empty() {
        true => trace_targets(options)?,
        false => trace_program(options)?,
    };
    let words = answer.left_out.iter().chain(&answer.failed);
    words.for_each(|why| output::say(why));
    let has_failed = !answer.failed.is_empty();
    let done = output::print_answer(options.output.format, &answer, |_| text(&answer))?;
    Ok(if has_failed { Outcome::WithFailures } else { done })
}

/// Refuses a directory that already contains traces, before anything is waited for or made.
fn refuse_traces(path: &Path) -> anyhow::Result<()> {
    let names = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name());
    refuse_traces_among(names, path)
}

fn refuse_traces_among(
    names: impl IntoIterator<Item = OsString>,
    directory: &Path,
) -> anyhow::Result<()> {
    let is_trace = |name: OsString| Path::new(&name).extension() == Some(EXTENSION.as_ref());
    if names.into_iter().any(is_trace) {
        let named = directory.display();
        let why = format!("{named} already holds traces: name another directory with --out");
        return Err(anyhow::anyhow!(why)).or_input_error();
    }
    Ok(())
}

/// Makes the directory. Refuses one that already contains traces, so that none is overwritten.
fn prepare(path: &Path) -> anyhow::Result<OutputDirectory> {
    let named = path.display();
    let out = OutputDirectory::make(path)
        .map_err(|error| anyhow::anyhow!("cannot write traces into {named}: {error}"))
        .or_input_error()?;
    refuse_traces_among(out.names()?, path)?;
    Ok(out)
}

fn trace_targets(options: &TraceOptions) -> anyhow::Result<TraceAnswer> {
    let mut targets = GuestTarget::parse_all(&options.targets).or_input_error()?;
    let plan = options.tracing.plan(options.repetitions);
    refuse_traces(&options.out)?;
    let guests = Guests::find(options.kernel.release.as_deref())?;
    guests.check(&mut targets)?;
    guests.take_turn(options.tracing.beside, options.no_wait)?;
    let tracing = guests.ready()?;
    let out = prepare(&options.out)?;
    let traced = tracing.trace(targets, &plan, out.route());
    if guests.is_stopped() {
        return Err(InterruptedEarly.into());
    }
    let mut answer = TraceAnswer { traces: Vec::new(), left_out: Vec::new(), failed: Vec::new() };
    for TraceOutcome { target, left_out, trace, traced, .. } in traced {
        let label = target.spec.label;
        let left_out = left_out.into_iter();
        answer.left_out.extend(left_out.map(|(of, why)| format!("{label}: {of} left out: {why}")));
        match traced {
            Ok(TargetTraced { outcome, description }) => {
                answer.traces.push(trace_made(&label, &out, &trace, description)?);
                let failed = outcome.failed.into_iter();
                answer.failed.extend(failed.map(|failed| format!("{label}: {}", failed.why)));
            }
            Err(error) => {
                answer.failed.push(out.shown(&format!("{label}: {error}")));
                answer.traces.extend(readable_part(&label, &out, &trace)?);
            }
        }
    }
    Ok(answer)
}

/// What can be read of a trace that was cut short. Removes it if it has no regions.
fn readable_part(
    subject: &str,
    out: &OutputDirectory,
    trace: &Path,
) -> anyhow::Result<Option<TraceMade>> {
    let Ok(description) = footprint_symbols::read_description(trace) else { return Ok(None) };
    let made = trace_made(subject, out, trace, description.unwrap_or_default())?;
    if made.regions.is_empty() {
        fs::remove_file(trace)?;
        return Ok(None);
    }
    Ok(Some(made))
}

fn trace_program(options: &TraceOptions) -> anyhow::Result<TraceAnswer> {
    if !options.tracing.has_default_operations() || options.kernel.release.is_some() {
        let why = "--op, --warm-up, --cold and --kernel apply to targets only";
        return Err(anyhow::anyhow!("{why}: leave them out for a program")).or_input_error();
    }
    let program = Program::new(&options.command).or_input_error()?;
    refuse_traces(&options.out)?;
    if !options.tracing.beside {
        // Nothing stops the wait but the signal itself; once the program runs, it gets signals
        // directly.
        let never = AtomicBool::new(false);
        start::take_turn(Purpose::Count, options.no_wait, &never)?;
    }
    let out = prepare(&options.out)?;
    let directory = tempfile::tempdir()?;
    let library = footprint_library::write_into(directory.path())?;
    let trace = out.route().join(format!("{}.{EXTENSION}", program.name()));
    let traced = program.trace(&library, &trace).map_err(|error| shown(&out, &error))?;
    let mut failed = Vec::new();
    if !traced.status.success() {
        failed.push(format!("{} ended with {}", program.name(), traced.status));
    }
    if let Some(ending) = traced.ending {
        failed.extend(ending.cut.map(|cut| cut.to_string()));
        failed.extend(traced.description.missing.clone());
        let nameless = |error| out.shown(&format!("names are not kept: {error}"));
        failed.extend(traced.attached.err().map(nameless));
        if ending.forks > 0 {
            output::say(&format!(
                "{} started {} more processes, which were not traced",
                program.name(),
                ending.forks
            ));
        }
    }
    let subject = traced.description.subject.title.clone();
    let traces = vec![trace_made(&subject, &out, &trace, traced.description)?];
    Ok(TraceAnswer { traces, left_out: Vec::new(), failed })
}

/// An error in which the directory appears under the path that the user gave.
fn shown(out: &OutputDirectory, error: &dyn Display) -> anyhow::Error {
    anyhow::anyhow!(out.shown(&error.to_string()))
}

fn trace_made(
    subject: &str,
    out: &OutputDirectory,
    trace: &Path,
    names: ::footprint::description::Description,
) -> anyhow::Result<TraceMade> {
    let of = |RegionFigures { region, figures, .. }| match region {
        Region::Unmarked => RegionAnswer { operation: None, repetition: 0, figures },
        Region::Marked { operation, repetition, .. } => {
            let operation = TracedCall::from_number(operation).map(|one| one.name().to_owned());
            RegionAnswer { operation, repetition, figures }
        }
    };
    let regions = regions(trace, names, None).map_err(|error| shown(out, &error))?;
    let regions = regions.into_iter().map(of).collect();
    let bytes = fs::metadata(trace)?.len();
    let file = out.path().join(trace.file_name().unwrap_or_default());
    Ok(TraceMade { subject: subject.to_owned(), file, bytes, regions })
}

fn text(answer: &TraceAnswer) -> String {
    let mut text = String::new();
    for trace in &answer.traces {
        let subject = plain_text(&trace.subject);
        text.push_str(&format!("{subject}: {}\n", plain_path(&trace.file)));
        let heads = ["instructions", "code lines", "data lines"];
        text.push_str(&format!("  {:<14}{:>14}{:>12}{:>12}\n", "", heads[0], heads[1], heads[2]));
        for region in &trace.regions {
            let name = match &region.operation {
                Some(operation) => format!("{operation} {}", region.repetition),
                None => "whole".to_owned(),
            };
            let Figures { instructions, instruction_lines, data_lines, .. } = region.figures;
            text.push_str(&format!(
                "  {name:<14}{instructions:>14}{instruction_lines:>12}{data_lines:>12}\n"
            ));
        }
    }
    text
}
