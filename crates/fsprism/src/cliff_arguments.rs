//! The command line of `fsprism cliff`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::arguments::{Making, OutputOptions};
use crate::values;

pub(crate) const CLIFF_EXAMPLES: &str = "\
Positions are bytes (4k, 64m, 2G are powers of 1024), or threads. A cliff is where the device begins
to be read, if one side is served from memory and the other is not; any other is where the value
crosses the geometric mean of both plateaus, and on the axis of threads where each thread's share
has fallen by a factor of 1.2. Its cause is named only where the measured state of the caches and
of the device proves it.

Examples:
  sudo fsprism cliff                               a memory limit of 64 MiB, on ext4
  sudo fsprism cliff ext4:memory=256m xfs:memory=256m
  sudo fsprism cliff ext4:memory=64m --width 1% --probes 60
  fsprism cliff . --low 256k --high 256m           the caches of the processor
  fsprism cliff . --axis threads
  fsprism report fsprism-runs/RUN                  the same report again

Exit status: 0 done; 1 a measurement failed; 2 the command line or an input is wrong; 130
interrupted (what was measured is kept).
";

#[derive(Debug, Args)]
pub(crate) struct CliffOptions {
    /// What to search, as for survey; as root by default ext4:memory=64m, else .
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Along which axis
    #[arg(long, value_enum, default_value_t = AxisName::WorkingSet)]
    pub(crate) axis: AxisName,
    /// Lower end of the range; by default a 64th of the memory limit, a page, or one thread
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) low: Option<u64>,
    /// Upper end; by default four times the memory limit, or the processors
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) high: Option<u64>,
    /// How narrow an interval shall be: its upper end over its lower, less 1
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = values::percent)]
    pub(crate) width: f64,
    /// The most probes for the highest cliff of a target; half as many more for each further one
    #[arg(
        long,
        value_name = "N",
        default_value_t = 40,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) probes: u32,
    /// Bytes of one read
    #[arg(long, value_name = "SIZE", default_value = "4k", value_parser = values::size)]
    pub(crate) request: u64,
    /// Time for measuring: 90s, 2m, 1h
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = values::time)]
    pub(crate) budget: Duration,
    /// Confidence level of all intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = values::confidence)]
    pub(crate) confidence: f64,
    /// Seed of every random choice; by default from the time
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) making: Making,
    /// The run directory; by default fsprism-runs/TIME-cliff here
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// An axis by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AxisName {
    /// Bytes that random reads range over
    WorkingSet,
    /// Bytes of one random read, in memory
    RequestSize,
    /// Threads that read at the same time, in memory
    Threads,
}

impl From<AxisName> for record::Axis {
    fn from(name: AxisName) -> Self {
        match name {
            AxisName::WorkingSet => Self::WorkingSet,
            AxisName::RequestSize => Self::RequestSize,
            AxisName::Threads => Self::Threads,
        }
    }
}
