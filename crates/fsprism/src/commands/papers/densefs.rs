//! Weiss et al., DenseFS: A Cache-Compact Filesystem.

use std::fs;
use std::path::{Path, PathBuf};

use ::report::AnalysedRun;
use ::reproduce::densefs::{self, FIGURE_4_TARGETS, GrepExecution, Part, Sources, TracedRun};
use anyhow::{Context, anyhow};
use footprint_suite::{GuestTarget, trace_name};
use record::{EndReason, Run, RunDirectory, TRACES};
use suites::pollution;
use textual::{list, plain_path};

use super::Paper;
use super::answer::Answer;
use super::grep_in_guests::{GREP, grep, grep_of};
use super::paper_run::{BLOCKS, PaperRun, in_guests, measure_or_read, measuring, owned, read};
use crate::arguments::footprint::{CachesOptions, FootprintOptions, TracingOptions};
use crate::arguments::guests::GuestKernel;
use crate::arguments::measuring::Measuring;
use crate::arguments::reproduce::ReproduceOptions;
use crate::commands::suites::footprint;
use crate::exit::{InterruptedEarly, OrInputError, Outcome, sentence_of};
use crate::output::{self, page};
use crate::session::targets;
use crate::session::tracing::Guests;

/// Number of times that each point of Figure 4 is run.
const POLLUTION_BLOCKS: u32 = 30;
/// In the directory of a run that was traced: the one that was timed with it.
const POLLUTION: &str = "pollution";
/// Likewise: the places of the kernel's functions.
const FUNCTIONS: &str = "functions.txt";
/// More bytes than that file ever has.
const LONG: u64 = 1 << 16;
/// The item that is computed.
const SECTION_3_1: &str = "section-3.1";

pub(super) struct DenseFs;

impl Paper for DenseFs {
    fn name(&self) -> &'static str {
        "densefs"
    }

    fn summary(&self) -> &'static str {
        "Weiss et al., DenseFS: cache footprints, traced in guests, and what calls cost the code \
         around them, measured (figure-1 to figure-4, section-2 to section-4)"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("sudo fsprism reproduce densefs", "traced and measured in four minutes"),
            (
                "fsprism reproduce densefs/figure-2 --run fsprism-runs/RUN",
                "from any run of the footprint suite",
            ),
            ("fsprism reproduce densefs/figure-3", "DenseFS in a guest's kernel"),
            ("sudo fsprism reproduce densefs/figure-4", "measured in two minutes"),
            ("sudo fsprism reproduce densefs/section-4", "figure 4, and grep in guests"),
            ("fsprism reproduce densefs/section-3.1", "the bytes of an inode"),
        ]
    }

    fn items(&self) -> Vec<&'static str> {
        Part::names().to_vec()
    }

    fn is_computed(&self, item: &str) -> bool {
        item == SECTION_3_1
    }

    fn minutes(&self) -> u32 {
        3
    }

    /// Traces and measures what an item needs, or takes an earlier run, and compares it with the
    /// paper.
    fn reproduce(&self, item: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<Answer> {
        let part = match item {
            None => Part::Whole,
            Some(name) => Part::from_name(name)
                .with_context(|| {
                    let names = Part::names().map(str::to_owned);
                    format!("densefs has no {name}: choose {}", list(&names, "or"))
                })
                .or_input_error()?,
        };
        let made = match &options.run {
            Some(path) => Made::earlier(path, part)?,
            None => Made::now(part, options)?,
        };
        Ok(made.answer(part))
    }
}

/// What a reproduction is made from, each if the part needs it and it could be made.
struct Made {
    traced: Result<Traced, String>,
    timed: Result<PaperRun, String>,
    functions: Result<String, String>,
    grep: Result<Vec<GrepExecution>, String>,
    no_densefs: Option<String>,
}

/// A run that was traced.
struct Traced {
    path: PathBuf,
    /// Its directory, if it was made now.
    directory: Option<RunDirectory>,
    run: Run,
}

fn not_needed<T>() -> Result<T, String> {
    Err("it was not asked for".to_owned())
}

