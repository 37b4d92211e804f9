//! `fsprism reproduce`: a paper's numbers and figures, published beside computed or measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ::report::AnalysedRun;
use ::reproduce::densefs::{self, Part};
use ::reproduce::{bonnie_anova, fscache, memory_rich, rocket_science};
use anyhow::Context;
use network_guest::Version;
use record::{
    BonnieOptions, BonniePhaseOrder, ClassicOptions, EndReason, Run, RunDirectory, TRACES,
};
use serde_json::json;
use suites::classic::bonnie;
use textual::plain_path;

use crate::arguments::footprint::TracingOptions;
use crate::arguments::network::NetworkArguments;
use crate::arguments::{
    Format, Making, Measuring, Offered, Order, OutputOptions, ReproduceOptions,
};
use crate::commands::{counted, footprint, network, survey, traffic};
use crate::exit::{Blame, Done};
use crate::output::{self, page};
use crate::session::targets::{self, Choice};
use footprint_suite::trace_name;

/// What can be reproduced, and what it is.
const PAPERS: [(&str, &str); 5] = [
    (
        bonnie_anova::SUITE,
        "Rondinelli, File Systems Performance Analysis: Bonnie, computed and measured (section-3)",
    ),
    (
        "rocket-science",
        "Tarasov et al., It IS Rocket Science: its case study, measured (figure-1 to figure-4)",
    ),
    (
        memory_rich::SUITE,
        "Wang et al., The Effects of Memory-Rich Environments, measured (table-2 to figure-8)",
    ),
    ("densefs", "Weiss et al., DenseFS: cache footprints, traced (figure-1, figure-2, section-2)"),
    (
        fscache::NAME,
        "Howells, FS-Cache Benchmarks: a network file system's cache, measured in guests",
    ),
];
/// The part of Rondinelli's paper that is computed from its own numbers.
const SECTION: &str = "section-3";
/// Times that each point is run.
const BLOCKS: u32 = 8;
/// The same where all points take a second together: a machine that others use has a pace that
/// lasts for longer, and a few blocks would show one such pace.
const BLOCKS_OF_SECONDS: u32 = 40;
/// Measuring ends by itself after the blocks; this is what it may take at most.
const BUDGET: Duration = Duration::from_secs(3600);

/// Prints what came of a paper, or which papers there are.
pub(crate) fn reproduce(options: &ReproduceOptions) -> anyhow::Result<Done> {
    let Some(wanted) = wanted(options)? else {
        let list = PAPERS.map(|(name, paper)| json!({ "name": name, "paper": paper }));
        let lines = PAPERS.map(|(name, what)| format!("{name:<27}  {what}\n"));
        return output::print_answer(options.output.format, &list, || lines.concat());
    };
    check_size(options, &wanted)?;
    let (paper, item) =
        wanted.split_once('/').map_or((wanted.as_str(), None), |(paper, item)| (paper, Some(item)));
    check_item(paper, item).blame_input()?;
    match (paper, item) {
        (bonnie_anova::SUITE, None) => bonnie_anova(options),
        (bonnie_anova::SUITE, Some(SECTION)) => {
            check_computed(options, (paper, SECTION))?;
            published_bonnie(options)
        }
        ("rocket-science", _) => rocket_science(&wanted, options),
        (memory_rich::SUITE, Some(item)) if memory_rich::MODEL_ITEMS.contains(&item) => {
            check_computed(options, (paper, item))?;
            let model = memory_rich::model();
            output::print_answer(options.output.format, &model, || memory_rich::model_text(&model))
        }
        (memory_rich::SUITE, _) => memory_rich(&wanted, options),
        ("densefs", _) => densefs(item, options),
        (fscache::NAME, None) => fscache(options),
        _ => Err(unknown(&wanted, paper)).blame_input(),
    }
}

/// What is to be reproduced, as `PAPER` or `PAPER/ITEM`.
fn wanted(options: &ReproduceOptions) -> anyhow::Result<Option<String>> {
    match (&options.paper, &options.item) {
        (Some(paper), Some(item)) if paper.contains('/') => {
            let refusal = anyhow::anyhow!("{paper} names an item already: leave out {item}");
            Err(refusal).blame_input()
        }
        (Some(paper), Some(item)) => Ok(Some(format!("{paper}/{item}"))),
        (paper, _) => Ok(paper.clone()),
    }
}

