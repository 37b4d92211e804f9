//! The command line, told once: parsing, help, completions and the manual page follow from it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use record::OfferedLoad;

use crate::analysis_arguments::{Analysis, AnswerOptions};
use crate::cliff_arguments::{CLIFF_EXAMPLES, CliffOptions};
use crate::footprint_arguments::{CachesOptions, Footprint, TracingOptions};
use crate::lab_arguments::LabCommand;
use crate::values;

/// Where images of scratch targets lie unless it is said.
const SCRATCH: &str = "/var/tmp";

/// A file-system performance laboratory: what is real, how large, and how sure.
#[derive(Debug, Parser)]
#[command(name = "fsprism", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  sudo fsprism survey                        tmpfs, ext4, xfs and btrfs side by side
  fsprism survey . /dev/shm                  two directories, without root
  fsprism report fsprism-runs/RUN            its page, report.html, again
";

const SURVEY_EXAMPLES: &str = "\
Targets:
  PATH                                       a directory of a mounted file system
  tmpfs  ramfs  ext2  ext3  ext4  xfs  btrfs  f2fs  vfat  minix  hfs
                                             a scratch file system, made and removed (root)
  LABEL=TARGET                               the same, under a name of its own
  FS:size=4G,mkfs=-O ^has_journal,mount=noatime
                                             with its size, mkfs and mount options
  FS:image=allocated                         on an image that is written in full beforehand
  FS:memory=64m,read_bps=50m,write_bps=,read_iops=,write_iops=
                                             under limits of memory and device
  FS:read_ahead=64k                          with the kernel's read-ahead set (0 switches it off)
  FS:aged=5,fill=80%                         aged: filled, then in rounds deleted and written again
  FS:device=/dev/sdX                         on a device (with --destroy-data /dev/sdX)

Examples:
  sudo fsprism survey
  sudo fsprism survey ext4 xfs --budget 10m --precision 2%
  sudo fsprism survey plain=ext4 'lean=ext4:mkfs=-O ^has_journal,mount=noatime'
  sudo fsprism survey fast=ext4 slow=ext4:read_bps=20m
  fsprism survey . /dev/shm --budget 30s
  sudo fsprism survey ext4 xfs --runs 3      what holds from one run to the next
  fsprism survey --resume fsprism-runs/20260301T101500Z-survey
  sudo fsprism run nano --benchmark 'append*,rename*' ext4 xfs
  sudo fsprism run nano/io ext4 --rate 2000  latencies of operations that come 2,000 a second

Exit status: 0 done; 1 a measurement or check failed; 2 the command line or an input is wrong;
130 interrupted (what was measured is kept).
";

const REPORT_EXAMPLES: &str = "\
Examples:
  fsprism report fsprism-runs/RUN                        writes fsprism-runs/RUN/report.html
  fsprism report BEFORE AFTER --out page.html            both on one page
  fsprism report RUN --terminal                          prints the report
  fsprism report RUN --format csv > replicates.csv       one row per replicate and metric
";

const COMPARE_EXAMPLES: &str = "\
Examples:
  fsprism compare fsprism-runs/RUN                       its targets with one another
  fsprism compare fsprism-runs/BEFORE fsprism-runs/AFTER each target before and after
  fsprism compare --a OLD1 OLD2 OLD3 --b NEW1 NEW2 NEW3  what would differ again
  fsprism compare RUN --factors target,dimension --margin 5%

The words of the verdicts are defined in docs/verdicts.md.
";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  fsprism reproduce                                      the papers there are
  fsprism reproduce bonnie-anova                         computed from the paper's numbers
  sudo fsprism reproduce rocket-science                  measured, about ten minutes
  sudo fsprism reproduce rocket-science/figure-3         one figure of it
  fsprism reproduce rocket-science --run fsprism-runs/RUN
                                                         from a run made before
  fsprism reproduce densefs                              traced in guests, about a minute
  fsprism reproduce densefs/figure-2 --run fsprism-runs/RUN
                                                         from any run of the suite footprint
