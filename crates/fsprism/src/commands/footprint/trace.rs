//! `fsprism footprint trace`: traces of file systems in guests, or of a program, kept in a
//! directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use ::footprint::touched::Figures;
use ::footprint::trace::Region;
use footprint_guest::TracedCall;
use footprint_study::{EXTENSION, RegionFigures, regions};
use footprint_suite::{GuestTarget, OfTarget, Program, TargetTraced};
use machine::turn::Purpose;
use serde::Serialize;
use textual::{plain_path, plain_text};

use crate::arguments::footprint::TraceOptions;
use crate::exit::{Blame, Done, InterruptedEarly};
use crate::output;
use crate::session::start;
use crate::session::tracing::Guests;

/// What was traced.
#[derive(Debug, Serialize)]
struct Answer {
    traces: Vec<TraceMade>,
    /// What means nothing on a target, each with why.
    left_out: Vec<String>,
    /// What failed, each with why.
    failed: Vec<String>,
}

/// One trace.
#[derive(Debug, Serialize)]
struct TraceMade {
    /// What it is of: a target's label, or the program's command line.
    subject: String,
    file: PathBuf,
    bytes: u64,
    regions: Vec<RegionAnswer>,
}

/// The figures of one part of a trace.
#[derive(Debug, Serialize)]
struct RegionAnswer {
    /// The operation; none of what is outside of marks, as a program's trace is.
    operation: Option<String>,
    /// Which execution of it, from 0.
    repetition: u32,
    #[serde(flatten)]
    figures: Figures,
}

pub(crate) fn trace(options: &TraceOptions) -> anyhow::Result<Done> {
    let answer = match options.command.is_empty() {
        true => of_targets(options)?,
        false => of_program(options)?,
    };
    let words = answer.left_out.iter().chain(&answer.failed);
    words.for_each(|why| output::say(why));
    let has_failed = !answer.failed.is_empty();
    let done = output::print_answer(options.output.format, &answer, || text(&answer))?;
    Ok(if has_failed { Done::WithFailures } else { done })
}

/// Makes the directory; traces that lie in it already are not written over.
fn prepare(directory: &Path) -> anyhow::Result<()> {
    let named = directory.display();
    fs::create_dir_all(directory)
        .map_err(|error| anyhow::anyhow!("cannot make {named}: {error}"))?;
    let mut entries = fs::read_dir(directory)?;
    let is_trace = |path: PathBuf| path.extension().is_some_and(|suffix| suffix == EXTENSION);
    if entries.any(|entry| entry.is_ok_and(|entry| is_trace(entry.path()))) {
        anyhow::bail!("{named} already holds traces: name another directory with --out");
    }
    Ok(())
}

fn of_targets(options: &TraceOptions) -> anyhow::Result<Answer> {
    let targets = GuestTarget::parse_all(&options.targets).blame_input()?;
    let plan = options.tracing.plan(options.repetitions);
    let guests = Guests::find(options.tracing.kernel.as_deref())?;
    guests.take_turn(options.tracing.beside, options.no_wait)?;
    let tracing = guests.ready()?;
    prepare(&options.out).blame_input()?;
    let traced = tracing.trace(targets, &plan, &options.out);
    if guests.is_stopped() {
        return Err(InterruptedEarly.into());
    }
    let mut answer = Answer { traces: Vec::new(), left_out: Vec::new(), failed: Vec::new() };
    for OfTarget { target, left_out, trace, traced, .. } in traced {
        let label = target.spec.label;
        let left_out = left_out.into_iter();
        answer.left_out.extend(left_out.map(|(of, why)| format!("{label}: {of} left out: {why}")));
        match traced {
            Ok(TargetTraced { outcome, description }) => {
                answer.traces.push(made(&label, trace, description)?);
                let failed = outcome.failed.into_iter();
                answer.failed.extend(failed.map(|failed| format!("{label}: {}", failed.why)));
            }
            Err(error) => {
                answer.failed.push(format!("{label}: {error}"));
                answer.traces.extend(kept(&label, trace)?);
            }
        }
    }
    Ok(answer)
}

/// What a trace has by now that was not brought to its end. One that has nothing is removed.
fn kept(subject: &str, trace: PathBuf) -> anyhow::Result<Option<TraceMade>> {
    let Ok(description) = footprint_symbols::read_description(&trace) else { return Ok(None) };
    let made = made(subject, trace, description.unwrap_or_default())?;
    if made.regions.is_empty() {
        fs::remove_file(&made.file)?;
        return Ok(None);
    }
    Ok(Some(made))
}

fn of_program(options: &TraceOptions) -> anyhow::Result<Answer> {
    if !options.tracing.has_default_operations() || options.tracing.kernel.is_some() {
        let why = "--op, --warm-up, --cold and --kernel apply to targets only";
        return Err(anyhow::anyhow!("{why}: leave them out for a program")).blame_input();
    }
    let program = Program::new(&options.command).blame_input()?;
    if !options.tracing.beside {
        // The program is emulated at full speed. It gets signals itself, once it runs.
        let never = AtomicBool::new(false);
        start::take_turn(Purpose::Count, options.no_wait, &never)?;
    }
    prepare(&options.out).blame_input()?;
    let directory = tempfile::tempdir()?;
    let library = footprint_library::write_into(directory.path())?;
    let trace = options.out.join(format!("{}.{EXTENSION}", program.name()));
    let traced = program.trace(&library, &trace)?;
    let mut failed = Vec::new();
    if !traced.status.success() {
        failed.push(format!("{} ended with {}", program.name(), traced.status));
    }
    if let Some(ending) = traced.ending {
        failed.extend(ending.cut.map(|cut| cut.to_string()));
        failed.extend(traced.description.missing.clone());
        failed.extend(traced.attached.err().map(|error| format!("names are not kept: {error}")));
        if ending.forks > 0 {
            output::say(&format!(
                "{} started {} more processes, which were not traced",
                program.name(),
                ending.forks
            ));
        }
    }
    let subject = traced.description.subject.title.clone();
    let traces = vec![made(&subject, trace, traced.description)?];
    Ok(Answer { traces, left_out: Vec::new(), failed })
}

fn made(
    subject: &str,
    file: PathBuf,
    names: ::footprint::description::Description,
) -> anyhow::Result<TraceMade> {
    let of = |RegionFigures { region, figures, .. }| match region {
        Region::Unmarked => RegionAnswer { operation: None, repetition: 0, figures },
        Region::Marked { operation, repetition, .. } => {
            let operation = TracedCall::of_number(operation).map(|one| one.name().to_owned());
            RegionAnswer { operation, repetition, figures }
        }
    };
    let regions = regions(&file, names, None)?.into_iter().map(of).collect();
    let bytes = fs::metadata(&file)?.len();
    Ok(TraceMade { subject: subject.to_owned(), file, bytes, regions })
}

fn text(answer: &Answer) -> String {
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
