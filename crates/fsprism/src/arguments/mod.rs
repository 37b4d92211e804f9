//! The command line, told once: parsing, help, completions and the manual page follow from it.

pub(crate) mod analysis;
mod bonnie;
pub(crate) mod classic;
pub(crate) mod cliff;
pub(crate) mod custom;
pub(crate) mod densefs;
pub(crate) mod footprint;
pub(crate) mod footprint_values;
mod help;
pub(crate) mod lab;
mod making;
pub(crate) mod misplaced;
pub(crate) mod network;
pub(crate) mod reports;
pub(crate) mod sizes;
pub(crate) mod values;

use std::path::PathBuf;
use std::time::Duration;

use ::report::export::BonnieForm;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use record::{OfferedLoad, ReplicateLength};

use crate::arguments::analysis::{Analysis, AnswerFormat, AnswerOptions};
use crate::arguments::classic::ClassicArguments;
use crate::arguments::cliff::{CLIFF_EXAMPLES, CliffOptions};
use crate::arguments::custom::CustomArguments;
use crate::arguments::densefs::{DENSEFS_EXAMPLES, DensefsCommand};
use crate::arguments::footprint::{CachesOptions, FootprintCommand, TracingOptions};
use crate::arguments::help::{
    MAN_EXAMPLES, REPRODUCE_EXAMPLES, examples, loads_help, run_examples, survey_examples,
    targets_help,
};
use crate::arguments::lab::LabCommand;
pub(crate) use crate::arguments::making::{Making, OnBusy};
use crate::arguments::network::NetworkArguments;
use crate::arguments::reports::{
    CHECK_EXAMPLES, COMPARE_EXAMPLES, CheckOptions, CompareOptions, REPORT_EXAMPLES, ReportOptions,
};
use crate::arguments::sizes::Sizes;
use crate::exit::Blame;
use crate::output::Form;
use crate::session::{loads, named};

/// Time to spend measuring unless it is said.
const BUDGET: Duration = Duration::from_secs(120);

/// A file-system performance laboratory: which differences are real, how large and how certain
#[derive(Debug, Parser)]
#[command(name = "fsprism", version, max_term_width = 100, after_help = examples())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure every dimension of file systems side by side, within a budget
    #[command(after_long_help = survey_examples())]
    Survey(SurveyOptions),
    /// Measure one suite (--list names them)
    #[command(after_long_help = run_examples())]
    Run(Box<RunOptions>),
    /// Find where a performance curve breaks, and why
    #[command(after_long_help = CLIFF_EXAMPLES)]
    Cliff(CliffOptions),
    /// Write a run's page again, or one page for several runs side by side
    #[command(after_long_help = REPORT_EXAMPLES)]
    Report(ReportOptions),
    /// List the runs in a directory: what each measured, and whether it finished
    Runs(RunsOptions),
    /// Compare the targets of a run, or several runs: effects, intervals, verdicts
    #[command(after_long_help = COMPARE_EXAMPLES)]
    Compare(CompareOptions),
    /// Look for known benchmarking mistakes in a run, and say what avoids each
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(CheckOptions),
    /// Show which cache lines code touches: traces, maps, stacks and simulated caches
    #[command(subcommand)]
    Footprint(FootprintCommand),
    /// Manage guest machines: get a kernel, make the image, boot
    #[command(subcommand)]
    Lab(LabCommand),
    /// Analyse a table or series of your own
    #[command(subcommand)]
    Stats(Analysis),
    /// Reproduce a paper's tables and figures, computed or measured here, beside the published ones
    #[command(after_long_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceOptions),
    /// Make and keep a DenseFS: a compact file system in memory that processes share
    #[command(subcommand, after_long_help = DENSEFS_EXAMPLES)]
    Densefs(DensefsCommand),
    /// Describe this computer and what fsprism may do on it
    Machine(MachineOptions),
    /// Print a completion script for a shell
    Completions(CompletionOptions),
    /// Print a manual page (roff): of fsprism, or of one of its commands
    #[command(after_long_help = MAN_EXAMPLES)]
    Man(ManOptions),
}

