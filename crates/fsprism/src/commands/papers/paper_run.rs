//! Runs for a paper: made now, or earlier.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::report::AnalysedRun;
use record::{EndReason, Run, RunDirectory, SuiteOptions};
use suites::classic::{bonnie, bonnie_anova};
use textual::plain_path;

use crate::arguments::format::OutputOptions;
use crate::arguments::guests::InGuests;
use crate::arguments::making::Making;
use crate::arguments::measuring::Measuring;
use crate::arguments::reproduce::ReproduceOptions;
use crate::commands::suites::timed;
use crate::exit::{OrInputError, Outcome};
use crate::output::{self, page};
use crate::session::targets::Choice;

/// Default number of times that each point is run.
pub(super) const BLOCKS: u32 = 8;
/// Limit on the time to measure. Measuring normally ends after its number of blocks.
const BUDGET: Duration = Duration::from_secs(3600);

/// A run that was made for a paper.
pub(super) struct PaperRun {
    pub(super) path: PathBuf,
    /// Its directory, if it was made now.
    pub(super) directory: Option<RunDirectory>,
    pub(super) run: Run,
    pub(super) reason: EndReason,
}

impl PaperRun {
    pub(super) fn name(&self) -> String {
        plain_path(&self.path)
    }

    /// Writes its page, if it was made now, and prints its path.
    pub(super) fn end(&self) -> Outcome {
        if let Some(directory) = &self.directory {
            page::write_into(directory, &AnalysedRun::new(&self.run, &self.path));
        }
        output::say(&self.name());
        if self.reason == EndReason::Interrupted { Outcome::Interrupted } else { Outcome::Success }
    }
}

/// Measures a suite of a paper on the paper's targets, or takes an earlier run.
pub(super) fn measure_or_read(
    paper: &str,
    suite: &str,
    classic: Option<&SuiteOptions>,
    targets: &[&str],
    measuring: &Measuring,
    earlier: Option<&PathBuf>,
) -> anyhow::Result<PaperRun> {
    let (path, directory, reason) = match earlier {
        Some(path) => (path.clone(), None, EndReason::Blocks),
        None => {
            let targets = owned(targets);
            let choice = Choice::OfPaper(&targets);
            let (directory, reason) =
                timed::measure_silently("reproduce", suite, classic, choice, measuring)?;
            (directory.path().to_owned(), Some(directory), reason)
        }
    };
    let mut run = read(&path, directory.as_ref())?;
    check_suite(paper, &path, &run)?;
    keep_item(suite, &path, &mut run)?;
    Ok(PaperRun { path, directory, run, reason })
}

/// Reads a run by its path, or from its directory if it was made now.
pub(super) fn read(path: &Path, directory: Option<&RunDirectory>) -> anyhow::Result<Run> {
    let run = directory.map_or_else(|| Run::read(path), RunDirectory::read);
    run.or_input_error().inspect(output::say_left_out)
}

pub(super) fn owned(targets: &[&str]) -> Vec<String> {
    targets.iter().map(|&one| one.to_owned()).collect()
}

/// Leaves nothing in a run but what belongs to an item, if that is what was asked for.
fn keep_item(suite: &str, path: &Path, run: &mut Run) -> anyhow::Result<()> {
    if run.manifest.run.suite == suite || !suite.contains('/') {
        return Ok(());
    }
    let of_item = suites::suite(suite).map(|suite| suite.benchmarks).unwrap_or_default();
    let names: BTreeSet<String> = of_item.into_iter().map(|benchmark| benchmark.name).collect();
    let made = run.manifest.run.suite.clone();
    run.keep_only(suite, &names);
    if run.manifest.cells.is_empty() {
        let refusal = anyhow::anyhow!(
            "{} has nothing of {suite}: it is a run of {made}; give another --run, or leave it out \
             to measure",
            path.display()
        );
        return Err(refusal).or_input_error();
    }
    Ok(())
}

fn check_suite(paper: &str, path: &Path, run: &Run) -> anyhow::Result<()> {
    let suite = &run.manifest.run.suite;
    // For Bonnie's paper, a run of bonnie itself will do, on any targets.
    if suite.starts_with(paper) || (paper == bonnie_anova::SUITE && suite == bonnie::SUITE) {
        return Ok(());
    }
    let refusal = anyhow::anyhow!(
        "{} is a run of {suite}: --run needs one made by `fsprism reproduce {paper}`",
        path.display()
    );
    Err(refusal).or_input_error()
}

/// How the run of a paper is measured: on `blocks` blocks unless the options say otherwise.
pub(super) fn measuring(options: &ReproduceOptions, blocks: u32) -> Measuring {
    Measuring {
        budget: Some(BUDGET),
        blocks: options.blocks.or(Some(blocks)),
        seed: options.seed,
        making: Making {
            scratch: Some(options.scratch.clone()),
            no_wait: options.no_wait,
            on_busy: options.on_busy,
            ..Making::default()
        },
        out: options.out.clone(),
        ..Measuring::default()
    }
}

/// Like [`measuring`], for what is measured in guests.
pub(super) fn in_guests(options: &ReproduceOptions) -> InGuests {
    InGuests {
        confidence: Measuring::default().confidence,
        seed: options.seed,
        no_wait: options.no_wait,
        scratch: options.scratch.clone(),
        out: options.out.clone(),
        output: OutputOptions::default(),
    }
}
