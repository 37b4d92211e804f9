//! Why a plan is refused.

/// Why a plan is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanRefusal {
    /// A list is empty.
    #[error("{0} is empty: leave it out, or give it a value")]
    Nothing(&'static str),
    /// A file system that a cache cannot be on.
    #[error("--cache-fs {0:?}: a cache must lie on a file system on a disk, such as ext4 or xfs")]
    Cache(String),
    /// The files are larger than guests can be.
    #[error(
        "the files add up to {bytes} bytes, but at most {most} are possible: \
         choose a smaller --file or \
        --tree"
    )]
    TooLarge {
        /// Bytes of all files.
        bytes: u64,
        /// The most.
        most: u64,
    },
    /// A cache has room for everything, so that nothing would be culled.
    #[error(
        "cull needs a tree that its cache cannot hold, but the cache's disk has {disk_bytes} bytes \
         and the tree {tree_bytes}: choose a larger --tree, a smaller --cache-size, or --cache-fs \
         ext4"
    )]
    CacheHoldsAll {
        /// Bytes of the disk.
        disk_bytes: u64,
        /// Bytes of the tree.
        tree_bytes: u64,
    },
    /// Limits that cachefilesd does not accept.
    #[error(
        "culling needs 0 <= {letter}stop < {letter}cull < {letter}run < 100, but these are {stop}, \
         {cull} and {run}: choose others with --{letter}stop, --{letter}cull and --{letter}run"
    )]
    Limits {
        /// The first letter of the limits: `b` for blocks or `f` for files.
        letter: char,
        /// Percentage below which nothing more is cached.
        stop: u8,
        /// Percentage below which culling begins.
        cull: u8,
        /// Percentage at which it ends.
        run: u8,
    },
    /// More directories than files, or too many files.
    #[error(
        "--tree takes 1 to 100000 files, and at least one directory but no more directories \
             than files"
    )]
    Tree,
}
