//! Options of array-walk.

use clap::Args;
use machine::describe::describe;
use record::{ArrayWalkOptions, SuiteOptions};
use suites::classic::array_walk;
use suites::{NoSuite, OwnOptions, Suite};

use crate::arguments::counters::Counters;
use crate::arguments::sizes::{self, SizeList};

/// The array.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of array-walk")]
pub(crate) struct ArrayWalkArguments {
    /// Size of the array; by default a range of sizes. Several, separated by commas, make curves:
    /// 16k,1m
    #[arg(long, value_name = "SIZE", value_parser = sizes::list, conflicts_with = "resume")]
    size: Option<SizeList>,
    #[command(flatten)]
    counters: Counters,
}

impl OwnOptions for ArrayWalkArguments {
    fn shape(self, suite: Suite, _targets: &[String]) -> Result<Suite, NoSuite> {
        let mut options = match &self.size {
            None => array_walk::swept(&describe().caches),
            Some(SizeList(sizes)) => ArrayWalkOptions::new(sizes),
        };
        options.processor_counts = self.counters.processor_counts()?;
        Ok(suite.with_classic(Some(&SuiteOptions::ArrayWalk(options)))?)
    }
}
