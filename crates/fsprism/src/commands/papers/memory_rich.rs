//! Wang et al., The Effects of Memory-Rich Environments on File System Microbenchmarks.

use ::reproduce::memory_rich::{self, MODEL_ITEMS, SUITE};
use record::EndReason;
use suites::classic::memory_rich::TARGETS;

use super::Paper;
use super::answer::Answer;
use super::paper_run::{measure_or_read, measuring};
use crate::arguments::reproduce::ReproduceOptions;
use crate::commands::suites::traffic;
use crate::output;

/// Number of times that each point is run. All points together take only a second; on a shared
/// machine, phases of higher or lower speed last longer than that, and a few blocks would all fall
/// into one of them.
const BLOCKS: u32 = 40;

pub(super) struct MemoryRich;

impl Paper for MemoryRich {
    fn name(&self) -> &'static str {
        SUITE
    }

    fn summary(&self) -> &'static str {
        "Wang et al., The Effects of Memory-Rich Environments, measured (table-2 to figure-8)"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("sudo fsprism reproduce memory-rich-microbenchmarks", "measured in a few minutes"),
            ("sudo fsprism reproduce memory-rich-microbenchmarks/table-2", "one of its tables"),
        ]
    }

    fn items(&self) -> Vec<&'static str> {
        [suites::below(SUITE), MODEL_ITEMS.to_vec()].concat()
    }

    fn is_computed(&self, item: &str) -> bool {
        MODEL_ITEMS.contains(&item)
    }

    fn minutes(&self) -> u32 {
        4
    }

    fn reproduce(&self, item: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<Answer> {
        match item {
            Some(item) if self.is_computed(item) => Ok(Answer::computed(memory_rich::model())),
            Some(item) => from_run(&format!("{SUITE}/{item}"), options),
            None => from_run(SUITE, options),
        }
    }
}

/// Measures the tables and figures, or takes an earlier run.
fn from_run(suite: &str, options: &ReproduceOptions) -> anyhow::Result<Answer> {
    let how = measuring(options, BLOCKS);
    let earlier = options.run.as_ref();
    let measured = measure_or_read(SUITE, suite, None, &TARGETS, &how, earlier)?;
    let is_whole = measured.reason != EndReason::Interrupted && suite == SUITE;
    if let Some(directory) = measured.directory.as_ref().filter(|_| is_whole) {
        // Failing to count must not lose what was timed.
        if let Err(why) = traffic::count_for_paper(directory) {
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
        memory_rich::Reproduction::from_run(&measured.run, &measured.name(), counted.as_ref());
    Ok(Answer::measured(reproduction, move || measured.end()))
}
