//! The command lines of commands that read runs: `report`, `compare` and `check`.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::analysis::AnswerOptions;
use crate::arguments::format::Format;
use crate::arguments::help::loads_help;
use crate::arguments::values::{self, Gate};

pub(crate) const REPORT_EXAMPLES: &str = "\
Examples:
  fsprism report fsprism-runs/RUN                        writes fsprism-runs/RUN/report.html
  fsprism report BEFORE AFTER --out page.html            both on one page
  fsprism report RUN --terminal                          prints the closing screen
  fsprism report RUN --terminal --full | less            prints everything
  fsprism report RUN --format csv > replicates.csv       one row per replicate and metric
";

pub(crate) const COMPARE_EXAMPLES: &str = "\
Examples:
  fsprism compare fsprism-runs/RUN                       its targets with each other
  fsprism compare fsprism-runs/BEFORE fsprism-runs/AFTER each target before and after
  fsprism compare --a OLD1 OLD2 OLD3 --b NEW1 NEW2 NEW3  differences that would recur
  fsprism compare OLD NEW --fail-above 5%                directories of --runs: status 1 if
                                                         something got worse, 3 if the data do not
                                                         tell
  fsprism compare --a OLD1 OLD2 --b NEW1 NEW2 --fail-above 5%,p99:10%
                                                         the same, also in the 99th percentile
  fsprism compare OLD --plan-for 5%                      how many runs it takes to see that much
  fsprism compare RUN --metric p50                       by the median operation, not the mean
  fsprism compare RUN --full --factors target,dimension --margin 5%

docs/verdicts.md defines the verdicts.
";

pub(crate) const CHECK_EXAMPLES: &str = "\
Examples:
  fsprism check fsprism-runs/RUN                         its known mistakes, and what avoids them
  fsprism check RUN --format json                        the same with every number

docs/check.md says what each mistake is, and when a run contains it.
";

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// A run directory; by default the latest in ./fsprism-runs
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Run directories; several are shown side by side on one page; by default the latest in
    /// ./fsprism-runs
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// File for the page; by default report.html in the run directory, or ./report.html for several
    /// runs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["terminal", "format"])]
    pub(crate) out: Option<PathBuf>,
    /// Print the report instead of writing the page
    #[arg(long, conflicts_with = "format")]
    pub(crate) terminal: bool,
    /// Print the full report instead of the closing screen
    #[arg(long, conflicts_with = "out")]
    pub(crate) full: bool,
    #[arg(long = "for", value_name = "LOADS", value_delimiter = ',', help = loads_help())]
    pub(crate) loads: Vec<String>,
    /// Print the run in this format instead of writing the page
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// Run directories: one to compare its targets, several to compare the later ones with the
    /// first; by default the latest in ./fsprism-runs. A directory made by --runs stands for all
    /// its runs
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// One side: two or more runs, to show how much runs vary by themselves
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "runs")]
    pub(crate) a: Vec<PathBuf>,
    /// The other side: two or more runs; without it, the targets of side A are compared
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "a")]
    pub(crate) b: Vec<PathBuf>,
    /// What to compare: mean for each benchmark's primary metric, p50 or p99 of single operations,
    /// or the name of any other metric of the runs, such as bandwidth
    #[arg(long, value_name = "METRIC", default_value = "mean")]
    pub(crate) metric: String,
    /// Factors of the analysis of variance: side, run, target, benchmark, dimension; by default
    /// side (or run) and target, where they vary
    #[arg(long, value_name = "FACTOR", value_delimiter = ',')]
    pub(crate) factors: Vec<String>,
    /// How far apart two values may be and still be called the same
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = values::percent)]
    pub(crate) margin: f64,
    /// Confidence level of intervals and verdicts; by default that of the first run
    #[arg(long, value_name = "PERCENT", value_parser = values::confidence)]
    pub(crate) confidence: Option<f64>,
    /// Also compare benchmarks that the runs measured with different file sizes or other parameters
    #[arg(long)]
    pub(crate) unlike: bool,
    /// End with status 1 if something is worse by more than this with its whole interval, with
    /// status 3 if that could be so and not be seen: 5% of what is compared, p99:10% of another
    /// metric; several are separated by commas
    #[arg(long, value_name = "LIMIT", value_delimiter = ',', value_parser = values::gate)]
    pub(crate) fail_above: Vec<Gate>,
    /// Instead of comparing, say how many runs of what length would show a change of this size,
    /// before against after: 5%. It is judged by how much these runs, all of one command, vary
    #[arg(long, value_name = "PERCENT", value_parser = values::change,
        conflicts_with_all = ["b", "factors", "margin", "unlike", "fail_above", "full"])]
    pub(crate) plan_for: Option<f64>,
    /// Print every comparison and the analysis of variance, not the largest differences only
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}
