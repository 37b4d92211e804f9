//! How a run measures: options of the suites that are timed on targets, of all of them or of some.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use record::OfferedLoad;

use crate::arguments::format::OutputOptions;
use crate::arguments::help::loads_help;
use crate::arguments::making::Making;
use crate::arguments::values;
use crate::exit::OrInputError;

/// Default time to spend measuring.
pub(crate) const BUDGET: Duration = Duration::from_secs(120);
/// Stands for the latest run where an option needs a value.
pub(crate) const LATEST: &str = "latest";

/// Options whose values a resumed run takes from its manifest; the command line cannot change them.
const WHAT_A_RUN_REMEMBERS: [&str; 12] = [
    "targets",
    "benchmarks",
    "order",
    "precision",
    "confidence",
    "blocks",
    "runs",
    "plan_for",
    "seed",
    "verify",
    "aged",
    "out",
];

/// What every suite takes that is timed on targets.
#[derive(Debug, Args)]
pub(crate) struct Measuring {
    /// Measure only these benchmarks: 'append*,rename*' (run --list SUITE names them)
    #[arg(long = "benchmark", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) benchmarks: Vec<String>,
    /// Time to spend measuring: 90s, 2m, 1h; by default 2m. With --resume, time to spend on top of
    /// what was spent, even if the run had come to its end: what was left out comes back as far as
    /// there is room
    #[arg(long, value_name = "TIME", value_parser = values::budget)]
    pub(crate) budget: Option<Duration>,
    /// Stop early once every interval is at most this wide on each side: 2%
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = values::width)]
    pub(crate) precision: f64,
    /// Confidence level of all intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = values::confidence)]
    pub(crate) confidence: f64,
    /// Measure exactly this many blocks, however long they take
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(record::BLOCKS_MAX)))]
    pub(crate) blocks: Option<u32>,
    /// Measure N runs in sequence, each in its own process on newly made targets, and compare the
    /// targets over all runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) runs: Option<u32>,
    /// Measure a pilot, and say how many runs of what length would show a change of this size,
    /// before against after: 5%. The pilot is 4 runs, or as many as --runs says, each as long as
    /// --budget says
    #[arg(long, value_name = "PERCENT", value_parser = values::change, conflicts_with = "full")]
    pub(crate) plan_for: Option<f64>,
    /// Seed for all random choices; by default taken from the time
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Order of benchmarks within a block; change it to see whether it matters
    #[arg(long, value_enum, default_value = "random")]
    pub(crate) order: Order,
    /// Check that reads return what was written (outside the timed intervals)
    #[arg(long)]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) making: Making,
    /// Run directory; by default ./fsprism-runs/TIME-COMMAND
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Make the targets and a pilot, print what would be measured, and keep nothing
    #[arg(long, conflicts_with_all = ["resume", "runs", "plan_for", "out", "full"])]
    pub(crate) dry_run: bool,
    /// Resume an interrupted run, by default the latest, on the targets it started with; with
    /// --budget, any run
    #[arg(long, value_name = "RUN", conflicts_with_all = WHAT_A_RUN_REMEMBERS, num_args = 0..=1,
        default_missing_value = LATEST)]
    pub(crate) resume: Option<PathBuf>,
    #[arg(long = "for", value_name = "LOADS", value_delimiter = ',', help = loads_help())]
    pub(crate) loads: Vec<String>,
    /// Print the full report instead of the closing screen
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

impl Measuring {
    /// Time to spend measuring a new run.
    pub(crate) fn budget(&self) -> Duration {
        self.budget.unwrap_or(BUDGET)
    }

    /// How many runs the command makes; `None` for a single one.
    pub(crate) fn group(&self) -> Option<u32> {
        /// Gives three degrees of freedom for the variance between runs of each benchmark.
        const PILOT: u32 = 4;
        self.runs.or(self.plan_for.map(|_| PILOT))
    }
}

impl Default for Measuring {
    fn default() -> Self {
        Self {
            benchmarks: Vec::new(),
            budget: None,
            precision: 2.0,
            confidence: 0.95,
            blocks: None,
            runs: None,
            plan_for: None,
            seed: None,
            order: Order::Random,
            verify: false,
            making: Making::default(),
            out: None,
            dry_run: false,
            resume: None,
            loads: Vec::new(),
            full: false,
            output: OutputOptions::default(),
        }
    }
}