/// All that can be reproduced: papers, and their figures and sections.
pub(crate) fn names() -> Vec<&'static str> {
    let figures = suites::suites().into_iter().map(|suite| suite.name);
    let is_item = |name: &&str| {
        ["rocket-science/", "memory-rich-microbenchmarks/"].iter().any(|of| name.starts_with(of))
    };
    let figures = figures.filter(is_item);
    let parts = [
        "bonnie-anova/section-3",
        "densefs/figure-1",
        "densefs/figure-2",
        "densefs/section-2",
        "memory-rich-microbenchmarks/table-7",
    ];
    PAPERS.map(|(name, _)| name).into_iter().chain(figures).chain(parts).collect()
}

fn unknown(wanted: &str, paper: &str) -> anyhow::Error {
    let names = PAPERS.map(|(name, _)| name);
    let suggestion = textual::did_you_mean(paper, names);
    anyhow::anyhow!("no paper {wanted} to reproduce{suggestion}; choose from {}", names.join(", "))
}

/// A known paper has to have the item.
fn check_item(paper: &str, item: Option<&str>) -> anyhow::Result<()> {
    let Some(item) = item.filter(|_| PAPERS.iter().any(|(name, _)| *name == paper)) else {
        return Ok(());
    };
    let all = names();
    let of_paper = all.iter().filter_map(|name| name.strip_prefix(paper)?.strip_prefix('/'));
    let mut items: Vec<&str> = of_paper.collect();
    if paper == memory_rich::SUITE {
        items.extend(memory_rich::MODEL_ITEMS);
    }
    items.sort_unstable();
    items.dedup();
    if items.contains(&item) {
        return Ok(());
    }
    if items.is_empty() {
        anyhow::bail!("{paper} is reproduced as a whole: leave out {item}");
    }
    let suggestion = textual::did_you_mean(item, items.iter().copied());
    anyhow::bail!("no {item} in {paper}{suggestion}; choose from {}", items.join(", "))
}

fn check_size(options: &ReproduceOptions, wanted: &str) -> anyhow::Result<()> {
    if options.size.is_none() || wanted == bonnie_anova::SUITE {
        return Ok(());
    }
    let refusal = anyhow::anyhow!("--size is for bonnie-anova, not for {wanted}: leave it out");
    Err(refusal).blame_input()
}

/// What is computed takes nothing that says how to measure.
fn check_computed(options: &ReproduceOptions, (paper, item): (&str, &str)) -> anyhow::Result<()> {
    let given = [("--run", options.run.is_some()), ("--blocks", options.blocks.is_some())];
    let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    let refusal = anyhow::anyhow!(
        "{paper}/{item} is computed from the paper's numbers: leave out {option}, or name {paper} \
         to measure"
    );
    Err(refusal).blame_input()
}

/// Measures Bonnie as the paper did, or takes a run that has, and sets it beside the paper. Where
/// none of the file systems can be made, the paper's own numbers are all.
fn bonnie_anova(options: &ReproduceOptions) -> anyhow::Result<Done> {
    let targets = &suites::classic::bonnie_anova::TARGETS;
    if options.run.is_none()
        && let Some(why) = targets::why_none(&owned(targets), &measuring(options).making)?
    {
        output::say(&format!("only computed from the paper's numbers, not measured: {why}"));
        return published_bonnie(options);
    }
    let published = bonnie::published();
    let size_bytes = options.size.unwrap_or(published.size_bytes);
    let classic = ClassicOptions::Bonnie(BonnieOptions { size_bytes, ..published }.into());
    let suite = (bonnie_anova::SUITE, Some(&classic));
    let measured = measured(bonnie_anova::SUITE, suite, targets, options)?;
    let counted = counted::bonnie(measured.place(), &measured.run, options)?;
    let counted = counted.as_ref().map(|(run, name)| (run, name.as_str()));
    let reproduction = bonnie_anova::reproduce(Some((&measured.run, &measured.name())), counted)?;
    let width = output::terminal_options().width;
    output::print_answer(options.output.format, &reproduction, || reproduction.text(width))?;
    Ok(measured.end())
}

/// The paper's numbers, published and computed again.
fn published_bonnie(options: &ReproduceOptions) -> anyhow::Result<Done> {
    let reproduction = bonnie_anova::reproduce(None, None)?;
    let width = output::terminal_options().width;
    output::print_answer(options.output.format, &reproduction, || reproduction.text(width))
}

/// Measures the case study, or takes a run that has measured it, and sets it beside the paper.
fn rocket_science(suite: &str, options: &ReproduceOptions) -> anyhow::Result<Done> {
    let measured =
        measured("rocket-science", (suite, None), &suites::ROCKET_SCIENCE_TARGETS, options)?;
    let reproduction = rocket_science::Reproduction::of(&measured.run, &measured.name());
    let width = output::terminal_options().width;
    output::print_answer(options.output.format, &reproduction, || reproduction.text(width))?;
    Ok(measured.end())
}

