//! Options of the suite fscache.

use std::path::PathBuf;

use clap::Args;
use lab::rig::{DiskSpeed, Shape};
use network_guest::content::TreeShape;
use network_guest::{CullLimits, FreePercents, Version};
use network_suite::NetworkState;

use crate::arguments::guests::{GuestKernel, InGuests};
use crate::arguments::values;

/// What is measured over a network, and how.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options of fscache")]
pub(crate) struct NetworkArguments {
    /// States to measure: server, none, cold, hot, pgcache; by default all
    #[arg(long, value_name = "STATES", value_delimiter = ',')]
    pub(crate) states: Vec<NetworkState>,
    /// Size of the large file; by default 20m
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) file: Option<u64>,
    /// The tree: how many directories and files, such as 1185x19258; by default 123x2000
    #[arg(long, value_name = "DIRSxFILES", value_parser = tree)]
    pub(crate) tree: Option<TreeShape>,
    /// The link between client and server: its rate, then delay= and loss=, such as
    /// 100mbit,delay=5ms,loss=0.1%; by default 20mbit
    #[arg(long, value_name = "RATE")]
    pub(crate) link: Option<Shape>,
    /// Versions of NFS: 3, 4.0, 4.1, 4.2; by default 4.2
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',')]
    pub(crate) nfs: Vec<Version>,
    /// File systems to put the cache on; by default ext4
    #[arg(long, value_name = "FS", value_delimiter = ',')]
    pub(crate) cache_fs: Vec<String>,
    /// Size of the cache's disk; by default as much as it needs
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) cache_size: Option<u64>,
    /// Speed of the cache's disk, at most: iops= and bps=, such as iops=500,bps=20m; by default as
    /// fast as this computer's memory
    #[arg(long, value_name = "SPEED")]
    pub(crate) cache_disk: Option<DiskSpeed>,
    /// Percentage of free blocks at which culling ends; by default 10
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) brun: Option<u64>,
    /// Percentage of free blocks below which culling begins; by default 7
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) bcull: Option<u64>,
    /// Percentage of free blocks below which nothing more is cached; by default 3
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) bstop: Option<u64>,
    /// The same of free files: where culling ends; by default 10
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) frun: Option<u64>,
    /// Where culling begins; by default 7
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) fcull: Option<u64>,
    /// Where nothing more is cached; by default 3
    #[arg(long, value_name = "PERCENT", value_parser = values::share)]
    pub(crate) fstop: Option<u64>,
    /// Time what a cache does on its file system while the tree is read, which slows it down
    #[arg(long, conflicts_with = "break_even")]
    pub(crate) cache_times: bool,
    /// Measure on an NFS mount of your own instead of in guests, in the states that can be made
    /// there
    #[arg(
        long,
        value_name = "[LABEL=]DIR",
        conflicts_with_all = [
            "link", "nfs", "cache_fs", "cache_size", "cache_disk", "cache_times", "consoles",
            "brun", "bcull", "bstop", "frun", "fcull", "fstop"
        ]
    )]
    pub(crate) at: Option<String>,
    /// With --at: a command that empties the mount's cache before each cold replicate; without it,
    /// cold replicates read files that have never been read
    #[arg(long, value_name = "COMMAND", requires = "at")]
    pub(crate) drop: Option<String>,
    /// Search for the link rate up to which a hot cache pays, for files of these sizes; by default
    /// 16k,128k,1m
    #[arg(
        long,
        value_name = "SIZES",
        value_delimiter = ',',
        value_parser = values::size,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "16k,128k,1m",
        conflicts_with_all = ["states", "file", "tree", "cache_size"]
    )]
    pub(crate) break_even: Vec<u64>,
    /// Save each guest's console output in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) consoles: Option<PathBuf>,
}

impl NetworkArguments {
    /// When caches are culled. Values that are no limits are left to the plan to refuse.
    pub(crate) fn cull_limits(&self) -> CullLimits {
        let default = FreePercents::default();
        let one = |given: Option<u64>, default: u8| {
            given.map_or(default, |percent| u8::try_from(percent).unwrap_or(u8::MAX))
        };
        let percents = |run, cull, stop| FreePercents {
            run: one(run, default.run),
            cull: one(cull, default.cull),
            stop: one(stop, default.stop),
        };
        CullLimits {
            blocks: percents(self.brun, self.bcull, self.bstop),
            files: percents(self.frun, self.fcull, self.fstop),
        }
    }
}

/// What `fsprism run fscache` takes.
#[derive(Debug, Args)]
pub(crate) struct FscacheOptions {
    /// Measure only these benchmarks (run fscache --list names them)
    #[arg(
        long = "benchmark",
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "break_even"
    )]
    pub(crate) benchmarks: Vec<String>,
    /// Number of rounds, in each of which everything is measured once; by default 3
    #[arg(long, value_name = "N", alias = "blocks", conflicts_with = "break_even",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(record::BLOCKS_MAX)))]
    pub(crate) runs: Option<u32>,
    #[command(flatten)]
    pub(crate) guests: InGuests,
    #[command(flatten)]
    pub(crate) network: NetworkArguments,
    #[command(flatten)]
    pub(crate) kernel: GuestKernel,
}

/// Parses a tree, as directories x files: `1185x19258`.
fn tree(text: &str) -> Result<TreeShape, String> {
    let wrong = || {
        "a tree must be a number of directories and a number of files, such as \
                    123x2000"
            .to_owned()
    };
    let (directories, files) = text.split_once('x').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
    Ok(TreeShape { directories: number(directories)?, files: number(files)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_directories_and_files() {
        assert_eq!(tree("1185x19258"), Ok(TreeShape { directories: 1185, files: 19_258 }));
        for wrong in ["", "x", "5", "5x", "-1x5", "1x2x3"] {
            assert!(tree(wrong).is_err(), "{wrong}");
        }
    }
}