";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure every dimension of file systems side by side, within a budget
    #[command(after_long_help = SURVEY_EXAMPLES)]
    Survey(SurveyOptions),
    /// Measure one suite (--list names them)
    #[command(after_long_help = SURVEY_EXAMPLES)]
    Run(RunOptions),
    /// Find where a performance curve breaks, and why
    #[command(after_long_help = CLIFF_EXAMPLES)]
    Cliff(CliffOptions),
    /// Write the page of a run again, or of several runs side by side
    #[command(after_long_help = REPORT_EXAMPLES)]
    Report(ReportOptions),
    /// Compare targets of a run, or runs with one another: effects, intervals, verdicts
    #[command(after_long_help = COMPARE_EXAMPLES)]
    Compare(CompareOptions),
    /// Which cache lines are touched: traces, maps and stacks of them, models of caches
    #[command(subcommand)]
    Footprint(Footprint),
    /// Guest machines: get a kernel, make the image, boot
    #[command(subcommand)]
    Lab(LabCommand),
    /// Analyse anybody's table or series
    #[command(subcommand)]
    Stats(Analysis),
    /// A paper's tables and figures: published, and computed or measured again here
    #[command(after_long_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceOptions),
    /// Say what this computer is, and what is permitted here
    Machine(MachineOptions),
    /// Print a completion script for a shell
    Completions(CompletionOptions),
    /// Print the manual page (roff)
    Man,
}

#[derive(Debug, Args)]
pub(crate) struct SurveyOptions {
    /// What to measure; as root by default tmpfs, ext4, xfs and btrfs, else . and /dev/shm
    #[arg(value_name = "TARGET")]
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
    /// Name the suites and what their benchmarks isolate
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) measuring: Measuring,
    #[command(flatten)]
    pub(crate) tracing: TracingOptions,
    #[command(flatten)]
    pub(crate) simulated: CachesOptions,
}

/// What a run that is gone on with has in its manifest: the command line cannot change it.
const WHAT_A_RUN_REMEMBERS: [&str; 15] = [
    "targets",
    "benchmarks",
    "order",
    "budget",
    "precision",
    "confidence",
    "blocks",
    "runs",
    "seed",
    "size",
    "verify",
    "aged",
    "rate",
    "spacing",
    "out",
];

#[derive(Debug, Args)]
pub(crate) struct Measuring {
    /// Measure only these benchmarks: 'append*,rename*' (run --list --format json names them)
    #[arg(long = "benchmark", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) benchmarks: Vec<String>,
    /// Time for measuring: 90s, 2m, 1h
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = values::time)]
    pub(crate) budget: Duration,
    /// Stop earlier, once every interval is at most this wide on each side: 2%
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = values::percent)]
    pub(crate) precision: f64,
    /// Confidence level of all intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = values::confidence)]
    pub(crate) confidence: f64,
    /// Measure exactly this many blocks, whatever time they take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) blocks: Option<u32>,
    /// Measure N runs one after the other, each in its own process on newly made targets, and
    /// compare the targets over all of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) runs: Option<u32>,
    /// Seed of every random choice; by default from the time
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The order of benchmarks within a block; change it to see whether it matters
    #[arg(long, value_enum, default_value = "random")]
    pub(crate) order: Order,
    /// Size of the file that is read and of the one that is written; by default 64m, or what fits
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) size: Option<u64>,
    /// Compare what is read with what was written (outside the timed intervals)
    #[arg(long)]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) offered: Offered,
    #[command(flatten)]
    pub(crate) making: Making,
    /// The run directory; by default fsprism-runs/TIME-COMMAND here
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with a run that was cut off, on what it was begun on
    #[arg(long, value_name = "RUN", conflicts_with_all = WHAT_A_RUN_REMEMBERS)]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The order of what a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// A new random order in each block
    Random,
    /// The order in which they are declared
    Declared,
    /// That order reversed
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
    /// Begin operations at this rate per second, whatever those before took: 2000 or 2k
    /// (of nano/io alone; by default at rates of its own)
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub(crate) rate: Option<u64>,
    /// How such operations follow each other; by default as independent users come
    #[arg(long, value_enum, requires = "rate")]
    pub(crate) spacing: Option<Spacing>,
}