/// Measures the tables and figures, or takes a run that has measured them.
fn memory_rich(suite: &str, options: &ReproduceOptions) -> anyhow::Result<Done> {
    let targets = &suites::classic::memory_rich::TARGETS;
    let measured = measured(memory_rich::SUITE, (suite, None), targets, options)?;
    let is_whole = measured.reason != EndReason::Interrupted && suite == memory_rich::SUITE;
    if let Some(directory) = measured.directory.as_ref().filter(|_| is_whole) {
        // What cannot be counted here is no reason to lose what was timed.
        if let Err(why) = traffic::of_paper(directory) {
            output::say(&format!("section 4.6.1 was not counted: {why:#}"));
        }
    }
    let counted = match &measured.directory {
        Some(directory) => directory.traffic(&measured.run),
        None => measured.run.traffic(&measured.path),
    };
    let counted = counted.unwrap_or_else(|why| {
        output::say(&format!("section 4.6.1 is left out: {why}"));
        None
    });
    let reproduction =
        memory_rich::Reproduction::of(&measured.run, &measured.name(), counted.as_ref());
    let width = output::terminal_options().width;
    output::print_answer(options.output.format, &reproduction, || reproduction.text(width))?;
    Ok(measured.end())
}

/// A run that was made for a paper.
struct MeasuredRun {
    path: PathBuf,
    /// Where it was made now.
    directory: Option<RunDirectory>,
    run: Run,
    reason: EndReason,
}

impl MeasuredRun {
    fn name(&self) -> String {
        plain_path(&self.path)
    }

    /// Where it lies, and its directory if it was made now.
    fn place(&self) -> (&Path, Option<&RunDirectory>) {
        (&self.path, self.directory.as_ref())
    }

    /// Writes its page, if it was made now, and says where it is.
    fn end(&self) -> Done {
        if let Some(directory) = &self.directory {
            page::write_into(directory, &AnalysedRun::new(&self.run, &self.path));
        }
        output::say(&self.name());
        if self.reason == EndReason::Interrupted { Done::Interrupted } else { Done::Well }
    }
}

/// Measures a suite of a paper on the paper's targets, or takes a run that has.
fn measured(
    paper: &str,
    suite: (&str, Option<&ClassicOptions>),
    targets: &[&str],
    options: &ReproduceOptions,
) -> anyhow::Result<MeasuredRun> {
    let (path, directory, reason) = match &options.run {
        Some(path) => (path.clone(), None, EndReason::Blocks),
        None => {
            let targets = owned(targets);
            let choice = Choice::OfPaper(&targets);
            let (directory, reason) =
                survey::measure_silently("reproduce", suite, choice, &measuring(options))?;
            (directory.path().to_owned(), Some(directory), reason)
        }
    };
    let run = read((&path, directory.as_ref()))?;
    check_suite(paper, &path, &run)?;
    check_bonnie(&path, &run)?;
    Ok(MeasuredRun { path, directory, run, reason })
}

/// A run by its path, or in its directory if it was made now.
fn read((path, directory): (&Path, Option<&RunDirectory>)) -> anyhow::Result<Run> {
    let run = directory.map_or_else(|| Run::read(path), RunDirectory::read);
    run.blame_input().inspect(output::say_left_out)
}

fn owned(targets: &[&str]) -> Vec<String> {
    targets.iter().map(|&one| one.to_owned()).collect()
}

fn check_suite(paper: &str, path: &Path, run: &Run) -> anyhow::Result<()> {
    let suite = &run.manifest.run.suite;
    // Bonnie itself, on whatever targets, is all that its paper needs.
    if suite.starts_with(paper) || (paper == bonnie_anova::SUITE && suite == bonnie::SUITE) {
        return Ok(());
    }
    let refusal = anyhow::anyhow!(
        "{} is a run of {suite}: --run needs one made by `fsprism reproduce {paper}`",
        path.display()
    );
    Err(refusal).blame_input()
}

/// The analysis is of file systems and actions, on a file of one size, in Bonnie's order.
fn check_bonnie(path: &Path, run: &Run) -> anyhow::Result<()> {
    let Some(ClassicOptions::Bonnie(bonnie)) = &run.manifest.run.classic else { return Ok(()) };
    let (why, instead) = if bonnie.by_size().len() > 1 {
        ("has files of several sizes, but the paper uses one", "a single --size")
    } else {
        match bonnie.options.phase_order {
            BonniePhaseOrder::Bonnie => return Ok(()),
            BonniePhaseOrder::BonniePlusPlus | BonniePhaseOrder::BonniePlusPlusByBlock => {
                ("rewrites what it wrote by block, but the paper did not", "--phase-order bonnie")
            }
        }
    };
    let path = path.display();
    Err(anyhow::anyhow!("{path} {why}: give a run made with {instead}")).blame_input()
}

