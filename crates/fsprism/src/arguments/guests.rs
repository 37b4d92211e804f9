//! Options of suites that are measured in guests.

use std::path::PathBuf;

use clap::Args;
use record::{RunKind, RunRecord};

use crate::arguments::format::OutputOptions;
use crate::arguments::making::SCRATCH;
use crate::arguments::measuring::Measuring;
use crate::arguments::values;

/// What every suite takes that is measured in guests.
#[derive(Debug, Args)]
pub(crate) struct InGuests {
    /// Confidence level of all intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = values::confidence)]
    pub(crate) confidence: f64,
    /// Seed for all random choices
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Exit instead of waiting if another run is measuring on this computer
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Directory whose storage is described in the run, as for suites with images
    #[arg(long, value_name = "DIR", default_value = SCRATCH, hide = true)]
    pub(crate) scratch: PathBuf,
    /// Run directory; by default ./fsprism-runs/TIME-run
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

impl InGuests {
    /// The record of a run that starts now.
    pub(crate) fn record(
        &self,
        command: &str,
        suite: &str,
        kind: RunKind,
        seed: Option<u64>,
    ) -> RunRecord {
        let usual = Measuring::default();
        RunRecord {
            kind,
            budget_s: usual.budget().as_secs_f64(),
            precision_percent: usual.precision,
            confidence_level: self.confidence,
            ..runner::run_record(command, suite, seed)
        }
    }
}

/// The kernel that guests boot.
#[derive(Debug, Default, Args)]
pub(crate) struct GuestKernel {
    /// Kernel of the guest, one of those in the lab; by default the one built last
    #[arg(id = "kernel", long = "kernel", value_name = "RELEASE")]
    pub(crate) release: Option<String>,
}