#[derive(Debug, Args)]
pub(crate) struct SurveyOptions {
    #[arg(value_name = "TARGET", help = targets_help())]
    pub(crate) targets: Vec<String>,
    #[command(flatten)]
    pub(crate) measuring: Measuring,
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The suite, such as survey/metadata
    #[arg(value_name = "SUITE", required_unless_present_any = ["list", "resume"])]
    pub(crate) suite: Option<String>,
    /// What to measure, as for survey
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// List the suites and what their benchmarks isolate
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) measuring: Measuring,
    #[command(flatten)]
    pub(crate) tracing: TracingOptions,
    #[command(flatten)]
    pub(crate) simulated: CachesOptions,
    #[command(flatten)]
    pub(crate) classic: ClassicArguments,
    #[command(flatten)]
    pub(crate) network: NetworkArguments,
    #[command(flatten)]
    pub(crate) custom: CustomArguments,
}

/// What a run that is resumed has in its manifest: the command line cannot change it.
const WHAT_A_RUN_REMEMBERS: [&str; 16] = [
    "targets",
    "benchmarks",
    "order",
    "precision",
    "confidence",
    "blocks",
    "runs",
    "plan_for",
    "seed",
    "size",
    "verify",
    "aged",
    "rate",
    "spacing",
    "replicate",
    "out",
];

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
    /// Size of the file to read and of the file to write; by default 64m, or whatever fits. For
    /// bonnie, the size of its file (by default 320m); for array-walk, the size of the array (by
    /// default a range of sizes). Both also take a list, which gives curves: 16m,256m. For bonnie,
    /// `around-memory` chooses sizes far below and far above the memory that can cache the file
    #[arg(long, value_name = "SIZE", value_parser = sizes::around_memory)]
    pub(crate) size: Option<Sizes>,
    /// Let each replicate last about this long on the fastest target, as the pilot foretells: 60s;
    /// by default each benchmark does as many operations as it needs, which mostly takes some
    /// milliseconds. Benchmarks whose files do not allow that many operations are left out
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) replicate: Option<Duration>,
    /// Check that reads return what was written (outside the timed intervals)
    #[arg(long)]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) offered: Offered,
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
        default_missing_value = named::LATEST, value_parser = named::Resumed)]
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

    /// How many runs the command makes, unless it is a single one.
    pub(crate) fn group(&self) -> Option<u32> {
        /// Three degrees of freedom for what each benchmark varies by.
        const PILOT: u32 = 4;
        self.runs.or(self.plan_for.map(|_| PILOT))
    }

    /// How long replicates are to last, if that was asked for.
    ///
    /// # Errors
    /// When one takes longer than all are to take.
    pub(crate) fn replicate_length(
        &self,
        until_steady: bool,
    ) -> anyhow::Result<Option<ReplicateLength>> {
        let budget = self.budget();
        if let Some(time) = self.replicate.filter(|&time| self.blocks.is_none() && time > budget) {
            let (time, all) = (time.as_secs_f64(), budget.as_secs_f64());
            let why = format!("--replicate {time}s is longer than the budget of {all}s");
            let then = "give a shorter --replicate, or a --budget of some twenty times that";
            return Err(anyhow::anyhow!("{why}: {then}")).blame_input();
        }
        let seconds = self.replicate.map(|time| time.as_secs_f64());
        Ok((seconds.is_some() || until_steady).then_some(ReplicateLength { seconds, until_steady }))
    }

    /// The size of the files to read and to write, which is one.
    ///
    /// # Errors
    /// When several were given.
    pub(crate) fn file_size(&self) -> anyhow::Result<Option<u64>> {
        match &self.size {
            None => Ok(None),
            Some(Sizes::Given(sizes)) if sizes.len() == 1 => Ok(sizes.first().copied()),
            Some(Sizes::Given(_)) => {
                let why = "only bonnie and array-walk take several sizes";
                Err(anyhow::anyhow!("{why}: give one --size")).blame_input()
            }
            Some(Sizes::Around) => {
                let why = "--size around-memory is for bonnie";
                Err(anyhow::anyhow!("{why}: give a size, or run bonnie")).blame_input()
            }
        }
    }

    /// The form of the run's report.
    pub(crate) fn form(&self) -> anyhow::Result<Form> {
        let loads = loads::named(&self.loads)?;
        Ok(Form { format: self.output.format, is_full: self.full, loads })
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
#[derive(Debug, Default, Args)]
pub(crate) struct Offered {
    /// Start operations at this rate per second, however long earlier ones take: 2000 or 2k
    /// (nano/io only; by default it chooses its own rates)
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub(crate) rate: Option<u64>,
    /// How to space these operations; by default as if from independent users
    #[arg(long, value_enum, requires = "rate")]
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
    /// As a run records it.
    pub(crate) fn load(&self) -> Option<OfferedLoad> {
        let spacing = match self.spacing {
            Some(Spacing::Constant) => record::Spacing::Constant,
            Some(Spacing::Poisson) | None => record::Spacing::Poisson,
        };
        self.rate.map(|rate_per_s| OfferedLoad { rate_per_s, spacing })
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceOptions {
    /// The paper, or PAPER/ITEM; without it, the papers are listed
    #[arg(value_name = "PAPER")]
    pub(crate) paper: Option<String>,
    /// One of its tables, figures or sections, such as table-2
    #[arg(value_name = "ITEM")]
    pub(crate) item: Option<String>,
    /// Use an earlier run made for this paper instead of measuring
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<PathBuf>,
    /// How many times to run each point, for papers that are measured; by default 8, or 40 for
    /// memory-rich-microbenchmarks, which takes a few seconds for each
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(record::BLOCKS_MAX)))]
    pub(crate) blocks: Option<u32>,
    /// Size of Bonnie's file, for bonnie-anova; by default 320m, as published
    #[arg(long, value_name = "SIZE", value_parser = values::size, conflicts_with = "run")]
    pub(crate) size: Option<u64>,
    /// Seed for all random choices; by default taken from the time
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Directory for images of scratch targets
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    pub(crate) scratch: PathBuf,
    /// Exit instead of waiting if another run is measuring on this computer
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// What to do while other programs keep the machine busy, as for survey
    #[arg(long, value_enum, env = "FSPRISM_ON_BUSY", default_value_t = OnBusy::Wait)]
    pub(crate) on_busy: OnBusy,
    /// Run directory; by default ./fsprism-runs/TIME-reproduce
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct RunsOptions {
    /// The directory that holds run directories
    #[arg(value_name = "DIR", default_value = "fsprism-runs")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct MachineOptions {
    /// Directories whose storage to describe as well; by default /var/tmp and the current one
    #[arg(value_name = "DIR")]
    pub(crate) directories: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionOptions {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// The command, such as survey or footprint trace; by default fsprism itself
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OutputOptions {
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Terminal)]
    pub(crate) format: Format,
}

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Sentences and tables for people
    Terminal,
    /// One JSON document
    Json,
    /// One row per replicate and metric
    Csv,
    /// One row per cell and metric: median, interval, percentiles
    CsvSummary,
    /// The page
    Html,
    /// Bencher Metric Format, for `bencher run --adapter json`
    Bmf,
    /// For github-action-benchmark, tool customSmallerIsBetter: times, one per cell
    GithubSmaller,
    /// The same for tool customBiggerIsBetter: rates, one per cell
    GithubBigger,
    /// For Prometheus and its node exporter: medians, intervals, histograms
    Openmetrics,
    /// As `fio --output-format=json+`: cells that read or write data, one job each
    Fio,
    /// A table for an issue or a wiki: benchmarks by targets
    Markdown,
    /// As Bonnie prints its table; for runs of bonnie
    Bonnie,
    /// As Bonnie++ prints its CSV, for `bon_csv2html`; for runs of bonnie and bonnie-metadata
    #[value(name = "bonnie++")]
    BonniePlusPlus,
}

