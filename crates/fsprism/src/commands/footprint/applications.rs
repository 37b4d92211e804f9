//! `fsprism footprint applications`: whole programs, traced on file systems in guests.

use ::caches::{CachePolicy, Inclusion};
use ::lab::GuestProgram;
use ::report::footprint::applications::{ApplicationsDocument, ProgramExecution};
use footprint_guest::application::DIRECTORY;
use footprint_study::recorded;
use footprint_suite::{
    ApplicationPlan, ApplicationResult, ApplicationTraced, GuestTarget, TracingError,
};
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
    let targets = GuestTarget::parse_for_programs(&options.targets).or_input_error()?;
    let programs = traced(&options.programs, options.files).or_input_error()?;
    for (program, target) in programs.iter().flat_map(|one| targets.iter().map(move |of| (one, of)))
    {
        program.check_room(&target.spec.label, target.size_bytes()).or_input_error()?;
    }
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
    let plan = |program: TracedApplication| ApplicationPlan {
        program: program.executable().0.to_owned(),
        arguments: program.arguments(DIRECTORY),
        files: options.files,
    };
    let pairs = programs.iter().flat_map(|&one| targets.iter().map(move |target| (target, one)));
    let pairs: Vec<(&GuestTarget, TracedApplication)> = pairs.collect();
    let all = pairs.iter().map(|&(target, program)| (target.clone(), plan(program))).collect();
    let directory = TempDir::new()?;
    let done = tracing.applications(all, &hierarchy, directory.path());
    if guests.is_stopped() {
        return Err(InterruptedEarly.into());
    }
    for (ApplicationResult { target, plan, traced }, (_, program)) in done.into_iter().zip(pairs) {
        let label = &target.spec.label;
        match checked(traced, program) {
            Ok(done) => {
                let (kernel, title) = (&done.outcome.kernel, program.title());
                let execution =
                    ProgramExecution::new(title, label, kernel, &done.start, &done.whole);
                document.executions.push(execution);
            }
            Err(why) => {
                let why = format!("{} on {label}: {why}", plan.program);
                output::say(&why);
                document.failed.push(why);
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