impl Made {
    /// An earlier run, with what was made for the same paper with it.
    fn earlier(path: &Path, part: Part) -> anyhow::Result<Self> {
        let run = read(path, None)?;
        let suite = run.manifest.run.suite.clone();
        let name = path.display();
        let refused = |needed: &str| {
            let needed = format!("--run needs one made by `fsprism run {needed}`");
            Err(anyhow!("{name} is a run of {suite}: {needed}")).or_input_error()
        };
        let lacks = |what: &str| format!("{} has no {what}", plain_path(path));
        let grep = grep_of(path).ok_or_else(|| lacks("executions of grep"));
        let timed = |path: &Path| {
            let (suite, how) = (pollution::SUITE, Measuring::default());
            measure_or_read(suite, suite, None, &FIGURE_4_TARGETS, &how, Some(&path.to_owned()))
        };
        if suite.starts_with(pollution::SUITE) {
            if !part.is_timed() {
                return refused(footprint_suite::SUITE);
            }
            let timed = Ok(timed(path)?);
            let (traced, functions) = (Err(lacks("traces")), Err(lacks("functions of a kernel")));
            return Ok(Self { traced, timed, functions, grep, no_densefs: None });
        }
        if !run.manifest.cells.iter().any(|cell| cell.suite == footprint_suite::SUITE) {
            let needed = if part.is_traced() { footprint_suite::SUITE } else { pollution::SUITE };
            return refused(needed);
        }
        let below = path.join(POLLUTION);
        let timed = match below.is_dir() {
            true => Ok(timed(&below)?),
            false if part.is_timed() && !part.is_traced() => return refused(pollution::SUITE),
            false => Err(lacks("timed run")),
        };
        let file = path.join(FUNCTIONS);
        let is_ours = file.metadata().is_ok_and(|found| found.is_file() && found.len() < LONG);
        let functions = is_ours.then(|| fs::read_to_string(&file).ok()).flatten();
        let functions = functions.ok_or_else(|| lacks("functions of a kernel"));
        let traced = Ok(Traced { path: path.to_owned(), directory: None, run });
        Ok(Self { traced, timed, functions, grep, no_densefs: None })
    }

    /// Makes what a part needs.
    fn now(part: Part, options: &ReproduceOptions) -> anyhow::Result<Self> {
        let mut made = Self {
            traced: not_needed(),
            timed: not_needed(),
            functions: not_needed(),
            grep: not_needed(),
            no_densefs: None,
        };
        if part.is_timed() && part.is_traced() {
            // Before anything is traced: who has the turn to count cannot time.
            Guests::find(None)?.take_turn_to_time(options.no_wait)?;
        }
        if part.is_traced() {
            let (traced, no_densefs) = traced(part, options)?;
            (made.traced, made.no_densefs) = (Ok(traced), no_densefs);
        }
        if part.has_functions() {
            made.functions = unless_interrupted(functions(options))?;
            if let (Ok(traced), Ok(functions)) = (&made.traced, &made.functions)
                && let Some(directory) = &traced.directory
            {
                directory.put(FUNCTIONS, functions.as_bytes())?;
            }
        }
        if part.is_timed() {
            let within = made.traced.as_ref().ok().map(|traced| traced.path.join(POLLUTION));
            made.timed = timed(within, options)?;
        }
        if part.has_grep() {
            let is_interrupted =
                made.timed.as_ref().is_ok_and(|run| run.reason == EndReason::Interrupted);
            made.grep = match is_interrupted {
                true => Err("the run was interrupted".to_owned()),
                false => unless_interrupted(grep(options))?,
            };
            if let Ok(executions) = &made.grep
                && let Some(directory) = made.directory()
            {
                directory.put(GREP, &serde_json::to_vec(executions)?)?;
            }
        }
        Ok(made)
    }

    /// The directory of the run that was made now.
    fn directory(&self) -> Option<&RunDirectory> {
        let traced = self.traced.as_ref().ok().and_then(|one| one.directory.as_ref());
        traced.or_else(|| self.timed.as_ref().ok().and_then(|one| one.directory.as_ref()))
    }

    /// The answer, and what it was made from.
    fn answer(self, part: Part) -> Answer {
        let reproduction = self.reproduction(part);
        let is_whole = reproduction.is_traced_whole && self.no_densefs.is_none();
        Answer::measured(reproduction, move || {
            if let Ok(Traced { path, directory, run }) = &self.traced {
                if let Some(directory) = directory {
                    page::write_into(directory, &AnalysedRun::new(run, path));
                }
                output::say(&plain_path(path));
            }
            let ended = self.timed.as_ref().map_or(Outcome::Success, PaperRun::end);
            if ended == Outcome::Success && !is_whole { Outcome::WithFailures } else { ended }
        })
    }

