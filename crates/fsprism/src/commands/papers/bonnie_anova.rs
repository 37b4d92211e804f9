//! Rondinelli, File Systems Performance Analysis: Bonnie, computed and measured.

use std::path::Path;

use ::reproduce::bonnie_anova::{self, NamedRun};
use record::{BonnieOptions, BonniePhaseOrder, Run, SuiteOptions};
use suites::classic::bonnie;
use suites::classic::bonnie_anova::TARGETS;

use super::answer::Answer;
use super::paper_run::{BLOCKS, measure_or_read, measuring, owned};
use super::{Paper, bonnie_in_guest};
use crate::arguments::reproduce::ReproduceOptions;
use crate::exit::OrInputError;
use crate::output;
use crate::session::targets;

/// The item that is computed from the paper's own numbers.
const SECTION: &str = "section-3";

pub(super) struct BonnieAnova;

impl Paper for BonnieAnova {
    fn name(&self) -> &'static str {
        bonnie_anova::SUITE
    }

    fn summary(&self) -> &'static str {
        "Rondinelli, File Systems Performance Analysis: Bonnie, computed and measured (section-3)"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("sudo fsprism reproduce bonnie-anova", "measured in about three minutes"),
            ("fsprism reproduce bonnie-anova/section-3", "computed from the paper's numbers"),
        ]
    }

    fn items(&self) -> Vec<&'static str> {
        vec![SECTION]
    }

    fn is_computed(&self, item: &str) -> bool {
        item == SECTION
    }

    fn takes_size(&self) -> bool {
        true
    }

    fn minutes(&self) -> u32 {
        4
    }

    fn reproduce(&self, item: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<Answer> {
        if item.is_some() { published() } else { whole(options) }
    }
}

/// Measures Bonnie as the paper did, or takes an earlier run, and compares it with the paper. If
/// none of the file systems can be made, only the paper's own numbers are shown.
fn whole(options: &ReproduceOptions) -> anyhow::Result<Answer> {
    let how = measuring(options, BLOCKS);
    if options.run.is_none()
        && let Some(why) = targets::why_none(&owned(&TARGETS), &how.making)?
    {
        output::say(&format!("only computed from the paper's numbers, not measured: {why}"));
        return published();
    }
    let usual = bonnie::published();
    let size_bytes = options.size.unwrap_or(usual.size_bytes);
    let classic = SuiteOptions::Bonnie(BonnieOptions { size_bytes, ..usual }.into());
    let (suite, earlier) = (bonnie_anova::SUITE, options.run.as_ref());
    let measured = measure_or_read(suite, suite, Some(&classic), &TARGETS, &how, earlier)?;
    check_bonnie(&measured.path, &measured.run)?;
    let directory = measured.directory.as_ref();
    let counted =
        bonnie_in_guest::accompanying_run(&measured.path, directory, &measured.run, options)?;
    let counted = counted.as_ref().map(|(run, name)| NamedRun { run, name });
    let name = measured.name();
    let measured_run = NamedRun { run: &measured.run, name: &name };
    let reproduction = bonnie_anova::reproduce(Some(measured_run), counted)?;
    Ok(Answer::measured(reproduction, move || measured.end()))
}

/// Shows the paper's numbers as published and as computed again.
fn published() -> anyhow::Result<Answer> {
    Ok(Answer::computed(bonnie_anova::reproduce(None, None)?))
}

/// Refuses runs that do not fit the paper's analysis, whose factors are file systems and actions,
/// on a file of one size and in Bonnie's phase order.
fn check_bonnie(path: &Path, run: &Run) -> anyhow::Result<()> {
    let Some(SuiteOptions::Bonnie(bonnie)) = &run.manifest.run.classic else { return Ok(()) };
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
    Err(anyhow::anyhow!("{path} {why}: give a run made with {instead}")).or_input_error()
}
