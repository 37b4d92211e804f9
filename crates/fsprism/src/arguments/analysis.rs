//! The arguments of `fsprism stats`, and the output formats of all answers that are not runs.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use stats::scalability::Errors;

use crate::arguments::values;

pub(crate) const STATS_EXAMPLES: &str = "\
Examples:
  fsprism stats anova rates.csv --response kb_per_s --factors file_system,action
  fsprism stats interval latencies.txt
  fsprism stats scalability throughput.csv
";

const ANOVA_EXAMPLES: &str = "\
Examples:
  fsprism stats anova rates.csv --response kb_per_s --factors file_system,action
  fsprism stats anova rates.csv --wide --factors action,file_system --confidence 90,95

TABLE.csv is in long form, one row for each observation, with a header; several rows with the same
levels are replicates, and some combinations of levels may be missing. With --wide the first column
holds one factor's levels, and every other column is a level of the second. - is standard input.
";

const INTERVAL_EXAMPLES: &str = "\
Examples:
  fsprism stats interval latencies.txt       one number per line
  fsprism stats interval runs.csv --column ns --by file_system --quantiles 0.5,0.99
  seq 100 | fsprism stats interval - --confidence 90%
";

const CHANGEPOINT_EXAMPLES: &str = "\
Examples:
  fsprism stats changepoint latencies.txt --better lower
  fsprism stats changepoint runs.csv --column mib_per_s --better higher
  fsprism stats changepoint long.txt --penalty 20
";

const STEADY_STATE_EXAMPLES: &str = "\
Examples:
  fsprism stats steady-state rounds.txt      one number per line, the mean of each round
  fsprism stats steady-state rounds.csv --column iops
";

const SCALABILITY_EXAMPLES: &str = "\
Examples:
  fsprism stats scalability throughput.csv   a table with the columns n and x
  fsprism stats scalability throughput.csv --fit absolute --confidence 90%
";

/// What to analyse, and how.
#[derive(Debug, Subcommand)]
pub(crate) enum Analysis {
    /// Analyse a designed experiment: effects, analysis of variance and contrasts
    #[command(after_long_help = ANOVA_EXAMPLES)]
    Anova(AnovaOptions),
    /// Estimate the mean, median and quantiles of a series, with intervals
    #[command(after_long_help = INTERVAL_EXAMPLES)]
    Interval(IntervalOptions),
    /// Find where the mean or variance of a series changes
    #[command(after_long_help = CHANGEPOINT_EXAMPLES)]
    Changepoint(ChangepointOptions),
    /// Test whether a series has become steady, by the SNIA's rule
    #[command(after_long_help = STEADY_STATE_EXAMPLES)]
    SteadyState(SeriesOptions),
    /// Fit Amdahl's and Gunther's laws to throughput over the number of workers (columns n, x)
    #[command(after_long_help = SCALABILITY_EXAMPLES)]
    Scalability(ScalabilityOptions),
}

#[derive(Debug, Args)]
pub(crate) struct AnovaOptions {
    /// The table, comma-separated, with a header; - is standard input
    #[arg(value_name = "TABLE.csv")]
    pub(crate) table: PathBuf,
    /// The column of measured values (long form)
    #[arg(long, value_name = "COLUMN", conflicts_with = "wide")]
    pub(crate) response: Option<String>,
    /// The factor columns; in wide form, names for the factors of rows and columns
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) factors: Vec<String>,
    /// The table is in wide form
    #[arg(long)]
    pub(crate) wide: bool,
    /// Whether effects add or multiply; auto decides by the spread of the values and says so
    #[arg(long, value_enum, default_value_t = Model::Auto)]
    pub(crate) model: Model,
    /// Confidence levels of the intervals
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "90,95",
        value_delimiter = ',',
        value_parser = values::confidence
    )]
    pub(crate) confidence: Vec<f64>,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

/// How effects act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    /// Effects are added
    Additive,
    /// Effects are multiplied: the logarithms are analysed
    Multiplicative,
    /// Chosen by the spread of the values
    Auto,
}

#[derive(Debug, Args)]
pub(crate) struct IntervalOptions {
    /// One number per line, or a comma-separated table with --column; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The column of a table
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: Option<String>,
    /// A column that sorts the values into groups, which are answered for one by one
    #[arg(long, value_name = "COLUMN", requires = "column")]
    pub(crate) by: Option<String>,
    /// Which quantiles, between 0 and 1
    #[arg(
        long,
        value_name = "Q",
        default_value = "0.5,0.9,0.99",
        value_delimiter = ',',
        value_parser = values::quantile
    )]
    pub(crate) quantiles: Vec<f64>,
    /// Confidence level of the intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = values::confidence)]
    pub(crate) confidence: f64,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ChangepointOptions {
    #[command(flatten)]
    pub(crate) series: SeriesOptions,
    /// Find the cheapest split into segments of normal values (PELT) at this cost per change; by
    /// default changes are tested by permutation, for up to 2,000 values
    #[arg(long, value_name = "COST", value_parser = values::cost)]
    pub(crate) penalty: Option<f64>,
    /// Which values are better, to tell a warm-up from a slow-down
    #[arg(long, value_enum)]
    pub(crate) better: Option<BetterDirection>,
}

#[derive(Debug, Args)]
pub(crate) struct SeriesOptions {
    /// One number per line, or a comma-separated table with --column; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The column of a table
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: Option<String>,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

/// Which values of a series are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BetterDirection {
    /// Lower ones, as of times
    Lower,
    /// Higher ones, as of rates
    Higher,
}

#[derive(Debug, Args)]
pub(crate) struct ScalabilityOptions {
    /// How errors are assumed to depend on the throughput
    #[arg(long, value_enum, default_value_t = FitErrors::Proportional)]
    pub(crate) fit: FitErrors,
    /// A comma-separated table with the columns n (workers) and x (throughput); - is standard
    /// input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Confidence level of the intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = values::confidence)]
    pub(crate) confidence: f64,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct AnswerOptions {
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = AnswerFormat::Terminal)]
    pub(crate) format: AnswerFormat,
}

/// What a fit takes the errors of throughputs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FitErrors {
    /// They grow with it, as is usual for storage
    Proportional,
    /// They are equally large everywhere, as in Gunther's fits and in R's package usl
    Absolute,
}

impl From<FitErrors> for Errors {
    fn from(errors: FitErrors) -> Self {
        match errors {
            FitErrors::Proportional => Self::InProportion,
            FitErrors::Absolute => Self::OfOneSize,
        }
    }
}

/// A form of output of what is no run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// Sentences and tables for people
    Terminal,
    /// One JSON document
    Json,
}