/// What `fsprism run` takes without a suite: how a run is resumed, and the list of suites.
#[derive(Debug, Args)]
pub(crate) struct ResumeOptions {
    /// List the suites and what their benchmarks isolate
    #[arg(long)]
    pub(crate) list: bool,
    /// Resume an interrupted run, by default the latest, on the targets it started with; with
    /// --budget, any run
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = LATEST,
        conflicts_with = "list")]
    pub(crate) resume: Option<PathBuf>,
    /// With --resume, time to spend on top of what was spent, even if the run had come to its end:
    /// what was left out comes back as far as there is room
    #[arg(long, value_name = "TIME", value_parser = values::budget, requires = "resume")]
    pub(crate) budget: Option<Duration>,
    #[command(flatten)]
    pub(crate) making: Making,
    #[arg(long = "for", value_name = "LOADS", value_delimiter = ',', help = loads_help())]
    pub(crate) loads: Vec<String>,
    /// Print the full report instead of the closing screen
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The size of files, which suites take that have no sizes of their own.
#[derive(Debug, Args)]
pub(crate) struct FileSize {
    /// Size of the file to read and of the file to write; by default 64m, or whatever fits
    #[arg(long, value_name = "SIZE", value_parser = values::size, conflicts_with = "resume")]
    pub(crate) size: Option<u64>,
}

/// The length of replicates, which suites take whose operations can go on.
#[derive(Debug, Args)]
pub(crate) struct Lasting {
    /// Let each replicate last about this long on the fastest target, as the pilot foretells: 60s;
    /// by default each benchmark does as many operations as it needs, which mostly takes some
    /// milliseconds. Benchmarks whose files do not allow that many operations are left out
    #[arg(long, value_name = "TIME", value_parser = values::time, conflicts_with = "resume")]
    pub(crate) replicate: Option<Duration>,
}

impl Lasting {
    /// The requested length of replicates, in seconds.
    ///
    /// # Errors
    /// If a single replicate would take longer than the whole budget.
    pub(crate) fn seconds(&self, measuring: &Measuring) -> anyhow::Result<Option<f64>> {
        let budget = measuring.budget();
        let is_bounded = measuring.blocks.is_none();
        if let Some(time) = self.replicate.filter(|&time| is_bounded && time > budget) {
            let (time, all) = (time.as_secs_f64(), budget.as_secs_f64());
            let why = format!("--replicate {time}s is longer than the budget of {all}s");
            let then = "give a shorter --replicate, or a --budget of some twenty times that";
            return Err(anyhow::anyhow!("{why}: {then}")).or_input_error();
        }
        Ok(self.replicate.map(|time| time.as_secs_f64()))
    }
}

/// The order of what a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// A new random order in each block
    Random,
    /// The order of declaration
    Declared,
    /// The reverse of that order
    Reversed,
}

impl From<Order> for record::Order {
    fn from(order: Order) -> Self {
        match order {
            Order::Random => Self::Random,
            Order::Declared => Self::Declared,
            Order::Reversed => Self::Reversed,
        }
    }
}

/// The load that operations on a schedule are offered.
#[derive(Debug, Args)]
pub(crate) struct Offered {
    /// Start operations at this rate per second, however long earlier ones take: 2000 or 2k;
    /// by default the suite chooses its own rates
    #[arg(long, value_name = "RATE", value_parser = values::rate, conflicts_with = "resume")]
    pub(crate) rate: Option<u64>,
    /// How to space these operations; by default as if from independent users
    #[arg(long, value_enum, requires = "rate", conflicts_with = "resume")]
    pub(crate) spacing: Option<Spacing>,
}

/// How operations on a schedule follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Spacing {
    /// Exponential gaps, as if from independent users
    Poisson,
    /// Even gaps
    Constant,
}

impl Offered {
    /// The load as a run records it; `None` if no rate was given.
    pub(crate) fn load(&self) -> Option<OfferedLoad> {
        let spacing = match self.spacing {
            Some(Spacing::Constant) => record::Spacing::Constant,
            Some(Spacing::Poisson) | None => record::Spacing::Poisson,
        };
        self.rate.map(|rate_per_s| OfferedLoad { rate_per_s, spacing })
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, FromArgMatches};

    use super::*;

    /// The default was once a share, and what is parsed is a percentage.
    #[test]
    fn the_default_is_what_an_empty_command_line_says() {
        let command = Measuring::augment_args(Command::new("run").arg(Arg::new("targets")));
        let given = command.try_get_matches_from(["run"]).expect("nothing is required");
        let parsed = Measuring::from_arg_matches(&given).expect("as it is defined");
        let usual = Measuring::default();
        assert_eq!((parsed.precision, parsed.confidence), (usual.precision, usual.confidence));
        assert_eq!((parsed.budget(), parsed.order), (usual.budget(), usual.order));
    }
}
