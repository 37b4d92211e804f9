//! The command line of `fsprism footprint`.

use std::ffi::OsString;
use std::path::PathBuf;

use caches::naive::Phase;
use caches::synthetic::Stream;
use caches::{CachePolicy, Inclusion};
use clap::{Args, Subcommand, ValueEnum};
use footprint_guest::{KernelCacheState, TracedCall};
use footprint_suite::TracingPlan;
use textual::list;

use crate::arguments::analysis::AnswerOptions;
use crate::arguments::applications::{TRACED_EXAMPLES, TracedApplicationsOptions};
use crate::arguments::footprint_values::{self as given, CacheArgument};
use crate::arguments::guests::{GuestKernel, InGuests};
use crate::arguments::pollution::PollutedOptions;
use crate::arguments::values;

pub(crate) const FOOTPRINT_EXAMPLES: &str = "\
Examples:
  fsprism footprint trace --target xfs --op create --out traces
  fsprism footprint map traces/xfs.trace --op create
  fsprism footprint stacks traces/xfs.trace --op create
  fsprism footprint simulate --stream loop:24k,loop:48k
";

const MODEL_EXAMPLES: &str = "\
The active footprint of the file system and the benchmark stays in the cache;
each remaining line holds one segment of the file. The diagrams are those of
Figures 2 and 3 of \"Memory-rich microbenchmarks\", for any size.

Examples:
  fsprism footprint model --lines 4 --footprint 3 --file 16 write,read
  fsprism footprint model --lines 4 --footprint 1 --file 16 write,read
  fsprism footprint model --lines 4096 --footprint 1024 --file 16384 write,read

The first two are Figure 2 and Figure 3.
";

const SIMULATE_EXAMPLES: &str = "\
Streams (--stream; separate several by commas; each is a region and finds the
caches as the previous one left them):
  sequential[:KIND]    one access after another, never going back
  loop:SIZE[:KIND]     through SIZE bytes, then from the start again
  random:SIZE[:KIND]   anywhere in SIZE bytes
  KIND is load (the default), store or fetch. All streams start at the same
  address.

Caches (--cache, repeated for each cache; by default those of this machine):
  NAME=SIZE,LINE,WAYS[,POLICY][,INCLUSION]
  NAME is l1i and l1d, or l1 for both, or l1d alone; then l2, l3 and so on.
  WAYS 0 means fully associative. POLICY is lru, plru or random; INCLUSION, for
  lower levels, is non-inclusive or inclusive. Where they are missing, --policy
  and --inclusion apply.

Examples:
  fsprism footprint simulate --stream loop:24k,loop:48k
  fsprism footprint simulate --stream loop:1m:store,loop:1m --accesses 131072
  fsprism footprint simulate --cache l1d=32k,64,8,plru \\
      --cache l2=1m,64,16,inclusive --stream random:256k
  valgrind --tool=lackey --trace-mem=yes --log-file=trace /bin/true
  fsprism footprint simulate trace --cache l1i=32k,64,8 \\
      --cache l1d=32k,64,8 --cache l2=1m,64,16
  fsprism footprint simulate run/footprint/xfs.trace

Each operation of a trace starts with empty caches. If it has several
repetitions, the one nearest the medians of instructions and lines is shown.

docs/cache-simulation.md describes what is simulated.
";

const TRACE_EXAMPLES: &str = "\
Targets are made in a guest (run fsprism lab build once to get one), each in
its own boot. A program runs on this machine, and only its user side is traced.
A trace contains its names, so it can be studied elsewhere.

Examples:
  fsprism footprint trace --target xfs --op create,unlink,rename --out traces
  fsprism footprint trace --target xfs --target 'small=xfs:mkfs=-b size=1k' \\
      --out two
  fsprism footprint trace --target ext4 --op read --cold --out cold
  fsprism footprint trace --out grep -- /bin/grep -r x /etc
";

const MAP_EXAMPLES: &str = "\
In the terminal a map shows the lines with the most unused bytes, worst first;
--all shows every line, by address. If an operation was traced several times,
the repetition nearest the medians of instructions and lines is shown.

