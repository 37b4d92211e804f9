//! The command line of `fsprism cliff`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use suites::RangeEnd;

use crate::arguments::format::OutputOptions;
use crate::arguments::making::Making;
use crate::arguments::values;

pub(crate) const CLIFF_EXAMPLES: &str = "\
The axes are the five parameters of Chen & Patterson's workload, and the size of the volume; the
parameters not searched can be set. Over volume sizes, each probe makes the file system anew and
times the first writes to a file on it, for waits for space fade once operations are steady.
Positions are bytes (4k, 64m and 2G are powers of 1024), threads, or percentages of the operations.

Over working sets, if one side is served from memory and the other is not, the cliff is where device
reads begin. On the threads axis it is where each thread's share has fallen by a factor of 1.2. Any
other cliff is where the value crosses the geometric mean of the two plateaus. If --low is beyond
the memory limit, device values are compared with each other. A mix of cheap and expensive
operations bends near the cheap end: that is a cliff like any other.

A cause is named only if measurements on both sides prove it: resident pages and device reads (a
memory limit, a processor cache), sizes of device reads (read-ahead), and the stacks of threads
waiting in the kernel (a limit on dirty data, a journal). Reading stacks needs root; a journal is
recognised on ext3, ext4 and XFS. Any other cause is unknown.

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
  sudo fsprism cliff btrfs --axis volume-size
  fsprism report fsprism-runs/RUN                  the same report again

Exit status: 0 success; 1 a measurement failed; 2 invalid command line or input; 130 interrupted
(what was measured is kept).
";

#[derive(Debug, Args)]
pub(crate) struct CliffOptions {
    /// What to search, as for survey; by default ext4:memory=64m as root, otherwise the current
    /// directory; over volume sizes those of ext4, xfs and btrfs that can be made
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Axis to search along
    #[arg(long, value_enum, default_value_t = AxisName::WorkingSet)]
    pub(crate) axis: AxisName,
    /// Lower end of the range; by default a 64th of the memory limit, a page, one thread, 0%, or a
    /// volume of 1 GiB
    #[arg(long, value_name = "POSITION", value_parser = values::position)]
    pub(crate) low: Option<RangeEnd>,
    /// Upper end of the range; by default four times the memory limit, the number of processors,
    /// 100%, or a volume of 256 GiB (less where the scratch directory has no room for it)
    #[arg(long, value_name = "POSITION", value_parser = values::position)]
    pub(crate) high: Option<RangeEnd>,
    /// Interval width to reach: upper end over lower end, minus 1; for shares, in percentage points
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = values::width)]
    pub(crate) width: f64,
    /// Maximum number of probes for a target's highest cliff; half as many more for each further
    /// cliff
    #[arg(
        long,
        value_name = "N",
        default_value_t = 40,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) probes: u32,
    /// Bytes that operations range over; by default what stays in memory, or for shares twice the
    /// memory limit
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) working_set: Option<u64>,
    /// Bytes of one operation; by default 4k
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) request: Option<u64>,
    /// Threads; by default 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) threads: Option<u64>,
    /// Share of operations that read, the rest being writes; by default 100%, over volume sizes 0%
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) read_share: Option<u64>,
    /// Share of operations that start where the previous one ended; by default 0%
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) sequential_share: Option<u64>,
    /// Time to spend measuring: 90s, 2m, 1h
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = values::budget)]
    pub(crate) budget: Duration,
    /// Confidence level of all intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = values::confidence)]
    pub(crate) confidence: f64,
    /// Seed for all random choices; by default taken from the time
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) making: Making,
    /// Run directory; by default ./fsprism-runs/TIME-cliff
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
    /// Threads working at the same time, by default in memory
    Threads,
    /// Share of operations that read, in percent
    ReadShare,
    /// Share of operations that are sequential, in percent
    SequentialShare,
    /// Size of the volume, made anew for each probe; operations write unless --read-share is given
    VolumeSize,
}

impl From<AxisName> for record::Axis {
    fn from(name: AxisName) -> Self {
        match name {
            AxisName::WorkingSet => Self::WorkingSet,
            AxisName::RequestSize => Self::RequestSize,
            AxisName::Threads => Self::Threads,
            AxisName::ReadShare => Self::ReadShare,
            AxisName::SequentialShare => Self::SequentialShare,
            AxisName::VolumeSize => Self::VolumeSize,
        }
    }
}
