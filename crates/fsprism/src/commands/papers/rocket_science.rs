//! Tarasov et al., Benchmarking File System Benchmarking: It *IS* Rocket Science.

use ::reproduce::rocket_science;
use suites::ROCKET_SCIENCE_TARGETS;

use super::Paper;
use super::answer::Answer;
use super::paper_run::{measure_or_read, measuring};
use crate::arguments::reproduce::ReproduceOptions;

const NAME: &str = "rocket-science";
/// The item that is computed from the paper's own numbers.
const TABLE_1: &str = "table-1";
/// Two more than the fewest that give an interval of a median at 95 %.
const BLOCKS: u32 = 8;

pub(super) struct RocketScience;

impl Paper for RocketScience {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "Tarasov et al., It IS Rocket Science: its case study, measured, and its survey (figure-1 \
         to figure-4, table-1)"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("sudo fsprism reproduce rocket-science", "measured in about ten minutes"),
            ("sudo fsprism reproduce rocket-science/figure-3", "one of its figures"),
            ("fsprism reproduce rocket-science/table-1", "its survey, counted again"),
            ("fsprism reproduce rocket-science --run fsprism-runs/RUN", "from an earlier run"),
        ]
    }

    fn items(&self) -> Vec<&'static str> {
        [suites::below(NAME), vec![TABLE_1]].concat()
    }

    fn is_computed(&self, item: &str) -> bool {
        item == TABLE_1
    }

    fn minutes(&self) -> u32 {
        8
    }

    /// Measures the case study, or takes an earlier run, and compares it with the paper.
    fn reproduce(&self, item: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<Answer> {
        if item == Some(TABLE_1) {
            return Ok(Answer::computed(rocket_science::Survey::published()));
        }
        let suite = item.map_or_else(|| NAME.to_owned(), |item| format!("{NAME}/{item}"));
        let how = measuring(options, BLOCKS);
        let (targets, earlier) = (&ROCKET_SCIENCE_TARGETS, options.run.as_ref());
        let measured = measure_or_read(NAME, &suite, None, targets, &how, earlier)?;
        let reproduction = rocket_science::Reproduction::from_run(&measured.run, &measured.name());
        Ok(Answer::measured(reproduction, move || measured.end()))
    }
}