Examples:
  fsprism footprint map run/footprint/xfs.trace --op create
  fsprism footprint map xfs.trace --op create --of data --all
  fsprism footprint map xfs.trace --op create --of instructions --png create.png
  fsprism footprint map run/footprint --op unlink --format json
";

const STACKS_EXAMPLES: &str = "\
Weights: bytes (of code, each counted once per stack), instructions, lines (of
code), data_lines, and simulated misses at each level of this machine's caches:
l1i_misses, ...

Categories (--categories FILE); the first matching rule wins:
  path   fs/xfs/*      file system   by source file, if it is known
  symbol kmem_cache_*  malloc        by name, if the source file is not known
  module xfs           file system   vmlinux, or the name of a module or program
  path   include/*     -             counts towards its caller

Examples:
  fsprism footprint stacks run/footprint/xfs.trace --op create
  fsprism footprint stacks xfs.trace --op create --weight l1i_misses
  fsprism footprint stacks xfs.trace --op create --frames functions --folded
";

const DIFF_EXAMPLES: &str = "\
Functions are matched by name. Lines are counted: a line counts for each
function and category that touches it. For two directories, traces with the same
name are compared.

--out writes a page instead, with flame graphs of what was gained (red) and lost
(blue), and both cachemaps.

Examples:
  fsprism footprint diff ext4.trace xfs.trace --op create
  fsprism footprint diff before/footprint after/footprint --out diff.html
  fsprism footprint diff before/footprint after/footprint --format json
";

const POLLUTION_EXAMPLES: &str = "\
Rounds of code with a known footprint, as run pollution times it, are put
between the repetitions of a traced operation. The lines that a round then
misses, and does not miss when no operation comes between, are what the
operation cost it.

Examples:
  fsprism footprint pollution run/footprint --op create
  fsprism footprint pollution run/footprint --code 4k..64k --data 4k..64k \\
      --op stat --format json
  fsprism footprint pollution xfs.trace --cache l1i=32k,64,8 \\
      --cache l1d=48k,64,12 --cache l2=2m,64,16

docs/pollution.md describes the method.
";

#[derive(Debug, Subcommand)]
pub(crate) enum FootprintCommand {
    /// Trace every instruction and every access of file systems in a guest, or of a program
    #[command(after_long_help = TRACE_EXAMPLES)]
    Trace(TraceOptions),
    /// Show with a naive cache model what each phase leaves for the next one to flush
    #[command(after_long_help = MODEL_EXAMPLES)]
    Model(ModelOptions),
    /// Run accesses through simulated caches: hits, misses, write-backs, what stays dirty
    #[command(after_long_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateOptions),
    /// Show which bytes of which cache lines operations touched, and what is stored there
    #[command(after_long_help = MAP_EXAMPLES)]
    Map(MapOptions),
    /// Show where instructions, code and misses come from, by call stack
    #[command(after_long_help = STACKS_EXAMPLES)]
    Stacks(StacksOptions),
    /// Show what was gained and lost between two traces, by category and function
    #[command(after_long_help = DIFF_EXAMPLES)]
    Diff(DiffOptions),
    /// Count the cache lines that operations cost the code around them, in simulated caches
    #[command(after_long_help = POLLUTION_EXAMPLES)]
    Pollution(PollutedOptions),
    /// Count what whole programs execute and miss on file systems, in simulated caches
    #[command(after_long_help = TRACED_EXAMPLES)]
    Applications(TracedApplicationsOptions),
}

/// What the lines of a map hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Of {
    /// Executed code
    Instructions,
    /// Data read or written
    Data,
}

#[derive(Debug, Args)]
pub(crate) struct MapOptions {
    /// A trace, or a directory of *.trace files
    #[arg(value_name = "TRACE_OR_DIR")]
    pub(crate) path: PathBuf,
    /// Show only this operation
    #[arg(id = "operation", long = "op", value_name = "OPERATION")]
    pub(crate) operation: Option<String>,
    /// Show only this kind of line
    #[arg(long, value_enum)]
    pub(crate) of: Option<Of>,
    /// Save the selected map as a PNG
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
    /// Pixels per byte
    #[arg(long, value_name = "N", default_value_t = 4, requires = "png",
        value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) scale: u32,
    /// Show all lines, by address
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

/// What frames of stacks stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FramesOf {
    /// Categories: coarse-grained stacks
    Categories,
    /// Functions
    Functions,
}

#[derive(Debug, Args)]
pub(crate) struct StacksOptions {
    /// A trace, or a directory of *.trace files
    #[arg(value_name = "TRACE_OR_DIR")]
    pub(crate) path: PathBuf,
    /// Show only this operation
    #[arg(id = "operation", long = "op", value_name = "OPERATION")]
    pub(crate) operation: Option<String>,
    /// What to count; the weights are listed below
    #[arg(long, value_name = "WEIGHT", default_value = "bytes")]
    pub(crate) weight: String,
    /// What frames represent
    #[arg(long, value_enum, default_value_t = FramesOf::Categories)]
    pub(crate) frames: FramesOf,
    /// Rules that assign functions to categories, replacing the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) categories: Option<PathBuf>,
    /// Print folded stacks, as read by flamegraph.pl and similar tools
    #[arg(long, conflicts_with = "format")]
    pub(crate) folded: bool,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct DiffOptions {
    /// The first trace, or a directory of *.trace files
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// The second trace or directory
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// Show only this operation
    #[arg(id = "operation", long = "op", value_name = "OPERATION")]
    pub(crate) operation: Option<String>,
    /// Write the comparison as a page (HTML)
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub(crate) out: Option<PathBuf>,
    /// Rules that assign functions to categories, replacing the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) categories: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct TraceOptions {
    /// A file system to make and trace, as for run footprint (may be repeated)
    #[arg(
        id = "targets",
        long = "target",
        value_name = "TARGET",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    pub(crate) targets: Vec<String>,
    /// How many times to trace each operation
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "command",
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repetitions: u32,
    #[command(flatten)]
    pub(crate) tracing: TracingOptions,
    #[command(flatten)]
    pub(crate) kernel: GuestKernel,
    /// Exit instead of waiting if another run is measuring on this computer
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Directory for the traces
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
    /// A program to trace instead, after --
    #[arg(value_name = "PROGRAM", last = true)]
    pub(crate) command: Vec<OsString>,
}

fn operations_help() -> String {
    let names: Vec<&str> = TracedCall::all().map(TracedCall::name).collect();
    format!("Operations to trace: {}", names.join(", "))
}

/// What is traced, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of footprint")]
pub(crate) struct TracingOptions {
    #[arg(help = operations_help(), id = "operations", long = "op", alias = "benchmark",
        value_name = "OPERATION", value_delimiter = ',', value_parser = given::operation)]
    pub(crate) operations: Vec<TracedCall>,
    /// Executions of each operation before the traced ones
    #[arg(long, value_name = "N", default_value_t = WARM_UP,
        value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub(crate) warm_up: u32,
    /// Drop the kernel's pages, dentries and inodes before each operation
    #[arg(long)]
    pub(crate) cold: bool,
    /// Trace even while another run is measuring on this computer, and may disturb it
    #[arg(long, conflicts_with = "no_wait")]
    pub(crate) beside: bool,
}

/// What `fsprism run footprint` takes.
#[derive(Debug, Args)]
pub(crate) struct FootprintOptions {
    #[arg(value_name = "TARGET", help = guest_targets_help())]
    pub(crate) targets: Vec<String>,
    /// How many times to trace each operation; by default 8
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(record::BLOCKS_MAX)))]
    pub(crate) blocks: Option<u32>,
    #[command(flatten)]
    pub(crate) guests: InGuests,
    #[command(flatten)]
    pub(crate) tracing: TracingOptions,
    #[command(flatten)]
    pub(crate) simulated: CachesOptions,
    #[command(flatten)]
    pub(crate) kernel: GuestKernel,
}

fn guest_targets_help() -> String {
    let names = footprint_suite::DEFAULTS.map(str::to_owned);
    format!("File systems to make in a guest and trace; by default {}", list(&names, "and"))
}

/// Which caches are simulated.
#[derive(Debug, Args)]
pub(crate) struct CachesOptions {
    /// A cache to simulate: l1d=32k,64,8; by default this machine's caches
    #[arg(id = "caches", long = "cache", value_name = "NAME=SIZE,LINE,WAYS",
        value_parser = given::cache)]
    pub(crate) caches: Vec<CacheArgument>,
}

/// Default number of untraced executions of each operation before the traced ones.
const WARM_UP: u32 = 3;

impl Default for TracingOptions {
    fn default() -> Self {
        Self { operations: Vec::new(), warm_up: WARM_UP, cold: false, beside: false }
    }
}

impl TracingOptions {
    /// What to trace, with each operation repeated this many times.
    pub(crate) fn plan(&self, repetitions: u32) -> TracingPlan {
        let mut operations = Vec::new();
        let wanted = match self.operations.is_empty() {
            true => TracedCall::by_default().collect(),
            false => self.operations.clone(),
        };
        for operation in wanted {
            if !operations.contains(&operation) {
                operations.push(operation);
            }
        }
        let state = if self.cold { KernelCacheState::Cold } else { KernelCacheState::Warm };
        TracingPlan { operations, warm_up: self.warm_up, repetitions, state }
    }

    /// Whether the options that say what is executed, and how, all have their defaults.
    pub(crate) fn has_default_operations(&self) -> bool {
        self.operations.is_empty() && self.warm_up == WARM_UP && !self.cold
    }
}

#[derive(Debug, Args)]
pub(crate) struct ModelOptions {
    /// What to do with the file, in order: write, read
    #[arg(value_name = "PHASE", required = true, value_delimiter = ',',
        value_parser = given::phase)]
    pub(crate) phases: Vec<Phase>,
    /// Lines in the cache
    #[arg(long, value_name = "N")]
    pub(crate) lines: u64,
    /// How many of these lines the footprint occupies
    #[arg(long, value_name = "N")]
    pub(crate) footprint: u64,
    /// Segments in the file, each as long as a line
    #[arg(long, value_name = "N")]
    pub(crate) file: u64,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateOptions {
    /// A trace, a directory of *.trace files, or accesses as printed by valgrind's lackey
    /// (--trace-mem=yes); - is standard input
    #[arg(value_name = "FILE", required_unless_present = "streams", conflicts_with = "streams")]
    pub(crate) file: Option<PathBuf>,
    /// Generated accesses: sequential, loop:SIZE, random:SIZE
    #[arg(id = "streams", long = "stream", value_name = "STREAM", value_delimiter = ',',
        value_parser = given::stream)]
    pub(crate) streams: Vec<Stream>,
    /// A cache: l1d=32k,64,8; by default this machine's caches
    #[arg(id = "caches", long = "cache", value_name = "NAME=SIZE,LINE,WAYS",
        value_parser = given::cache)]
    pub(crate) caches: Vec<CacheArgument>,
    /// Replacement policy where --cache gives none: lru, plru (a tree) or random
    #[arg(long, value_name = "POLICY", default_value = "lru", value_parser = given::policy)]
    pub(crate) policy: CachePolicy,
    /// Inclusion of lower levels where --cache gives none: non-inclusive or inclusive
    #[arg(long, value_name = "INCLUSION", default_value = "non-inclusive",
        value_parser = given::inclusion)]
    pub(crate) inclusion: Inclusion,
    /// Accesses per stream
    #[arg(long, value_name = "N", default_value_t = 1_000_000, conflicts_with = "file",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) accesses: u64,
    /// Bytes per access of a stream
    #[arg(long, value_name = "SIZE", default_value = "8", conflicts_with = "file",
        value_parser = values::size)]
    pub(crate) bytes: u64,
    /// Seed for random addresses and the random policy
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: AnswerOptions,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_a_narrow_terminal() {
        let commands = FootprintCommand::augment_subcommands(clap::Command::new("footprint"));
        assert_eq!(commands.get_subcommands().count(), 8);
        for command in commands.get_subcommands() {
            let text = command.get_after_long_help().expect("examples").to_string();
            for line in text.lines() {
                assert!(line.len() <= 80, "{}: {line}", command.get_name());
            }
        }
    }
}
