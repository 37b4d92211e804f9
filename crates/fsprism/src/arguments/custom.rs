//! Options of `fsprism run custom`: reads and writes in fio's terms.

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use record::{CacheState, CustomWorkload, ReplicateLength};
use suites::{NoSuite, OwnOptions, Suite};

use crate::arguments::values;

/// What is read and written, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of custom")]
pub(crate) struct CustomArguments {
    /// Reads, writes or both, in order or at random, in the words of fio
    #[arg(long, value_enum, conflicts_with = "resume")]
    rw: Option<ReadWrite>,
    /// Size of each request, a power of two from 512 to 16m; by default 4k
    #[arg(long, value_name = "SIZE", value_parser = request, conflicts_with = "resume")]
    bs: Option<u64>,
    /// Threads, all on one file; by default 1
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Requests that each thread keeps in flight, by io_uring, past the page cache; by default 1,
    /// as one system call after the other
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    depth: Option<u32>,
    /// Share of reads with --rw rw and randrw; by default 50%
    #[arg(long, value_name = "PERCENT", value_parser = values::share, conflicts_with = "resume")]
    read_share: Option<u64>,
    /// Bypass the page cache, as fio does with direct=1
    #[arg(long, conflicts_with = "resume")]
    direct: bool,
    /// Whether the file is in memory before a replicate; by default warm
    #[arg(long, value_enum, conflicts_with_all = ["resume", "direct"])]
    state: Option<FileState>,
    /// Go on before each replicate until five rounds of operations spread by at most 20% and drift
    /// by at most 10%, the rule of the SNIA
    #[arg(long, conflicts_with = "resume")]
    steady: bool,
}

/// fio's words for what is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadWrite {
    /// Sequential reads
    Read,
    /// Sequential writes
    Write,
    /// Random reads
    Randread,
    /// Random writes
    Randwrite,
    /// Sequential reads and writes
    Rw,
    /// Random reads and writes
    Randrw,
}

/// The state of a file in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileState {
    /// All of it is in memory
    Warm,
    /// None of it is
    Cold,
}

impl OwnOptions for CustomArguments {
    fn shape(self, suite: Suite, _targets: &[String]) -> Result<Suite, NoSuite> {
        let suite = suite.with_custom(Some(&self.workload()?));
        let until_steady = ReplicateLength { seconds: None, until_steady: true };
        Ok(if self.steady { suite.lasting(Some(&until_steady))? } else { suite })
    }
}

impl CustomArguments {
    /// The workload that the options describe.
    ///
    /// # Errors
    /// If options contradict each other, or `--rw` is missing.
    fn workload(&self) -> anyhow::Result<CustomWorkload> {
        let Some(rw) = self.rw else {
            let why = "custom needs --rw";
            return Err(anyhow!("{why}: read, write, randread, randwrite, rw or randrw"));
        };
        let mixed = self.read_share.map_or(50, |share| u8::try_from(share).unwrap_or(100));
        let (is_random, read_percent) = match rw {
            ReadWrite::Read => (false, 100),
            ReadWrite::Write => (false, 0),
            ReadWrite::Randread => (true, 100),
            ReadWrite::Randwrite => (true, 0),
            ReadWrite::Rw => (false, mixed),
            ReadWrite::Randrw => (true, mixed),
        };
        let is_mixed = matches!(rw, ReadWrite::Rw | ReadWrite::Randrw);
        if self.read_share.is_some() && !is_mixed {
            let why = "--read-share is for --rw rw and randrw";
            return Err(anyhow!("{why}: leave it out, or choose one of these"));
        }
        let is_cold = self.state == Some(FileState::Cold);
        let queue_depth = self.depth.unwrap_or(1);
        if is_cold && (read_percent < 100 || queue_depth > 1) {
            let why = "--state cold is for reads through the page cache";
            return Err(anyhow!(
                "{why}: leave it out, or choose --rw read or randread, without \
                 --depth"
            ));
        }
        if self.steady && is_cold {
            let why = "--steady is for operations that can go on, but a cold file is read once";
            return Err(anyhow!("{why}: leave out --steady or --state cold"));
        }
        Ok(CustomWorkload {
            is_random,
            read_percent,
            request_bytes: self.bs.unwrap_or(4096),
            threads: self.threads.unwrap_or(1),
            queue_depth,
            is_direct: self.direct || queue_depth > 1,
            cache_state: if is_cold { CacheState::Cold } else { CacheState::Warm },
        })
    }
}

/// Parses the size of a request.
fn request(text: &str) -> Result<u64, String> {
    let bytes = values::size(text)?;
    match bytes.is_power_of_two() && (512..=16 << 20).contains(&bytes) {
        true => Ok(bytes),
        false => Err("a request is a power of two from 512 to 16m".to_owned()),
    }
}