impl Format {
    /// The same of an answer that is not a run, which has these two alone.
    pub(crate) fn of_answers(self) -> Option<AnswerFormat> {
        match self {
            Self::Terminal => Some(AnswerFormat::Terminal),
            Self::Json => Some(AnswerFormat::Json),
            Self::Csv
            | Self::CsvSummary
            | Self::Html
            | Self::Bmf
            | Self::GithubSmaller
            | Self::GithubBigger
            | Self::Openmetrics
            | Self::Fio
            | Self::Markdown
            | Self::Bonnie
            | Self::BonniePlusPlus => None,
        }
    }

    /// Whether it can show runs of a suite.
    ///
    /// # Errors
    /// It cannot, and what to use instead.
    pub(crate) fn check(self, suite: &str) -> anyhow::Result<()> {
        let form = match self {
            Self::Bonnie => BonnieForm::Table,
            Self::BonniePlusPlus => BonnieForm::Csv,
            Self::Terminal
            | Self::Json
            | Self::Csv
            | Self::CsvSummary
            | Self::Html
            | Self::Bmf
            | Self::GithubSmaller
            | Self::GithubBigger
            | Self::Openmetrics
            | Self::Fio
            | Self::Markdown => return Ok(()),
        };
        form.check(suite).blame_input()
    }
}
