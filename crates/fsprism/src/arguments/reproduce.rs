//! The command line of `fsprism reproduce`.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::analysis::AnswerOptions;
use crate::arguments::making::OnBusy;
use crate::arguments::values;

#[derive(Clone, Debug, Args)]
pub(crate) struct ReproduceOptions {
    /// The paper, or PAPER/ITEM; without it, the papers are listed
    #[arg(value_name = "PAPER")]
    pub(crate) paper: Option<String>,
    /// One of its tables, figures or sections, such as table-2
    #[arg(value_name = "ITEM")]
    pub(crate) item: Option<String>,
    /// Reproduce all papers, one after another, and print which of their statements hold
    #[arg(long, conflicts_with_all = ["paper", "item"])]
    pub(crate) all: bool,
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