/// How operations on a schedule follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Spacing {
    /// With exponential gaps, as independent users come
    Poisson,
    /// With even gaps
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

/// How scratch targets are made.
#[derive(Clone, Debug, Args)]
pub(crate) struct Making {
    /// Age scratch targets, before each block, by so many rounds of deleting and writing again;
    /// a target's own aged= goes before
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1000))]
    pub(crate) aged: Option<u32>,
    /// Where images of scratch targets lie; by default /var/tmp, of a resumed run where they lay
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// A device that may be formatted although it holds data; said in full for each device, and
    /// again to resume
    #[arg(long, value_name = "DEVICE")]
    pub(crate) destroy_data: Vec<PathBuf>,
    /// Exit instead of waiting if another run is measuring on this computer
    #[arg(long)]
    pub(crate) no_wait: bool,
}

impl Making {
    /// Where images of scratch targets lie.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.as_deref().unwrap_or(Path::new(SCRATCH))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Run directories; several stand side by side on one page
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// The page; by default report.html in the run directory, of several runs report.html here
    #[arg(long, value_name = "FILE", conflicts_with_all = ["terminal", "format"])]
    pub(crate) out: Option<PathBuf>,
    /// Print the report instead of writing the page
    #[arg(long, conflicts_with = "format")]
    pub(crate) terminal: bool,
    /// Print the run in this form instead of writing the page
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// Run directories: one, to compare its targets; several, to compare later ones with the
    /// first. A directory that --runs made stands for all its runs
    #[arg(value_name = "RUN", required_unless_present = "a")]
    pub(crate) runs: Vec<PathBuf>,
    /// One side: two runs or more, to show how much runs vary by themselves
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "runs")]
    pub(crate) a: Vec<PathBuf>,
    /// The other side: two runs or more; without it, the targets of side A are compared
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "a")]
    pub(crate) b: Vec<PathBuf>,
    /// Factors of the analysis of variance, of side, run, target, benchmark and dimension; by
    /// default the first three, where there are several
    #[arg(long, value_name = "FACTOR", value_delimiter = ',')]
    pub(crate) factors: Vec<String>,
    /// How far apart two values may be and still be called the same
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = values::percent)]
    pub(crate) margin: f64,
    /// Confidence level of intervals and verdicts; by default that of the first run
    #[arg(long, value_name = "PERCENT", value_parser = values::confidence)]
    pub(crate) confidence: Option<f64>,
    /// Also compare benchmarks that the runs measured differently, with other file sizes or other
    /// parameters
    #[arg(long)]
    pub(crate) unlike: bool,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceOptions {
    /// Which paper, or which figure of it; without it, those there are
    #[arg(value_name = "PAPER[/ITEM]")]
    pub(crate) paper: Option<String>,
    /// Show a run that was made for it before, instead of measuring
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<PathBuf>,
    /// Where it is measured: this many runs of each point
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) blocks: u32,
    /// Seed of every random choice; by default from the time
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Where images of scratch targets lie
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    pub(crate) scratch: PathBuf,
    /// Exit instead of waiting if another run is measuring on this computer
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// The run directory; by default fsprism-runs/TIME-reproduce here
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct MachineOptions {
    /// Directories whose storage is described too
    #[arg(value_name = "DIR", default_values = ["/var/tmp", "."])]
    pub(crate) directories: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionOptions {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct OutputOptions {
    /// What to put on standard output
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
}
