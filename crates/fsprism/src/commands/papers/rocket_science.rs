//! Tarasov et al., Benchmarking File System Benchmarking: It *IS* Rocket Science.

use ::reproduce::rocket_science;
use suites::ROCKET_SCIENCE_TARGETS;

use super::Paper;
use super::paper_run::{BLOCKS, measure_or_read, measuring};
use crate::arguments::reproduce::ReproduceOptions;
use crate::exit::Outcome;
use crate::output;

const NAME: &str = "rocket-science";

pub(super) struct RocketScience;

impl Paper for RocketScience {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "Tarasov et al., It IS Rocket Science: its case study, measured (figure-1 to figure-4)"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("sudo fsprism reproduce rocket-science", "measured in about ten minutes"),
            ("sudo fsprism reproduce rocket-science/figure-3", "one of its figures"),
            ("fsprism reproduce rocket-science --run fsprism-runs/RUN", "from an earlier run"),
        ]
    }

    fn items(&self) -> Vec<&'static str> {
        suites::below(NAME)
    }

    /// Measures the case study, or takes an earlier run, and compares it with the paper.
    fn reproduce(&self, item: Option<&str>, options: &ReproduceOptions) -> anyhow::Result<Outcome> {
        let suite = item.map_or_else(|| NAME.to_owned(), |item| format!("{NAME}/{item}"));
        let how = measuring(options, BLOCKS);
        let (targets, earlier) = (&ROCKET_SCIENCE_TARGETS, options.run.as_ref());
        let measured = measure_or_read(NAME, &suite, None, targets, &how, earlier)?;
        let reproduction = rocket_science::Reproduction::from_run(&measured.run, &measured.name());
        output::print_answer(options.output.format, &reproduction, |width| {
            reproduction.text(width)
        })?;
        Ok(measured.end())
    }
}
