//! The command line of `fsprism cliff`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use suites::End;

use crate::arguments::{Making, OutputOptions};
use crate::values;

pub(crate) const CLIFF_EXAMPLES: &str = "\
The axes are the five parameters of Chen & Patterson's workload; what is not searched along can be
set. Positions are bytes (4k, 64m, 2G are powers of 1024), threads, or percent of the operations.

A cliff over working sets is where the device begins to be read, if one side is served from memory
and the other is not; any other is where the value crosses the geometric mean of both plateaus, and
on the axis of threads where each thread's share has fallen by a factor of 1.2. Where --low lies
beyond the memory limit, values of the device are compared with each other. A mix of cheap and dear
operations bends near the end of the cheap ones: that is a cliff like any other.

Its cause is named only where what was measured on both sides proves it: resident pages and reads of
the device (a memory limit, a cache of the processor), sizes of the device's reads (read-ahead), and
the stacks of threads that wait in the kernel (a limit on dirty data, a journal). For the last of
these root is needed; a journal is recognized on ext3, ext4 and XFS. All others are unknown.

Examples:
  sudo fsprism cliff                               a memory limit of 64 MiB, on ext4
  sudo fsprism cliff ext4:memory=256m xfs:memory=256m
  sudo fsprism cliff ext4:memory=64m --width 1% --probes 60
  fsprism cliff . --low 256k --high 256m           the caches of the processor
  fsprism cliff . --axis threads
  sudo fsprism cliff ext4:memory=64m --axis sequential-share
  sudo fsprism cliff ext4:memory=64m --axis read-share --sequential-share 50%
  sudo fsprism cliff ext4:mount=data=journal --read-share 0 --low 256k --high 64m
  sudo fsprism cliff ext4:memory=64m --axis request-size --working-set 128m
  fsprism report fsprism-runs/RUN                  the same report again

Exit status: 0 done; 1 a measurement failed; 2 the command line or an input is wrong; 130
interrupted (what was measured is kept).
";

#[derive(Debug, Args)]
pub(crate) struct CliffOptions {
    /// What to search, as for survey; by default ext4:memory=64m as root, else the
    /// current directory
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Along which axis
    #[arg(long, value_enum, default_value_t = AxisName::WorkingSet)]
    pub(crate) axis: AxisName,
    /// Lower end of the range; by default a 64th of the memory limit, a page, one thread, or 0%
    #[arg(long, value_name = "POSITION", value_parser = values::position)]
    pub(crate) low: Option<End>,
    /// Upper end; by default four times the memory limit, or the processors, or 100%
    #[arg(long, value_name = "POSITION", value_parser = values::position)]
    pub(crate) high: Option<End>,
    /// How narrow an interval shall be: its upper end over its lower, less 1; of shares, in points
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
    /// Bytes that operations range over; by default what stays in memory, for shares twice the
    /// memory limit
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) working_set: Option<u64>,
    /// Bytes of one operation; by default 4k
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) request: Option<u64>,
    /// Threads; by default 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) threads: Option<u64>,
    /// Reads among the operations, the others being writes; by default 100%
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) read_share: Option<u64>,
    /// Operations that begin where the one before ended; by default 0%
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) sequential_share: Option<u64>,
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
    /// Bytes that operations range over
    WorkingSet,
    /// Bytes of one operation, by default in memory
    RequestSize,
    /// Threads that work at the same time, by default in memory
    Threads,
    /// Reads among the operations, in percent
    ReadShare,
    /// Sequential ones among the operations, in percent
    SequentialShare,
}

impl From<AxisName> for record::Axis {
    fn from(name: AxisName) -> Self {
        match name {
            AxisName::WorkingSet => Self::WorkingSet,
            AxisName::RequestSize => Self::RequestSize,
            AxisName::Threads => Self::Threads,
            AxisName::ReadShare => Self::ReadShare,
            AxisName::SequentialShare => Self::SequentialShare,
        }
    }
}
