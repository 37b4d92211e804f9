//! Output formats.

use ::report::export::BonnieForm;
use clap::{Args, ValueEnum};

use crate::arguments::analysis::AnswerFormat;
use crate::exit::OrInputError;

#[derive(Debug, Default, Args)]
pub(crate) struct OutputOptions {
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Terminal)]
    pub(crate) format: Format,
}

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
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
    /// The corresponding format of an answer that is not a run, which has only these two.
    pub(crate) fn for_answers(self) -> Option<AnswerFormat> {
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

    /// Checks that this format can show runs of the suite.
    ///
    /// # Errors
    /// If it cannot; the error says what to use instead.
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
        form.check(suite).or_input_error()
    }
}
