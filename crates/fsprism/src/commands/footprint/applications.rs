//! `fsprism footprint applications`: whole programs, traced on file systems in guests.

use std::time::Instant;

use ::caches::{CachePolicy, Inclusion};
use ::lab::GuestProgram;
use ::report::footprint::applications::{ApplicationsDocument, ProgramExecution};
use footprint_guest::application::DIRECTORY;
use footprint_study::recorded;
use footprint_suite::{ApplicationPlan, ApplicationTraced, GuestTarget, TracingError};
use record::CachesOrigin;
use suites::applications::{TracedAnswer, TracedApplication, traced};
use tempfile::TempDir;

use crate::arguments::applications::TracedApplicationsOptions;
use crate::commands::footprint::caches::CacheOptions;
use crate::exit::{InterruptedEarly, OrInputError, Outcome};
use crate::output;
use crate::session::tracing::Guests;

/// Traces, counts and prints.
pub(crate) fn applications(options: &TracedApplicationsOptions) -> anyhow::Result<Outcome> {
    let document = count(options)?;
    let is_whole = document.failed.is_empty();
    let done = output::print_answer(options.output.format, &document, |_| document.text())?;
    Ok(if is_whole { done } else { Outcome::WithFailures })
}

/// Traces and counts. What fails is said, and listed in the document.
pub(crate) fn count(options: &TracedApplicationsOptions) -> anyhow::Result<ApplicationsDocument> {
    let targets: Result<Vec<GuestTarget>, _> =
        options.targets.iter().map(|text| GuestTarget::parse_for_programs(text)).collect();
    let targets = targets.or_input_error()?;
    let programs: Result<Vec<TracedApplication>, _> =
        options.programs.iter().map(|name| traced(name, options.files)).collect();
    let programs = programs.or_input_error()?;
    let caches = &options.simulated.caches[..];
    let (policy, inclusion) = (CachePolicy::Lru, Inclusion::NonInclusive);
    let hierarchy = CacheOptions { caches, policy, inclusion, seed: 0 }.hierarchy()?;
    let origin = match caches.is_empty() {
        true => CachesOrigin::Machine,
        false => CachesOrigin::Given,
    };
    let guests = Guests::find(options.kernel.release.as_deref())?;
    guests.take_turn(options.beside, options.no_wait)?;
    let further: Vec<GuestProgram> = programs
        .iter()
        .map(|program| {
            let (name, package) = program.executable();
            GuestProgram { name, package }
        })
        .collect();
    let tracing = guests.ready_with(&further)?;
    let tree_bytes = programs.first().map_or(0, |program| program.tree().bytes());
    let recorded = recorded(&hierarchy, origin);
    let mut document = ApplicationsDocument::new(recorded, options.files, tree_bytes);
    let directory = TempDir::new()?;
    for &program in &programs {
        for target in &targets {
            let begun = Instant::now();
            let label = &target.spec.label;
            let name = program.executable().0;
            let trace = directory.path().join("program.trace");
            let plan = ApplicationPlan {
                program: name.to_owned(),
                arguments: program.arguments(DIRECTORY),
                files: options.files,
            };
            let done = tracing.application(target, &plan, &hierarchy, &trace);
            if guests.is_stopped() {
                return Err(InterruptedEarly.into());
            }
            match checked(done, program) {
                Ok(done) => {
                    let took = begun.elapsed().as_secs_f64();
                    output::say(&format!("{name} on {label}: traced in {took:.1} s"));
                    let kernel = &done.outcome.kernel;
                    let (start, whole) = (&done.start, &done.whole);
                    let title = program.title();
                    let execution = ProgramExecution::new(title, label, kernel, start, whole);
                    document.executions.push(execution);
                }
                Err(why) => {
                    let why = format!("{name} on {label}: {why}");
                    output::say(&why);
                    document.failed.push(why);
                }
            }
        }
    }
    Ok(document)
}

/// What was traced, if the program's answer is right.
fn checked(
    done: Result<ApplicationTraced, TracingError>,
    program: TracedApplication,
) -> Result<ApplicationTraced, String> {
    let done = done.map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
    let outcome = &done.outcome;
    program.check(TracedAnswer {
        bytes: outcome.answer_bytes,
        lines: outcome.answer_lines,
        words: outcome.answer_words,
    })?;
    Ok(done)
}