    fn reproduction(&self, part: Part) -> densefs::Reproduction {
        let Self { traced, timed, functions, grep, no_densefs } = self;
        let traced = traced.as_ref().map_err(Clone::clone);
        let stacks = traced.as_ref().map_or(Vec::new(), |one| traces_of(&one.path, &one.run));
        let name = traced.as_ref().map_or(String::new(), |one| plain_path(&one.path));
        let timed_name = timed.as_ref().map_or(String::new(), PaperRun::name);
        densefs::Reproduction::new(
            part,
            &Sources {
                traced: traced.clone().map(|one| TracedRun {
                    run: &one.run,
                    name: &name,
                    stacks: &stacks,
                }),
                timed: timed
                    .as_ref()
                    .map(|one| (&one.run, timed_name.as_str()))
                    .map_err(Clone::clone),
                functions: functions.as_deref().map_err(Clone::clone),
                grep: grep.as_deref().map_err(Clone::clone),
                no_densefs: no_densefs.clone(),
            },
        )
    }
}

/// What was made, or why not; an error only if a signal has asked for the end.
fn unless_interrupted<T>(made: anyhow::Result<T>) -> anyhow::Result<Result<T, String>> {
    match made {
        Err(error) if error.is::<InterruptedEarly>() => Err(error),
        made => Ok(made.map_err(|error| sentence_of(&error))),
    }
}

/// Measures the suite `pollution`, within a run that was traced if there is one. If that is not
/// possible then, the reason is reported, and the command continues without it.
fn timed(
    within: Option<PathBuf>,
    options: &ReproduceOptions,
) -> anyhow::Result<Result<PaperRun, String>> {
    let mut how = measuring(options, POLLUTION_BLOCKS);
    let targets = &FIGURE_4_TARGETS;
    let measure =
        |how| measure_or_read(pollution::SUITE, pollution::SUITE, None, targets, how, None);
    let Some(within) = within else { return Ok(Ok(measure(&how)?)) };
    how.out = Some(within);
    let others: Vec<&str> = targets.iter().copied().filter(|name| *name != "densefs").collect();
    let made = match targets::why_none(&owned(&others), &how.making)? {
        Some(why) => Err(why),
        None => unless_interrupted(measure(&how))?,
    };
    if let Err(why) = &made {
        output::say(&format!("figure-4 was not measured: {why}"));
    }
    Ok(made)
}

/// Makes a run with the traces that a part needs. If DenseFS cannot be built for the guest's
/// kernel, but other file systems are traced as well, it is left out, with the reason.
fn traced(part: Part, options: &ReproduceOptions) -> anyhow::Result<(Traced, Option<String>)> {
    let mut targets = owned(part.file_systems());
    let densefs = owned(part.compaction());
    let mut no_densefs = None;
    if !densefs.is_empty() {
        let parsed = GuestTarget::parse_all(&densefs).or_input_error()?;
        match Guests::find(None)?.build_densefs(&parsed) {
            Ok(()) => targets.extend(densefs),
            Err(why) if targets.is_empty() || why.is::<InterruptedEarly>() => return Err(why),
            Err(why) => {
                let why = sentence_of(&why);
                output::say(&format!("figure-3 is left out: {why}"));
                no_densefs = Some(why);
            }
        }
    }
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
    let directory = footprint::trace("reproduce", &asked)?.directory;
    let (path, run) = (directory.path().to_owned(), read(directory.path(), Some(&directory))?);
    Ok((Traced { path, directory: Some(directory), run }, no_densefs))
}

/// The places of the functions that the paper names, in a guest's kernel: their lines in
/// `/proc/kallsyms`, each followed by those of the functions after it.
fn functions(options: &ReproduceOptions) -> anyhow::Result<String> {
    let guests = Guests::find(None)?;
    guests.take_turn(false, options.no_wait)?;
    let names = densefs::kernel_functions().join("|");
    guests.say(&format!("sort /proc/kallsyms | grep -A 4 -E ' [tT] ({names})$'"))
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
