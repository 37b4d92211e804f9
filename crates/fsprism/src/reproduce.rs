//! `fsprism reproduce`: a paper's numbers and figures, published beside computed or measured.

use std::path::Path;
use std::time::Duration;

use ::reproduce::{bonnie_anova, rocket_science};
use record::{EndReason, Run};
use serde_json::json;

use crate::arguments::{Format, Making, Measuring, OutputOptions, ReproduceOptions};
use crate::exit::{Blame, Done};
use crate::{output, page, stats, survey};

/// What can be reproduced, and what it is.
const PAPERS: [(&str, &str); 2] = [
    (
        "bonnie-anova",
        "Rondinelli, File Systems Performance Analysis: ext2, FAT16 and FAT32 under Bonnie",
    ),
    (
        "rocket-science",
        "Tarasov et al., It IS Rocket Science: its case study, measured (figure-1 to figure-4)",
    ),
];
/// Measuring ends by itself after the blocks; this is what it may take at most.
const BUDGET: Duration = Duration::from_secs(3600);

/// Prints what came of a paper, or which papers there are.
pub(crate) fn reproduce(options: &ReproduceOptions) -> anyhow::Result<Done> {
    let Some(wanted) = &options.paper else {
        let list = PAPERS.map(|(name, paper)| json!({ "name": name, "paper": paper }));
        let lines = PAPERS.map(|(name, what)| format!("{name:<14}  {what}\n"));
        return stats::print(options.output.format, &list, || lines.concat());
    };
    let (paper, item) =
        wanted.split_once('/').map_or((wanted.as_str(), None), |(paper, item)| (paper, Some(item)));
    match (paper, item) {
        ("bonnie-anova", None) => {
            let reproduction = bonnie_anova::reproduce()?;
            let width = output::terminal_options().width;
            stats::print(options.output.format, &reproduction, || reproduction.text(width))
        }
        ("rocket-science", _) => rocket_science(wanted, options),
        _ => {
            let names = PAPERS.map(|(name, _)| name).join(", ");
            let unknown =
                anyhow::anyhow!("there is no paper {wanted} to reproduce; there is {names}");
            Err(unknown).blame_input()
        }
    }
}

/// Measures the case study, or takes a run that has measured it, and sets it beside the paper.
fn rocket_science(suite: &str, options: &ReproduceOptions) -> anyhow::Result<Done> {
    let (path, reason) = match &options.run {
        Some(path) => (path.clone(), EndReason::Blocks),
        None => {
            let targets = suites::ROCKET_SCIENCE_TARGETS.map(str::to_owned);
            survey::measured("reproduce", suite, &targets, &measuring(options))?
        }
    };
    let run = Run::read(&path).blame_input()?;
    check_suite(&path, &run)?;
    let reproduction = rocket_science::Reproduction::of(&run, &path.display().to_string());
    let width = output::terminal_options().width;
    stats::print(options.output.format, &reproduction, || reproduction.text(width))?;
    if options.run.is_none() {
        page::write_beside(&run, &path);
    }
    output::say(&path.display().to_string());
    Ok(if reason == EndReason::Interrupted { Done::Interrupted } else { Done::Well })
}

fn check_suite(path: &Path, run: &Run) -> anyhow::Result<()> {
    let suite = &run.manifest.run.suite;
    if suite.starts_with("rocket-science") {
        return Ok(());
    }
    let refusal = anyhow::anyhow!(
        "{} is a run of {suite}: --run wants one that `fsprism reproduce rocket-science` made",
        path.display()
    );
    Err(refusal).blame_input()
}

fn measuring(options: &ReproduceOptions) -> Measuring {
    Measuring {
        budget: BUDGET,
        precision: 0.02,
        confidence: 0.95,
        blocks: Some(options.blocks),
        seed: options.seed,
        size: None,
        verify: false,
        making: Making { aged: None, scratch: options.scratch.clone(), destroy_data: Vec::new() },
        out: options.out.clone(),
        resume: None,
        output: OutputOptions { format: Format::Terminal },
    }
}