/// Traces the operations of a part, or takes a run that has, and sets them beside the paper.
fn densefs(item: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<Done> {
    let part = match item {
        None => Part::Whole,
        Some(name) => Part::of_name(name)
            .with_context(|| format!("densefs has no {name}: choose figure-1, figure-2, section-2"))
            .blame_input()?,
    };
    let path = match &options.run {
        Some(path) => path.clone(),
        None => traced_run(part, options)?,
    };
    let run = read((&path, None))?;
    if !run.manifest.cells.iter().any(|cell| cell.suite == footprint_suite::SUITE) {
        let suite = &run.manifest.run.suite;
        let refusal = anyhow::anyhow!(
            "{} is a run of {suite}: --run needs one made by `fsprism run footprint`",
            path.display()
        );
        return Err(refusal).blame_input();
    }
    let traced = traces_of(&path, &run);
    let name = plain_path(&path);
    let reproduction = densefs::Reproduction::of(part, &run, &name, &traced);
    let width = output::terminal_options().width;
    output::print_answer(options.output.format, &reproduction, || reproduction.text(width))?;
    output::say(&name);
    Ok(if reproduction.missing.is_empty() { Done::Well } else { Done::WithFailures })
}

/// Measures a network file system's cache with the paper's version of NFS, or takes a run that has.
fn fscache(options: &ReproduceOptions) -> anyhow::Result<Done> {
    let (path, directory, done) = match &options.run {
        Some(path) => (path.clone(), None, Done::Well),
        None => {
            let blocks = options.blocks.or(Some(network::RUNS));
            let measuring = Measuring { blocks, ..measuring(options) };
            // Mounts were of version 3 then.
            let arguments =
                NetworkArguments { nfs: vec![Version::V3], ..NetworkArguments::default() };
            let made = network::made("reproduce", (&arguments, None), &measuring)?;
            let done = made.done();
            (made.directory.path().to_owned(), Some(made.directory), done)
        }
    };
    let run = read((&path, directory.as_ref()))?;
    if run.manifest.run.suite != network_suite::SUITE {
        let refusal = anyhow::anyhow!(
            "{} is a run of {}: --run needs one made by `fsprism run fscache`",
            path.display(),
            run.manifest.run.suite
        );
        return Err(refusal).blame_input();
    }
    let name = plain_path(&path);
    let reproduction = fscache::Reproduction::of(&run, &name);
    let width = output::terminal_options().width;
    output::print_answer(options.output.format, &reproduction, || reproduction.text(width))?;
    if let Some(directory) = &directory {
        page::write_into(directory, &AnalysedRun::new(&run, &path));
    }
    output::say(&name);
    Ok(done)
}

/// Makes a run of what a part needs.
fn traced_run(part: Part, options: &ReproduceOptions) -> anyhow::Result<PathBuf> {
    let targets: Vec<String> = part.file_systems().iter().map(|name| (*name).to_owned()).collect();
    let operations = part.operations().iter().map(|name| name.parse());
    let tracing = TracingOptions {
        operations: operations.collect::<Result<_, _>>()?,
        ..TracingOptions::default()
    };
    let made = footprint::run::made("reproduce", &targets, (&tracing, &[]), &measuring(options))?;
    Ok(made.directory.path().to_owned())
}

/// What the traces of a run have. One that is gone or cannot be read is said, and left out.
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

fn measuring(options: &ReproduceOptions) -> Measuring {
    let is_memory_rich =
        options.paper.as_ref().is_some_and(|paper| paper.starts_with(memory_rich::SUITE));
    let blocks = if is_memory_rich { BLOCKS_OF_SECONDS } else { BLOCKS };
    Measuring {
        benchmarks: Vec::new(),
        order: Order::Random,
        budget: Some(BUDGET),
        precision: 0.02,
        confidence: 0.95,
        runs: None,
        plan_for: None,
        blocks: options.blocks.or(Some(blocks)),
        seed: options.seed,
        size: None,
        replicate: None,
        verify: false,
        offered: Offered::default(),
        making: Making {
            aged: None,
            scratch: Some(options.scratch.clone()),
            destroy_data: Vec::new(),
            no_wait: options.no_wait,
            on_busy: options.on_busy,
            drop_caches: false,
        },
        out: options.out.clone(),
        dry_run: false,
        resume: None,
        loads: Vec::new(),
        full: false,
        output: OutputOptions { format: Format::Terminal },
    }
}
